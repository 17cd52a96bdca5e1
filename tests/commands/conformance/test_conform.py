"""``tidegauge conform`` with an adapter that lies: verdicts, files, sessions."""

import asyncio
import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest

from commands.cli.main import run_program
from commands.conformance import page, settings
from commands.conformance.adapter import Adapter, AdapterError
from commands.conformance.case import Result
from commands.conformance.clients import ADAPTERS
from commands.conformance.report import failures
from commands.conformance.scenarios import SCENARIOS
from commands.exits import ExitCode
from emulator.events import BookmarkSet
from sessions.format.file import SessionFile

LIAR = Path(__file__).with_name("lying_adapter.py")
COMMAND = shlex.join([sys.executable, str(LIAR)])
ALIKE = ("lost-response", "controller-crash", "record-too-large", "out-of-range")
SAME = ("version", "scenario", "verdict")
DOCUMENTATION = Path(__file__).parents[3] / "docs" / "conform.md"


def reasons_of(case: dict[str, Any]) -> set[str]:
    """What a case violated; how many records depends on how fast its client is."""
    return {violation.partition(":")[0] for violation in case["violations"]}


def answering(line: str) -> str:
    """Return the command of an adapter that answers everything with this line."""
    return shlex.join([sys.executable, "-c", f"print({line!r})"])


def test_a_client_that_lies_is_found_out_and_the_session_shows_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    junit = tmp_path / "conform.xml"
    words = ["--versions", "2.1,4.1,2.1", "--sessions", str(tmp_path), "--junit", str(junit)]
    names = ["--scenario", "lost-response", "--scenario", "transaction-commit"]
    asked = ["conform", COMMAND, COMMAND, *words, *names, *names, "--json", "--jobs", "1"]
    assert run_program(asked) == ExitCode.FAILED
    told = json.loads(capsys.readouterr().out)
    verdicts = [(case["version"], case["scenario"], case["verdict"]) for case in told["cases"]]
    assert verdicts == [
        ("2.1", "lost-response", "failed"),
        ("2.1", "transaction-commit", "skipped"),
        ("4.1", "lost-response", "failed"),
        ("4.1", "transaction-commit", "skipped"),
    ]
    failed, skipped, *_ = told["cases"]
    assert failed["violations"][0] == (
        "nothing lost: p-0001 was acknowledged and is not in orders-0"
    )
    assert skipped["reason"] == "the client has no transactions"
    suites = xml.parse(junit).getroot()
    assert [suite.get("failures") for suite in suites] == ["1", "1"]
    failure = suites.find(".//failure")
    assert failure is not None
    assert failed["open"] in (failure.text or "")
    assert not Path(failed["session"]).name.startswith(".")
    assert failed["open"].startswith(f"tidegauge replay {shlex.quote(failed['session'])} --paused")
    with SessionFile(Path(failed["session"])) as session:
        happened = list(session.all_events())
        marks = [event for event in happened if isinstance(event, BookmarkSet)]
        moment = float(failed["open"].rpartition(" ")[2].removesuffix("s")) * 1_000_000
        assert marks[0].note.startswith("p opens a producer")
        assert marks[0].time_us < moment <= happened[-1].time_us


def test_cases_that_failed_alike_are_explained_once() -> None:
    def failed(scenario: str, version: str, violation: str) -> Result:
        return Result(
            client="./mine",
            version=version,
            scenario=scenario,
            verdict="failed",
            violations=[violation],
            session=f"/tmp/{scenario}.tide.db",
        )

    codec, lost = "p answered 'producer' with no codec", "nothing lost: m1"
    cases = [failed("a", "3.9", codec), failed("b", "3.9", lost), failed("a", "4.1", codec)]
    assert list(failures(cases)) == [
        "./mine on 3.9, a:",
        f"  {codec}",
        "  tidegauge replay /tmp/a.tide.db --paused --at 0.000000s",
        "  1 other case failed in the same way: a on 4.1",
        "./mine on 3.9, b:",
        f"  {lost}",
        "  tidegauge replay /tmp/b.tide.db --paused --at 0.000000s",
    ]


