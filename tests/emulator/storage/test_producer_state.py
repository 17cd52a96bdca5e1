"""The broker's memory of idempotent producers against recorded answers of twelve releases."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.common.errors import ERRORS
from emulator.protocol import RecordBatch
from emulator.protocol.record_batch import PLAIN, TRANSACTIONAL
from emulator.releases.profiles import PROFILES, Profile
from emulator.storage.log import Log, RecordBatches
from emulator.storage.producer_state import SEQUENCE_MAX, ProducerStates, advance
from tests.support.releases import profile_of

RECORDED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "golden" / "idempotence.json").read_text("utf-8")
)
NOW, FIRST, SECOND = PROFILES["3.9"], PROFILES["0.11"], PROFILES["1.1"]
OUT_OF_ORDER = ("OUT_OF_ORDER_SEQUENCE_NUMBER", -1)


class Leader:
    """A log with its table, and nothing else of a broker."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.log = Log()
        self.states = ProducerStates()

    def send(
        self,
        sequence: int,
        *,
        count: int = 1,
        epoch: int = 0,
        producer: int = 1000,
        kind: int = PLAIN,
    ) -> tuple[str, int]:
        """Let a producer send a batch; returns error and base offset."""
        batch = RecordBatch(self.log.end, count, 0, 0, producer, epoch, sequence, kind=kind)
        judged = self.states.check(self.profile, batch)
        if judged is not None:
            return judged
        self.log.append(batch)
        self.states.append(batch)
        return "NONE", batch.base_offset


@pytest.mark.parametrize("recorded", RECORDED, ids=[each["kafka"] for each in RECORDED])
def test_real_brokers_gave_the_same_responses(recorded: dict[str, Any]) -> None:
    leader = Leader(profile_of(recorded["kafka"]))
    for step in recorded["steps"]:
        error, offset = leader.send(
            step["base_sequence"],
            count=step["records"],
            epoch=step["epoch"],
            producer=ord(step["producer"]),
        )
        assert (ERRORS[error].code, offset) == (step["error"], step["base_offset"]), step


def seven_batches(profile: Profile) -> Leader:
    leader = Leader(profile)
    assert [leader.send(sequence) for sequence in range(7)] == [("NONE", n) for n in range(7)]
    return leader


def test_one_of_the_last_five_batches_is_answered_with_its_offset() -> None:
    leader = seven_batches(NOW)
    assert [leader.send(sequence) for sequence in (2, 6)] == [("NONE", 2), ("NONE", 6)]
    assert leader.send(1) == OUT_OF_ORDER
    assert leader.log.end == 7


@pytest.mark.parametrize(("sequence", "count"), [(7, 1), (7, 2), (8, 1), (8, 2), (9, 1), (6, 4)])
def test_a_part_of_a_remembered_batch_or_more_than_it_is_no_copy(sequence: int, count: int) -> None:
    leader = seven_batches(NOW)
    assert leader.send(7, count=3) == ("NONE", 7)
    assert leader.send(sequence, count=count) == OUT_OF_ORDER
    assert leader.send(7, count=3) == ("NONE", 7)


def test_the_table_holds_all_producers_with_an_id_and_no_others() -> None:
    leader = Leader(NOW)
    leader.send(0, producer=0)
    leader.send(0, producer=1)
    leader.log.append(RecordBatch(2, 1, 0, 0))
    leader.states.rebuild(leader.log)
    assert set(leader.states.producers) == {0, 1}


def test_in_0_11_only_the_last_batch_is_remembered() -> None:
    leader = seven_batches(FIRST)
    assert leader.send(6) == ("NONE", 6)
    assert leader.send(5) == OUT_OF_ORDER


def test_a_gap_is_refused() -> None:
    leader = seven_batches(NOW)
    assert leader.send(8) == OUT_OF_ORDER
    assert leader.send(7) == ("NONE", 7)


def test_a_new_epoch_starts_at_zero_and_shuts_out_the_old_one() -> None:
    leader = seven_batches(NOW)
    assert leader.send(3, epoch=1) == OUT_OF_ORDER
    assert leader.send(0, epoch=1) == ("NONE", 7)
    assert leader.send(7) == ("INVALID_PRODUCER_EPOCH", -1)


@pytest.mark.parametrize(
    ("profile", "response"),
    [
        (FIRST, OUT_OF_ORDER),
        (SECOND, ("UNKNOWN_PRODUCER_ID", -1)),
        (PROFILES["2.4"], ("UNKNOWN_PRODUCER_ID", -1)),
        (PROFILES["2.5"], ("NONE", 0)),
        (NOW, ("NONE", 0)),
    ],
    ids=["0.11", "1.1", "2.4", "2.5", "3.9"],
)
def test_what_a_producer_that_nobody_knows_is_told(
    profile: Profile, response: tuple[str, int]
) -> None:
    assert Leader(profile).send(5) == response


