"""The table of a group's states."""

import pytest

from emulator.coordinator.groups import COMMIT, DEAD, EMPTY, HEARTBEAT, NEXT, PREPARING, SYNC


def test_every_state_but_the_last_can_be_followed() -> None:
    assert [state for state, following in NEXT.items() if not following] == [DEAD]
    assert all(following in NEXT for row in NEXT.values() for following in row)


def test_a_coordinator_can_always_cease_to_be_one() -> None:
    assert all(DEAD in following for state, following in NEXT.items() if state != DEAD)


def test_only_a_rebalance_leads_out_of_an_empty_group() -> None:
    assert NEXT[EMPTY] == (PREPARING, DEAD)


@pytest.mark.parametrize("table", [HEARTBEAT, SYNC, COMMIT], ids=["heartbeat", "sync", "commit"])
def test_each_request_has_a_response_in_each_living_state(table: dict[str, str]) -> None:
    assert set(table) == set(NEXT) - {DEAD}
