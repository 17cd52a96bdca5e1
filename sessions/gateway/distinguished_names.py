"""A client's name as its certificate has it, written as Kafka's brokers write it.

Source: ``DefaultKafkaPrincipalBuilder`` takes what Java's ``X500Principal.getName`` returns, which
is RFC 2253 with hexadecimal values for all but nine kinds of attributes.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography import x509

KEYWORDS: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
"""The attributes that have a name, by their object identifiers."""
ESCAPED: Final = frozenset(',=+<>#;"\\')
LONG_LENGTH: Final = 0x80
"""The bit of a length's first byte in DER that says that it has several bytes."""


def subject_of(certificate: bytes) -> str:
    """Return the distinguished name of a certificate's owner; the certificate is in DER.

    Raises:
        ValueError: it is no certificate.
    """
    from cryptography import x509

    name = x509.load_der_x509_certificate(certificate).subject
    return ",".join("+".join(map(_written, rdn)) for rdn in reversed(name.rdns))


def _written(attribute: "x509.NameAttribute[str | bytes]") -> str:
    identifier = attribute.oid.dotted_string
    keyword, value = KEYWORDS.get(identifier), attribute.value
    if keyword is None or isinstance(value, bytes):
        return f"{keyword or identifier}=#{_value_in_der(attribute).hex()}"
    return f"{keyword}={_escaped(value)}"


def _escaped(value: str) -> str:
    text = "".join(f"\\{sign}" if sign in ESCAPED else sign for sign in value)
    text = text.replace("\0", "\\00")
    inner = text.strip(" ")
    if not inner:
        return "\\ " * len(text)
    begin = len(text) - len(text.lstrip(" "))
    return "\\ " * begin + inner + "\\ " * (len(text) - begin - len(inner))


def _value_in_der(attribute: "x509.NameAttribute[str | bytes]") -> bytes:
    """The value with its type and length: what follows the identifier in a name of its own."""
    from cryptography import x509

    data = x509.Name([attribute]).public_bytes()
    for _ in range(3):  # a sequence of sets of pairs
        data = _content(data)
    return _after_first(data)


def _content(data: bytes) -> bytes:
    """The content of a value in DER."""
    length = data[1]
    return data[2 + (length & ~LONG_LENGTH if length & LONG_LENGTH else 0) :]


def _after_first(data: bytes) -> bytes:
    """The bytes after the first value; object identifiers are short."""
    return data[2 + data[1] :]
