import io
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import sleep

import pytest

from commands.cli import main as program
from commands.cli.main import run_program
from commands.exits import CommandError, ExitCode
from commands.output.failures import TRACEBACK
from sessions.format.errors import (
    SessionDamagedError,
    SessionError,
    SessionMissingError,
    SessionNewerError,
)

ROOT = Path(__file__).parents[3]
START = [sys.executable, "-c", "from commands.cli.main import main; main()"]

COMMANDS = [
    ["run"],
    ["console"],
    ["replay"],
    ["sessions"],
    ["sessions", "list"],
    ["sessions", "show"],
    ["sessions", "verify"],
    ["sessions", "diff"],
    ["sessions", "trim"],
    ["sessions", "export"],
    ["sessions", "delete"],
    ["sessions", "script"],
    ["dataset"],
    ["dataset", "info"],
    ["dataset", "verify"],
    ["dataset", "compact"],
    ["dataset", "remove"],
    ["dataset", "convert"],
    ["matrix"],
    ["import"],
    ["postmortem"],
    ["rehearse"],
    ["explore"],
    ["scenarios"],
    ["serve"],
    ["conform"],
    ["campaign"],
    ["analyze"],
    ["config"],
    ["web"],
    ["zk"],
    ["zk", "shell"],
    ["versions"],
    ["mcp"],
    ["keys"],
    ["statements"],
]

LONG = "cluster; wait 1000h"


