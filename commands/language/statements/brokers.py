"""Brokers: stop, crash, start, freeze, thaw."""

from typing import Annotated

import click

from commands.language.declaration import flag, statement
from commands.language.statements.parameters import Broker
from emulator.inputs.statements import (
    CrashBroker,
    FreezeBroker,
    StartBroker,
    StopBroker,
    ThawBroker,
)

app = click.Group("broker", help="Stop, crash, start, freeze and thaw brokers.")


@statement(app, "stop")
def stop(broker: Broker) -> StopBroker:
    """Shut a broker down in a controlled way; ends when its process has ended."""
    return StopBroker(broker=broker)


@statement(app, "crash")
def crash(
    broker: Broker,
    lose_unflushed: Annotated[
        bool, flag("--lose-unflushed", text="as in a power failure: only flushed data survives")
    ] = False,
) -> CrashBroker:
    """Kill a broker's process."""
    return CrashBroker(broker=broker, lose_unflushed=lose_unflushed)


@statement(app, "start")
def start(
    broker: Broker, clean: Annotated[bool, flag("--clean", text="with empty disks")] = False
) -> StartBroker:
    """Start a broker that is down; ends when it has registered in ZooKeeper."""
    return StartBroker(broker=broker, clean=clean)


@statement(app, "freeze")
def freeze(broker: Broker) -> FreezeBroker:
    """Pause a broker's process, as a long garbage collection does, while time goes on."""
    return FreezeBroker(broker=broker)


@statement(app, "thaw")
def thaw(broker: Broker) -> ThawBroker:
    """Let a frozen broker continue."""
    return ThawBroker(broker=broker)
