"""``tidegauge sessions why``: causes on the command line."""

import json

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode

SCRIPT = (
    "cluster --brokers 3 --version 3.9 --mode zk;"
    " topic create t --replica-assignment 0:1:2,1:2:0; settle; broker freeze 2; wait 30s"
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("why") / "frozen.tide.db"
    assert run_program(["run", "-c", SCRIPT, "--record", str(file)]) == ExitCode.OK
    return str(file)


def test_all_that_is_wrong_is_explained(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["sessions", "why", recorded]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" is ")[0] for line in lines] == ["t-0", "t-1"]
    assert all("ISR lost 2" in line and "after 'broker freeze 2'" in line for line in lines)


def test_a_chain_begins_with_what_was_done(
    recorded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["sessions", "why", recorded, "t-0", "--json"]) == ExitCode.OK
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["status"]) == (1, "under replicated")
    first, *_, last = answer["causes"]
    assert first["text"].startswith("broker freeze 2")
    assert last["type"] == "PartitionStateChanged"
    number = f"#{last['event']}"
    assert run_program(["sessions", "why", recorded, number, "--json"]) == ExitCode.OK
    of_event = json.loads(capsys.readouterr().out)
    assert of_event["causes"] == answer["causes"]


def test_an_earlier_moment_has_another_answer(
    recorded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["sessions", "why", recorded, "--at", "1.5s"]) == ExitCode.OK
    assert capsys.readouterr().out == "every partition is healthy\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["t-7"], "there is no partition 't-7'; did you mean 't-1'?\n"),
        (["#999999"], "there is no event 999,999 (1 to "),
        (["t-0", "--at", "soon"], "'soon' is not a place in time"),
    ],
)
def test_what_is_not_there_is_refused(
    recorded: str, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["sessions", "why", recorded, *words]) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err