def test_sequence_numbers_go_round() -> None:
    leader = Leader(NOW)
    leader.send(SEQUENCE_MAX - 1, count=3)
    assert leader.send(SEQUENCE_MAX - 1, count=3) == ("NONE", 0)
    assert leader.send(1) == ("NONE", 3)
    assert advance(SEQUENCE_MAX, 1) == 0
    assert SEQUENCE_MAX == 2**31 - 1


def test_what_was_truncated_from_the_log_is_forgotten() -> None:
    leader = seven_batches(NOW)
    leader.log.truncate(3)
    leader.states.truncate(leader.log)
    assert leader.send(2) == ("NONE", 2)
    assert leader.send(6) == OUT_OF_ORDER
    assert leader.send(3) == ("NONE", 3)


SENDS = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3), st.integers(0, 2)), max_size=30)


@given(sends=SENDS, cut=st.integers(0, 30))
def test_the_table_is_a_function_of_the_log(sends: list[tuple[int, int, int]], cut: int) -> None:
    leader = Leader(NOW)
    for sequence, count, epoch in sends:
        leader.send(sequence, count=count, epoch=epoch)
    rebuilt = ProducerStates()
    rebuilt.rebuild(leader.log)
    assert rebuilt == leader.states
    if leader.log.truncate(cut):
        leader.states.truncate(leader.log)
        rebuilt.rebuild(leader.log)
        assert rebuilt == leader.states


@given(counts=st.lists(st.integers(1, 4), min_size=1, max_size=20), back=st.integers(1, 5))
def test_sending_again_never_appends(counts: list[int], back: int) -> None:
    leader, sequence, sent = Leader(NOW), 0, []
    for count in counts:
        sent.append((sequence, count, leader.send(sequence, count=count)))
        sequence += count
    end = leader.log.end
    for first, count, response in sent[-back:]:
        assert leader.send(first, count=count) == response
    assert leader.log.end == end


def test_truncating_a_long_log_reads_only_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    leader = Leader(NOW)
    for sequence in range(1_000):
        leader.send(sequence)
    leader.log.truncate(995)
    read: list[int] = []
    get: Callable[[RecordBatches, int], RecordBatch] = RecordBatches.__getitem__

    def noted(batches: RecordBatches, index: int) -> RecordBatch:
        read.append(index)
        return get(batches, index)

    monkeypatch.setattr(RecordBatches, "__getitem__", noted)
    leader.states.truncate(leader.log)
    assert min(read) >= 990
    kept = [each.base_offset for each in leader.states.producers[1000].batches]
    assert kept == [990, 991, 992, 993, 994]


def test_of_what_is_left_in_the_log_the_latest_five_batches_are_remembered_again() -> None:
    leader = seven_batches(NOW)
    leader.log.truncate(6)
    leader.states.truncate(leader.log)
    assert [leader.send(sequence) for sequence in (1, 5)] == [("NONE", 1), ("NONE", 5)]
    assert leader.send(0) == OUT_OF_ORDER
    assert leader.send(6) == ("NONE", 6)


def test_a_producer_of_a_few_batches_keeps_all_that_are_left() -> None:
    leader = Leader(NOW)
    for sequence in range(4):
        leader.send(sequence)
    leader.log.truncate(3)
    leader.states.truncate(leader.log)
    batches = leader.states.producers[1000].batches
    assert [each.base_offset for each in batches] == [0, 1, 2]


def test_an_older_epoch_does_not_come_back_by_truncation() -> None:
    leader = Leader(NOW)
    for epoch in (0, 1):
        for sequence in range(2):
            leader.send(sequence, epoch=epoch)
    leader.log.truncate(3)
    leader.states.truncate(leader.log)
    state = leader.states.producers[1000]
    assert (state.epoch, [each.base_offset for each in state.batches]) == (1, [2])


def test_a_batch_whose_sequence_numbers_go_round_ends_after_its_records() -> None:
    leader = Leader(NOW)
    batch = RecordBatch(0, 4, 0, 0, 1000, 0, SEQUENCE_MAX - 1)
    leader.log.append(batch)
    leader.states.append(batch)
    (remembered,) = leader.states.producers[1000].batches
    assert (remembered.last_sequence, remembered.end_offset) == (1, 4)


def test_within_a_transaction_what_is_not_part_of_it_is_checked_last() -> None:
    """``ProducerAppendInfo.appendDataBatch``: duplicates and the sequence come first."""
    leader = Leader(NOW)
    assert leader.send(0) == ("NONE", 0)
    assert leader.send(1, kind=TRANSACTIONAL) == ("NONE", 1)
    assert leader.send(0) == ("NONE", 0)
    assert leader.send(3) == OUT_OF_ORDER
    assert leader.send(2) == ("INVALID_TXN_STATE", -1)
    assert leader.send(1, epoch=1) == OUT_OF_ORDER
    assert leader.send(0, epoch=1) == ("INVALID_TXN_STATE", -1)
    assert leader.send(2, kind=TRANSACTIONAL) == ("NONE", 2)
