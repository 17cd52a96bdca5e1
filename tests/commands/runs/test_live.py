import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import console
from commands.cli.main import run_program
from commands.language.parser import parse_script
from commands.runs.live import DEMO, asked, completer, live_source, replay_source
from console.model.settings import Configuration
from emulator.inputs.statements import Produce, Statement
from sessions.recording.recorder import Recorder
from sessions.sources.live import LiveSource
from sessions.sources.source import Source

SCRIPT = "cluster --seed ${SEED:-1}\ntopic create t --partitions 2 --replication-factor 3\nsettle\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "small.tide"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def live(script: Path) -> Iterator[tuple[LiveSource, Recorder]]:
    source, recorder = live_source(script, None, {}, [])
    yield source, recorder
    source.close()
    recorder.close()


def test_the_demo_has_brokers_topics_and_steady_producers() -> None:
    demo = parse_script(DEMO.read_text(encoding="utf-8"), str(DEMO))
    producers = [
        step.input
        for step in demo.steps
        if isinstance(step, Statement) and isinstance(step.input, Produce)
    ]
    assert demo.spec.brokers == 3
    assert len({each.topic for each in producers}) == 3
    assert all(each.background and each.every_us and each.count >= 10**6 for each in producers)


def test_the_demo_runs_without_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["run", str(DEMO), "--until", "time >= 10s"]) == 0
    assert "lost" not in capsys.readouterr().out


def test_a_script_stands_at_its_end_and_goes_on(live: tuple[LiveSource, Recorder]) -> None:
    source, _ = live
    before_us = source.time_us
    assert sorted(source.view.partitions) == ["t-0", "t-1"]
    source.advance(1.0, 1.0, 1_000)
    assert source.time_us == before_us + 1_000_000


def test_options_and_variables_reach_the_cluster(script: Path) -> None:
    source, recorder = live_source(script, None, {"SEED": "9"}, ["--version", "1.1"])
    try:
        assert (source.view.state.seed, source.view.state.version) == (9, "1.1")
    finally:
        source.close()
        recorder.close()


def test_a_recording_may_stay(script: Path, tmp_path: Path) -> None:
    source, recorder = live_source(script, tmp_path / "kept.tide.db", {}, [])
    source.submit("mark here")
    source.close()
    recorder.close()
    replayed = replay_source(tmp_path / "kept.tide.db")
    assert [each.name for each in replayed.bookmarks()] == ["here"]
    replayed.close()


def test_the_line_takes_statements_and_tables(live: tuple[LiveSource, Recorder]) -> None:
    source, _ = live
    assert source.submit("broker crash 2").error == "NONE"
    assert source.view.state.brokers[2].state == "crashed"
    reply = source.submit("show brokers")
    assert reply.output is not None
    assert "crashed" in reply.output


def test_the_line_takes_a_whole_script(live: tuple[LiveSource, Recorder], tmp_path: Path) -> None:
    source, _ = live
    other = tmp_path / "other.tide"
    other.write_text("cluster\nmark one\nmark two\n")
    assert source.submit(f"run '{other}'").error == "NONE"
    assert [each.name for each in source.bookmarks()] == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("brokr crash 1", "there is no statement 'brokr'; did you mean 'broker'?"),
        ("cluster", "a cluster already exists; 'cluster' must be the first statement of a script"),
    ],
)
def test_a_wrong_line_is_told(live: tuple[LiveSource, Recorder], text: str, message: str) -> None:
    assert live[0].submit(text).message == message
    with pytest.raises(ValueError, match=r"there is|already exists"):
        asked(text)


def test_showing_what_is_not_there_is_told(live: tuple[LiveSource, Recorder]) -> None:
    reply = live[0].submit("show epochs t-7")
    assert reply.error == "UNKNOWN_TOPIC_OR_PARTITION"
    assert "did you mean 't-" in reply.message


def test_completion_knows_what_is_shown(live: tuple[LiveSource, Recorder]) -> None:
    assert completer(live[0])("show epochs ") == ["show epochs t-0", "show epochs t-1"]


Shown = list[tuple[str, int, dict[str, object]]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What the console was asked to show: source's kind, event at the cursor, options."""
    found: Shown = []

    def run(source: Source, *, complete: Callable[[str], Sequence[str]], **options: object) -> None:
        assert complete("prod")
        found.append((source.kind, source.seq, options))

    monkeypatch.setattr(console, "run", run)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    return found


def chosen(options: dict[str, object]) -> Configuration:
    """The settings that the console was given."""
    found = options["configuration"]
    assert isinstance(found, Configuration)
    return found


def test_the_console_opens_on_the_demo(shown: Shown) -> None:
    assert run_program(["console", "--ascii"]) == 0
    ((kind, seq, options),) = shown
    assert kind == "LIVE"
    assert seq > 100
    assert options["paused"] is False
    assert chosen(options).value("ascii") is True


def test_the_console_may_begin_at_a_scripts_first_event(shown: Shown, script: Path) -> None:
    assert run_program(["console", str(script), "--from-start", "--paused"]) == 0
    ((kind, seq, options),) = shown
    assert (kind, seq, options["paused"]) == ("LIVE", 1, True)
    assert chosen(options).value("ascii") is False


def test_a_recording_is_replayed_from_its_beginning_or_a_time(
    shown: Shown, script: Path, tmp_path: Path
) -> None:
    path = tmp_path / "kept.tide.db"
    assert run_program(["console", str(script), "--record", str(path)]) == 0
    assert run_program(["replay", str(path), "--paused"]) == 0
    assert run_program(["replay", str(path), "--at", "1h"]) == 0
    assert [(kind, seq > 100) for kind, seq, _ in shown[1:]] == [
        ("REPLAY", False),
        ("REPLAY", True),
    ]


def test_the_console_and_a_replay_may_begin_at_an_event(
    shown: Shown, script: Path, tmp_path: Path
) -> None:
    path = tmp_path / "kept.tide.db"
    assert run_program(["console", str(script), "--record", str(path), "--at", "#77"]) == 0
    assert run_program(["replay", str(path), "--at", "#1,00"]) == 0
    assert run_program(["replay", str(path), "--at", "#99999999"]) == 0
    assert [seq for _, seq, _ in shown[:2]] == [77, 100]
    assert shown[2][1] > 100


def test_without_a_terminal_there_is_no_console(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["console"]) == 2
    assert capsys.readouterr().err.startswith("the console needs a terminal")


def test_a_recording_that_is_missing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["replay", "none.tide.db"]) == 3
    assert capsys.readouterr().err.count("\n") == 1
