"""The order of Java's HashSet, beside what Java 17 gave."""

import pytest

from emulator.zookeeper.hash_order import children_order, hash_code, hash_order


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("/controller", 2080060683),
        ("öß", 7849),
        ("\U0001f600", 1772899),
    ],
)
def test_a_string_has_javas_hash_code(text: str, code: int) -> None:
    assert hash_code(text) == code


@pytest.mark.parametrize(
    ("count", "order"),
    [
        (0, "c"),
        (1, "c 0"),
        (3, "74 c 0 37"),
        (6, "74 c 0 148 37 185 111"),
        (12, "259 0 148 333 185 370 222 111 296 74 c 37 407"),
        (14, "259 0 148 444 333 185 481 370 222 111 296 74 c 37 407"),
    ],
)
def test_strings_stand_as_in_a_copied_hash_set(count: int, order: str) -> None:
    added = [*(f"/brokers/ids/{37 * n}" for n in range(count)), "/controller"]
    names = ["controller" if name == "c" else f"brokers/ids/{name}" for name in order.split()]
    assert hash_order(added) == [f"/{name}" for name in names]


@pytest.mark.parametrize(
    ("names", "order"),
    [
        ("topics seqid ids", "ids topics seqid"),
        ("__consumer_offsets first", "__consumer_offsets first"),
        ("first __consumer_offsets", "first __consumer_offsets"),
        (
            "zookeeper consumers brokers config admin isr_change_notification"
            " latest_producer_id_block cluster log_dir_event_notification controller_epoch"
            " controller",
            "cluster controller_epoch controller brokers zookeeper admin isr_change_notification"
            " consumers log_dir_event_notification latest_producer_id_block config",
        ),
    ],
)
def test_children_stand_as_in_the_set_of_a_znode(names: str, order: str) -> None:
    """The orders are those of Java 17; the longest is also the documents' root."""
    assert children_order(names.split()) == order.split()
