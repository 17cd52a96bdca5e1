from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.output.session_tables import described, described_plain, listed_plain, listing
from sessions.format.file import SessionFile
from sessions.playback.trim import trim

SCRIPT = """cluster --brokers 3 --seed 9
topic create t --partitions 1 --replication-factor 3
wait until t-0.leader == 0
produce t --count 2 --value v --acks all
mark written after two
expect t-0.leo == 2
expect t-0.leo == 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("recordings")
    (path / "two.tide").write_text(SCRIPT)
    assert run_program(["run", str(path / "two.tide"), "--record", str(path)]) == 1
    (path / "bad.tide.db").write_text("no database")
    return path


def test_a_folder_lists_its_sessions_and_what_is_wrong_with_them(folder: Path) -> None:
    bad, two = listing(folder).plain()
    assert bad["file"] == "bad.tide.db"
    assert "not a database" in str(bad["ended"])
    assert (two["file"], two["version"], two["seed"]) == ("two.tide.db", "3.9", 9)
    assert (two["ended"], two["failed"], two["lost"]) == ("failed", 1, 0)


def test_a_list_in_json_has_the_tables_columns_and_more(folder: Path) -> None:
    bad, two = listed_plain(folder)
    assert (bad["file"], bad["origin"], bad["outcome"]) == ("bad.tide.db", None, None)
    assert "not a database" in bad["problem"]
    table = listing(folder).plain()[1]
    assert {name: two[name] for name in table} == table
    assert (two["first_event"], two["bookmarks"], two["problem"]) == (1, 1, "")
    assert two["origin"]["script"] == str(folder / "two.tide")
    assert two["outcome"]["events"] == two["events"]


def test_a_piece_says_which_events_it_has(folder: Path, tmp_path: Path) -> None:
    with SessionFile(folder / "two.tide.db") as session:
        last = session.last_seq
        trim(session, tmp_path / "piece.tide.db", 50, 90)
    with SessionFile(tmp_path / "piece.tide.db") as piece:
        told = described_plain(piece)
        (events,) = (row[1] for row in described(piece)[0].rows if row[0] == "events")
    assert (told["first_event"], told["last_event"], told["events"]) == (50, 90, 41)
    assert events == f"41: 50 to 90 of {last}"


def test_a_session_tells_its_facts(folder: Path) -> None:
    with SessionFile(folder / "two.tide.db") as session:
        told = described_plain(session)
    assert told["damage"] == ""
    assert told["origin"]["script"] == str(folder / "two.tide")
    assert [each["text"] for each in told["inputs"]] == SCRIPT.splitlines()
    assert [(each["name"], each["note"]) for each in told["bookmarks"]] == [
        ("written", "after two")
    ]
    assert told["outcome"]["acked"] == 2
    assert told["outcome"]["passed"] == 1


def test_a_session_is_described_with_its_end(folder: Path) -> None:
    with SessionFile(folder / "two.tide.db") as session:
        titles = [grid.title for grid in described(session)]
    assert titles == [str(session.path), "statements", "bookmarks", "partitions", "audit"]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_sessions_are_shown_by_the_program(
    folder: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["sessions", "list", str(folder), *options]) == 0
    assert run_program(["sessions", "show", str(folder / "two.tide.db"), *options]) == 0
    assert "two.tide.db" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "status"), [("none.tide.db", 3), ("bad.tide.db", 5)], ids=["missing", "foreign"]
)
def test_what_cannot_be_read_is_told(
    folder: Path, name: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["sessions", "show", str(folder / name)]) == status
    assert name in capsys.readouterr().err


def test_a_missing_folder_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["sessions", "list", str(folder / "none")]) == 3
    assert capsys.readouterr().err.count("\n") == 1