def test_the_same_seed_gives_the_same_verdicts_for_the_same_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [word for name in ALIKE for word in ("--scenario", name)]
    words = ["--versions", "2.8,4.1", "--sessions", str(tmp_path), "--seed", "7", "--json"]
    told = []
    for jobs in ("1", "2"):
        assert run_program(["conform", COMMAND, *names, *words, "--jobs", jobs]) == ExitCode.FAILED
        cases = json.loads(capsys.readouterr().out)["cases"]
        told.append([({name: case[name] for name in SAME}, reasons_of(case)) for case in cases])
    assert told[0] == told[1]
    assert {case["verdict"] for case, _ in told[0]} == {"failed", "skipped"}


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("no-such-program", "cannot start 'no-such-program'"),
        (answering("5"), "the answer to 'hello' is no JSON object"),
        (
            answering('{"results": [5]}'),
            "the answer to 'hello' is wrong (Expected `object`, got `int`",
        ),
        (answering('{"oldest": "new"}'), "matching regex"),
        (answering('{"client": '), "is wrong (Input data was truncated)"),
        (f"{shlex.quote(sys.executable)} -c 1/0", "ended on 'hello': ZeroDivisionError"),
    ],
)
def test_an_adapter_that_is_none_is_an_error(
    command: str,
    text: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    words = ["--versions", "4.1", "--scenario", "leader-crash"]
    assert run_program(["conform", command, *words]) == ExitCode.UNREACHABLE
    assert text in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [], "a folder for no sessions is not left behind"


def test_a_misspelt_client_is_recognized(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["conform", "kafka-pyton", "--versions", "4.1"]) == ExitCode.USAGE
    assert "'kafka-pyton'; did you mean 'kafka-python'?" in capsys.readouterr().err


def test_a_process_that_ends_after_its_case_is_not_the_next_ones_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["--scenario", "lost-response", "--scenario", "half-open-connection"]
    words = ["--versions", "4.1", "--sessions", str(tmp_path), "--jobs", "1", "--json"]
    assert run_program(["conform", f"{COMMAND} leave", *names, *words]) == ExitCode.FAILED
    told = json.loads(capsys.readouterr().out)["cases"]
    assert all(case["violations"] for case in told)
    assert "the process ended" not in str(told)


def test_an_answer_that_breaks_the_contract_fails_its_case_at_that_moment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--scenario", "lost-response", "--versions", "4.1", "--sessions", str(tmp_path)]
    assert run_program(["conform", f"{COMMAND} mumble", *words, "--json"]) == ExitCode.FAILED
    (failed,) = json.loads(capsys.readouterr().out)["cases"]
    assert any("p: the answer to 'send' is wrong" in text for text in failed["violations"])
    assert float(failed["open"].rpartition(" ")[2].removesuffix("s")) > 0


async def test_an_adapter_that_is_silent_or_dies_is_told() -> None:
    adapter = await Adapter.start([sys.executable, str(LIAR), "die"], {}, 30)
    assert adapter.name == "liar 1.0"
    with pytest.raises(AdapterError, match="the process ended on 'close': it has had enough"):
        await adapter.ask({"do": "close"}, 30)
    await adapter.end()
    sleeper = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with pytest.raises(AdapterError, match=r"no answer to 'hello' within 0\.05 s"):
        await asyncio.wait_for(Adapter.start(sleeper, {}, 0.05), 30)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "needs a client: kafka-python, "),
        (["kafka-python", "--scenario", "leader-crush"], "did you mean 'leader-crash'?"),
        (["''"], "is neither a client nor a command"),
    ],
)
def test_wrong_words_are_refused(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["conform", *words]) == ExitCode.USAGE
    assert text in capsys.readouterr().err


def test_the_list_and_the_page_come_from_the_declarations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["conform", "--list", "--json"]) == ExitCode.OK
    listed = json.loads(capsys.readouterr().out)["scenarios"]
    assert [row["name"] for row in listed] == [scenario.name for scenario in SCENARIOS]
    assert run_program(["conform", "--list"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert all(scenario.title in shown for scenario in SCENARIOS)
    documentation = DOCUMENTATION.read_text("utf-8")
    assert documentation.endswith(page.markdown())
    for name in ("lines.py", "kafka_python.py"):
        assert (ADAPTERS / name).read_text("utf-8") in documentation


def test_patience_makes_timeouts_longer_and_nothing_else() -> None:
    given = settings.patient({**settings.CONSUMER, "max.block.ms": 7}, 3)
    assert given["request.timeout.ms"] == 3_000
    assert given["max.block.ms"] == 21
    assert given["heartbeat.interval.ms"] == settings.CONSUMER["heartbeat.interval.ms"]
    assert given["auto.offset.reset"] == "earliest"
    assert settings.cluster(3)["group.consumer.session.timeout.ms"] == "6000"
