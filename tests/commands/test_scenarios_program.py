"""``tidegauge scenarios``: the library listed, shown and run."""

import json

import pytest
from msgspec.structs import replace

from commands.cli.main import run_program
from commands.cli.scenarios import briefing, span
from commands.exits import ExitCode
from commands.library.index import find, library
from emulator.releases.profiles import VERSIONS

NAMES = [scenario.name for scenario in library()]


def test_the_list_has_every_scenario_under_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["scenarios", "list"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert [name for name in NAMES if name not in shown] == []
    assert shown.index("the write path") < shown.index("known failures")


def test_the_list_as_json_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["scenarios", "list", "--json"]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found] == NAMES
    assert all(each["title"] and each["watch"] and each["questions"] for each in found)


def test_a_scenario_is_shown_with_what_to_watch_and_predict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["scenarios", "show", "v7"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert shown.startswith("V7 stale-HW restart\n")
    assert "  watch: broker 2 has m2" in shown
    assert "  predict: What does broker 2 truncate" in shown
    assert "\ncluster --brokers 3" in shown


def test_only_the_script_is_shown_if_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    run_program(["scenarios", "show", "V7", "--script"])
    assert capsys.readouterr().out == find("V7").text()


def test_a_scenario_as_json_has_its_script(capsys: pytest.CaptureFixture[str]) -> None:
    run_program(["scenarios", "show", "V7", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["script"] == find("V7").text()
    assert found["outcomes"][0] == {"since": "documents", "outcome": "loss+diverge"}


def test_a_scenario_runs_as_a_script_does(capsys: pytest.CaptureFixture[str]) -> None:
    status = run_program(["scenarios", "run", "A8-loss-3-literal", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert status == ExitCode.OK
    assert result["version"] == "documents"
    assert len(result["audit"]["lost"]) == 1
    assert result["expectations"]["failed"] == []


def test_a_release_that_it_is_not_written_for_is_told_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = run_program(["scenarios", "run", "A8-loss-3-literal", "--version", "0.9"])
    assert status == ExitCode.FAILED
    told = capsys.readouterr().err
    assert "A8-loss-3-literal is written for documents; on 0.9 what it expects may fail" in told


@pytest.mark.parametrize(
    ("version", "is_written_for"),
    [("0.10.0.1", True), ("0.10.1.1", True), ("0.10", True), ("0.11.0.1", False), ("3.6", False)],
)
def test_expectations_hold_between_two_releases_that_they_are_written_for(
    version: str, *, is_written_for: bool
) -> None:
    scenario = replace(find("V7"), versions=("0.8.1", "0.8.2", "0.9", "0.10.0", "0.10.2"))
    assert scenario.is_written_for(version) is is_written_for


@pytest.mark.parametrize("command", ["show", "run", "open"])
def test_a_name_that_is_none_is_one_sentence(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["scenarios", command, "V16-uncleen"]) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert "there is no scenario 'V16-uncleen'; did you mean 'V16-unclean'?" in told


def test_a_briefing_says_since_when_it_does_not_happen() -> None:
    assert "since: KIP-101 (0.11)" in briefing(find("V7"))


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        (VERSIONS, "all"),
        (("documents",), "documents"),
        (("documents", "0.8.1"), "documents to 0.8.1"),
        (("0.11", "1.1", "2.0.1"), "0.11 to 2.0.1, not 2.0.0"),
        (("0.8.1", "3.9"), "0.8.1, 3.9"),
        (("3.9", "4.0", "4.1"), "3.9 to 4.1"),
        (("4.1",), "4.1"),
    ],
)
def test_releases_are_said_in_a_few_words(versions: tuple[str, ...], said: str) -> None:
    assert span(versions) == said


def test_a_scenario_is_opened_in_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    status = run_program(["scenarios", "open", "V7", "--version", "0.10.2", "--against", "0.11"])
    assert status == ExitCode.USAGE
    assert capsys.readouterr().err.startswith("the console needs a terminal;")
