"""The error table."""

import pytest
from kafka.errors import for_code

from emulator.common.errors import ERRORS


def test_names_and_codes_are_unique() -> None:
    assert len({error.code for error in ERRORS.values()}) == len(ERRORS)
    assert all(name == error.name for name, error in ERRORS.items())


@pytest.mark.parametrize(
    ("name", "code", "retriable"),
    [
        ("UNKNOWN_SERVER_ERROR", -1, False),
        ("NONE", 0, False),
        ("OFFSET_OUT_OF_RANGE", 1, False),
        ("CORRUPT_MESSAGE", 2, True),
        ("UNKNOWN_TOPIC_OR_PARTITION", 3, True),
        ("LEADER_NOT_AVAILABLE", 5, True),
        ("NOT_LEADER_OR_FOLLOWER", 6, True),
        ("REQUEST_TIMED_OUT", 7, True),
        ("BROKER_NOT_AVAILABLE", 8, False),
        ("REPLICA_NOT_AVAILABLE", 9, True),
        ("MESSAGE_TOO_LARGE", 10, False),
        ("STALE_CONTROLLER_EPOCH", 11, False),
        ("NETWORK_EXCEPTION", 13, True),
        ("COORDINATOR_LOAD_IN_PROGRESS", 14, True),
        ("COORDINATOR_NOT_AVAILABLE", 15, True),
        ("NOT_COORDINATOR", 16, True),
        ("INVALID_TOPIC_EXCEPTION", 17, False),
        ("NOT_ENOUGH_REPLICAS", 19, True),
        ("NOT_ENOUGH_REPLICAS_AFTER_APPEND", 20, True),
        ("INVALID_REQUIRED_ACKS", 21, False),
        ("ILLEGAL_GENERATION", 22, False),
        ("UNKNOWN_MEMBER_ID", 25, False),
        ("REBALANCE_IN_PROGRESS", 27, False),
        ("TOPIC_ALREADY_EXISTS", 36, False),
        ("INVALID_PARTITIONS", 37, False),
        ("INVALID_REPLICATION_FACTOR", 38, False),
        ("INVALID_REPLICA_ASSIGNMENT", 39, False),
        ("INVALID_CONFIG", 40, False),
        ("NOT_CONTROLLER", 41, True),
        ("POLICY_VIOLATION", 44, False),
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", 45, False),
        ("DUPLICATE_SEQUENCE_NUMBER", 46, False),
        ("INVALID_PRODUCER_EPOCH", 47, False),
        ("KAFKA_STORAGE_ERROR", 56, True),
        ("UNKNOWN_PRODUCER_ID", 59, False),
        ("REASSIGNMENT_IN_PROGRESS", 60, False),
        ("TOPIC_DELETION_DISABLED", 73, False),
        ("FENCED_LEADER_EPOCH", 74, True),
        ("UNKNOWN_LEADER_EPOCH", 75, True),
        ("STALE_BROKER_EPOCH", 77, False),
        ("OFFSET_NOT_AVAILABLE", 78, True),
        ("PREFERRED_LEADER_NOT_AVAILABLE", 80, True),
        ("ELIGIBLE_LEADERS_NOT_AVAILABLE", 83, True),
        ("ELECTION_NOT_NEEDED", 84, True),
        ("NO_REASSIGNMENT_IN_PROGRESS", 85, False),
        ("PRODUCER_FENCED", 90, False),
        ("INVALID_UPDATE_VERSION", 95, False),
        ("INELIGIBLE_REPLICA", 107, False),
        ("NEW_LEADER_ELECTED", 108, False),
    ],
)
def test_an_error_has_kafkas_code(name: str, code: int, retriable: bool) -> None:
    assert (ERRORS[name].code, ERRORS[name].retriable) == (code, retriable)


OLDER_NAMES = {
    "UNKNOWN_SERVER_ERROR": "UNKNOWN",
    "NONE": "NO_ERROR",
    "NOT_LEADER_OR_FOLLOWER": "NOT_LEADER_FOR_PARTITION",
    "MESSAGE_TOO_LARGE": "MESSAGE_SIZE_TOO_LARGE",
    "INVALID_TOPIC_EXCEPTION": "INVALID_TOPIC",
    "INVALID_REPLICA_ASSIGNMENT": "INVALID_REPLICATION_ASSIGNMENT",
}
"""What kafka-python calls some errors."""


TOO_NEW = {
    "REBOOTSTRAP_REQUIRED",
    "INVALID_REGULAR_EXPRESSION",
    "SHARE_SESSION_LIMIT_REACHED",
}
"""Errors that kafka-python does not know; the first two were returned by brokers of 4.4.0."""


@pytest.mark.parametrize("name", [name for name in ERRORS if name not in TOO_NEW])
def test_codes_are_those_of_kafka_python(name: str) -> None:
    error = ERRORS[name]
    found = for_code(error.code)
    assert found.message == OLDER_NAMES.get(name, name)
    # kafka-python does not send a batch again that came damaged; the Java client does.
    assert found.retriable is error.retriable or name == "CORRUPT_MESSAGE"
