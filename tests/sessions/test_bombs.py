"""A small file that describes gigabytes is refused in one sentence, with little memory."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sessions.child_process import environment, python_command
from sessions.decoding import (
    DecodingError,
    decode_json,
    decode_msgpack,
    memory_of_json,
    memory_of_msgpack,
)
from sessions.format import catalog
from sessions.format.file import SessionFile
from tests.support.hostile_sessions.bombs import (
    BOMBS,
    deep_origin,
    deep_outcome,
    slightly_too_long_origin,
)
from tests.support.hostile_sessions.forging import record
from tests.support.hostile_sessions.readers import Answer

MEMORY_MAX = 1 << 30
READERS = "tests.support.hostile_sessions.readers"
NOTHING_READ = {"many_times", "fewer_times", "many_events", "many_lists", "deep_block",
                "without_size", "huge_claim", "deep_origin", "deep_unknown_field", "long_origin",
                "wide_origin", "many_brokers"}  # fmt: skip
DIFFERENT = dict.fromkeys(
    ("endless_wait", "expanding_requests", "large_requests", "many_statements"), "differs"
)
HARMLESS = {"wide_keyframe", "many_replicas", "deep_keyframe", "long_touches", "many_bookmarks"}
"""Without a keyframe or the names of objects a state is computed from events."""


class Readers:
    """The program in a process of its own, which may take 1 GiB."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            python_command("-m", READERS, str(MEMORY_MAX)),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __call__(self, *arguments: object) -> Answer:
        """Call the program."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(msgspec.json.encode([str(each) for each in arguments]) + b"\n")
        stdin.flush()
        answer = msgspec.json.decode(stdout.readline(), type=Answer)
        assert (answer.failure, "Traceback" in answer.error) == ("", False)
        assert answer.status != 70, answer.error
        assert answer.memory_max <= MEMORY_MAX
        return answer


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    made = Readers()
    yield made
    assert made.process.stdin is not None
    assert made.process.stdout is not None
    made.process.stdin.close()
    made.process.wait()
    made.process.stdout.close()


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("intact") / "intact.tide.db"
    record(path)
    return path


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_one_sentence(
    name: str, readers: Readers, intact: Path, tmp_path: Path
) -> None:
    bomb = tmp_path / "bomb.tide.db"
    shutil.copy(intact, bomb)
    BOMBS[name](bomb)
    shown = readers("sessions", "show", bomb)
    verified = readers("sessions", "verify", bomb)
    script = readers("sessions", "script", bomb)
    if name in HARMLESS:
        assert (shown.status, verified.status, script.status) == (0, 0, 0)
    else:
        said = DIFFERENT.get(name, "is damaged")
        assert verified.status == (1 if name in DIFFERENT else 5)
        assert said in verified.output + verified.error
        assert script.status in (0, 5)  # it needs no event
        assert script.error.count("\n") == (1 if script.status else 0)
    if name in NOTHING_READ:
        assert shown.status == 5
        assert "is damaged" in shown.error
    listed = readers("sessions", "list", tmp_path)
    assert listed.status == 0
    assert listed.output.count("bomb.tide.db") >= 1
    assert readers("sessions", "trim", bomb, "--out", tmp_path / "part.tide.db").status in (0, 3, 5)
    assert readers("sessions", "delete", bomb, "--yes").status == 0


def test_a_bad_file_is_one_line_of_a_list(intact: Path, tmp_path: Path) -> None:
    for bomb in (deep_origin, deep_outcome, slightly_too_long_origin):
        path = tmp_path / f"{bomb.__name__}.tide.db"
        shutil.copy(intact, path)
        bomb(path)
    shutil.copy(intact, tmp_path / "intact.tide.db")
    found = {each.path.name: each.ended for each in catalog.list_sessions(tmp_path)}
    assert found == {
        "deep_origin.tide.db": "unreadable",
        "deep_outcome.tide.db": "damaged",
        "intact.tide.db": "closed",
        "slightly_too_long_origin.tide.db": "unreadable",
    }


def test_a_state_that_is_too_large_is_computed_from_events(intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "wide.tide.db"
    shutil.copy(intact, path)
    BOMBS["wide_keyframe"](path)
    with SessionFile(path) as session:
        assert [session.keyframe(place) for place in session.keyframes] == [None] * len(
            session.keyframes
        )
        assert session.keyframes


@pytest.mark.parametrize(
    ("data", "real"),
    [
        (msgspec.msgpack.encode([[]] * 1_000), 1_000 * (56 + 16 + 8)),
        (msgspec.msgpack.encode([{}] * 1_000), 1_000 * (64 + 16 + 8)),
        (msgspec.msgpack.encode([-20] * 1_000), 1_000 * (32 + 8)),
        (msgspec.msgpack.encode([1.5] * 1_000), 1_000 * (24 + 8)),
        (msgspec.msgpack.encode(["a"] * 1_000), 1_000 * (50 + 8)),
        (msgspec.msgpack.encode([0] * 1_000), 1_000 * 8),
    ],
)
def test_memory_is_never_estimated_too_low(data: bytes, real: int) -> None:
    assert real <= memory_of_msgpack(data)
    assert real <= memory_of_json(msgspec.json.encode(msgspec.msgpack.decode(data)))


@pytest.mark.parametrize("text", ["", "a", "漢字", "a" * 300 + "😀", "é" * 40_000])
def test_memory_of_texts_is_estimated_closely(text: str) -> None:
    """Also of those within bytes that are MessagePack, beside bytes that are none."""
    texts = [f"{text}{number}" for number in range(100)]
    column = msgspec.msgpack.encode(texts)
    real = sum(map(sys.getsizeof, texts)) + 8 * len(texts)
    for data in (column, msgspec.msgpack.encode([7, bytes([0x90, 0xDB, 0x80, 0xD4]), column, 1])):
        assert real <= memory_of_msgpack(data, memory_max=1) <= 5 * real + 10_000
        assert memory_of_msgpack(data, memory_max=1 << 30) == memory_of_msgpack(data)


def test_what_is_no_messagepack_is_estimated_too() -> None:
    for data in (
        b"\xdb\xff\xff\xff\xffabc",
        b"\xc7\x05",
        b"\xd9",
        b"\xc4\x02\xdb\x01",
        b"\xca\x01",
    ):
        assert memory_of_msgpack(data, memory_max=1) >= len(data)


def test_what_is_too_large_or_too_deep_is_not_decoded() -> None:
    decoder = msgspec.msgpack.Decoder(list[int])
    data = msgspec.msgpack.encode([1, 2, 3])
    assert decode_msgpack(data, decoder, 10, 10) == [1, 2, 3]
    with pytest.raises(DecodingError, match="may take"):
        decode_msgpack(data, decoder, 11 << 20, 10 << 20)
    with pytest.raises(DecodingError, match="too deeply"):
        decode_json("[" * 100_000, object)
    with pytest.raises(DecodingError, match="Expected `int`"):
        decode_json('"x"', int)
    with pytest.raises(DecodingError, match="at most 1 are read"):
        decode_json("[" + "1," * 100_000 + "1]", list[int], memory_max=1 << 20)
