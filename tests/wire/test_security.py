"""Real clients that authenticate and encrypt, and those that fail to."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.commands.test_serve import served
from tidegauge.kafka_cluster import KafkaCluster

confluent_kafka = pytest.importorskip("confluent_kafka")
kafka = pytest.importorskip("kafka")
from kafka.errors import KafkaError, SaslAuthenticationFailedError  # noqa: E402

pytestmark = pytest.mark.clients

SECONDS = 30
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@pytest.fixture(scope="module", params=["SASL_PLAINTEXT", "SASL_SSL"])
def protected(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """A cluster whose clients authenticate: what its first line says, and the protocol."""
    words = ("--protocol", request.param, "--user", "alice:al-secret", "--port", "0", "--json")
    with served(*words) as (_, line):
        yield {**json.loads(line), "protocol": request.param}


def of_librdkafka(cluster: dict[str, Any], mechanism: str, password: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": cluster["bootstrap_servers"],
        "security.protocol": cluster["protocol"],
        "sasl.mechanism": mechanism,
        "sasl.username": "alice",
        "sasl.password": password,
        "ssl.ca.location": cluster.get("certificate_authority", ""),
        "log_level": 0,
    }


def of_kafka_python(cluster: dict[str, Any], mechanism: str, password: str) -> dict[str, Any]:
    return {
        "bootstrap_servers": cluster["bootstrap_servers"],
        "security_protocol": cluster["protocol"],
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "alice",
        "sasl_plain_password": password,
        "ssl_cafile": cluster.get("certificate_authority"),
    }


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_clients_with_the_password_are_served(protected: dict[str, Any], mechanism: str) -> None:
    topic = f"orders-{mechanism}"
    delivered: list[object] = []
    producer = confluent_kafka.Producer(of_librdkafka(protected, mechanism, "al-secret"))
    producer.produce(topic, b"paid", on_delivery=lambda error, _: delivered.append(error))
    assert producer.flush(SECONDS) == 0
    assert delivered == [None]
    reader = kafka.KafkaConsumer(
        topic,
        auto_offset_reset="earliest",
        consumer_timeout_ms=SECONDS * 1000,
        **of_kafka_python(protected, mechanism, "al-secret"),
    )
    assert next(reader).value == b"paid"
    reader.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_wrong_password_is_said(protected: dict[str, Any], mechanism: str) -> None:
    errors: list[Any] = []
    wanted = of_librdkafka(protected, mechanism, "wrong") | {"error_cb": errors.append}
    producer = confluent_kafka.Producer(wanted)
    for _ in range(SECONDS * 10):
        producer.poll(0.1)
        if any(each.code() == confluent_kafka.KafkaError._AUTHENTICATION for each in errors):
            break
    assert any(each.code() == confluent_kafka.KafkaError._AUTHENTICATION for each in errors)
    with pytest.raises((SaslAuthenticationFailedError, KafkaError)):
        kafka.KafkaAdminClient(
            bootstrap_timeout_ms=2_000,  # it goes on trying with the same password
            **of_kafka_python(protected, mechanism, "wrong"),
        ).list_topics()


@pytest.mark.kafka(brokers=1, protocol="SASL_SSL", users={"alice": "al-secret"})
def test_a_tests_cluster_authenticates_and_encrypts(kafka_cluster: KafkaCluster) -> None:
    cluster = {
        "bootstrap_servers": kafka_cluster.bootstrap_servers,
        "protocol": "SASL_SSL",
        "certificate_authority": kafka_cluster.certificate_authority,
    }
    producer = confluent_kafka.Producer(of_librdkafka(cluster, "PLAIN", "al-secret"))
    producer.produce("orders", b"paid")
    assert producer.flush(SECONDS) == 0
    assert kafka_cluster.records("orders")


def test_a_user_that_a_client_adds_is_let_in(protected: dict[str, Any]) -> None:
    from confluent_kafka.admin import (
        AdminClient,
        ScramCredentialInfo,
        ScramMechanism,
        UserScramCredentialUpsertion,
    )

    admin = AdminClient(of_librdkafka(protected, "PLAIN", "al-secret"))
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 8_192)
    new = UserScramCredentialUpsertion("bob", info, b"bobs-secret")
    admin.alter_user_scram_credentials([new])["bob"].result(SECONDS)
    wanted = of_librdkafka(protected, "SCRAM-SHA-256", "bobs-secret") | {"sasl.username": "bob"}
    assert AdminClient(wanted).list_topics(timeout=SECONDS).brokers
