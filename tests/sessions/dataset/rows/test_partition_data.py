"""Messages' details as structs: named values, and back; what has another form stays as it is."""

from typing import Any

import pytest

from sessions.dataset.rows.partition_data import detail_of, partition_data

Message = tuple[str, list[list[Any]]]

DETAILS: list[Message] = [
    ("FetchRequest", [["t-0", 5, 2], ["t-1", 6, -1]]),
    ("FetchResponse", [["t-0", 4, -1, 0], ["t-1", 4, 5, 2, "NOT_LEADER_OR_FOLLOWER"]]),
    ("FetchRequest", []),
    ("OffsetCommitRequest", [["group.g", 3], ["t-0", 7]]),
    ("EndTxnRequest", [["transaction.x", "commit"]]),
    ("ProduceRequest", [["t-0", 1, 10, -1, 4, 0, 0]]),
    ("Unknown", [["t-0"], ["t-1"]]),
]
ODD: list[Message] = [
    ("Unknown", [["t-0", 1]]),
    ("FetchRequest", [["t-0", "five", 2]]),
    ("FetchRequest", [["t-0", 5, 1 << 31]]),
    ("FetchRequest", [["t-0", 5, 2, 3]]),
    ("FetchRequest", [["t-0", 5], []]),
    ("FetchRequest", [[7, 5]]),
]


def columns_of(messages: list[Message]) -> tuple[Any, dict[int, Any]]:
    return partition_data([name for name, _ in messages], [detail for _, detail in messages])


def test_values_are_named_by_the_message() -> None:
    column, misfits = columns_of(DETAILS)
    assert not misfits
    found = [
        [{name: value for name, value in item.items() if value is not None} for item in row]
        for row in column.to_pylist()
    ]
    assert found[1] == [
        {"tp": "t-0", "high_watermark": 4, "base_offset": -1, "count": 0},
        {
            **{"tp": "t-1", "high_watermark": 4, "base_offset": 5, "count": 2},
            "error": "NOT_LEADER_OR_FOLLOWER",
        },
    ]
    assert found[3] == [{"tp": "group.g", "generation": 3}, {"tp": "t-0", "offset": 7}]
    assert found[4] == [{"tp": "transaction.x", "result": "commit"}]


def test_a_detail_can_be_read_back() -> None:
    column, _ = columns_of(DETAILS)
    for (message, detail), items in zip(DETAILS, column.to_pylist(), strict=True):
        assert detail_of(message, items) == detail


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_detail_of_another_form_is_kept_apart(odd: Message) -> None:
    column, misfits = columns_of([DETAILS[0], odd, DETAILS[1]])
    assert misfits == {1: odd[1]}
    first, second, third = column.to_pylist()
    assert second is None
    assert detail_of(DETAILS[0][0], first) == DETAILS[0][1]
    assert detail_of(DETAILS[1][0], third) == DETAILS[1][1]
