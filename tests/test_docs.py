"""README.md and the pages of docs/ say what is so: what stands in them is run, and printed so.

A fenced block of a page is one of

- ``tide NAME`` or ``python NAME``: a file of that name, which is written;
- ``console``: lines that start with ``$`` are typed, the others are what comes of it, standard
  error and standard output as a terminal mixes them; in a ``console varies`` numbers may differ;
- ``console terminal``: needs a terminal, so that only its words and files are looked at;
- ``console spark``: needs Spark, and its lines are some of those that are printed, to the number;
- ``tide line``: what one may type behind ``:`` in the console.

After a change of what the program prints, ``python -m tests.test_docs`` writes it into README.md,
the guide, the page on postmortems with its reports, and the questions, and docs/statements.md
anew; with ``spark`` as a word more, what Spark's jobs print too.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
import typer
from typer.main import get_command

from commands.cli.main import PARTS, app_of, run_program
from commands.exits import ExitCode
from commands.language.grammar import leaves, program
from commands.language.parser import parse_line
from commands.language.reference import statements_page
from console.actions.lookup import ACTIONS

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "guide.md"
EXPLORER = ROOT / "docs" / "explorer.md"
KRAFT = ROOT / "docs" / "kraft.md"
OWN_CLUSTER = ROOT / "docs" / "own-cluster.md"
POSTMORTEM = ROOT / "docs" / "postmortem.md"
REPORTS = ROOT / "docs" / "incidents"
INCIDENTS = ROOT / "tests" / "sessions" / "postmortem" / "recordings" / "incidents"
STATEMENTS = ROOT / "docs" / "statements.md"
README = ROOT / "README.md"
QUESTIONS = sorted((ROOT / "docs" / "questions").glob("*.md"))
RUN_PAGES = (README, GUIDE, EXPLORER, KRAFT, OWN_CLUSTER, *QUESTIONS)
RUN = ("console", "console varies")
"""Blocks whose commands are run."""
PAGES = (README, *sorted((ROOT / "docs").rglob("*.md")))

FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
HEREDOC = re.compile(r"^cat > (?P<name>\S+) <<'EOF'\n(?P<text>.*?)^EOF\n", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
KEYS = re.compile(r"^\| ((?:`[^`]+` ?)+)\|", re.MULTILINE)
HERE = "/tmp/guide"
"""What the guide calls the folder in which its commands are run."""
NUMBER = re.compile(r"\b[0-9a-f]{64}\b|[0-9](?:[0-9,.:+T-]*[0-9])?")
SPACES = re.compile(r"[ -]+")
NEEDS_SPARK = ("tidegauge analyze", "tidegauge campaign")
RUNS_UNTIL_STOPPED = ("tidegauge serve",)
NEEDS_TERMINAL = {"console", "replay", "open"}


class Typed(NamedTuple):
    """A command as it stands in a page, and what is said to come of it."""

    command: str
    said: str


class Shell:
    """As much of a shell as pages need: the program, pytest, ``ls``, pipes to ``jq`` and ``grep``,
    redirection, ``$?``.
    """

    def __init__(self) -> None:
        self.status = 0

    def run(self, command: str) -> str | None:
        """What a terminal shows; None if a program that the command needs is not there."""
        if command == "echo $?":
            return f"{self.status}\n"
        command, _, file = command.partition(" > ")
        first, *filters = re.split(r" \| (?=jq|grep)", command)
        shown, data = self._first(first)
        for each in filters:
            words = shlex.split(each)
            if shutil.which(words[0]) is None:
                return None
            done = subprocess.run(words, input=data, capture_output=True, text=True, check=True)
            data = done.stdout
        if file:
            Path(file).write_text(data)
            return ""
        return data if filters else shown

    def _first(self, command: str) -> tuple[str, str]:
        """What it shows, and its standard output, which is shown too unless it is piped on."""
        quiet = command.endswith(" 2>/dev/null")
        name, *words = shlex.split(command.removesuffix(" 2>/dev/null"))
        if name == "pytest":
            start = [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider"]
            # pytest shortens no line where one of these is set
            reader = {k: v for k, v in os.environ.items() if k not in {"CI", "BUILD_NUMBER"}}
            done = subprocess.run(
                [*start, *words], capture_output=True, text=True, check=False, env=reader
            )
            return done.stdout.replace(os.getcwd(), HERE), ""
        if name == "ls":
            return "".join(f"{entry}\n" for entry in sorted(os.listdir(*words))), ""
        assert name == "tidegauge", f"the guide's reader has no '{name}' here"
        terminal, data = StringIO(), _Tee()
        data.also = terminal
        with redirect_stderr(StringIO() if quiet else terminal), redirect_stdout(data):
            self.status = run_program(words)
        here = os.getcwd()
        return terminal.getvalue().replace(here, HERE), data.getvalue().replace(here, HERE)


class _Tee(StringIO):
    """Standard output, of which a terminal shows a copy."""

    also: StringIO

    def write(self, text: str) -> int:
        self.also.write(text)
        return super().write(text)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The fenced blocks: what kind they are, and their text."""
    for fence in FENCE.finditer(page.read_text(encoding="utf-8")):
        yield fence["kind"], fence["text"]


