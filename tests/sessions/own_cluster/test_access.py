"""SCRAM users, quotas, listeners and log directories, from each source that has them.

``recordings/access`` has what Kafka's tools printed of a real cluster with two listeners and two
log directories, and its metadata log; of a broker's configurations those that are not defaults.
"""

import json
import time
from pathlib import Path

import pytest

from emulator.cluster_image.document import decode, encode
from emulator.cluster_image.image import (
    DEFAULT,
    Broker,
    ClientQuota,
    ClusterImage,
    Listener,
    ScramUser,
)
from sessions.own_cluster.comparison import compare
from sessions.own_cluster.importing import import_sources, read_source
from sessions.own_cluster.merging import merge
from sessions.own_cluster.reading import Authority, Reading

REAL = Path(__file__).parent / "recordings" / "access" / "kraft-4.1.2"
USERS = (ScramUser("bob,the builder", {"SCRAM-SHA-512": 4_096}),)
QUOTAS = (
    ClientQuota(client_id=DEFAULT, values={"consumer_byte_rate": 4_096.0}),
    ClientQuota(ip="127.0.0.9", values={"connection_creation_rate": 10.0}),
    ClientQuota(ip=DEFAULT, values={"connection_creation_rate": 99.0}),
    ClientQuota(user=DEFAULT, values={"request_percentage": 50.0}),
    ClientQuota(DEFAULT, "it's a client", values={"controller_mutation_rate": 5.0}),
    ClientQuota("alice", "app-1", values={"producer_byte_rate": 10_485_760.0}),
)
"""What was set on the recorded cluster."""
LISTENERS = {
    1: (
        Listener("PLAINTEXT", "127.0.0.1", 34_097, "PLAINTEXT"),
        Listener("CLIENTS", "127.0.0.1", 51_523, "SASL_PLAINTEXT"),
    ),
    2: (
        Listener("PLAINTEXT", "127.0.0.1", 60_001, "PLAINTEXT"),
        Listener("CLIENTS", "127.0.0.1", 39_955, "SASL_PLAINTEXT"),
    ),
}


def by_entity(*quotas: ClientQuota) -> dict[tuple[str, str, str], dict[str, float]]:
    return {(quota.user, quota.client_id, quota.ip): quota.values for quota in quotas}


def imported(tmp_path: Path, name: str, text: str) -> ClusterImage:
    (tmp_path / name).write_text(text)
    return read_source(str(tmp_path / name)).image


@pytest.mark.parametrize("source", ["users.txt", "metadata"])
def test_users_and_quotas_are_those_that_were_set(source: str) -> None:
    image = read_source(str(REAL / source)).image
    assert image.users == USERS
    assert by_entity(*image.quotas) == by_entity(*QUOTAS)


def test_listeners_are_those_that_brokers_advertise() -> None:
    image = read_source(str(REAL / "metadata")).image
    assert {broker.id: broker.listeners for broker in image.brokers} == LISTENERS
    assert (image.brokers[0].host, image.brokers[0].port) == ("127.0.0.1", 34_097)
    [told] = read_source(str(REAL / "broker-1.txt")).image.brokers
    assert told.listeners == LISTENERS[1]


def test_all_sources_together_agree_and_name_what_brokers_do_not_tell() -> None:
    result = import_sources([str(path) for path in sorted(REAL.iterdir())])
    assert result.contradictions == ()
    assert {broker.id: broker.log_dirs for broker in result.image.brokers} == {
        1: ("/kafka/data1", "/kafka/more1"),
        2: ("/kafka/more2", "/kafka/data2"),
    }
    assert all(len(broker.directories or ()) == 2 for broker in result.image.brokers)
    assert "allow.everyone.if.no.acl.found and super.users: not set" in map(str, result.assumed)
    assert decode(encode(result.image)) == result.image


def test_zookeeper_has_them_below_config(tmp_path: Path) -> None:
    secret = "salt=c2FsdA==,stored_key=c3RvcmVk,server_key=c2VydmVy,iterations=8192"
    configs = {
        "users/alice": {"SCRAM-SHA-256": secret, "producer_byte_rate": "1024"},
        "users/bob%2Cthe%20builder": {"SCRAM-SHA-512": secret},
        "users/<default>": {"request_percentage": "50"},
        "users/<default>/clients/it%27s%20a%20client": {"controller_mutation_rate": "5"},
        "clients/<default>": {"consumer_byte_rate": "no number"},
        "clients/app": {"consumer_byte_rate": "4096.5"},
        "ips/127.0.0.9": {"connection_creation_rate": "10"},
    }
    broker = {
        "endpoints": ["INSIDE://kafka-1:9093", "OUT://[2001:db8::1]:9094"],
        "listener_security_protocol_map": {"INSIDE": "SSL"},
        "host": None,
        "port": -1,
    }
    znodes = {"/brokers/ids/1": {"data": json.dumps(broker)}}
    for path, values in configs.items():
        data = json.dumps({"version": 1, "config": values})
        znodes[f"/config/{path}"] = {"data": data}
    image = imported(tmp_path, "zookeeper.json", json.dumps(znodes))
    assert image.users == (
        ScramUser("alice", {"SCRAM-SHA-256": 8_192}),
        ScramUser("bob,the builder", {"SCRAM-SHA-512": 8_192}),
    )
    assert by_entity(*image.quotas) == {
        ("alice", "", ""): {"producer_byte_rate": 1_024.0},
        (DEFAULT, "", ""): {"request_percentage": 50.0},
        (DEFAULT, "it's a client", ""): {"controller_mutation_rate": 5.0},
        ("", "app", ""): {"consumer_byte_rate": 4_096.5},
        ("", "", "127.0.0.9"): {"connection_creation_rate": 10.0},
    }
    assert image.brokers[0].listeners == (
        Listener("INSIDE", "kafka-1", 9_093, "SSL"),
        Listener("OUT", "2001:db8::1", 9_094, "OUT"),
    )
    assert (image.brokers[0].host, image.brokers[0].port) == ("kafka-1", 9_093)
    assert b"c3RvcmVk" not in encode(image)


