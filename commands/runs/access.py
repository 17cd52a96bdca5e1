"""How clients reach a served cluster, and how they prove who they are."""

import ssl
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from commands.exits import CommandError, ExitCode
from sessions.gateway import certificates
from sessions.gateway.endpoints import SSL, Endpoint


class Access(Struct, frozen=True, kw_only=True):
    """The brokers' listeners, users with their passwords, and certificate.

    Without a ``certificate`` one is made, if a listener is encrypted; ``authority`` is then the
    file that clients must trust, and ``tls`` what listeners of each protocol need. If there is a
    file with authorities of clients' certificates, ``client_authority``, these are asked for as
    ``client_auth`` says, the value of ssl.client.auth.
    """

    endpoints: Sequence[Endpoint] = (Endpoint(),)
    users: dict[str, str] = {}
    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None
    tls: dict[str, ssl.SSLContext] = {}
    client_authority: Path | None = None
    client_auth: str = "required"

    def at_any_port(self) -> "Access":
        """Return the same with free ports, for another cluster."""
        return replace(self, endpoints=[replace(endpoint, port=0) for endpoint in self.endpoints])


DEFAULT: Final = Access()
"""Free ports of loopback, without encryption and authentication."""


@contextmanager
def ready(access: Access) -> Iterator[Access]:
    """Yield ``access`` with a certificate, if a listener needs one; it is deleted at the end.

    Raises:
        CommandError: the certificate cannot be read or made.
    """
    if not any(endpoint.is_encrypted for endpoint in access.endpoints):
        yield access
        return
    try:
        if access.certificate is not None and access.key is not None:
            yield replace(access, tls=_contexts(access, access.certificate, access.key))
            return
        with tempfile.TemporaryDirectory(prefix="tidegauge-tls-") as name:
            folder = Path(name)
            hosts = [endpoint.advertised_host or endpoint.host for endpoint in access.endpoints]
            authority = certificates.make(folder, hosts)
            tls = _contexts(access, folder / certificates.CHAIN, folder / certificates.KEY)
            yield replace(access, tls=tls, authority=authority)
    except certificates.CertificateError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None


def _contexts(access: Access, chain: Path, key: Path) -> dict[str, ssl.SSLContext]:
    """Return what listeners need; only those of SSL ask clients for certificates.

    Source: ``SaslChannelBuilder``, which asks for none.

    Raises:
        CertificateError: a file cannot be read.
    """
    tls = {protocol: certificates.context_of(chain, key) for protocol in (SSL, "SASL_SSL")}
    if access.client_authority is not None and access.client_auth != "none":
        is_required = access.client_auth == "required"
        certificates.ask_clients(tls[SSL], access.client_authority, is_required=is_required)
    return tls
