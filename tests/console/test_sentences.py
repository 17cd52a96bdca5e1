"""What the console says of a cluster in trouble, in both modes: what is so, why, and until when."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from commands.language.statements.show import Show
from commands.output.grids import as_text
from commands.output.show_tables import grids
from commands.runs.live import live_source
from console.model.workspace import Stage
from console.render.authority import authority_parts
from console.render.bars import header_line
from console.render.broker_columns import broker_lines
from console.render.inspector import partition_lines
from console.render.lines import text_of
from console.render.overview import control_lines, healthy_sentence
from console.render.verdict import verdict_line
from emulator.events import PartitionStateChanged
from sessions.sources.live import LiveSource

WIDTH: Final = 200
ZOOKEEPER: Final = "cluster --brokers 3 --version 2.4 --config zookeeper.session.timeout.ms=6000\n"
KRAFT: Final = "cluster --brokers 3 --controllers 3 --version 4.1 --mode kraft\n"
TOPIC: Final = """\
topic create orders --replica-assignment 1:2:0 --config min.insync.replicas=2
wait until orders-0.leader == 1
produce orders --count 3 --acks all
"""


class Said:
    """What the screens say after a script."""

    def __init__(self, source: LiveSource) -> None:
        self.stage = stage = Stage(source, paused=True)
        stage.follow()
        self.header = text_of(header_line(stage, WIDTH))
        self.verdict = text_of(verdict_line(stage, WIDTH))
        self.health = healthy_sentence(stage)
        self.control = "\n".join(map(text_of, control_lines(stage, WIDTH)))
        self.partition = stage.view.partitions["orders-0"]
        self.statuses = list(stage.view.statuses(self.partition))
        self.inspector = "\n".join(map(text_of, partition_lines(stage, self.partition, WIDTH)))

    def broker(self, broker: int) -> str:
        """What a broker's drawer says."""
        return "\n".join(
            map(text_of, broker_lines(self.stage, self.stage.view.state.brokers[broker], WIDTH))
        )


After = Callable[[str], Said]
"""Runs a script; returns what is said afterwards."""


@pytest.fixture
def said(tmp_path: Path) -> Iterator[After]:
    """Runs a script, and returns what is said afterwards."""
    opened = []

    def after(script: str) -> Said:
        path = tmp_path / "script.tide"
        path.write_text(script)
        source, recorder = live_source(path, None, {}, ())
        opened.append((source, recorder))
        return Said(source)

    yield after
    for source, recorder in opened:
        source.close()
        recorder.close()


def test_a_paused_replica_is_named_as_the_reason_for_a_shrunk_isr(said: After) -> None:
    found = said(
        ZOOKEEPER
        + TOPIC
        + "replica pause orders-0@2\nproduce orders --acks 1\nwait 30s\nproduce orders --acks 1\n"
    )
    assert "under_replicated" in found.statuses
    assert "ISR lost 2: it had not fetched for" in found.inspector
    assert "because replica 2 was paused (#" in found.inspector
    assert "INPUT replica pause orders-0@2" in found.inspector
    assert "HW orders-0" not in found.inspector


def test_a_state_is_not_explained_by_later_events_that_do_not_change_it(said: After) -> None:
    found = said(ZOOKEEPER + TOPIC + "broker crash 2\nwait 20s\nproduce orders --count 9\nsettle\n")
    first = next(
        event.seq
        for event in found.stage.source.events(1, found.stage.source.last_seq)
        if isinstance(event, PartitionStateChanged) and 2 not in event.isr
    )
    assert found.stage.explainer.seq(found.stage.view.state, found.partition) == first


def test_without_zookeeper_nothing_is_well(said: After) -> None:
    cut = "".join(f"network cut {broker} zk\n" for broker in range(3))
    at_once = said(ZOOKEEPER + TOPIC + cut + "wait 1s\n")
    later = said(ZOOKEEPER + TOPIC + cut + "wait 12s\n")
    for found in (at_once, later):
        assert "ZOOKEEPER UNREACHABLE: nobody can elect" in found.verdict
        assert "ZooKeeper is unreachable from 3 brokers." in found.health
        assert "No faults" not in found.health
    assert "cut off from ZooKeeper" in at_once.control


def test_a_crashed_controller_controls_nothing(said: After) -> None:
    found = said(ZOOKEEPER + TOPIC + "broker crash 0\nwait 1s\n")
    assert (
        "WRITES BLOCKED: 1 partition waits for broker 0, until 00:00:09 at the latest"
        in found.verdict
    )
    assert "NO CONTROLLER" in found.verdict
    assert "broker 0 (dead)  nobody controls since 00:00:00." in found.control
    assert "; next at 00:00:08." in found.control
    table = as_text(grids(Show("cluster", ""), found.stage.view))
    assert "0 (dead)" in table


def test_several_brokers_are_waited_for(said: After) -> None:
    found = said(ZOOKEEPER + TOPIC + "broker freeze 0\nbroker freeze 2\nwait 1s\n")
    assert "writes acks=all waits for brokers 2 and 0" in found.inspector


