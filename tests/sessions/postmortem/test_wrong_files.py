"""Whatever is given: one sentence, or a history with a note; bounded in time and memory."""

import random
from pathlib import Path

import pytest

from commands.cli.main import run_program
from sessions.own_cluster.reading import SourceError
from sessions.postmortem.document import as_plain
from sessions.postmortem.incident import examine, read_paths
from tests.sessions.own_cluster.recorded import CASES
from tests.sessions.postmortem.logs import cluster

NAME = f"{0:020}.log"
RECORDED = next(case for case in CASES if (case / "metadata").is_dir()) / "metadata" / NAME


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


def said_of(path: str) -> list[str]:
    """The notes of a history that can be told, or the sentence that refuses it."""
    try:
        incident = examine(read_paths([path]))
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
