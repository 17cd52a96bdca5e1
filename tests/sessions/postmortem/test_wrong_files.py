"""Whatever is given: one sentence, or a history with a note; bounded in time and memory."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from commands.cli.main import run_program
from emulator.events import Event
from emulator.quorum_controller.explanation.trace import Explainer
from emulator.wire.records.checksum import crc32c
from emulator.wire.records.record_batch import HEADER_BYTES
from sessions.model.cluster_view import ClusterView
from sessions.own_cluster.reading import SourceError
from sessions.postmortem.document import as_plain
from sessions.postmortem.incident import examine, read_paths
from tests.sessions.own_cluster.recorded import CASES
from tests.sessions.postmortem.logs import Log, cluster, fence, snapshot

NAME = f"{0:020}.log"
RECORDED = next(case for case in CASES if (case / "metadata").is_dir()) / "metadata" / NAME
HISTORY = Path(__file__).parent / "recordings" / "kraft-4.1.2" / NAME


@pytest.mark.parametrize("seed", range(300))
def test_a_changed_byte_is_a_note_or_a_sentence(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    data = bytearray(RECORDED.read_bytes() if seed % 3 == 0 else cluster().data)
    for _ in range(draw.choice((1, 1, 2, 8))):
        data[draw.randrange(len(data))] = draw.randrange(256)
    if seed % 5 == 0:
        del data[draw.randrange(len(data)) :]
    (tmp_path / NAME).write_bytes(data)
    sentences = said_of(str(tmp_path))
    assert all(len(sentence.splitlines()) == 1 for sentence in sentences)


def test_changed_records_with_right_checksums_are_notes_or_sentences(tmp_path: Path) -> None:
    """What nobody's disk does to a file, but somebody may: no checksum protects from it."""
    for seed in range(60):
        draw = random.Random(seed)
        data = bytearray(HISTORY.read_bytes())
        for at, size in draw.sample(_batches(data), draw.choice((1, 2, 8))):
            for _ in range(draw.choice((1, 2))):
                data[draw.randrange(at + HEADER_BYTES, at + size)] = draw.randrange(256)
            data[at + 17 : at + 21] = crc32c(bytes(data[at + 21 : at + size])).to_bytes(4, "big")
        (tmp_path / NAME).write_bytes(data)
        view = ClusterView()
        sentences = said_of(str(tmp_path), view.apply, rules=True)
        assert all(len(sentence.splitlines()) == 1 for sentence in sentences)


def _batches(data: bytes | bytearray) -> list[tuple[int, int]]:
    """Where batches begin, and their sizes."""
    found, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at + 8 : at + 12], "big") + 12
        found.append((at, size))
        at += size
    return found


def test_a_damaged_snapshot_is_a_note_or_a_sentence(tmp_path: Path) -> None:
    begun = cluster()
    whole = snapshot(begun.data)
    log = Log(offset=begun.offset, epoch=1, second=60).add(fence(2, 4), version=1)
    log.write(tmp_path, begun.offset)
    for seed in range(100):
        draw = random.Random(seed)
        data = bytearray(whole)
        for _ in range(draw.choice((1, 1, 2, 8))):
            data[draw.randrange(len(data))] = draw.randrange(256)
        if seed % 5 == 0:
            del data[draw.randrange(len(data)) :]
        (tmp_path / f"{begun.offset:020}-{1:010}.checkpoint").write_bytes(data)
        sentences = said_of(str(tmp_path))
        assert all(len(sentence.splitlines()) == 1 for sentence in sentences)


def said_of(path: str, *observers: Callable[[Event], None], rules: bool = False) -> list[str]:
    """The notes of a history that can be told, or the sentence that refuses it."""
    try:
        incident = examine(read_paths([path]), observers, rules=Explainer() if rules else None)
    except SourceError as error:
        return [str(error)]
    as_plain(incident)
    return incident.notes


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("server.log", b"[2026-11-23 19:05:07,079] INFO started\n", "no line in it is one"),
        ("00000000000000000012.snapshot", b"\0\1" + bytes(8), "a snapshot of the state of prod"),
        ("quorum-state", b'{"clusterId":"x","leaderId":1,"leaderEpoch":3}', "a quorum-state"),
        ("notes.txt", b"hello", "a text of an unknown kind"),
        ("empty.log", b"", "is empty"),
    ],
)
def test_a_wrong_file_is_named(
    name: str, content: bytes, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert run_program(["postmortem", str(tmp_path / name)]) == 3
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_a_folder_without_a_log_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["postmortem", str(tmp_path)]) == 3
    assert "no metadata log is in it; wanted is" in capsys.readouterr().err


def test_a_torn_end_is_a_note(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(cluster().data[:-9])
    incident = examine(read_paths([str(tmp_path)]))
    assert "is torn" in incident.notes[0]
    assert incident.image.partition("t", 0) is None
    assert incident.image.topic("t") is not None


def _nodes(tmp_path: Path, *contents: bytes) -> str:
    """A folder of nodes whose metadata logs have these contents."""
    for node, content in enumerate(contents, start=1):
        folder = tmp_path / f"node{node}" / "__cluster_metadata-0"
        folder.mkdir(parents=True)
        (folder / NAME).write_bytes(content)
    return str(tmp_path)


@pytest.mark.parametrize("useless", [b"", b"\xff" * 200])
def test_a_copy_that_cannot_be_used_is_left_out_and_noted(tmp_path: Path, useless: bytes) -> None:
    whole = bytes(cluster().data)
    read = examine(read_paths([_nodes(tmp_path, useless, whole)]))
    assert read.records == examine(read_paths([str(tmp_path / "node2")])).records
    (note,) = read.notes
    assert f"{tmp_path}/node1/__cluster_metadata-0" in note
    assert note.endswith("this copy is left out")


def test_a_metadata_log_that_cannot_be_used_is_not_said_to_be_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _nodes(tmp_path, b"\xff" * 200, b"")
    (tmp_path / "node1" / "server.log").write_text(
        "[2026-11-26 03:39:12,113] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    )
    assert run_program(["postmortem", folder]) == 3
    assert "/__cluster_metadata-0 (KRaft metadata log) " in capsys.readouterr().err
