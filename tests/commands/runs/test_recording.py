from pathlib import Path

import pytest

from commands.exits import CommandError, ExitCode
from commands.language.parser import parse_script
from commands.runs.recording import recorder, session_path, stem_of


def refused(target: Path) -> CommandError:
    with pytest.raises(CommandError) as error:
        session_path(target, "script")
    return error.value


def test_a_session_files_name_is_taken_as_it_is(tmp_path: Path) -> None:
    assert session_path(tmp_path / "a.tide.db", "script") == tmp_path / "a.tide.db"


def test_in_a_folder_the_session_is_named_after_the_script(tmp_path: Path) -> None:
    assert session_path(tmp_path, "script") == tmp_path / "script.tide.db"


def test_in_a_folder_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    for name in ("script.tide.db", "script-2.tide.db"):
        (tmp_path / name).touch()
    assert session_path(tmp_path, "script") == tmp_path / "script-3.tide.db"


def test_a_folder_is_made_if_need_be(tmp_path: Path) -> None:
    path = session_path(tmp_path / "new" / "recordings", "script")
    assert path.parent.is_dir()


def test_a_recording_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    path.touch()
    assert refused(path).code is ExitCode.UNREACHABLE
    assert "already exists" in refused(path).message


def test_a_file_of_another_name_is_no_folder(tmp_path: Path) -> None:
    assert refused(tmp_path / "a.db").code is ExitCode.USAGE
    assert not (tmp_path / "a.db").exists()


def test_a_folder_that_is_missing_cannot_be_reached(tmp_path: Path) -> None:
    assert refused(tmp_path / "none" / "a.tide.db").code is ExitCode.UNREACHABLE


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = refused(tmp_path / "file" / "folder")
    assert error.code is ExitCode.UNREACHABLE
    assert error.message.startswith("cannot create the folder")


@pytest.mark.parametrize(
    ("script", "stem"), [("a/b.tide", "b"), ("-", "session"), ("-c", "session")]
)
def test_a_session_is_named_after_its_script(script: str, stem: str) -> None:
    assert stem_of(script) == stem


def test_a_recording_says_where_it_comes_from(tmp_path: Path) -> None:
    script = parse_script("cluster --seed 4 --version 2.0.1", "x/y.tide")
    with recorder(script, tmp_path, {"ACKS": "1"}) as recording:
        origin = recording.writer
    assert recording.path == tmp_path / "y.tide.db"
    assert origin.path.exists()