def process(*arguments: str, **more: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([*START, *arguments], cwd=ROOT, **more)  # type: ignore[call-overload]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_examples(
    command: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program([*command, "--help"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert f"Usage: tidegauge {' '.join(command)}" in shown
    assert f"  tidegauge {command[0]}" in shown.partition("Examples:")[2]


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["--help"]) == ExitCode.OK
    listed = capsys.readouterr().out.partition("Commands:")[2].partition("Examples:")[0]
    assert {line.split()[0] for line in listed.splitlines() if line.strip()} == {
        command[0] for command in COMMANDS
    }


def test_no_command_at_all_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program([]) == ExitCode.OK
    assert "Commands:" in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["--version"]) == ExitCode.OK
    assert capsys.readouterr().out.startswith("tidegauge ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu"], "'tidegauge' has no command 'rnu'; did you mean 'run'?"),
        (["run", "--jsn"], "'tidegauge run' has no option '--jsn'; did you mean '--json'?"),
        (["run"], "'tidegauge run' needs a FILE, - or -c, and only one"),
        (["run", "x", "-c", "y"], "'tidegauge run' needs a FILE, - or -c, and only one"),
        (["run", "x", "y"], "'tidegauge run' does not take 'y'"),
        (["run", "--seed"], "'tidegauge run': --seed needs a value"),
        (["run", "--speed", "0"], "'tidegauge run' --speed: '0' is not a speed"),
        (["run", "--limit", "5"], "'tidegauge run' --limit: '5' is not a time"),
        (["run", "--set", "X"], "'tidegauge run' --set: 'X' is not a variable (written NAME=VALUE"),
        (["run", "--version", "4.9"], "'tidegauge run' --version: '4.9' is not a version"),
        (
            ["run", "-c", "clustr"],
            "-c:1:1: there is no statement 'clustr'; did you mean",
        ),
        (
            ["run", "-c", "cluster", "--until", "t-0.ledaer == 1"],
            "'tidegauge run' --until: a partition has no 'ledaer'; did you mean 'leader'?",
        ),
        (
            ["run", "-c", "cluster", "--until", "offline == 0", "--within", "5"],
            "'tidegauge run' --until: '5' is not a time",
        ),
        (["statements", "topic", "crate"], "'topic' has no 'crate'; did you mean 'create'?"),
        (["sessions"], "'tidegauge sessions' needs a command"),
        (["sessions", "shwo"], "'tidegauge sessions' has no command 'shwo'; did you mean 'show'?"),
        (["sessions", "show"], "'tidegauge sessions show' needs FILE"),
        (["sessions", "export", "x"], "'tidegauge sessions export' needs --out"),
        (["analyze", "x"], "'tidegauge analyze' needs --out"),
        (["run", "--", "--config"], "cannot read '--config'"),
    ],
    ids=str,
)
def test_a_wrong_command_line_is_one_sentence(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = ExitCode.UNREACHABLE if message.startswith("cannot") else ExitCode.USAGE
    assert run_program(arguments) == expected
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandError(ExitCode.USAGE, "so"), 2),
        (SessionMissingError("gone"), 3),
        (SessionError("the disk is full"), 3),
        (SessionDamagedError("damaged"), 5),
        (SessionNewerError("newer"), 5),
        (FileNotFoundError(2, "No such file", "x"), 3),
        (ValueError("odd"), 70),
        (KeyboardInterrupt(), 130),
    ],
    ids=repr,
)
def test_every_error_is_a_sentence_and_a_status(
    error: BaseException,
    code: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr(program, "_invoke", fail)
    assert run_program(["run"]) == code
    assert "Traceback" not in capsys.readouterr().err


def test_an_unexpected_error_can_be_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_arguments: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(program, "_invoke", fail)
    monkeypatch.setenv(TRACEBACK, "1")
    with pytest.raises(ZeroDivisionError):
        run_program(["run"])


def test_standard_input_may_be_the_script(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("cluster\nshow cluster\n"))
    assert run_program(["run", "-"]) == ExitCode.OK
    assert "brokers up" in capsys.readouterr().out


def test_a_closed_standard_input_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run_program(["run", "-"]) == ExitCode.UNREACHABLE
    assert capsys.readouterr().err == "cannot read standard input: it is closed\n"


def test_a_script_that_is_no_text_does_not_parse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.tide"
    path.write_bytes(b"cluster\n\xff\n")
    assert run_program(["run", str(path)]) == ExitCode.USAGE
    assert capsys.readouterr().err == f"'{path}' is not UTF-8 text (byte 9 is wrong)\n"


def test_a_recording_given_as_a_script_is_told_with_the_command_that_opens_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.tide.db"
    path.write_bytes(b"SQLite format 3\0")
    assert run_program(["run", str(path)]) == ExitCode.USAGE
    opened = f"'tidegauge replay {path}' opens it"
    assert capsys.readouterr().err == f"'{path}' is a recording, not a script; {opened}\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    with process("statements", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        done.stdout.close()
        assert done.stderr.read() == b""
    assert done.returncode == 0


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_only_a_closed_standard_output_is_an_error(stream: int) -> None:
    with process(
        *("run", "-c", "cluster --brokers 1; show cluster"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.close(stream),
    ) as done:
        out, err = done.communicate()
    assert done.returncode == (ExitCode.UNREACHABLE if stream == 1 else ExitCode.OK)
    assert b"Traceback" not in err
    assert (b"brokers up" in out) == (stream != 1)
    assert (b"cannot write standard output: it is closed" in err) == (stream == 1)


def test_ctrl_c_ends_a_run_and_closes_its_recording(tmp_path: Path) -> None:
    path = tmp_path / "run.tide.db"
    with process(
        *("run", "-c", LONG, "--speed", "1", "--record", str(path)), stderr=subprocess.PIPE
    ) as done:
        assert done.stderr is not None
        assert b"cluster  ok" in done.stderr.readline()
        sleep(0.05)
        done.send_signal(signal.SIGINT)
        rest = done.stderr.read()
    assert done.returncode == ExitCode.INTERRUPTED
    assert rest.decode().splitlines() == ["interrupted", f"recorded: {path}"]
    assert run_program(["sessions", "show", str(path)]) == ExitCode.OK


def test_a_time_limit_ends_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["run", "-c", LONG, "--limit", "1ms", "--json"]) == ExitCode.TIME_LIMIT
    captured = capsys.readouterr()
    assert captured.out.startswith('{"schema":1')
    assert "the time limit was reached" in captured.err
