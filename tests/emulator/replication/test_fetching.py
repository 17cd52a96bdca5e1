"""How a fetcher stands with a partition: the table, and what rests for the backoff."""

import pytest

from emulator.replication.fetching import (
    ADJUSTED,
    ASKED_AGAIN,
    COMPARING,
    DELAYS,
    DISCONNECTED,
    ERROR,
    FAILED,
    FENCED,
    FETCHING,
    IS_OUT_OF_RANGE,
    NEXT,
    OUT_OF_RANGE,
    SETTLED,
    TRUNCATING,
    added,
)

PHASES = {COMPARING, FETCHING, TRUNCATING, OUT_OF_RANGE, FAILED}


def test_a_partition_with_epochs_is_asked_about_before_it_is_fetched() -> None:
    assert added(epoch=3, asks_epoch=True).phase == TRUNCATING
    assert added(epoch=3, asks_epoch=False).phase == FETCHING
    assert added(epoch=3, asks_epoch=False, asks_ends=True).phase == COMPARING


def test_nothing_has_been_asked_of_a_partition_that_was_just_added_and_it_need_not_rest() -> None:
    state = added(epoch=3, asks_epoch=False)
    assert (state.epoch, state.resume_us, state.asked_offset, state.asked_epoch) == (3, 0, -1, -1)
    state.advance(ERROR)
    assert state.resume_us == 0


@pytest.mark.parametrize(
    ("happened", "phases"),
    [
        ([SETTLED], [FETCHING]),
        ([ASKED_AGAIN, SETTLED], [TRUNCATING, FETCHING]),
        ([ERROR, SETTLED], [TRUNCATING, FETCHING]),
        ([FENCED], [FAILED]),
        ([SETTLED, IS_OUT_OF_RANGE, ADJUSTED], [FETCHING, OUT_OF_RANGE, FETCHING]),
        ([SETTLED, IS_OUT_OF_RANGE, DISCONNECTED], [FETCHING, OUT_OF_RANGE, FETCHING]),
        ([SETTLED, FENCED, DISCONNECTED], [FETCHING, FAILED, FAILED]),
    ],
    ids=", ".join,
)
def test_what_happens_leads_from_phase_to_phase(happened: list[str], phases: list[str]) -> None:
    state = added(epoch=0, asks_epoch=True)
    found = []
    for each in happened:
        state.advance(each)
        found.append(state.phase)
    assert found == phases


def test_a_partition_that_failed_is_not_fetched_again_before_the_controllers_next_word() -> None:
    assert {NEXT[pair] for pair in NEXT if pair[0] == FAILED} == {FAILED}


def test_only_errors_and_a_question_asked_again_rest_for_the_backoff() -> None:
    for (phase, happened), _ in NEXT.items():
        state = added(epoch=0, asks_epoch=True)
        state.phase = phase
        state.advance(happened, resume_us=9)
        assert (state.resume_us == 9) is (happened in DELAYS)


def test_every_phase_can_be_reached_and_a_lost_connection_is_survived_in_each() -> None:
    assert {after for after in NEXT.values()} == PHASES
    assert {phase for phase, happened in NEXT if happened == DISCONNECTED} == PHASES
