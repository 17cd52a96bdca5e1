"""``tidegauge scenarios``: read, run and open the library's flows and failures."""

from typing import TYPE_CHECKING, Annotated

import typer

from commands.cli.candidates import scenarios
from commands.cli.console import need_terminal
from commands.cli.examples import examples
from commands.cli.options import (
    AsJson,
    JsonObject,
    Record,
    Seed,
    Settings,
    Version,
    argument,
    flag,
    option,
)
from commands.cli.settings import Ascii, ScreenArguments, Theme
from commands.exits import CommandError, ExitCode
from commands.language.cluster_options import ClusterOptions
from commands.output import streams
from sessions.grammar.words import BadWord

if TYPE_CHECKING:
    from commands.library.documents import Stated
    from commands.library.index import Scenario

app = typer.Typer(
    name="scenarios",
    help="Flows of replication and known failures: list, show, run or open them.",
    epilog=examples(
        "tidegauge scenarios list",
        "tidegauge scenarios run V7 --version 0.10.2",
        "tidegauge scenarios open V7 --version 0.10.2 --against 0.11",
    ),
)

Name = Annotated[str, argument("NAME", text="a scenario, or how its name begins", among=scenarios)]


@app.command(
    "list",
    epilog=examples(
        "tidegauge scenarios list",
        "tidegauge scenarios list --documents",
        "tidegauge scenarios list --json",
    ),
)
def list_scenarios(
    as_json: AsJson = False,
    documents: Annotated[
        bool,
        flag(
            "--documents",
            text="by the statements of the documents that the profile 'documents' follows",
        ),
    ] = False,
    markdown: Annotated[
        bool, flag("--markdown", text="with --documents: print a Markdown page")
    ] = False,
) -> None:
    """List the scenarios: flows of replication first, then known failures."""
    from commands.library.index import library
    from commands.output.grids import Grid

    if documents:
        _list_statements(as_json, markdown)
        return
    if markdown:
        raise CommandError(ExitCode.USAGE, "'--markdown' is for '--documents'")
    if as_json:
        streams.emit_json([_plain(scenario) for scenario in library()])
        return
    grids = []
    for group in dict.fromkeys(scenario.group for scenario in library()):
        rows = [
            (scenario.name, scenario.title, span(scenario.versions))
            for scenario in library()
            if scenario.group == group
        ]
        grids.append(Grid(group, ("NAME", "TITLE", "RELEASES"), list(rows)))
    streams.emit_tables(grids)


def _list_statements(as_json: bool, markdown: bool) -> None:
    from commands.library import documents

    if as_json:
        streams.emit_json([_stated(statement) for statement in documents.statements()])
    else:
        streams.emit(documents.page() if markdown else documents.listed())


def _stated(statement: "Stated") -> dict[str, object]:
    return {
        "number": statement.number,
        "row": statement.row,
        "statement": statement.text,
        "scenarios": [
            {
                "name": shown.scenario.name,
                "versions": list(shown.scenario.versions),
                "values": list(shown.values),
            }
            for shown in statement.shown
        ],
        "kafka": list(statement.differences),
    }


@app.command(
    "show",
    epilog=examples(
        "tidegauge scenarios show V7", "tidegauge scenarios show A3-normal-flow-read-first --json"
    ),
)
def show(
    name: Name,
    as_json: AsJson = False,
    script: Annotated[
        bool, flag("--script", text="only the script, to be changed and run")
    ] = False,
) -> None:
    """Show a scenario's description, what to watch, what to predict, and its script."""
    scenario = _find(name)
    if as_json:
        streams.emit_json({**_plain(scenario), "script": scenario.text()})
    elif script:
        streams.emit(scenario.text())
    else:
        streams.emit(briefing(scenario))
        streams.emit(f"\n{scenario.text()}")


