import json
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.output import session_diff
from sessions.playback.diff import Change, Comparison
from sessions.playback.verify import Difference

SCRIPT = """cluster --brokers 3 --seed ${SEED:-9}
topic create t --partitions 1 --replication-factor 3
wait until t-0.leader == 0
produce t --count 2 --value v --acks ${ACKS:-all}
broker crash ${VICTIM:-1}
settle
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("recordings")
    (path / "two.tide").write_text(SCRIPT)
    for name, *options in (
        ("one",),
        ("again",),
        ("crash", "--set", "VICTIM=2"),
        ("seed", "--set", "SEED=4"),
    ):
        target = str(path / f"{name}.tide.db")
        assert run_program(["run", str(path / "two.tide"), "--record", target, *options]) == 0
    return path


def diff(folder: Path, one: str, other: str, *options: str) -> int:
    names = [str(folder / f"{name}.tide.db") for name in (one, other)]
    return run_program(["sessions", "diff", *names, *options])


def test_two_runs_of_a_script_do_not_differ(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(folder, "one", "again") == 0
    assert "events are the same\n" in capsys.readouterr().out


def test_the_first_difference_is_told_with_both_events_and_states(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(folder, "one", "crash") == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "differs asked WHAT FIRST SECOND" in said
    assert "variables.VICTIM - 2 " in said
    assert "broker crash 1 broker crash 2" in said
    assert "ReplicaRoleChanged" in said
    assert "t-0@1.role" in said


def test_the_difference_in_json_has_everything(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(folder, "one", "seed", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["same"] is False
    assert {"name": "seed", "first": 9, "second": 4} in found["asked"]
    difference = found["difference"]
    assert difference["first"]["seq"] == difference["second"]["seq"] == difference["seq"]
    assert difference["first"]["type"] == "ZnodeCreated"
    assert {change["name"] for change in found["state"]} >= {"zk./cluster/id.data"}
    assert diff(folder, "one", "again", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["difference"], found["asked"], found["state"]) == (None, [], [])


def test_a_damaged_session_is_compared_as_far_as_it_can_be_read(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (folder / "one.tide.db").read_bytes()
    cut = folder / "cut.tide.db"
    cut.write_bytes(whole[:-1])
    assert diff(folder, "one", "cut") == 5
    assert "cut.tide.db is truncated" in capsys.readouterr().err
    cut.unlink()


def test_long_values_and_long_lists_are_cut_in_tables_and_whole_in_json() -> None:
    changes = [Change(f"x.{number}", "a" * 500, None) for number in range(500)]
    found = Comparison(Path("a"), Path("b"), [], 4, Difference(5, None, None), changes)
    table = session_diff.tables_of(found)[-1]
    assert table.title == "state after event 5 (200 of 500 values that differ)"
    assert len(table.rows) == 200
    assert table.rows[0][1:] == ("a" * 80 + "..", None)
    assert len(session_diff.as_plain(found)["state"]) == 500


@pytest.mark.parametrize(("name", "status"), [("none", 3), ("text", 5)])
def test_what_cannot_be_compared_is_told(
    folder: Path, name: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "text.tide.db").write_text("no database")
    assert diff(folder, "one", name) == status
    assert capsys.readouterr().err.count("\n") == 1
