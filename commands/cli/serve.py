"""``tidegauge serve``: a TCP port for every broker, for Kafka clients of any language."""

from pathlib import Path
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import (
    Record,
    Seed,
    Settings,
    Variables,
    Version,
    argument,
    flag,
    named,
    option,
)
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.language.cluster_options import cluster_options
from commands.output import streams

app = typer.Typer()

LOOPBACK = "127.0.0.1"
PORT = 9092


@app.command(
    "serve",
    epilog=examples(
        "tidegauge serve",
        "tidegauge serve --brokers 5 --version 2.8 --config min.insync.replicas=2",
        "tidegauge serve failover.tide --record failover.tide.db",
        "tidegauge serve --port 0 --control 0 --json",
    ),
)
def serve(
    file: Annotated[str, argument("SCRIPT", text="a script; its cluster is served")] = "",
    brokers: Annotated[
        int | None,
        option("--brokers", metavar="N", parse=values.brokers, text="how many", default="3"),
    ] = None,
    version: Version = None,
    config: Settings = None,
    variables: Variables = None,
    seed: Seed = None,
    port: Annotated[
        int,
        option(
            "--port",
            metavar="P",
            parse=values.port_or_any,
            text="the first broker's; others follow it; 0: any",
            default=str(PORT),
        ),
    ] = PORT,
    host: Annotated[
        str, option("--host", metavar="HOST", text="where to listen", default=LOOPBACK)
    ] = LOOPBACK,
    control: Annotated[
        int | None,
        option(
            "--control",
            metavar="P",
            parse=values.port_or_any,
            text="a port for statements as JSON lines; 0: any",
        ),
    ] = None,
    record: Record = None,
    speed: Annotated[
        float | None,
        option(
            "--speed",
            metavar="N",
            parse=values.speed,
            text="virtual seconds per second",
            default="1",
        ),
    ] = None,
    as_json: Annotated[
        bool, flag("--json", text="the first line of standard output as a JSON object")
    ] = False,
    standby: Annotated[
        bool,
        flag("--standby", text="no cluster until the control channel asks; ends with its input"),
    ] = False,
) -> int:
    """Serve a cluster to Kafka clients: one TCP port a broker, the wire protocol of its release.

    The first line on standard output is bootstrap.servers=... Without a script messages between
    brokers take 0.02 ms, topics get up to three replicas, groups do not wait for members
    (group.initial.rebalance.delay.ms=0) and followers fetch every 30 ms at least
    (replica.fetch.wait.max.ms); --config sets other values. A script's statements are
    given while clients are served. ctrl-c or SIGTERM stops it, with every response sent.
    """
    from commands.language.parser import parse_script, read_text
    from commands.runs.recording import recorder
    from commands.runs.serve import Service, served_script
    from commands.runs.serve import serve as run

    if standby and (file or record or control is None):
        message = "'tidegauge serve' --standby needs --control, and takes no script or --record"
        raise CommandError(ExitCode.USAGE, message)
    if host not in (LOOPBACK, "localhost", "::1"):
        streams.narrate(f"anybody who reaches {host} can use this cluster: it asks for no password")
    script = None
    if file:
        options = cluster_options(version, seed, config, brokers)
        script = parse_script(read_text(Path(file)), file, named(variables), options)
    elif not standby:
        script = served_script(version, seed, config or (), brokers)
    recording = None
    if record is not None and script is not None:
        recording = recorder(script, Path(record), named(variables))
    return run(
        Service(
            script=script,
            recorder=recording,
            port=port,
            host=host,
            control=control,
            speed=speed or 1.0,
            json=as_json,
        )
    )
