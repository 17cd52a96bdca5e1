"""The order in which a controller up to 1.0 visits a broker's partitions.

``a-0``, ``a-1`` and ``a-2`` are in one bucket of Scala's map. Brokers of 0.10.2.2 and 0.11.0.3 that
shut down were relieved of them in the order of the first case, those of 0.9.0.1 to 0.10.1.1 in the
reverse order.
"""

from collections.abc import Callable

import pytest

from emulator.controller.assignment_order import AssignmentOrder

FORWARDS = ["a-0", "a-1", "a-2"]


def all_of_them(_tp: str) -> bool:
    return True


def created(order: AssignmentOrder) -> None:
    order.read({})
    order.change_topics({"a": [0, 1, 2]}, ())


def then_another(order: AssignmentOrder) -> None:
    created(order)
    order.change_topics({"b": []}, ())


def then_another_deleted(order: AssignmentOrder) -> None:
    then_another(order)
    order.change_topics({}, ["b"])


def by_a_new_controller(order: AssignmentOrder) -> None:
    order.read({"a": [0, 1, 2]})


def grown(order: AssignmentOrder) -> None:
    order.read({})
    order.change_topics({"a": [0]}, ())
    order.add_partitions("a", [0, 1, 2], ["a-1", "a-2"])


@pytest.mark.parametrize(
    ("happened", "expected"),
    [
        (created, FORWARDS),
        (then_another, FORWARDS[::-1]),
        (then_another_deleted, FORWARDS),
        (by_a_new_controller, FORWARDS[::-1]),
        (grown, ["a-2", "a-1", "a-0"]),
    ],
)
def test_partitions_of_a_bucket_change_places_with_each_copy_of_the_map(
    happened: Callable[[AssignmentOrder], None], expected: list[str]
) -> None:
    order = AssignmentOrder()
    happened(order)
    assert order.partitions(all_of_them, is_copied=False) == expected
    assert order.partitions(all_of_them, is_copied=True) == expected[::-1]


def test_a_deleted_topic_is_gone() -> None:
    order = AssignmentOrder()
    order.read({"a": [0, 1], "b": [0]})
    order.change_topics({}, ["a"])
    assert order.partitions(all_of_them, is_copied=False) == ["b-0"]


def test_added_partitions_are_not_searched_for_in_a_list() -> None:
    # For 70,000 partitions that once took half a minute.
    class Unsearchable(list[str]):
        def __contains__(self, key: object) -> bool:
            raise AssertionError(f"{key} is searched for")

    order = AssignmentOrder(["t-0"])
    order.add_partitions("t", [0, 1, 2], Unsearchable(["t-1", "t-2"]))
    assert sorted(order.inserted) == ["t-0", "t-1", "t-2"]
