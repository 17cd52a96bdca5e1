"""``tidegauge console`` and ``replay``: the terminal application, live or on a recording."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.cli.access import NO_ACCESS, AccessOptions
from commands.cli.examples import examples
from commands.cli.options import (
    NO_CLUSTER,
    Brokers,
    ClusterArguments,
    Controllers,
    Image,
    Keep,
    Record,
    argument,
    flag,
    option,
    with_groups,
)
from commands.cli.settings import NO_SCREEN, ScreenArguments
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.output import streams
from sessions.format.schema import SUFFIX
from sessions.grammar.places import Place

if TYPE_CHECKING:
    from console.model.library import Service
    from console.model.settings import Configuration
    from sessions.sources.live import LiveSource

app = typer.Typer()

LOOK_EVERY_US = 2_000_000
"""How often a cluster that is attached to is looked at."""
WEB_DRIVER = "web_driver"
"""Textual driver for a browser instead of a terminal."""


@app.command(
    "console",
    epilog=examples(
        "tidegauge console",
        "tidegauge console scenario.tide --from-start --paused",
        "tidegauge console scenario.tide --version 0.10.2 --record recordings/",
        "tidegauge console prod.cluster.json --run 'broker crash 2'",
        "tidegauge console --serve --version 2.8 --port 9092",
        "tidegauge console --attach kafka://broker1:9092 --record incident.tide.db",
        "tidegauge console --attach kafka://a:9092 --attach kafka://b:9092 --every 5s",
    ),
)
@with_groups
def console(
    script: Annotated[str, argument("SCRIPT", text="a script [default: a small demo]")] = "",
    cluster: ClusterArguments = NO_CLUSTER,
    image: Image = None,
    statements: Annotated[
        str | None,
        option("--run", metavar="STATEMENTS", text="statements to run after the script's"),
    ] = None,
    record: Record = None,
    keep: Keep = None,
    from_start: Annotated[
        bool, flag("--from-start", text="start at the script's first event instead of its end")
    ] = False,
    screen: ScreenArguments = NO_SCREEN,
    read_only: Annotated[
        bool, flag("--read-only", text="refuse statements and faults; moving in time still works")
    ] = False,
    serve: Annotated[
        bool, flag("--serve", text="serve Kafka clients, as 'tidegauge serve' does; C lists them")
    ] = False,
    brokers: Brokers = None,
    controllers: Controllers = None,
    access: AccessOptions = NO_ACCESS,
    attach: Annotated[
        list[str] | None,
        option(
            "--attach",
            metavar="ADDRESS",
            parse=values.cluster_address,
            text="show a cluster that runs, kafka://HOST:PORT[,HOST:PORT..]; nothing but read"
            " requests is ever sent to it; may be repeated, A switches",
        ),
    ] = None,
    every: Annotated[
        int | None,
        option(
            "--every",
            metavar="DURATION",
            parse=values.positive_duration,
            text="how often to look at a cluster that is attached to",
            default="2s",
        ),
    ] = None,
    command_config: Annotated[
        str | None,
        option(
            "--command-config",
            kind="FILE",
            text="a client.properties for --attach, as Kafka's own tools take it",
        ),
    ] = None,
) -> int:
    """Open the console on a live cluster.

    The script runs to its end; then the cluster keeps running and takes statements on the : line.
    Everything is recorded, so that you can go back in time; --record keeps the recording.

    With --attach it shows a cluster that runs elsewhere, which is looked at every few seconds: x
    shows what a fault would do to it, R rehearses the loss of each broker and rack, and nothing is
    ever sent to it that changes anything. --record keeps what was seen.

    With --serve, Kafka clients can connect to each broker on its own TCP port, and the script's
    statements run while clients are served. Clients wait while the cluster is paused or its past is
    shown.
    """
    if not serve:
        numbers = {"--brokers": brokers, "--controllers": controllers}
        wrong = [name for name, number in numbers.items() if number is not None] + access.given()
        if wrong:
            raise CommandError(ExitCode.USAGE, f"{wrong[0]} needs --serve")
    if attach:
        given_too = {
            "SCRIPT": script,
            "--image": image,
            "--run": statements,
            "--serve": serve,
            "--version": cluster.version,
            "--seed": cluster.seed,
            "--from-start": from_start,
            "--at": screen.at,
        }
        wrong = [name for name, value in given_too.items() if value not in (None, "", False)]
        if wrong:
            message = f"{wrong[0]} is for emulated clusters, and --attach for one that runs"
            raise CommandError(ExitCode.USAGE, message)
        need_terminal()
        chosen = screen.settings()
        target = Path(record) if record else None
        return _attached(attach, command_config, every, target, keep, screen.paused, chosen)
    for name, value in {"--every": every, "--command-config": command_config}.items():
        if value is not None:
            raise CommandError(ExitCode.USAGE, f"{name} needs --attach")
    need_terminal()
    from commands.runs.console_library import ConsoleLibrary
    from commands.runs.live import completer, live_source
    from commands.runs.opening import go_to
    from commands.runs.reproduction import command_line
    from console import run

    chosen = screen.settings(read_only=read_only)
    variables = cluster.values()
    target = Path(record) if record else None
    if image is not None and not script:
        script, image = image, None
    path = Path(script) if script else None
    service: Service | None = None
    source: LiveSource
    config = access.config(cluster.config)
    options = cluster.options(brokers=brokers, controllers=controllers, config=config, image=image)
    if serve:
        from commands.runs.served_console import served_console
        from commands.runs.served_script import script_to_serve

        source, recorder, service = served_console(
            script_to_serve(script, variables, options, statements),
            target,
            variables,
            keep,
            access=access.access(config),
            control=access.control,
            folder=access.folder(),
            keep_memory=access.keep_memory,
        )
    else:
        source, recorder = live_source(path, target, variables, options.words(), keep, statements)
    try:
        at = Place(seq=1) if from_start and screen.at is None else screen.at
        if at is not None:
            go_to(source, at)
        return run(
            source,
            paused=screen.paused,
            complete=completer(source),
            configuration=chosen,
            reproduce=command_line,
            library=ConsoleLibrary(recording_folder(target)),
            service=service,
        )
    finally:
        source.close()
        recorder.close("ok")


def _attached(
    addresses: Sequence[str],
    command_config: str | None,
    every_us: int | None,
    target: Path | None,
    keep: int | None,
    paused: bool,
    configuration: "Configuration",
) -> int:
    """Show clusters that run; the first of them is shown first."""
    from contextlib import ExitStack

    from commands.runs.attach import attached_source
    from commands.runs.console_library import ConsoleLibrary
    from commands.runs.live import completer
    from commands.runs.reproduction import command_line
    from console import run
    from console.model.library import Opened
    from sessions.own_cluster.client_properties import read_properties
    from sessions.own_cluster.reading import SourceError

    if target is not None and len(addresses) > 1 and target.name.endswith(SUFFIX):
        message = f"--record: '{target}' is one file, and there are several clusters: name a folder"
        raise CommandError(ExitCode.USAGE, message)
    try:
        properties = {} if command_config is None else read_properties(Path(command_config))
    except SourceError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    with ExitStack() as closing:
        sources = []
        for address in dict.fromkeys(addresses):
            streams.progress(f"connecting to {address}")
            source, recorder = attached_source(
                address, properties, every_us or LOOK_EVERY_US, target, keep
            )
            closing.callback(recorder.close, "ok")
            closing.callback(source.close)
            sources.append(source)
        streams.progress("")
        first, *others = sources
        return run(
            first,
            paused=paused,
            complete=completer(first),
            configuration=configuration,
            reproduce=command_line,
            library=ConsoleLibrary(recording_folder(target)),
            others=[Opened(source, lambda: None, completer(source)) for source in reversed(others)],
        )


@app.command(
    "replay",
    epilog=examples(
        "tidegauge replay run.tide.db",
        "tidegauge replay run.tide.db --at 12s --paused",
        "tidegauge replay run.tide.db --at '#1289' --paused",
    ),
)
@with_groups
def replay(
    file: Annotated[str, argument("FILE", text="a session file, *.tide.db")],
    screen: ScreenArguments = NO_SCREEN,
) -> int:
    """Open the console on a recording.

    The screens are the same as for a live cluster; a recording is read-only.
    """
    from commands.runs.live import completer, replay_source_on_screen
    from commands.runs.opening import go_to
    from commands.runs.reproduction import command_line

    chosen = screen.settings()
    source = replay_source_on_screen(Path(file))
    need_terminal()
    from commands.runs.console_library import ConsoleLibrary
    from console import run

    try:
        go_to(source, screen.at or Place())
        return run(
            source,
            paused=screen.paused,
            complete=completer(source),
            configuration=chosen,
            reproduce=command_line,
            library=ConsoleLibrary(Path(file).parent),
        )
    finally:
        source.close()


def recording_folder(target: Path | None) -> Path:
    """Return the folder that the Sessions screen lists: the target's, or the current one."""
    if target is None:
        return Path()
    return target if target.is_dir() else target.parent


def need_terminal() -> None:
    """Exit with an error unless the program runs in a terminal.

    Raises:
        CommandError: input or output is not a terminal.
    """
    if WEB_DRIVER in os.environ.get("TEXTUAL_DRIVER", ""):
        return
    for stream in (sys.stdin, sys.stdout):
        if stream is None or stream.closed or not stream.isatty():
            message = "the console needs a terminal; 'tidegauge run' does without one"
            raise CommandError(ExitCode.USAGE, message)
