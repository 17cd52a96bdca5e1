"""Kafka's client.properties become the settings of the client."""

from pathlib import Path

import pytest

from sessions.own_cluster.client_properties import client_settings, parse, read_properties
from sessions.own_cluster.reading import SourceError

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_properties_are_those_of_java(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text(
        "# a comment\n! another\n\n  a = 1 \nb:2\nc\\=d=e\\u0041\\n\n"
        "long=one, \\\n    two\nempty=\n"
    )
    assert read_properties(path) == {
        "a": "1",
        "b": "2",
        "c=d": "eA\n",
        "long": "one, two",
        "empty": "",
    }


def test_without_properties_the_connection_is_plain() -> None:
    assert client_settings({}) == {"security_protocol": "PLAINTEXT"}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_sasl_takes_name_and_password_from_the_jaas_configuration(mechanism: str) -> None:
    text = (
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\n"
        f'sasl.jaas.config={PLAIN} required username="me" password="a;\\\\"b";\n'
        "request.timeout.ms=5000\n"
    )
    assert client_settings(parse(text)) == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "me",
        "sasl_plain_password": 'a;"b',
        "request_timeout_ms": 5000,
    }


def test_tls_checks_the_host_unless_it_is_switched_off() -> None:
    checked = client_settings({"security.protocol": "SSL"})
    assert checked["ssl_check_hostname"]
    free = client_settings(
        {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": ""}
    )
    assert not free["ssl_check_hostname"]
    assert not free["ssl_context"].check_hostname


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"security.protocol": "TLS"}, "may be PLAINTEXT, SSL"),
        ({"security.protocol": "SASL_SSL"}, "sasl.mechanism is 'GSSAPI', and may be PLAIN"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"},
            "must have a username and a password",
        ),
        (
            {"security.protocol": "SSL", "ssl.truststore.location": "/x.jks"},
            "only PEM can be read",
        ),
        (
            {
                "security.protocol": "SSL",
                "ssl.truststore.location": "/missing.pem",
                "ssl.truststore.type": "PEM",
            },
            "the certificates cannot be used",
        ),
        (
            {"security.protocol": "SSL", "ssl.truststore.certificates": "no certificate"},
            "the certificates cannot be used",
        ),
        ({"request.timeout.ms": "soon"}, "must be a number"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(properties: dict[str, str], reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        client_settings(properties)
