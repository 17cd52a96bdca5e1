"""Certificates of brokers: one's own, or one that is made for tests.

A certificate that is made is signed by a certificate authority of its own, whose certificate
clients must trust; both live as long as the server, in a folder that only its user can read.
"""

import ipaddress
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emulator.common.extras import missing_extra

if TYPE_CHECKING:
    from cryptography import x509

AUTHORITY: Final = "ca.pem"
CHAIN: Final = "broker.pem"
KEY: Final = "broker.key"
LIFETIME: Final = timedelta(days=30)
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")


class CertificateError(Exception):
    """A certificate cannot be made or read; the message says why in one sentence."""


def context_of(chain: Path, key: Path) -> ssl.SSLContext:
    """Return what a listener needs to speak TLS with a certificate.

    Raises:
        CertificateError: a file cannot be read, or the key is not that of the certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(chain, key)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or str(error)
        message = f"cannot use the certificate '{chain}' with the key '{key}': {reason}"
        raise CertificateError(message) from None
    return context


def ask_clients(context: ssl.SSLContext, authority: Path, *, is_required: bool) -> None:
    """Ask clients for certificates that an authority in the file ``authority`` has signed.

    Source: ``ssl.client.auth`` of ``DefaultSslEngineFactory``: a certificate that is only requested
    may be missing, but not be signed by somebody else.

    Raises:
        CertificateError: the file cannot be read, or the package cryptography is not installed.
    """
    if find_spec("cryptography") is None:
        raise CertificateError(
            missing_extra("reading clients' certificates", "cryptography", "tls")
        )
    try:
        context.load_verify_locations(authority)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or str(error)
        raise CertificateError(f"cannot use '{authority}' as an authority: {reason}") from None
    context.verify_mode = ssl.CERT_REQUIRED if is_required else ssl.CERT_OPTIONAL


def make(folder: Path, hosts: Iterable[str]) -> Path:
    """Make a certificate for ``hosts`` and loopback in ``folder``; return that of its authority.

    Raises:
        CertificateError: the package cryptography is not installed.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        message = missing_extra("making a certificate", "cryptography", "tls")
        instead = "or give your own by --certificate and --key"
        raise CertificateError(f"{message}, {instead}") from None

    def builder(
        name: str, key: ec.EllipticCurvePrivateKey, issuer: str
    ) -> "x509.CertificateBuilder":
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(_named(name))
            .issuer_name(_named(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + LIFETIME)
        )

    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority_name = "tidegauge test authority"
    authority = (
        builder(authority_name, authority_key, authority_name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    key = ec.generate_private_key(ec.SECP256R1())
    names = [_alternative(host) for host in dict.fromkeys((*LOOPBACK_NAMES, *hosts))]
    certificate = (
        builder("tidegauge broker", key, authority_name)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    in_pem = serialization.Encoding.PEM
    (folder / AUTHORITY).write_bytes(authority.public_bytes(in_pem))
    (folder / CHAIN).write_bytes(certificate.public_bytes(in_pem) + authority.public_bytes(in_pem))
    (folder / KEY).write_bytes(
        key.private_bytes(in_pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / AUTHORITY


def _named(name: str) -> "x509.Name":
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative(host: str) -> "x509.GeneralName":
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
