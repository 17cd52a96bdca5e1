"""The names in certificates, as Java 17's ``X500Principal.getName`` writes them."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID as Oid

from sessions.gateway.distinguished_names import subject_of

Attributes = list[list[tuple[x509.ObjectIdentifier, str]]]
CN, OU = Oid.COMMON_NAME, Oid.ORGANIZATIONAL_UNIT_NAME
RARE = [
    *((Oid.SERIAL_NUMBER, "42"), (Oid.TITLE, "Dr"), (Oid.SURNAME, "y"), (Oid.USER_ID, "u")),
    *((Oid.DOMAIN_COMPONENT, "example"), (Oid.STREET_ADDRESS, "s 1"), (Oid.LOCALITY_NAME, "l")),
    (Oid.STATE_OR_PROVINCE_NAME, "st"),
]


@pytest.mark.parametrize(
    ("attributes", "written"),
    [
        (
            [[(Oid.COUNTRY_NAME, "DE")], [(Oid.ORGANIZATION_NAME, "Acme, Inc.")], [(CN, "alice")]],
            "CN=alice,O=Acme\\, Inc.,C=DE",
        ),
        ([[(CN, 'a=b+c<d>#e;"f\\g')]], 'CN=a\\=b\\+c\\<d\\>\\#e\\;\\"f\\\\g'),
        ([[(CN, "  two  ")]], "CN=\\ \\ two\\ \\ "),
        ([[(CN, "   ")]], "CN=\\ \\ \\ "),
        ([[(CN, "Zoë 株式会社")]], "CN=Zoë 株式会社"),
        (
            [[(Oid.EMAIL_ADDRESS, "a@b.example")], [(CN, "mail")]],
            "CN=mail,1.2.840.113549.1.9.1=#160b6140622e6578616d706c65",
        ),
        (
            [[(Oid.EMAIL_ADDRESS, "a" * 200 + "@b")], [(CN, "#long")]],
            f"CN=\\#long,1.2.840.113549.1.9.1=#1681ca{'61' * 200}4062",
        ),
        (
            [[pair] for pair in RARE],
            "ST=st,L=l,STREET=s 1,DC=example,UID=u,2.5.4.4=#0c0179,2.5.4.12=#0c024472,"
            "2.5.4.5=#13023432",
        ),
        ([[(CN, "x"), (OU, "y")], [(CN, "z")]], "CN=z,CN=x+OU=y"),
        ([], ""),
    ],
)
def test_names_are_those_of_kafkas_principals(attributes: Attributes, written: str) -> None:
    name = x509.Name(
        [
            x509.RelativeDistinguishedName([x509.NameAttribute(*pair) for pair in pairs])
            for pairs in attributes
        ]
    )
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime(2026, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    assert subject_of(certificate.public_bytes(Encoding.DER)) == written
