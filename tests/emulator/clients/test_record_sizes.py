"""What records take on the wire in each message format."""

import pytest
from msgspec.structs import replace

from emulator.clients.record_sizes import batch_bytes, batch_excess, request_bytes
from emulator.inputs.statements import Produce
from emulator.releases.profiles import PROFILES


def test_a_batch_has_a_head_and_each_record_its_own_overhead() -> None:
    assert batch_bytes([], ["v"]) == 61 + 7 + 1
    assert batch_bytes(["key", None], ["ab", "c"]) == 61 + 2 * 7 + 3 + 2 + 1


def test_bytes_are_counted_and_not_characters() -> None:
    assert batch_bytes([], ["中文"]) - batch_bytes([], [""]) == 6


@pytest.mark.parametrize(
    ("version", "size"), [("0.9", 26 + 1 + 4), ("0.10.0", 34 + 1 + 4), ("0.11", 61 + 2 * 7 + 2 + 6)]
)
def test_a_limit_is_for_the_largest_message_and_later_for_the_batch(
    version: str, size: int
) -> None:
    assert request_bytes(PROFILES[version], ["k", "k"], ["ab", "abcd"]) == size


def test_without_keys_only_values_count() -> None:
    assert request_bytes(PROFILES["0.9"], [], ["ab", "abcd"]) == 26 + 4


@pytest.mark.parametrize(
    ("value", "key", "most"),
    [
        ("", None, 100_000),
        ("x", "k", 100_000),
        ("x" * 65_536, None, 512),
        ("\u4e2d" * 2**24, None, 1),
    ],
    ids=["empty", "small", "large", "huge"],
)
def test_a_batch_is_as_large_as_a_producer_holds(value: str, key: str | None, most: int) -> None:
    statement = Produce(topic="t", value=value, key=key, count=10**9, batch=most)
    assert batch_excess(statement) is None
    refused = batch_excess(replace(statement, batch=most + 1))
    assert refused is not None
    assert refused.endswith(f"give --batch {most} or less.")
    assert batch_excess(replace(statement, batch=10**9, count=1)) is None
