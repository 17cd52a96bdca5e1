"""``tidegauge campaign`` as people see it."""

from pathlib import Path

import msgspec
import pytest

from commands.cli.main import run_program
from commands.exits import CommandError, ExitCode
from commands.output import streams
from commands.runs import campaign
from commands.runs.campaign import matrix, plain, to_look_at
from sessions.campaign import runner as work
from sessions.campaign.outcome import CampaignReport, Failing, Loss, VariantReport
from sessions.campaign.runner import Progress as Reached
from sessions.dataset.layout import DatasetUnreadable
from sessions.dataset.tables import TABLES
from sessions.text import json_line
from tests.sessions.campaign.plans import short_plan
from tests.sessions.dataset.reading import rows

SCRIPT = """\
cluster --brokers 3 --stepwise --config zookeeper.session.timeout.ms=2000
topic create t --replica-assignment 1:2:0 --config min.insync.replicas=2
wait until t-0.leader == 1
wait 10ms
produce t --value m --acks ${acks} --retries 0 --timeout 300ms
broker crash 1
wait until t-0.leader == 2
expect audit.lost == 0
"""
NONE = Loss(0, 0)


def report(failing: int = 1) -> CampaignReport:
    outcomes = {"passed": 1, "failed": 1, "raised": 0, "hung": 0}
    return CampaignReport(
        dataset="/d",
        script="s.tide",
        runs=4,
        variants=(
            VariantReport(
                {"acks": "1"}, 2, outcomes, Loss(1, 3), NONE, NONE, NONE, 1_250_000.0, 2_000_000
            ),
            VariantReport({"acks": "all"}, 2, outcomes, NONE, NONE, NONE, NONE, None, None),
        ),
        failing=(Failing("x", {"acks": "1"}, 7, ["failed", "lost"], None, "tidegauge console"),),
        failing_in_all=failing,
        failing_file="/d/_campaign/failing.txt",
        runs_table="/d/runs",
    )


def test_the_matrix_has_a_row_a_combination() -> None:
    grid = matrix(report())
    assert grid.title == "campaign s.tide: 4 runs, in /d"
    assert [dict(zip(grid.columns, row, strict=True)) for row in grid.rows] == [
        {"ACKS": "1", "RUNS": 2, "FAILED": 1, "RAISED": 0, "HUNG": 0, "LOST": 1, "DUPLICATED": 0,
         "DIVERGED": 0, "RECORDS LOST": 3, "UNAVAILABLE": "1.250s", "AT MOST": "2.000s"},
        {"ACKS": "all", "RUNS": 2, "FAILED": 1, "RAISED": 0, "HUNG": 0, "LOST": 0, "DUPLICATED": 0,
         "DIVERGED": 0, "RECORDS LOST": 0, "UNAVAILABLE": "-", "AT MOST": "-"},
    ]  # fmt: skip


def test_each_run_to_look_at_is_a_command() -> None:
    assert to_look_at(report()) == "1 run to look at:\ntidegauge console  # failed, lost\n"
    assert to_look_at(report(5)).startswith(
        "5 runs to look at (the worst 1; all in /d/_campaign/failing.txt):\n"
    )
    assert to_look_at(report(0)) == "no run failed, lost, duplicated or diverged\n"


def test_the_report_is_one_json_object() -> None:
    made = msgspec.json.decode(json_line(plain(report())))
    assert made["schema"] == 1
    assert made["variants"][0]["lost"] == {"runs": 1, "records": 3}
    assert made["failing"][0]["command"] == "tidegauge console"
    assert made["failing_file"] == "/d/_campaign/failing.txt"


def test_progress_is_of_what_was_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    shown: list[str] = []
    monkeypatch.setattr(campaign, "monotonic", lambda: clock[0])
    monkeypatch.setattr(streams, "progress", shown.append)
    progress = campaign._Progress()
    for at, done in ((0, 10), (10, 35), (70, 60)):
        clock[0] = at
        progress(Reached(110, done))
    bar = "campaign  [######------------------]  25%  25 of 100 runs"
    assert shown[0].startswith(bar)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "10 of 110 runs are already done"
    assert said[1].endswith(" 50%  50 of 100 runs  1 /s  70 s left")


