"""The plugin as another project's tests use it: in a process of its own, by its entry point."""

import os
import re
import subprocess
import sys
from pathlib import Path

from commands.cli.main import run_program
from commands.exits import ExitCode
from sessions.playback.verify import verify

ROOT = Path(__file__).parents[2]

DESCRIBED = """\
Topic: orders	PartitionCount: 1	ReplicationFactor: 2	Configs:
	Topic: orders	Partition: 0	Leader: 8	Replicas: 7,8	Isr: 8,7
"""
SUITE = """
import asyncio
import socket
import sys

import pytest


def test_each_has_its_own(kafka_cluster):
    assert kafka_cluster.bootstrap_servers.count(":") == 3
    assert not {"commands", "console", "emulator", "sessions"} & set(sys.modules)


@pytest.mark.kafka(brokers=2, version="2.8", seed=7, config={"min.insync.replicas": 2})
def test_options(kafka_cluster):
    result = kafka_cluster.result()
    assert (len(result["brokers"]), result["version"], result["seed"]) == (2, "2.8", 7)


@pytest.mark.kafka(version="3.9", mode="kraft", controllers=3)
def test_without_zookeeper(kafka_cluster):
    active = kafka_cluster.controller()
    kafka_cluster.crash(active)
    one, other = {100, 101, 102} - {active}
    kafka_cluster.wait_until(f"controller.broker in [{one},{other}]")
    kafka_cluster.start(active)


def test_acts_and_looks(kafka_cluster):
    kafka_cluster.run("topic create orders --replica-assignment 0:1:2")
    kafka_cluster.wait_until("orders-0.leader == 0")
    kafka_cluster.run("produce orders --value paid --acks all")
    kafka_cluster.crash(0)
    kafka_cluster.wait_until("orders-0.leader == 1")
    kafka_cluster.start(0)
    kafka_cluster.wait_until("orders-0.isr == [0,1,2]")
    assert kafka_cluster.leader("orders") == 1
    assert kafka_cluster.isr("orders") == [0, 1, 2]
    assert kafka_cluster.high_watermark("orders") == 1
    assert kafka_cluster.records("orders") == kafka_cluster.records("orders", broker=0) == ["paid"]
    kafka_cluster.assert_nothing_lost()


def test_faults_are_counted(kafka_cluster):
    kafka_cluster.inject("Fetch", "NOT_LEADER_OR_FOLLOWER", times=2, topic="orders", name="few")
    fault = kafka_cluster.inject("ApiVersions", delay="5ms")
    assert fault.injected == 0
    host, port = kafka_cluster.bootstrap_servers.split(",")[0].split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(bytes.fromhex("0000000a 0012 0000 00000001 ffff"))
        fault.wait()
        assert client.recv(4096)
    assert kafka_cluster.faults == {
        "few": {"api": "Fetch", "effect": "NOT_LEADER_OR_FOLLOWER", "injected": 0, "left": 2},
        fault.name: {"api": "ApiVersions", "effect": "--delay 5ms", "injected": 1, "left": 0},
    }


@pytest.mark.kafka(image="prod.cluster.json")
def test_in_the_state_of_an_image(kafka_cluster):
    assert (kafka_cluster.leader("orders"), kafka_cluster.isr("orders")) == (8, [7, 8])
    assert kafka_cluster.result()["version"] == "4.1"
    kafka_cluster.crash(8)
    kafka_cluster.wait_until("orders-0.leader == 7")


def test_a_refusal_is_an_error(kafka_cluster):
    with pytest.raises(Exception, match="did you mean 'broker'"):
        kafka_cluster.run("brokr crash 1")
    with pytest.raises(Exception, match="no broker 9"):
        kafka_cluster.crash(9)


def test_in_coroutines(kafka_cluster):
    async def scene():
        await kafka_cluster.aio.freeze(1)
        await asyncio.gather(kafka_cluster.aio.run("wait 50ms"), kafka_cluster.aio.thaw(1))
        return await kafka_cluster.aio.controller()

    assert asyncio.run(scene()) in (0, 1, 2)


@pytest.mark.kafka(3)
def test_refused_by_place(kafka_cluster):
    pass


@pytest.mark.kafka(broker=3)
def test_refused_by_name(kafka_cluster):
    pass


@pytest.mark.kafka(config={"min.insync.replica": 2})
def test_refused_by_the_cluster(kafka_cluster):
    pass


def test_fails(kafka_cluster):
    kafka_cluster.run("topic create orders --replica-assignment 0:1:2")
    assert kafka_cluster.leader("orders") == 99
"""


def test_a_suite_with_clusters(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "topics.txt").write_text(DESCRIBED)
    image = str(tmp_path / "prod.cluster.json")
    words = ["import", str(tmp_path / "topics.txt"), "--version", "4.1", "--out", image]
    assert run_program(words) == ExitCode.OK
    done = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "pytest", "-q"),
            *("-p", "no:cacheprovider", "--strict-markers", f"--basetemp={tmp_path}/kept"),
            "test_suite.py",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 failed, 8 passed, 3 errors" in done.stdout, done.stdout + done.stderr
    assert re.findall(r"^@pytest.mark.kafka(.*)", done.stdout, re.MULTILINE) == [
        " takes its options by name (brokers, version, mode, controllers, seed, config, protocol, "
        "users, image), not 3",
        " has no 'broker'; it has brokers, version, mode, controllers, seed, config, protocol, "
        "users, image",
        ": There is no configuration 'min.insync.replica'; the nearest is 'min.insync.replicas'",
    ]
    assert "During handling" not in done.stdout
    found = re.search(
        r"where the test failed: tidegauge replay (\S+) --paused --at end\n", done.stdout
    )
    assert found is not None
    assert verify(Path(found[1])).same