@app.command("run", epilog=examples("tidegauge scenarios run V7 --version 0.10.2 --json"))
def run(
    name: Name,
    version: Version = None,
    config: Settings = None,
    seed: Seed = None,
    record: Record = None,
    as_json: JsonObject = False,
) -> int:
    """Run a scenario as 'tidegauge run' does, with the same output and exit status.

    Some expectations may fail on a release that they are not written for.
    """
    from pathlib import Path

    from commands.language.parser import parse_script
    from commands.runs.driver import Pace
    from commands.runs.recording import recorder
    from commands.runs.run import run_script

    scenario = _find(name, version)
    chosen = _judged_version(scenario, version)
    options = ClusterOptions(version=chosen, seed=seed, config=config)
    parsed = parse_script(scenario.text(), scenario.path.name, {}, options.words())
    recording = None if record is None else recorder(parsed, Path(record), {})
    streams.narrate(f"{scenario.title}: {scenario.watch}")
    return run_script(parsed, Pace(), recording, None, as_json)


@app.command(
    "open",
    epilog=examples(
        "tidegauge scenarios open A3-normal-flow-read-first",
        "tidegauge scenarios open V7 --version 0.10.2 --against 0.11",
    ),
)
def open_scenario(
    name: Name,
    version: Version = None,
    against: Annotated[
        str | None,
        option(
            "--against",
            kind="VERSION",
            text="run another release side by side; both step together",
        ),
    ] = None,
    theme: Theme = None,
    ascii_only: Ascii = False,
) -> int:
    """Open a scenario in the console, paused at its start.

    With --against, the same script runs on two releases: they step together, and the first
    difference is marked.
    """
    scenario = _find(name, version)
    chosen = _judged_version(scenario, version)
    configuration = ScreenArguments(theme=theme, ascii_only=ascii_only).settings()
    need_terminal()
    from commands.runs.console_library import ConsoleLibrary
    from console import run

    library = ConsoleLibrary()
    opened = library.open_scenario(scenario.name, chosen, against)
    try:
        return run(
            opened.source,
            paused=True,
            complete=opened.complete,
            configuration=configuration,
            library=library,
            card=opened.card,
        )
    finally:
        opened.close()


def briefing(scenario: "Scenario") -> str:
    """Return the title, what to watch, the questions, and the documents' statements."""
    from commands.library.documents import statements

    rows = [scenario.title, f"  name: {scenario.name}", f"  releases: {span(scenario.versions)}"]
    rows.append(f"  watch: {scenario.watch}")
    rows += [f"  predict: {question}" for question in scenario.questions]
    for stated in statements():
        if any(shown.scenario == scenario for shown in stated.shown):
            rows.append(f"  documents, {stated.number}: {stated.text}")
    if scenario.source:
        rows.append(f"  source: {scenario.source}")
    if scenario.change:
        rows.append(f"  since: {scenario.change}")
    return "\n".join(rows) + "\n"


def _find(name: str, version: str | None = None) -> "Scenario":
    from commands.library.index import find, library

    try:
        return find(name, library(), version)
    except BadWord as error:
        raise CommandError(ExitCode.USAGE, f"'tidegauge scenarios': {error}") from None


def _judged_version(scenario: "Scenario", version: str | None) -> str:
    """Return the release to run on; print a note if the expectations are not written for it."""
    chosen = version or scenario.version
    if not scenario.is_written_for(chosen):
        versions = span(scenario.versions)
        streams.narrate(
            f"{scenario.name} is written for {versions}; on {chosen} what it expects may fail"
        )
    return chosen


def span(versions: tuple[str, ...]) -> str:
    """Abbreviate a list of releases: ``all``, ``0.11 to 3.9``, or each of them."""
    from emulator.releases.profiles import RECOMMENDED, VERSIONS

    if versions == VERSIONS:
        return "all"
    if versions[0] not in RECOMMENDED:
        return ", ".join(versions)
    within = RECOMMENDED[RECOMMENDED.index(versions[0]) : RECOMMENDED.index(versions[-1]) + 1]
    missing = [version for version in within if version not in versions]
    if len(versions) < len(missing) + 2:
        return ", ".join(versions)
    without = f", not {', '.join(missing)}" if missing else ""
    return f"{versions[0]} to {versions[-1]}{without}"


def _plain(scenario: "Scenario") -> dict[str, object]:
    return {
        "name": scenario.name,
        "title": scenario.title,
        "group": scenario.group,
        "watch": scenario.watch,
        "questions": list(scenario.questions),
        "versions": list(scenario.versions),
        "version": scenario.version,
        "source": scenario.source,
        "since": scenario.change,
        "outcomes": [{"since": since, "outcome": outcome} for since, outcome in scenario.outcomes],
    }
