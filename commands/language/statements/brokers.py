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
    """Controlled shutdown; done when the process has ended."""
    return StopBroker(broker=broker)


@statement(app, "crash")
def crash(
    broker: Broker,
    lose_unflushed: Annotated[
        bool, flag("--lose-unflushed", text="as by a power loss: only what was flushed survives")
    ] = False,
) -> CrashBroker:
    """Sudden death of the process."""
    return CrashBroker(broker=broker, lose_unflushed=lose_unflushed)


@statement(app, "start")
def start(
    broker: Broker, clean: Annotated[bool, flag("--clean", text="with empty disks")] = False
) -> StartBroker:
    """Start a broker that is down; done when it has registered in ZooKeeper."""
    return StartBroker(broker=broker, clean=clean)


@statement(app, "freeze")
def freeze(broker: Broker) -> FreezeBroker:
    """A long pause: the process does nothing while the world goes on."""
    return FreezeBroker(broker=broker)


@statement(app, "thaw")
def thaw(broker: Broker) -> ThawBroker:
    """Let a frozen process go on."""
    return ThawBroker(broker=broker)
