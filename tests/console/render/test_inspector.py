import re

import pytest

from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.inspector import partition_lines
from console.render.lines import text_of, width_of
from sessions.model.folding import CACHE
from sessions.model.states import Belief
from tests.console.fakes import ListSource, failover


def stage_at(seq: int | None = None) -> Stage:
    stage = Stage(ListSource(failover(), at=seq))
    stage.follow()
    return stage


def shown(stage: Stage, tp: str, width: int = 50) -> list[str]:
    partition = stage.view.state.partitions[tp]
    return [text_of(row).rstrip() for row in partition_lines(stage, partition, width)]


def test_an_offline_partition_says_why() -> None:
    text = "\n".join(shown(stage_at(), "orders-5", 80))
    assert "OFFL the metadata names no leader" in text
    assert "leader none  epoch 1" in text
    assert "127 INPUT broker crash 1" in text
    assert "STATE orders-5 leader none" in text


def test_each_replica_has_a_line_with_what_the_leader_remembers() -> None:
    rows = shown(stage_at(126), "orders-1")
    title = next(index for index, row in enumerate(rows) if row.startswith("REPLICA"))
    assert rows[title + 1].split() == ["●", "2", "leader", "11", "7"]
    assert rows[title + 2].split() == ["●", "3", "follower", "11", "7", "11", "-"]
    assert rows[title + 3].split() == ["●", "1", "follower", "7", "7", "?", "4", "-"]


def test_disagreement_between_znode_and_leader_is_shown() -> None:
    stage = stage_at(150)
    partition = stage.view.state.partitions["orders-0"]
    partition.leader_isr = [1, 2, 3]
    text = "\n".join(text_of(row) for row in partition_lines(stage, partition, 50))
    assert "the leader acts on ISR [1,2,3]" in text


def test_who_believes_something_else_than_the_znode_says_is_named() -> None:
    stage = stage_at(150)
    partition = stage.view.state.partitions["orders-0"]
    stage.view.state.controller.broker = 3
    stage.view.state.brokers[2].live_brokers = [1, 2, 3]
    stage.view.state.beliefs["orders-0"] = {CACHE: None, 2: Belief(1, 7, [1], 9)}
    rows = shown(stage, "orders-0", 80)
    at = rows.index("DISAGREE with the znode")
    assert "  controller 3 leader unknown" in rows[at:]
    assert any(
        row.startswith("  clients of 2") and "epoch 7 isr [1] version 9" in row for row in rows
    )
    stage.view.state.beliefs.clear()
    for replica in partition.replica_states.values():
        replica.role = "offline"
    assert "clients of 2" not in " ".join(shown(stage, "orders-0", 80))


@pytest.mark.parametrize("width", [38, 48])
def test_what_others_believe_is_never_cut(width: int) -> None:
    stage = stage_at(150)
    stage.view.state.brokers[2].live_brokers = [1, 2, 3]
    stage.view.state.beliefs["orders-0"] = {2: Belief(1, 70, [1, 2, 3], 1_234_567)}
    rows = shown(stage, "orders-0", width)
    text = " ".join(" ".join(rows[rows.index("DISAGREE with the znode") :]).split())
    assert "clients of 2 leader 1 epoch 70 isr [1,2,3] version 1234567" in text


def test_losses_are_counted_and_moves_are_named() -> None:
    stage = stage_at()
    partition = stage.view.state.partitions["orders-0"]
    partition.lost = [(7, 1), (8, 2)]
    partition.adding, partition.removing = [4], [1]
    text = "\n".join(text_of(row) for row in partition_lines(stage, partition, 60))
    assert "AUDIT 2 lost (offset 7..)" in text
    assert "adding [4] removing [1]" in text


def test_releases_without_epochs_say_so() -> None:
    stage = stage_at()
    partition = stage.view.state.partitions["orders-0"]
    for replica in partition.replica_states.values():
        replica.epochs = None
    text = "\n".join(text_of(row) for row in partition_lines(stage, partition, 60))
    assert "none before 0.11" in text


@pytest.mark.parametrize("width", [30, 50, 80])
def test_no_line_is_wider_than_the_pane(width: int) -> None:
    stage = stage_at()
    for partition in stage.view.state.partitions.values():
        assert all(width_of(row) <= width for row in partition_lines(stage, partition, width))


def test_nothing_to_show_says_why_and_the_next_key() -> None:
    rows = [text_of(row) for row in nothing_lines("No faults here at all.", "f shows all", 20)]
    assert "".join(rows).replace(" ", "").startswith("Nofaultshereatall.")
    assert rows[-1].strip() == "f shows all"


@pytest.mark.parametrize("width", [38, 48, 78])
def test_until_when_writes_wait_is_said_to_the_end(width: int) -> None:
    stage = stage_at(133)
    text = " ".join(" ".join(shown(stage, "orders-0", width)).split())
    assert re.search(r"since [\d:.]+, until [\d:.]+ at the latest", text)
