"""Statements about scripts themselves: cluster, run."""

from typing import Annotated, Literal, cast

import click
from msgspec import Struct

from commands.language import values
from commands.language.declaration import argument, flag, option, statement
from commands.language.statements.parameters import Settings
from emulator.inputs.statements import CreateCluster
from sessions.grammar.words import BadWord, moment

app = click.Group()


class Include(Struct, frozen=True):
    """Includes another script's statements, without its ``cluster`` line."""

    path: str


@statement(app, "cluster")
def cluster(
    brokers: Annotated[
        int,
        option(
            "--brokers", metavar="N", parse=values.brokers, text="number of brokers", default="3"
        ),
    ] = 3,
    first_id: Annotated[
        int,
        option(
            "--first-id",
            metavar="I",
            parse=values.first_broker,
            text="ids I, I+1, ..",
            default="0",
        ),
    ] = 0,
    racks: Annotated[
        values.Names | None,
        option("--racks", metavar="a,b,..", parse=values.names, text="one rack per broker"),
    ] = None,
    hosts: Annotated[
        values.Names | None,
        option(
            "--hosts",
            metavar="a,b,..",
            parse=values.names,
            text="the host name that each broker registers",
        ),
    ] = None,
    version: Annotated[
        str,
        option(
            "--version", metavar="VERSION", parse=values.version, text="the release", default="3.9"
        ),
    ] = "3.9",
    seed: Annotated[
        int, option("--seed", metavar="S", parse=values.seed, text="the random seed", default="1")
    ] = 1,
    config: Settings = None,
    stepwise: Annotated[
        bool,
        flag("--stepwise", text="fetches and periodic tasks run only by statements"),
    ] = False,
    mode: Annotated[
        str | None,
        option(
            "--mode",
            metavar="kraft|zk",
            parse=values.choice("kraft", "zk"),
            text="with ZooKeeper (up to 3.9) or without it (3.3 to 4.4)",
            default="zk up to 3.9",
        ),
    ] = None,
    controllers: Annotated[
        int | None,
        option(
            "--controllers",
            metavar="N",
            parse=values.controllers,
            text="KRaft: ids 100, 101, ..",
            default="1",
        ),
    ] = None,
    features: Annotated[
        list[values.Setting] | None,
        option(
            "--feature",
            metavar="NAME=LEVEL",
            parse=values.setting,
            text="KRaft, from 4.0: a feature's level in place of the release's; may be repeated",
        ),
    ] = None,
    latency: Annotated[
        int | None,
        option(
            "--latency",
            metavar="TIME",
            parse=moment,
            text="how long each message takes: 0.00002s",
            default="0.2 to 0.4 ms between brokers, 5 ms more from clients",
        ),
    ] = None,
    zxid: Annotated[
        int,
        option(
            "--zxid",
            metavar="0xN",
            parse=values.java_long,
            text="ZooKeeper's last transaction before this cluster; the upper half counts the"
            " elections of its leader",
            default="0x100000000",
        ),
    ] = 1 << 32,
    zookeeper_session: Annotated[
        int,
        option(
            "--zookeeper-session",
            metavar="0xN",
            parse=values.java_long,
            text="the id of ZooKeeper's first session; ids count up",
            default="made of its start time",
        ),
    ] = 0,
) -> CreateCluster:
    """Create the cluster; always the first statement of a script."""
    if racks is not None and len(racks) != brokers:
        raise BadWord(f"--racks names {len(racks)} racks for {brokers} brokers")
    levels = {each.name: values.natural(each.value) for each in features or ()}
    if hosts is not None and len(hosts) != brokers:
        raise BadWord(f"--hosts names {len(hosts)} hosts for {brokers} brokers")
    return CreateCluster(
        brokers=brokers,
        first_id=first_id,
        racks=list(racks or []),
        hosts=list(hosts or []),
        version=version,
        seed=seed,
        config=dict(config or []),
        stepwise=stepwise,
        mode=cast(Literal["", "zk", "kraft"], mode or ""),
        controllers=controllers or 1,
        features=levels,
        latency_us=latency,
        zxid=zxid,
        zookeeper_session=zookeeper_session,
    )


@statement(app, "run")
def run(path: Annotated[str, argument("FILE", text="a script")]) -> Include:
    """Run the statements of another script here, without its cluster line."""
    return Include(path=values.file_name(path))
