"""Control characters in what people wrote never reach a terminal, whichever command prints it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from commands.output import streams
from sessions.text import CONTROLS, json_line, without_controls
from tests.support.hostile_sessions.renaming import rename

PLACE = "CONTROLS"
"""Stands in a recording for as many bytes that control terminals."""
BELOW = "\x1b[2J\x07\x7f\x08\r"
"""Clears the screen. JSON within data cannot have such characters, so that data is damaged."""
ABOVE = "\x7f\u009b2J\x7f\u0085"
"""The same for terminals that know C1; JSON may have these as they are."""

SCRIPT = """\
# title: CONTROLS
cluster --brokers 2 --racks CONTROLS,b --hosts CONTROLS,b --seed 1
topic create tCONTROLS --partitions 1 --replication-factor 2
settle
produce tCONTROLS --value CONTROLS --key CONTROLS --count 2
consume tCONTROLS
consume tCONTROLS --group gCONTROLS
zk create /x CONTROLS
zk get /x
zk create /x/y CONTROLS
zk ls /x
zk set /x CONTROLS2
zk create /x CONTROLS
mark mCONTROLS CONTROLS
inject CONTROLS NONE
expect tCONTROLS-0.hw = 3
expect tCONTROLS-0.leader = 7
expect event TopicCreated topic=CONTROLS
topic describe tCONTROLS
topic list
show cluster
show partitions
show brokers
show producers
show clients
show groups
show quorum
show audit
show log tCONTROLS-0@1
show epochs tCONTROLS-0
show truths tCONTROLS-0
show metadata /
show events
broker crash 1
settle
"""
TOPIC = "tCONTROLS"
LINES = SCRIPT.splitlines()


def controls(text: str) -> set[str]:
    """The control characters in a text, but for line ends."""
    return {found[0] for found in CONTROLS.finditer(text)} | ({"\t"} & set(text))


class Shown:
    """Calls the program; nothing that it prints may control a terminal."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self.capture = capture

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        status = run_program([str(argument) for argument in arguments])
        output, error = self.capture.readouterr()
        assert (controls(output), controls(error)) == (set(), set()), arguments
        assert status != ExitCode.INTERNAL, error
        return status, output, error


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Shown:
    return Shown(capsys)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the statements that can be run; it has the word in every field of data."""
    folder = tmp_path_factory.mktemp("controls")
    script, path = folder / "CONTROLS.tide", folder / "CONTROLS.tide.db"
    script.write_text("\n".join(line for line in LINES if runs(line)) + "\n")
    arguments = ["run", str(script), "--record", str(path), "--json"]
    assert run_program(arguments) == ExitCode.FAILED  # an expectation is wrong on purpose
    return path


def runs(line: str) -> bool:
    """Whether a statement runs, or is only refused, with a plain word for the characters."""
    return not line.startswith(("inject", "show quorum", "show metadata", "expect event"))


def forged(recorded: Path, folder: Path, characters: str) -> Path:
    """A copy of the recording with these characters for the word, wherever it is."""
    path = folder / "a.tide.db"
    shutil.copy(recorded, path)
    rename(path, PLACE, characters)
    return path


@pytest.fixture(params=[BELOW, ABOVE], ids=["C0", "C1"])
def session(request: pytest.FixtureRequest, recorded: Path, tmp_path: Path) -> Path:
    return forged(recorded, tmp_path, request.param)


def test_no_command_on_a_session_prints_them(session: Path, tmp_path: Path, shown: Shown) -> None:
    status, output, _ = shown("sessions", "show", session)
    assert status in (ExitCode.OK, ExitCode.BAD_SESSION)
    assert "CONTROLS" not in output
    assert r"\x7f" in output
    shown("sessions", "list", tmp_path)
    shown("sessions", "verify", session)
    shown("sessions", "diff", session, session)
    shown("sessions", "html", session, "--out", tmp_path / "a.html")
    shown("sessions", "trim", session, "--from", "#3", "--out", tmp_path / "part.tide.db")
    _, script, _ = shown("sessions", "script", session)
    assert r"\x7f" in script
    again = tmp_path / "again.tide"
    again.write_text(script)
    shown("run", again)
    shown("sessions", "export", session, "--out", tmp_path / "dataset")
    shown("dataset", "info", tmp_path / "dataset")
    shown("dataset", "verify", tmp_path / "dataset")
    shown("sessions", "delete", session)
    shown("sessions", "delete", session, "--yes")


def test_json_has_them_as_escapes(session: Path, tmp_path: Path, shown: Shown) -> None:
    _, output, _ = shown("sessions", "show", session, "--json")
    said = json.loads(output)
    assert any("\x7f" in statement["text"] for statement in said["inputs"])
    for arguments in (("sessions", "list", tmp_path), ("sessions", "diff", session, session)):
        _, output, _ = shown(*arguments, "--json")
        json.loads(output)


@pytest.mark.parametrize(
    ("characters", "mode"), [(BELOW[:-1], "zk"), (ABOVE, "kraft")], ids=["C0-zk", "C1-kraft"]
)
def test_no_statement_prints_them(characters: str, mode: str, tmp_path: Path, shown: Shown) -> None:
    script = tmp_path / "a.tide"
    cluster = f"cluster --brokers 2 --mode {mode} --seed 1"
    for line in LINES[2:]:
        written = line.replace(TOPIC, "t").replace(PLACE, f"'{characters}'")
        script.write_text(f"{cluster}\ntopic create t --partitions 1\nsettle\n"
                          f"zk create /x '{characters}'\n{written}\n")  # fmt: skip
        for options in ((), ("--json",)):
            shown("run", script, *options)
        named = line.replace(PLACE, characters)
        script.write_text(f"{cluster}\n{named}\n")
        shown("run", script)


def test_what_was_written_to_a_znode_is_shown_as_escapes(shown: Shown) -> None:
    statements = (
        "cluster; zk create /x 'a\x1b]0;owned\x07\u009b'; zk get /x; zk create /x '\x1b[2J'"
    )
    status, output, error = shown("run", "-c", statements)
    assert status in (ExitCode.FAILED, ExitCode.OK)
    assert r"a\x1b]0;owned\x07\x9b" in output
    assert r"\x1b[2J" in error


@pytest.mark.parametrize("what", ["run", "campaign", "serve"])
def test_names_and_variables_are_shown_as_escapes(what: str, tmp_path: Path, shown: Shown) -> None:
    path = tmp_path / f"{ABOVE}.tide"
    status, _, error = shown(what, path, "--set", f"{ABOVE}={ABOVE}")
    assert status in (ExitCode.UNREACHABLE, ExitCode.USAGE)
    assert error.strip()
    path.write_text(f"cluster\n${{{ABOVE}}}\n")
    status, _, error = shown("run", path, "--set", f"A={ABOVE}")
    assert status == ExitCode.USAGE
    assert r"\x9b" in error


@pytest.mark.parametrize("arguments", [
    ("sessions", "show", ABOVE), ("sessions", "list", ABOVE), ("dataset", "info", ABOVE),
    ("replay", ABOVE), ("console", ABOVE), ("console", "--theme", ABOVE), (ABOVE,),
    ("run", "-c", ABOVE), ("run", f"--{ABOVE}"), ("matrix", "--scenario", ABOVE),
    ("scenarios", "show", ABOVE), ("statements", ABOVE), ("explore", "--version", ABOVE),
    ("analyze", ABOVE), ("sessions", "delete", ABOVE), ("web", ABOVE),
])  # fmt: skip
def test_no_error_prints_them(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Shown
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, error = shown(*arguments)
    assert status in (ExitCode.USAGE, ExitCode.UNREACHABLE)
    assert error


def test_a_line_of_progress_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(streams, "watched", lambda: True)
    monkeypatch.setattr(streams, "_write", lambda _, text: written.append(text))
    streams.progress(f"exporting {BELOW}")
    assert controls(written[0].removeprefix("\r\x1b[K")) == set()


def every_control() -> Iterator[int]:
    yield from (code for code in range(0xA0) if not 0x20 <= code < 0x7F and code not in (9, 10))
    yield from (0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xD800, 0xDFFF)


@pytest.mark.parametrize("code", list(every_control()))
def test_each_is_an_escape(code: int) -> None:
    assert without_controls(f"a{chr(code)}b\t\n").isascii()
    if not 0xD800 <= code < 0xE000:  # no value has surrogates
        line = json_line([chr(code)])
        assert line.removesuffix("\n").isprintable()
        assert json.loads(line) == [chr(code)]