def write_script(kind: str, text: str) -> None:
    """Make the file of a block that has a name."""
    language, _, name = kind.partition(" ")
    if language in ("tide", "python") and name not in ("", "line"):
        Path(name).write_text(text, encoding="utf-8")


def typed(text: str) -> Iterator[Typed]:
    """The commands of a block."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, said = part.replace("\\\n> ", "").partition("\n")
        yield Typed(command, said)


def agrees(said: str, printed: str, kind: str) -> bool:
    """Whether it was printed as the page says, as strictly as the kind of block asks."""
    if kind == "console":
        return said == printed
    if kind == "console spark":
        return set(said.splitlines()) <= set(printed.splitlines())
    said, printed = (SPACES.sub(" ", NUMBER.sub("0", text)) for text in (said, printed))
    return said == printed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a page's commands are run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", RUN_PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_says(page: Path) -> None:
    shell = Shell()
    for kind, text in blocks(page):
        write_script(kind, text)
        if kind in RUN:
            for command, said in typed(text):
                printed = shell.run(command)
                same = printed is None or agrees(said, printed, kind)
                assert same, f"$ {command}\n{printed}"


def put_incidents(folder: Path) -> None:
    """Put the logs of the incidents where the page on postmortems reads them."""
    for incident in INCIDENTS.iterdir():
        (folder / incident.name).symlink_to(incident)


def test_the_page_on_postmortems_prints_and_reports_what_it_says(folder: Path) -> None:
    put_incidents(folder)
    shell = Shell()
    for kind, text in blocks(POSTMORTEM):
        if kind == "console":
            for command, said in typed(text):
                assert shell.run(command) == said, command
    reports = sorted(REPORTS.glob("*.md"))
    assert len(reports) == 2
    for report in reports:
        written = (folder / report.name).read_text(encoding="utf-8")
        assert written == report.read_text(encoding="utf-8"), report.name


@pytest.mark.usefixtures("folder")
def test_the_guide_opens_the_console_with_options_that_exist(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for kind, text in blocks(GUIDE):
        write_script(kind, text)
        for command, _ in typed(text) if kind.startswith("console") else ():
            words = shlex.split(command)
            if kind == "console terminal":
                assert run_program(words[1:]) == ExitCode.USAGE
                assert capsys.readouterr().err.startswith("the console needs a terminal;")
            elif "--record" in words:
                Shell().run(command)
                capsys.readouterr()


def test_what_the_guide_types_in_the_console_are_statements() -> None:
    (text,) = (text for kind, text in blocks(GUIDE) if kind == "tide line")
    assert all(parse_line(line) for line in text.splitlines())


def test_the_guide_names_keys_that_exist() -> None:
    known = {key for action in ACTIONS.values() for key in action.keys}
    _, _, section = GUIDE.read_text(encoding="utf-8").partition("## The console")
    named = [key for row in KEYS.findall(section) for key in re.findall(r"`([^`]+)`", row)]
    assert len(named) > 10
    assert [key for key in named if key not in known] == []


@pytest.mark.spark
@pytest.mark.usefixtures("folder", "spark")
def test_the_guide_analyzes_what_it_says() -> None:
    shell = Shell()
    for kind, text in blocks(GUIDE):
        write_script(kind, text)
        for command, said in typed(text) if kind.startswith("console") else ():
            if kind == "console spark":
                printed = shell.run(command)
                assert printed is not None
                assert agrees(said, printed, kind), f"$ {command}\n{printed}"
            elif "--record" in command or "sessions export" in command:
                shell.run(command)


def test_what_the_page_on_kraft_says_to_try_runs(folder: Path) -> None:
    _, _, page = KRAFT.read_text(encoding="utf-8").partition("## Trying it")
    trying = page.partition("\n## ")[0]
    run_fences(trying, folder)
    assert os.listdir() == ["quorum.tide"]
    shell = Shell()
    named = [" ".join(each.split()) for each in re.findall(r"`(tidegauge [^`]+)`", trying)]
    assert len(named) == 2
    for command in named:
        shown = shell.run(command)
        terminal = not NEEDS_TERMINAL.isdisjoint(command.split())
        assert shell.status == (ExitCode.USAGE if terminal else ExitCode.OK), shown
        assert not terminal or (shown and "terminal" in shown), shown


def run_fences(text: str, folder: Path) -> None:
    """Write the scripts of the blocks and run their commands, each of which must succeed."""
    shell = Shell()
    for fence in FENCE.finditer(text):
        for script in HEREDOC.finditer(fence["text"]):
            (folder / script["name"]).write_text(script["text"])
        for line in HEREDOC.sub("", fence["text"]).splitlines():
            if line.startswith((*NEEDS_SPARK, *RUNS_UNTIL_STOPPED)):  # other tests run these
                continue
            shown = shell.run(line)
            terminal = not NEEDS_TERMINAL.isdisjoint(line.split()[1:3])
            assert shell.status == (ExitCode.USAGE if terminal else ExitCode.OK), shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_program_understands_every_command_of_a_page(page: Path) -> None:
    wrong = [line for line in command_lines(page) if not is_understood(line)]
    assert wrong == []


def command_lines(page: Path) -> Iterator[str]:
    """The calls of the program in fenced blocks that no other test runs."""
    for kind, text in blocks(page):
        if kind in RUN:
            assert page in (*RUN_PAGES, POSTMORTEM), f"no test runs the commands of {page.name}"
        elif kind.partition(" ")[0] in ("", "sh", "console"):
            for line in re.sub(r"\\\n(> )?", "", text).splitlines():
                called = line.removeprefix("$ ").partition(" #")[0]
                if called.startswith("tidegauge ") and (kind in ("", "sh") or line[0] == "$"):
                    yield re.split(r" [|>] | 2>| && ", called)[0]


def is_understood(line: str) -> bool:
    """Whether the program has the command, its options and their values; nothing is run."""
    command, words = get_command(app_of(PARTS)), shlex.split(line)[1:]
    while words and (found := getattr(command, "commands", {}).get(words[0])) is not None:
        command, words = found, words[1:]
    try:
        command.make_context("tidegauge", words)
    except typer.TyperException:
        return False
    return True


def test_the_readme_names_every_command() -> None:
    text = README.read_text(encoding="utf-8")
    assert [name for name in commands() if f"tidegauge {name}" not in text] == []


def test_the_page_of_statements_is_the_one_that_their_declarations_give() -> None:
    page = STATEMENTS.read_text(encoding="utf-8")
    assert page == statements_page()
    assert all(f"\n## {name}\n" in page for name, _ in leaves(program()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_is_there(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_tour_of_the_code_names_files_that_exist() -> None:
    text = (ROOT / "docs" / "code-tour.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py|/)?)`", text))
    assert len(named) > 40
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_makefile_has_what_contributors_are_told() -> None:
    rules = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    told = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\bmake ([a-z]+)", told.partition("## Rules")[0])) <= rules | {"the"}


def commands() -> list[str]:
    """The program's commands, as its help lists them."""
    data = StringIO()
    with redirect_stdout(data):
        run_program(["--help"])
    listed = data.getvalue().partition("Commands:")[2].partition("Examples:")[0]
    return [line.split()[0] for line in listed.splitlines() if line.strip()]


def rewritten(page: str) -> str:
    """A page with what its commands print now, where it is not what the page says."""
    shell = Shell()

    def block(fence: re.Match[str]) -> str:
        kind, text = fence["kind"], fence["text"]
        write_script(kind, text)
        if kind not in ("console", "console varies", *(f"console {word}" for word in sys.argv)):
            return fence[0]
        lines = []
        for command, said in typed(text):
            printed = shell.run(command)
            keeps = printed is None or (kind != "console varies" and agrees(said, printed, kind))
            kept = said if keeps else printed
            lines.append(f"$ {command}\n{kept}")
        return f"```{kind}\n{''.join(lines)}```"

    return FENCE.sub(block, page)


if __name__ == "__main__":
    with TemporaryDirectory() as scratch, chdir(scratch):
        put_incidents(Path())
        for chosen in (README, GUIDE, POSTMORTEM, *QUESTIONS):
            chosen.write_text(rewritten(chosen.read_text(encoding="utf-8")), encoding="utf-8")
        for report in REPORTS.glob("*.md"):
            report.write_text(Path(report.name).read_text(encoding="utf-8"), encoding="utf-8")
    STATEMENTS.write_text(statements_page(), encoding="utf-8")
