"""``tidegauge serve``: a TCP port for every broker, for Kafka clients of any language."""

from pathlib import Path
from typing import Annotated

import typer

from commands.cli.access import NO_ACCESS, AccessOptions
from commands.cli.examples import examples
from commands.cli.options import (
    Brokers,
    Controllers,
    Image,
    Mode,
    Record,
    Seed,
    Settings,
    Variables,
    Version,
    argument,
    flag,
    named,
    option,
    with_groups,
)
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.language.cluster_options import ClusterOptions

app = typer.Typer()


@app.command(
    "serve",
    epilog=examples(
        "tidegauge serve",
        "tidegauge serve --brokers 5 --version 2.8 --config min.insync.replicas=2",
        "tidegauge serve --version 3.9 --mode kraft --controllers 3",
        "tidegauge serve failover.tide --record failover.tide.db",
        "tidegauge serve --port 0 --control 0 --json",
        "tidegauge serve --host 0.0.0.0 --advertise 192.168.1.5",
        "tidegauge serve --protocol SASL_PLAINTEXT --user alice:secret",
        "tidegauge serve --protocol SSL --tls-client-ca clients.pem",
        "tidegauge serve --listener OUTSIDE=0.0.0.0:19092,advertise=192.168.1.5",
        "tidegauge serve --keep-memory 64MB --config log.retention.bytes=1000000000",
    ),
)
@with_groups
def serve(
    file: Annotated[str, argument("SCRIPT", text="a script; its cluster is served")] = "",
    brokers: Brokers = None,
    version: Version = None,
    mode: Mode = None,
    controllers: Controllers = None,
    config: Settings = None,
    variables: Variables = None,
    seed: Seed = None,
    access: AccessOptions = NO_ACCESS,
    image: Image = None,
    record: Record = None,
    speed: Annotated[
        float | None,
        option(
            "--speed",
            metavar="N",
            parse=values.speed,
            text="virtual seconds per second of wall-clock time",
            default="1",
        ),
    ] = None,
    as_json: Annotated[
        bool, flag("--json", text="print the first line of standard output as a JSON object")
    ] = False,
    standby: Annotated[
        bool,
        flag(
            "--standby",
            text="start without a cluster and create them over the control channel; exit when "
            "standard input ends",
        ),
    ] = False,
) -> int:
    """Serve a cluster to Kafka clients: one TCP port per broker, the wire protocol of its release.

    The first line on standard output is bootstrap.servers=... Without a script, messages between
    brokers take 0.02 ms, topics get up to three replicas, groups do not wait for members
    (group.initial.rebalance.delay.ms=0) and followers fetch at least every 30 ms
    (replica.fetch.wait.max.ms); --config sets other values. A script's statements run while
    clients are served. With --control the address of the control channel follows, and its token,
    which the first line of each connection must have (TIDEGAUGE_CONTROL_TOKEN sets it). ctrl-c or
    SIGTERM stops the server after all responses are sent.
    """
    from commands.runs.notes import with_notes
    from commands.runs.recording import recorder
    from commands.runs.serve import Service, token
    from commands.runs.serve import serve as run
    from commands.runs.served_script import script_to_serve
    from sessions.gateway.spill_file import KEEP_MEMORY

    if standby and (file or record or access.control is None):
        message = "'tidegauge serve' --standby needs --control, and takes no script or --record"
        raise CommandError(ExitCode.USAGE, message)
    reached, secret, folder = access.access(config), token(), access.folder()
    script = None
    if not standby:
        values_by_name = named(variables)
        options = ClusterOptions(
            version=version,
            mode=mode,
            seed=seed,
            brokers=brokers,
            controllers=controllers,
            config=access.config(config),
            image=image if file else None,
        )
        script = with_notes(script_to_serve(file or image or "", values_by_name, options))
    recording = None
    if record is not None and script is not None:
        recording = recorder(script, Path(record), named(variables))
    return run(
        Service(
            script=script,
            recorder=recording,
            access=reached,
            control=access.control,
            token=secret,
            folder=folder,
            speed=speed or 1.0,
            json=as_json,
            keep_memory=KEEP_MEMORY if access.keep_memory is None else access.keep_memory,
        )
    )
