"""Clients elsewhere: in a network of their own, where brokers have other addresses."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.commands.test_serve import served

pytest.importorskip("kafka")
SECONDS = 60
NAMESPACE = f"tidegauge-{os.getpid()}"
OURS, THEIRS = "10.231.77.1", "10.231.77.2"
ROUND_TRIP = """
import json, sys
from kafka import KafkaConsumer, KafkaProducer
producer = KafkaProducer(bootstrap_servers=sys.argv[1], acks="all")
partition = producer.send("orders", b"paid").get(20).partition
consumer = KafkaConsumer(
    "orders", bootstrap_servers=sys.argv[1], group_id="g", auto_offset_reset="earliest"
)
value = next(consumer).value.decode()
hosts = sorted({f"{each.host}:{each.port}" for each in consumer._client.cluster.brokers()})
print(json.dumps([value, hosts]))
consumer.close(); producer.close()
"""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=SECONDS)


def in_there(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, check=False, capture_output=True, text=True, timeout=SECONDS)


@pytest.fixture
def network() -> Iterator[list[str]]:
    """A network namespace joined to this one; the words that run a command in it."""
    inside = ["ip", "netns", "exec", NAMESPACE]
    with ExitStack() as cleanup:
        try:
            ip("netns", "add", NAMESPACE)
            cleanup.callback(ip, "netns", "del", NAMESPACE)  # and the links with it
            ip("link", "add", "tide0", "type", "veth", "peer", "name", "tide1")
            cleanup.callback(in_there, ["ip", "link", "del", "tide0"])
            ip("link", "set", "tide1", "netns", NAMESPACE)
            ip("addr", "add", f"{OURS}/30", "dev", "tide0")
            ip("link", "set", "tide0", "up")
            ip(*inside[1:], "ip", "addr", "add", f"{THEIRS}/30", "dev", "tide1")
            ip(*inside[1:], "ip", "link", "set", "tide1", "up")
        except (OSError, subprocess.CalledProcessError) as refusal:
            pytest.skip(f"needs the right to join network namespaces: {refusal}")
        yield inside


def test_each_listener_tells_its_clients_addresses_that_they_reach(network: list[str]) -> None:
    words = ("--port", "0", "--json", "--brokers", "2")
    outside = f"OUTSIDE=0.0.0.0,advertise={OURS}"
    with served(*words, "--listener", outside) as (_, line):
        listeners = json.loads(line)["listeners"]
        for name, there in (("OUTSIDE", network), ("PLAINTEXT", [])):
            client = [*there, sys.executable, "-c", ROUND_TRIP, listeners[name]]
            found = in_there(client)
            assert found.returncode == 0, found.stderr
            value, hosts = json.loads(found.stdout)
            assert (value, hosts) == ("paid", sorted(listeners[name].split(",")))
    assert listeners["OUTSIDE"].count(OURS) == 2


def test_clients_elsewhere_are_told_the_advertised_host(network: list[str]) -> None:
    words = ("--host", "0.0.0.0", "--port", "0", "--advertise", OURS)
    with served(*words) as (_, line):
        servers = line.strip().removeprefix("bootstrap.servers=")
        client = [*network, sys.executable, "-c", ROUND_TRIP, servers]
        found = in_there(client)
        assert found.returncode == 0, found.stderr
        assert json.loads(found.stdout)[0] == "paid"
