"""ZooKeeper as an external client: ls, get, stat, create, set, delete, watches."""

from typing import Annotated

import click

from commands.language import values
from commands.language.declaration import argument, flag, option, statement
from commands.language.statements.parameters import Path
from emulator.inputs.statements import ZkCommand
from emulator.zookeeper.zkcli import UTC_ZONE, Zone

app = click.Group("zk", help="Read and write znodes as zkCli does, with all consequences.")

Version = Annotated[
    int,
    option(
        "-v", metavar="V", parse=values.znode_version, text="only if this is the data's version"
    ),
]

TimeZone = Annotated[
    Zone,
    option(
        "--tz",
        metavar="ZONE",
        parse=values.time_zone,
        text="print times as in this time zone: Asia/Shanghai",
        default="UTC",
    ),
]


@statement(app, "ls")
def ls(path: Path, recursive: Annotated[bool, flag("-R", text="recursively")] = False) -> ZkCommand:
    """List a znode's children."""
    return ZkCommand(command="ls", path=path, recursive=recursive)


@statement(app, "get")
def get(
    path: Path,
    with_stat: Annotated[
        bool, flag("-s", text="with the Stat, which zkCli up to Kafka 2.3 always prints")
    ] = False,
    tz: TimeZone = UTC_ZONE,
) -> ZkCommand:
    """Print a znode's data."""
    return ZkCommand(
        command="get", path=path, with_stat=with_stat, zone=tz.name, utc_offset_s=tz.offset_s
    )


@statement(app, "stat")
def stat(path: Path, tz: TimeZone = UTC_ZONE) -> ZkCommand:
    """Print a znode's Stat."""
    return ZkCommand(
        command="stat", path=path, with_stat=True, zone=tz.name, utc_offset_s=tz.offset_s
    )


@statement(app, "create")
def create(
    path: Path,
    data: Annotated[str | None, argument("DATA", text="its data")] = None,
    ephemeral: Annotated[bool, flag("-e", text="ephemeral")] = False,
    sequential: Annotated[bool, flag("-s", text="sequential: append a number to the name")] = False,
) -> ZkCommand:
    """Create a znode."""
    return ZkCommand(
        command="create", path=path, data=data, ephemeral=ephemeral, sequential=sequential
    )


@statement(app, "set")
def set_data(
    path: Path, data: Annotated[str, argument("DATA", text="the new data")], version: Version = -1
) -> ZkCommand:
    """Set a znode's data."""
    return ZkCommand(command="set", path=path, data=data, version=version)


@statement(app, "delete")
def delete(path: Path, version: Version = -1) -> ZkCommand:
    """Delete a znode ('zk delete /controller' forces a controller election)."""
    return ZkCommand(command="delete", path=path, version=version)


@statement(app, "watches")
def watches(
    path: Annotated[str | None, argument("PATH", text="only this znode")] = None,
) -> ZkCommand:
    """Print which hosts watch which znodes."""
    return ZkCommand(command="watches", path=path or "")