def test_a_campaign_that_is_stopped_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*arguments: object, **_: object) -> CampaignReport:
        tell = arguments[-2]
        assert callable(tell)
        tell(Reached(9, 4))
        raise KeyboardInterrupt

    monkeypatch.setattr(work, "run_campaign", stopped)
    assert campaign.campaign(short_plan(), "d", 1_000_000, None, None) is None
    assert capsys.readouterr().err.splitlines()[-1] == (
        "stopped: about 4 of 9 runs; run the same command again to continue"
    )


def test_a_damaged_dataset_has_a_status_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*_: object, **__: object) -> CampaignReport:
        raise DatasetUnreadable("it is damaged")

    monkeypatch.setattr(work, "run_campaign", damaged)
    with pytest.raises(CommandError, match="it is damaged") as refused:
        campaign.campaign(short_plan(), "d", 1_000_000, None, None)
    assert refused.value.code is ExitCode.BAD_SESSION


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.tide").write_text(SCRIPT)


@pytest.mark.usefixtures("script")
@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--out", "d", "--master", "local", "--remote", "sc://x"], 2, "takes --master or --rem"),
        (["--out", "d", "--seeds", "3..1"], 2, "'3..1' ends before it starts"),
        (["--out", "d", "--vary", "acks"], 2, "'acks' has no values"),
        (["--out", "d"], 2, "${acks} has no value"),
        (["--out", "s.tide", "--vary", "acks=1"], 3, "s.tide is not a dataset"),
        (["--out", "d", "--vary", "acks=1", "--master", "http://x"], 3, "is not a Spark URL"),
    ],
)
def test_bad_input_is_told_in_a_sentence_and_nothing_is_made(
    words: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["campaign", "s.tide", *words]) == status
    assert said in capsys.readouterr().err
    assert not Path("d").exists()


@pytest.mark.usefixtures("script")
def test_without_java_one_sentence_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.analysis.java.java_program", lambda: None)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    assert run_program(["campaign", "s.tide", "--vary", "acks=1", "--out", "d"]) == 3
    assert capsys.readouterr().err.startswith("Spark needs Java 17 or newer, but no java")
    assert not Path("d").exists()


@pytest.mark.spark
@pytest.mark.usefixtures("spark", "script")
def test_a_campaign_and_single_runs_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["campaign", "s.tide", "--seeds", "3..4", "--vary", "acks=1,all", "--out", "d"]
    assert run_program([*words, "--json"]) == ExitCode.FAILED
    made = msgspec.json.decode(capsys.readouterr().out)
    assert [each["outcomes"]["failed"] for each in made["variants"]] == [2, 0]
    assert made["failing"][0]["command"] == (
        "tidegauge console s.tide --from-start --paused --seed 3 --set acks=1"
    )
    run = ["run", "s.tide", "--seed", "3", "--set", "acks=1", "--record", "acks-1_seed-3.tide.db"]
    assert run_program(run) == ExitCode.FAILED
    assert run_program(["sessions", "export", "acks-1_seed-3.tide.db", "--out", "single"]) == 0
    for table in TABLES:
        of = [rows(Path(folder), table.name, "acks-1_seed-3") for folder in ("d", "single")]
        for row in (*of[0], *of[1]):
            for column in ("name", "path") if table.name == "sessions" else ():
                row.pop(column)
        assert of[0] == of[1], table.name
    capsys.readouterr()

    assert run_program(words) == ExitCode.FAILED
    printed = capsys.readouterr().out
    assert "ACKS  RUNS  FAILED" in printed
    assert printed.endswith("--seed 4 --set acks=1  # failed, lost\n")