def test_older_tools_print_the_keys_of_users_which_are_left_out(tmp_path: Path) -> None:
    text = (
        "Configs for user-principal 'alice' are SCRAM-SHA-256=salt=a=,stored_key=b=,server_key=c=,"
        "iterations=8192,producer_byte_rate=1024,SCRAM-SHA-512=salt=d,stored_key=e,server_key=f,"
        "iterations=4096\n"
        "Configs for user-principal 'alice', client-id 'app' are consumer_byte_rate=2048\n"
        "Configs for default user-principal are request_percentage=50\n"
    )
    image = imported(tmp_path, "users.txt", text)
    assert image.users == (ScramUser("alice", {"SCRAM-SHA-256": 8_192, "SCRAM-SHA-512": 4_096}),)
    assert by_entity(*image.quotas) == {
        ("alice", "", ""): {"producer_byte_rate": 1_024.0},
        ("alice", "app", ""): {"consumer_byte_rate": 2_048.0},
        (DEFAULT, "", ""): {"request_percentage": 50.0},
    }


@pytest.mark.parametrize(
    ("described", "name"),
    [("bob%2Cthe%20builder", "bob,the builder"), ("100%", "100%"), ("50%20 off", "50%20 off")],
)
def test_brokers_with_zookeeper_encode_names_of_users(
    described: str, name: str, tmp_path: Path
) -> None:
    text = f"SCRAM credential configs for user-principal '{described}' are "
    image = imported(tmp_path, "users.txt", text + "SCRAM-SHA-512=iterations=4096\n")
    assert image.users == (ScramUser(name, {"SCRAM-SHA-512": 4_096}),)


SIZE = 250_000


@pytest.mark.parametrize(
    "text",
    [
        "Configs for topic 'a' are:\nConfigs for " + "user-principal '" * (SIZE // 16) + "x are x",
        "Configs for user-principal 'a' are " + "SCRAM-SHA-1=salt=" * (SIZE // 17),
        "Configs for topic 'a' are:\n  a=" + " synonyms={" * (SIZE // 11),
        f"Configs for broker 1 are:\n  listeners={' ' * SIZE} synonyms={{STATIC_BROKER_CONFIG:}}",
        "\n" * 60_000 + "Configs for topic 'a' are:",
    ],
)
def test_a_long_line_is_read_in_one_pass(text: str, tmp_path: Path) -> None:
    began = time.process_time()
    imported(tmp_path, "configs.txt", text)
    assert time.process_time() - began < 1


def test_what_changed_is_said_in_words() -> None:
    limited = ClientQuota("alice", "app", values={"producer_byte_rate": 1.0})
    before = ClusterImage(
        users=(ScramUser("alice", {"SCRAM-SHA-256": 4_096}), ScramUser("eve")),
        quotas=(limited, ClientQuota(ip="::1", values={"connection_creation_rate": 1.0})),
        brokers=(Broker(1, listeners=LISTENERS[1]),),
    )
    after = ClusterImage(
        users=(ScramUser("alice", {"SCRAM-SHA-256": 8_192}), ScramUser("bob")),
        quotas=(ClientQuota("alice", "app", values={"producer_byte_rate": 2.0}),),
        brokers=(Broker(1, listeners=LISTENERS[2][:1]),),
    )
    assert compare(before, after) == [
        "SCRAM-SHA-256 iterations of user alice: 4096 -> 8192",
        "user bob: new",
        "user eve: gone",
        "quotas of address ::1: gone",
        "producer_byte_rate of quotas of user alice, client id app: 1.0 -> 2.0",
        "listener CLIENTS of broker 1: gone",
        "port of listener PLAINTEXT of broker 1: 34097 -> 60001",
    ]
    readings = [
        Reading(name, "test", Authority.METADATA, image)
        for name, image in (("first", before), ("second", after))
    ]
    assert [str(contradiction) for contradiction in merge(readings).contradictions] == [
        "SCRAM-SHA-256 iterations of user alice: 4096 in first wins over 8192 in second",
        "port of listener PLAINTEXT of broker 1: 34097 in first wins over 60001 in second",
        "producer_byte_rate of quotas of user alice, client id app: 1.0 in first wins over 2.0 in"
        " second",
    ]
