"""``tidegauge conform``: what a Kafka client keeps to while clusters fail."""

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final

import typer

from commands.cli.candidates import clients as candidate_clients
from commands.cli.candidates import conform_scenarios, several_versions
from commands.cli.examples import examples
from commands.cli.matrix import versions_word
from commands.cli.options import flag, option
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.output import streams
from sessions.grammar.words import BadWord, nearest

if TYPE_CHECKING:
    from commands.conformance.case import Case, Result
    from commands.conformance.clients import Command
    from commands.conformance.scenarios import Scenario

app = typer.Typer()

VERSIONS: Final = ("2.1", "2.8", "3.5", "3.9", "4.1", "4.4")
"""Releases of every kind: with ZooKeeper and without, with each way of writing transactions."""


@app.command(
    "conform",
    epilog=examples(
        "tidegauge conform --list",
        "tidegauge conform kafka-python",
        "tidegauge conform 'python my_adapter.py' --versions 2.8,4.1 --junit conform.xml",
        "tidegauge conform confluent-kafka --scenario leader-crash --sessions failures/",
    ),
)
def conform(
    clients: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CLIENT",
            help="a client whose adapter comes along (see --list), or the command of an adapter",
            show_default=False,
            autocompletion=candidate_clients,
        ),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        option(
            "--scenario",
            metavar="NAME",
            text="run only this scenario; may be repeated",
            among=conform_scenarios,
        ),
    ] = None,
    versions: Annotated[
        values.Names | None,
        option(
            "--versions",
            metavar="V,V,..",
            parse=versions_word,
            text="the releases of the clusters",
            default=",".join(VERSIONS),
            among=several_versions,
        ),
    ] = None,
    seed: Annotated[
        int | None, option("--seed", kind="S", text="the random seed", default="1")
    ] = None,
    jobs: Annotated[
        int | None,
        option(
            "--jobs", kind="N", text="how many cases to run side by side", default="two per core"
        ),
    ] = None,
    patience: Annotated[
        int | None,
        option(
            "--patience",
            kind="N",
            text="multiply all timeouts, for a slow or busy machine",
            default="1",
        ),
    ] = None,
    sessions: Annotated[
        str | None,
        option(
            "--sessions",
            metavar="FOLDER",
            parse=values.file_name,
            text="where sessions of failures are written",
            default="a new folder for temporary files",
        ),
    ] = None,
    junit: Annotated[
        str | None,
        option(
            "--junit",
            metavar="FILE",
            parse=values.file_name,
            text="also write the results as JUnit's XML",
        ),
    ] = None,
    listed: Annotated[
        bool, flag("--list", text="print the clients and scenarios instead of running them")
    ] = False,
    markdown: Annotated[
        bool, flag("--markdown", text="with --list: as a section of the documentation")
    ] = False,
    as_json: Annotated[bool, flag("--json", text="print JSON on standard output")] = False,
) -> int:
    """Run scenarios of failure with Kafka clients, and judge them by the answers that they got.

    Each case serves a cluster of its own, breaks it while the client works, and checks
    guarantees: nothing acknowledged is lost, order and isolation hold, and records are delivered at
    least, at most or exactly once. A client is a program that reads requests and writes answers,
    one JSON object per line (docs/conform.md). The session of a case that fails is kept, and the
    command that opens it at that moment is printed. Exit status 1: a client did not keep a
    guarantee.
    """
    from commands.conformance.adapter import AdapterError
    from commands.conformance.case import Case
    from commands.conformance.clients import CLIENTS

    if listed:
        _list(as_json=as_json, markdown=markdown)
        return ExitCode.OK
    if not clients:
        names = ", ".join(CLIENTS)
        message = f"'tidegauge conform' needs a client: {names}, or the command of an adapter"
        raise CommandError(ExitCode.USAGE, message)
    chosen = _chosen(scenario or [])
    began = monotonic()
    with TemporaryDirectory(prefix="tidegauge-adapters-") as folder:
        commands = {name: _command(name, Path(folder)) for name in dict.fromkeys(clients)}
        session_folder = _sessions_folder(sessions)
        cases = [
            Case(
                scenario=scenario,
                client=client,
                command=command.words,
                environment=command.environment,
                version=version,
                seed=1 if seed is None else seed,
                patience=patience or 1,
                sessions=session_folder,
            )
            for client, command in commands.items()
            for version in dict.fromkeys(versions or VERSIONS)
            for scenario in chosen
        ]
        try:
            all_results = _run(cases, jobs or 2 * (os.cpu_count() or 1))
        except AdapterError as error:
            raise CommandError(ExitCode.UNREACHABLE, f"'tidegauge conform': {error}") from None
        finally:
            if sessions is None and not os.listdir(session_folder):
                Path(session_folder).rmdir()
    return _report(all_results, cases, monotonic() - began, junit=junit, as_json=as_json)


