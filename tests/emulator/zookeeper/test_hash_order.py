"""The order of Java's HashSet, beside what Java 17 gave."""

import pytest

from emulator.zookeeper.hash_order import hash_code, hash_order


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
