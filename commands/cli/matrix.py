"""``tidegauge matrix``: run every scenario on every recommended release, or on given releases."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from commands.cli.candidates import judged_scenarios, several_versions
from commands.cli.examples import examples
from commands.cli.options import flag, option
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.output import streams
from sessions.grammar.words import BadWord

if TYPE_CHECKING:
    from commands.library.index import Scenario
    from commands.runs.matrix import Cell

app = typer.Typer()


def versions_word(word: str) -> values.Names:
    """Parse releases such as ``0.10.2,0.11.0.1``."""
    return values.Names(values.version(name) for name in values.names(word))


@app.command(
    "matrix",
    epilog=examples(
        "tidegauge matrix",
        "tidegauge matrix --json",
        "tidegauge matrix --scenario V7 --scenario V11 --versions 0.10.2,0.11,2.0.0 --each",
        "tidegauge matrix --script V11 --versions 0.11 > v11.tide && tidegauge console v11.tide",
    ),
)
def matrix(
    scenario: Annotated[
        list[str] | None,
        option(
            "--scenario",
            metavar="NAME",
            text="run only this scenario; may be repeated",
            among=judged_scenarios,
        ),
    ] = None,
    versions: Annotated[
        values.Names | None,
        option(
            "--versions",
            metavar="V,V,..",
            parse=versions_word,
            text="run only these releases",
            among=several_versions,
        ),
    ] = None,
    every_release: Annotated[bool, flag("--each", text="print a column for every release")] = False,
    as_json: Annotated[bool, flag("--json", text="print one JSON list on standard output")] = False,
    script: Annotated[
        str | None,
        option(
            "--script",
            metavar="NAME",
            text="print this scenario's script instead of running it",
            among=judged_scenarios,
        ),
    ] = None,
) -> int:
    """Run the built-in scenarios on several releases and print a table of the outcomes.

    Without --versions the recommended releases are used; 4.0 and 4.1 run in KRaft mode, with the
    metadata log held back where other releases have LeaderAndIsr requests held back. 4.2 to 4.4
    have the same outcomes as 4.1. Every outcome is found by running the scenario: lost acknowledged
    records, diverged logs, ISR members without committed records. With --scenario it also prints
    what to watch, and which change fixed the problem.
    Exit status 1: an outcome differs from the known behaviour of Kafka, or a script failed.
    """
    from commands.library.index import SCENARIOS, find
    from emulator.releases.profiles import DEFAULT_VERSION, RECOMMENDED
    from emulator.releases.versions import order

    try:
        if script is not None:
            streams.emit(find(script).script(versions[0] if versions else DEFAULT_VERSION))
            return ExitCode.OK
        chosen = [find(name) for name in scenario] if scenario else SCENARIOS
    except BadWord as error:
        raise CommandError(ExitCode.USAGE, f"'tidegauge matrix': {error}") from None
    results = _run(chosen, sorted(set(versions), key=order) if versions else RECOMMENDED)
    if as_json:
        streams.emit_json(results)
    else:
        _print(results, chosen, every_release)
        if scenario:
            _print_watches(chosen)
    return _judged(results)


def _run(chosen: "Sequence[Scenario]", versions: Sequence[str]) -> "list[Cell]":
    from commands.runs.matrix import cells

    results = []
    for cell in cells(chosen, versions):
        streams.progress(f"{cell.scenario} on {cell.version}")
        results.append(cell)
    streams.progress("")
    return results


def _print(results: "Sequence[Cell]", chosen: "Sequence[Scenario]", every_release: bool) -> None:
    from commands.output.grids import as_text
    from commands.runs.matrix import grid, legend

    titles = {scenario.name: scenario.title for scenario in chosen}
    streams.emit(f"{as_text([grid(results, titles, every_release)])}\n{legend(results)}")


def _print_watches(chosen: "Sequence[Scenario]") -> None:
    for scenario in chosen:
        streams.emit(f"\n{scenario.title}\n  watch: {scenario.watch}\n  since: {scenario.change}\n")
        streams.emit(f"  script: tidegauge matrix --script {scenario.name} --versions V\n")


def _judged(results: "Sequence[Cell]") -> ExitCode:
    wrong = [(cell, problem) for cell in results for problem in cell.wrong]
    for cell, problem in wrong:
        streams.narrate(f"{cell.scenario} on {cell.version}: {cell.outcome}: {problem}")
    return ExitCode.FAILED if wrong else ExitCode.OK