def test_one_broker_that_is_cut_off_is_not_called_several(said: After) -> None:
    found = said(ZOOKEEPER + TOPIC + "network cut 2 zk\nwait 1s\n")
    assert "cut off from ZooKeeper" in found.verdict
    assert "brokers cut off" not in found.verdict


def test_a_quorum_without_a_majority_is_lost(said: After) -> None:
    crashes = "controller crash 101\ncontroller crash 102\n"
    found = said(KRAFT + TOPIC + crashes)
    assert "QUORUM LOST: 1 of 3 controllers run, nobody can elect" in found.verdict
    assert "No faults" not in found.health


@pytest.mark.parametrize("mode", [ZOOKEEPER, KRAFT])
@pytest.mark.parametrize(("fault", "verb"), [("crash", "crashed"), ("freeze", "froze")])
def test_writes_wait_for_a_dead_broker_in_the_isr(
    said: After, mode: str, fault: str, verb: str
) -> None:
    found = said(f"{mode}{TOPIC}broker {fault} 2\nwait 1s\n")
    assert found.statuses[0] == "waiting"
    assert "wait 1" in found.header
    assert "writes acks=all waits for broker 2" in found.inspector
    assert "at the latest" in found.inspector
    assert f"because broker 2 {verb} (#" in found.inspector
    assert "WRITES BLOCKED: 1 partition waits for broker 2, until 00:00:" in found.verdict
    assert found.stage.index.faults == 1
    over = said(f"{mode}{TOPIC}broker {fault} 2\nwait 60s\n")
    assert "waiting" not in over.statuses
    assert "WRITES BLOCKED" not in over.verdict


def test_nobody_leads_while_the_leader_is_dead_and_a_former_one_is_isolated(
    said: After,
) -> None:
    found = said(
        "cluster --brokers 4 --version 2.4 --config zookeeper.session.timeout.ms=6000\n"
        "topic create orders --replica-assignment 1:2 --config min.insync.replicas=2\n"
        "wait until orders-0.leader == 1\nproduce orders --count 3\n"
        "network isolate 1\nwait 12s\nbroker crash 2\nwait 1s\n"
    )
    assert found.statuses[0] == "leaderless"
    assert "writes nobody takes them" in found.inspector
    assert "1 former" in found.inspector


def test_a_frozen_broker_is_called_frozen_everywhere(said: After) -> None:
    found = said(ZOOKEEPER + TOPIC + "broker freeze 1\nwait 20s\n")
    assert "1 broker frozen." in found.health
    assert "1 frozen" in found.inspector
    assert "broker 1 (frozen) leader 1" in found.inspector
    assert "(offline)" not in found.inspector
    assert found.inspector.count(" leader  ") == 1


def test_a_leader_from_the_elr_is_clean(said: After) -> None:
    found = said(
        KRAFT
        + TOPIC
        + "broker crash 2\nwait 12s\nreplica pause orders-0@0\nproduce orders --acks 1\n"
        "wait 60s\nbroker crash 1\nwait 12s\n"
    )
    leader = found.partition.leader
    assert leader == 0
    assert not found.partition.unclean
    assert "unclean" not in found.statuses


def test_an_unclean_leader_is_unclean_in_kraft(said: After) -> None:
    found = said(
        "cluster --brokers 3 --version 3.9 --mode kraft\n"
        "topic create orders --replica-assignment 0:1 --config unclean.leader.election.enable=true"
        "\nwait until orders-0.leader == 0\nproduce orders --count 3\n"
        "broker crash 1\nwait 30s\nbroker crash 0\nwait 12s\nbroker start 1\nwait 12s\n"
    )
    assert found.partition.leader == 1
    assert "unclean" in found.statuses


def test_partitions_are_healthy_since_they_exist(said: After) -> None:
    assert (
        said(ZOOKEEPER + TOPIC).health == "No faults. 1 of 1 partitions healthy since they exist."
    )


@pytest.mark.parametrize("mode", [ZOOKEEPER, KRAFT])
def test_a_frozen_broker_still_believes_what_nobody_does(said: After, mode: str) -> None:
    at_once = said(f"{mode}{TOPIC}broker freeze 1\nwait 1s\n").broker(1)
    later = said(f"{mode}{TOPIC}broker freeze 1\nwait 20s\n").broker(1)
    for drawer in (at_once, later):
        assert "frozen since 00:00:" in drawer
        assert "still believes it leads 1 partition" in drawer
    assert "others still agree, until its session ends" in at_once
    assert "nobody agrees since 00:00:" in later


def test_the_brokers_screen_says_who_controls_and_who_reaches_zookeeper(said: After) -> None:
    stage = said(ZOOKEEPER + TOPIC + "network cut 2 zk\nwait 1s\n").stage
    assert authority_parts(stage) == ["controller broker 0", "2 of 3 reach ZooKeeper"]
    stage = said(ZOOKEEPER + TOPIC + "broker crash 0\nwait 1s\n").stage
    assert authority_parts(stage) == ["controller broker 0 (dead)", "2 of 2 reach ZooKeeper"]
    stage = said(KRAFT + TOPIC + "wait 1s\n").stage
    assert authority_parts(stage) == ["controller 100"]
