"""Real clients that prove who they are by certificates (mutual TLS), and those that cannot."""

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.commands.test_serve import served

confluent_kafka = pytest.importorskip("confluent_kafka")
kafka = pytest.importorskip("kafka")
from confluent_kafka.admin import (  # noqa: E402
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

pytestmark = pytest.mark.clients

SECONDS = 30
ALICE = "CN=alice,OU=Billing,O=Acme\\, Inc."
PEM = serialization.Encoding.PEM


def made(folder: Path, name: str, *more: tuple[x509.ObjectIdentifier, str]) -> Path:
    """An authority ``NAME-ca.pem``, and a certificate that it has signed with its key, NAME.pem."""
    now = datetime.now(UTC)
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"authority of {name}")])
    subject = x509.Name(
        [x509.NameAttribute(*pair) for pair in (*more, (NameOID.COMMON_NAME, name))]
    )

    def signed(
        owner: x509.Name, owners: ec.EllipticCurvePrivateKey, *, is_authority: bool
    ) -> bytes:
        certificate = (
            x509.CertificateBuilder()
            .subject_name(owner)
            .issuer_name(issuer)
            .public_key(owners.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
            .sign(authority_key, hashes.SHA256())
        )
        return bytes(certificate.public_bytes(PEM))

    (folder / f"{name}-ca.pem").write_bytes(signed(issuer, authority_key, is_authority=True))
    private = key.private_bytes(
        PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    own = folder / f"{name}.pem"
    own.write_bytes(signed(subject, key, is_authority=False) + private)
    return own


Served = tuple[subprocess.Popen[str], dict[str, Any], Path]


@pytest.fixture
def mutual(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    """A cluster whose clients need certificates, or may have some, with an authorizer."""
    acme = (
        (NameOID.ORGANIZATION_NAME, "Acme, Inc."),
        (NameOID.ORGANIZATIONAL_UNIT_NAME, "Billing"),
    )
    made(tmp_path, "alice", *acme)
    made(tmp_path, "mallory")
    words = ["--port", "0", "--json", "--protocol", "SSL", "--version", "4.1", "--brokers", "1"]
    words += ["--tls-client-ca", str(tmp_path / "alice-ca.pem")]
    words += [
        "--config",
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    ]
    words += ["--config", f"super.users=User:{ALICE}", *request.param]
    with served(*words) as (process, line):
        yield process, json.loads(line), tmp_path


def client_of(served_at: dict[str, Any], own: Path | None) -> dict[str, Any]:
    shown = {} if own is None else {"ssl.certificate.location": own, "ssl.key.location": own}
    return {
        "bootstrap.servers": served_at["bootstrap_servers"],
        "security.protocol": "SSL",
        "ssl.ca.location": served_at["certificate_authority"],
        "log_level": 0,
        **{name: str(value) for name, value in shown.items()},
    }


def narrated(process: subprocess.Popen[str]) -> str:
    process.terminate()
    return process.communicate(timeout=SECONDS)[1]


@pytest.mark.parametrize("mutual", [()], indirect=True)
def test_a_certificate_says_who_a_client_is(mutual: Served) -> None:
    _, where, folder = mutual
    alice = AdminClient(client_of(where, folder / "alice.pem"))
    allowed = AclBinding(
        *(ResourceType.TOPIC, "orders", ResourcePatternType.LITERAL, "User:CN=bob", "*"),
        *(AclOperation.READ, AclPermissionType.ALLOW),
    )
    alice.create_acls([allowed])[allowed].result(SECONDS)
    producer = confluent_kafka.Producer(client_of(where, folder / "alice.pem"))
    producer.produce("orders", b"paid")
    assert producer.flush(SECONDS) == 0
    own = str(folder / "alice.pem")
    reader = kafka.KafkaConsumer(
        "orders",
        bootstrap_servers=where["bootstrap_servers"],
        security_protocol="SSL",
        ssl_cafile=where["certificate_authority"],
        ssl_certfile=own,
        ssl_keyfile=own,
        auto_offset_reset="earliest",
        consumer_timeout_ms=SECONDS * 1000,
    )
    assert next(reader).value == b"paid"
    reader.close()


@pytest.mark.parametrize("mutual", [()], indirect=True)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (None, "peer did not return a certificate"),
        ("mallory.pem", "certificate verify failed"),
    ],
)
def test_others_are_turned_away_and_the_log_says_why(
    mutual: Served, name: str | None, reason: str
) -> None:
    process, where, folder = mutual
    errors: list[Any] = []
    client = client_of(where, None if name is None else folder / name)
    producer = confluent_kafka.Producer({**client, "error_cb": errors.append})
    for _ in range(SECONDS * 10):
        producer.poll(0.1)
        if errors:
            break
    assert errors
    told = narrated(process)
    assert re.search(rf"127\.0\.0\.1:\d+ is turned away in the TLS handshake: {reason}", told)


@pytest.mark.parametrize("mutual", [("--config", "ssl.client.auth=requested")], indirect=True)
def test_without_a_certificate_that_is_only_requested_a_client_is_anonymous(mutual: Served) -> None:
    _, where, folder = mutual
    producer = confluent_kafka.Producer(client_of(where, folder / "alice.pem"))
    producer.produce("orders", b"paid")
    assert producer.flush(SECONDS) == 0
    failed: list[Any] = []
    anonymous = confluent_kafka.Producer(client_of(where, None))
    anonymous.produce("orders", b"forged", on_delivery=lambda error, _: failed.append(error))
    assert anonymous.flush(SECONDS) == 0
    assert [error.code() for error in failed] == [
        confluent_kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED
    ]
