"""The error table."""

import pytest

from emulator.errors import ERRORS


def test_names_and_codes_are_unique() -> None:
    assert len({error.code for error in ERRORS.values()}) == len(ERRORS)
    assert all(name == error.name for name, error in ERRORS.items())


@pytest.mark.parametrize(
    ("name", "code", "retriable"),
    [
        ("NONE", 0, False),
        ("OFFSET_OUT_OF_RANGE", 1, False),
        ("NOT_LEADER_OR_FOLLOWER", 6, True),
        ("COORDINATOR_LOAD_IN_PROGRESS", 14, True),
        ("COORDINATOR_NOT_AVAILABLE", 15, True),
        ("NOT_COORDINATOR", 16, True),
        ("NOT_ENOUGH_REPLICAS_AFTER_APPEND", 20, True),
        ("ILLEGAL_GENERATION", 22, False),
        ("UNKNOWN_MEMBER_ID", 25, False),
        ("REBALANCE_IN_PROGRESS", 27, False),
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", 45, False),
        ("FENCED_LEADER_EPOCH", 74, True),
        ("INVALID_UPDATE_VERSION", 95, False),
    ],
)
def test_an_error_has_kafkas_code(name: str, code: int, retriable: bool) -> None:
    assert (ERRORS[name].code, ERRORS[name].retriable) == (code, retriable)
