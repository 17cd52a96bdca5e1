"""Commands that only look something up, and what all commands have in common."""

import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from io import StringIO
from itertools import chain
from pathlib import Path

import pytest
from typer.main import get_command

from commands.cli import analyze
from commands.cli.examples import examples
from commands.cli.main import PARTS, app_of, run_program
from commands.cli.options import named
from commands.language.cluster_options import ClusterOptions
from commands.language.grammar import leaves
from commands.language.grammar import program as statements
from commands.language.values import Setting
from commands.library.release_changes import behaviours
from console.actions.lookup import ACTIONS
from emulator.releases.profiles import FEATURES, VERSIONS
from emulator.releases.versions import RELEASES
from sessions.analysis.names import NAMES


def test_each_module_has_the_commands_that_it_is_imported_for() -> None:
    for module, names in PARTS.items():
        app = import_module(module).app
        own = [] if app.info.name else [command.name for command in app.registered_commands]
        assert (own or [app.info.name]) == list(names)
    command = get_command(app_of(PARTS))
    assert list(getattr(command, "commands", {})) == [*chain(*PARTS.values())]


def test_the_help_of_a_command_imports_neither_others_nor_releases() -> None:
    code = "import sys; from commands.cli.main import run_program; run_program(['run', '--help'])"
    code += "; sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others = {module for module in PARTS if module != "commands.cli.run"}
    assert (others | {"emulator.releases"}).isdisjoint(done.stderr.split())


def test_examples_are_printed_as_they_are() -> None:
    assert examples("a  b", "c") == "\b\nExamples:\n  a  b\n  c\n"


def test_the_options_of_a_cluster_become_its_statements_words() -> None:
    config = [Setting("a", "1"), Setting("b", "")]
    expected = ["--version", "1.1", "--seed", "0", "--config", "a=1", "--config", "b="]
    assert ClusterOptions(version="1.1", seed=0, config=config).words() == expected
    assert ClusterOptions(version="3.9", mode="kraft", brokers=5, controllers=3).words() == [
        *("--version", "3.9"),
        *("--mode", "kraft"),
        *("--brokers", "5"),
        *("--controllers", "3"),
    ]
    assert ClusterOptions().words() == []


def test_of_a_variable_given_twice_the_last_counts() -> None:
    assert named([Setting("A", "1"), Setting("A", "2")]) == {"A": "2"}


def test_every_release_is_listed_with_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["versions"]) == 0
    out = capsys.readouterr().out
    listed = [line.split()[0] for line in out.splitlines()[2:] if line[0] != " "]
    assert listed == [behaviour.version for behaviour in behaviours()]
    assert [version for version in listed if version in VERSIONS] == list(VERSIONS)
    assert all(feature.meaning in out for feature in FEATURES)


def test_releases_are_plain_data_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["versions", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert set(VERSIONS) <= {row["version"] for row in rows}
    assert {
        "version": "0.11",
        "what": "default",
        "name": "unclean.leader.election.enable",
        "label": "KIP-106",
        "meaning": "false, was true",
        "releases": ["0.11.0.0", "0.11.0.1", "0.11.0.2", "0.11.0.3"],
    } in rows
    alike = [row["releases"] for row in rows if row["what"] == "alike"]
    assert list(chain(*alike)) == ["documents", *RELEASES]


def test_every_key_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["keys", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == list(ACTIONS)
    assert run_program(["keys"]) == 0
    assert "Overview" in capsys.readouterr().out


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("word", "names"), [("keys", list(ACTIONS)), ("statements", list(dict(leaves(statements()))))]
)
def test_what_is_listed_fits_a_terminal_and_has_one_line_each_in_a_pipe(
    word: str, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGAUGE_CONFIG", str(tmp_path / "none.toml"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    assert run_program([word]) == 0
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in terminal.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    assert [name for line in lines[2:] if (name := line.split("  ")[0].rstrip())] == names
    monkeypatch.setattr(sys, "stdout", pipe := StringIO())
    assert run_program([word]) == 0
    assert [line.split("  ")[0] for line in pipe.getvalue().splitlines()[2:]] == names


def test_every_statement_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["statements"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(dict(leaves(statements()))) + 2
    assert any(line.startswith("topic create  ") for line in lines)


def test_a_statement_is_told_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["statements", "produce"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Usage: produce ")
    assert "--every D" in out
    assert "--help" not in out


def test_the_help_of_analyze_names_every_job() -> None:
    text = inspect.getdoc(analyze.analyze) or ""
    listed = text.partition("The jobs: ")[2].partition(" (docs")[0]
    assert tuple(" ".join(listed.split()).split(", ")) == NAMES
