"""Values that move to files against a plain dict."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.simulation import bytes_by_number
from emulator.simulation.bytes_by_number import BytesByNumber

LIMIT = 40


class File:
    """A file in memory; ``room`` are the bytes that its disk still takes."""

    room = 1 << 20
    open = 0

    def __init__(self) -> None:
        self.data = bytearray()
        File.open += 1

    def __del__(self) -> None:
        File.open -= 1

    def append(self, data: bytes) -> bool:
        if len(data) > File.room:
            return False
        self.data += data
        return True

    def read(self, position: int, size: int) -> bytes:
        assert position + size <= len(self.data)
        return bytes(self.data[position : position + size])


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytes_by_number, "SPILLED_AT_ONCE", 10)
    monkeypatch.setattr(bytes_by_number, "VOLUME_BYTES", 30)
    monkeypatch.setattr(File, "room", 1 << 20)
    monkeypatch.setattr(File, "open", 0)


def spilling() -> BytesByNumber:
    made = BytesByNumber()
    made.spill(LIMIT, File)
    return made


def filled(count: int) -> BytesByNumber:
    made = spilling()
    for number in range(count):
        made.add(number, bytes([number]) * 10)
    return made


Action = tuple[str, int]
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 25)),
        st.tuples(st.just("discard"), st.integers(0, 60)),
        st.tuples(st.just("copy"), st.just(0)),
    ),
    max_size=60,
)


@settings(max_examples=200, deadline=None)
@given(ACTIONS)
@example([("add", 0), ("add", 23), ("add", 18), ("discard", 4)])
def test_it_is_a_dict_wherever_its_values_are(actions: list[Action]) -> None:
    plain: dict[int, bytes] = {}
    spilled = spilling()
    copies: list[tuple[BytesByNumber, dict[int, bytes]]] = []
    number = 0
    for action, argument in actions:
        if action == "add":
            number += 1 + argument % 3
            plain[number] = bytes([number % 256]) * argument
            spilled.add(number, plain[number])
        elif action == "discard":
            plain.pop(argument, None)
            spilled.discard(argument)
        else:
            copies.append((spilled.copy(), plain.copy()))
    for ours, theirs in [*copies, (spilled, plain)]:
        assert list(ours.items()) == list(theirs.items())
        assert len(ours) == len(theirs)
        assert [n for n in range(-1, number + 2) if n in ours] == list(theirs)
        assert {n: ours.get(n) for n in range(-1, number + 2) if ours.get(n) is not None} == theirs
    assert spilled.kept_bytes <= LIMIT


def test_a_copy_goes_its_own_way() -> None:
    one = filled(20)
    other = one.copy()
    for number in range(20, 25):
        one.add(number, b"one" * 3)
        other.add(number, b"other")
    one.discard(3)
    assert 3 in other
    assert (one[21], other[21]) == (b"one" * 3, b"other")
    assert other[0] == one[0] == bytes(10)


def test_a_file_is_given_up_with_its_last_value() -> None:
    values = filled(20)
    most = File.open
    assert most >= 4
    for number in range(10):
        values.discard(number)
    assert File.open <= most - 3
    for number in range(10, 20):
        values.discard(number)
    assert (File.open, len(values)) == (0, 0)


def test_a_file_with_little_left_is_written_anew() -> None:
    values = filled(20)
    taken = sum(volume.ends[-1] for volume in values._volumes)
    for number in range(16):
        if number % 4:
            values.discard(number)
    left = sum(volume.ends[-1] for volume in values._volumes)
    assert left <= taken // 2
    assert [values[number][0] for number in (0, 4, 8, 12)] == [0, 4, 8, 12]


def test_without_room_on_the_disk_values_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    values = spilling()
    monkeypatch.setattr(File, "room", 0)
    for number in range(20):
        values.add(number, bytes([number]) * 10)
    assert values.kept_bytes == 200
    monkeypatch.setattr(File, "room", 1 << 20)
    values.add(20, bytes(10))
    assert values.kept_bytes <= LIMIT
    assert [values[number][0] for number in range(20)] == list(range(20))