def _list(*, as_json: bool, markdown: bool) -> None:
    from commands.conformance import page
    from commands.conformance.clients import CLIENTS

    if markdown:
        streams.emit(page.markdown())
    elif as_json:
        streams.emit_json({"clients": list(CLIENTS), "scenarios": page.plain()})
    else:
        streams.emit_tables([page.grid()])
        streams.emit(f"\nclients: {', '.join(CLIENTS)}\n")


def _chosen(names: Sequence[str]) -> "list[Scenario]":
    """Return the scenarios with these names; all if there are none.

    Raises:
        CommandError: there is no such scenario.
    """
    from commands.conformance.scenarios import SCENARIOS

    by_name = {scenario.name: scenario for scenario in SCENARIOS}
    try:
        words = [values.one_of(name, tuple(by_name), "scenario") for name in dict.fromkeys(names)]
    except BadWord as error:
        raise CommandError(ExitCode.USAGE, f"'tidegauge conform': {error}") from None
    return [by_name[word] for word in words] or list(SCENARIOS)


def _command(client: str, folder: Path) -> "Command":
    """Return how an adapter is started; one that comes along is built first.

    Raises:
        CommandError: something that it needs is missing.
    """
    from commands.conformance.clients import CLIENTS, Command

    if client in CLIENTS:
        streams.progress(f"preparing {client}")
        own = folder / client
        own.mkdir()
        return CLIENTS[client].prepare(own)
    try:
        words = shlex.split(client)
    except ValueError:
        words = []
    if not any(words):
        message = f"'{client}' is neither a client nor a command"
        raise CommandError(ExitCode.USAGE, f"'tidegauge conform': {message}")
    if words == [client] and shutil.which(client) is None and (hint := nearest(client, CLIENTS)):
        message = f"there is no client or program '{client}'{hint}"
        raise CommandError(ExitCode.USAGE, f"'tidegauge conform': {message}")
    return Command(words)


def _sessions_folder(sessions: str | None) -> str:
    """Return the folder for sessions of failures, and create it if it does not exist.

    Raises:
        CommandError: it cannot be created.
    """
    from sessions.file_system import create_private_folder

    folder = Path(sessions or mkdtemp(prefix="tidegauge-conform-")).absolute()
    try:
        create_private_folder(folder)
    except OSError as error:
        message = f"cannot create the folder '{folder}': {(error.strerror or '').lower()}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    return str(folder)


def _run(cases: "Sequence[Case]", jobs: int) -> "list[Result]":
    """Run the cases, and return their results in the order of the cases."""
    from commands.conformance.suite import results
    from commands.output.progress import Progress

    by_case = {}
    with Progress("conform", "cases", len(cases)) as progress:
        for result in results(cases, jobs):
            by_case[result.client, result.version, result.scenario] = result
            progress(len(by_case))
    return [by_case[case.client, case.version, case.scenario.name] for case in cases]


def _report(
    results: "Sequence[Result]",
    cases: "Sequence[Case]",
    seconds: float,
    *,
    junit: str | None,
    as_json: bool,
) -> ExitCode:
    from commands.conformance import report

    if junit is not None:
        try:
            Path(junit).write_bytes(report.junit(results))
        except OSError as error:
            message = f"cannot write '{junit}': {(error.strerror or str(error)).lower()}"
            raise CommandError(ExitCode.UNREACHABLE, message) from None
    if as_json:
        streams.emit_json(report.plain(results, cases[0].seed))
    else:
        streams.emit_tables(report.grids(results))
        for line in report.failures(results):
            streams.emit(f"{line}\n")
    streams.narrate(report.summary(results, seconds))
    failed = any(result.verdict in ("failed", "error") for result in results)
    return ExitCode.FAILED if failed else ExitCode.OK
