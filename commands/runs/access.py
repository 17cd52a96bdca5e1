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
from sessions.gateway.endpoints import Endpoint


class Access(Struct, frozen=True, kw_only=True):
    """The brokers' listeners, users with their passwords, and certificate.

    Without a ``certificate`` one is made, if a listener is encrypted; ``authority`` is then the
    file that clients must trust, and ``tls`` what listeners need.
    """

    endpoints: Sequence[Endpoint] = (Endpoint(),)
    users: dict[str, str] = {}
    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None
    tls: ssl.SSLContext | None = None

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
            tls = certificates.context_of(access.certificate, access.key)
            yield replace(access, tls=tls)
            return
        with tempfile.TemporaryDirectory(prefix="tidegauge-tls-") as name:
            folder = Path(name)
            hosts = [endpoint.advertised_host or endpoint.host for endpoint in access.endpoints]
            authority = certificates.make(folder, hosts)
            tls = certificates.context_of(folder / certificates.CHAIN, folder / certificates.KEY)
            yield replace(access, tls=tls, authority=authority)
    except certificates.CertificateError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
