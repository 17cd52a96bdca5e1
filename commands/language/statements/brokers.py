"""Statements about processes: broker and controller (stop, crash, start, freeze, thaw)."""

from typing import Annotated

import click

from commands.language import values
from commands.language.declaration import argument, flag, statement
from commands.language.statements.parameters import Broker, NoWait
from emulator.inputs.statements import (
    ChangeController,
    CrashBroker,
    FreezeBroker,
    StartBroker,
    StopBroker,
    ThawBroker,
)

app = click.Group("broker", help="Stop, crash, start, freeze and thaw brokers.")
controller_app = click.Group(
    "controller", help="Stop, crash, start, freeze and thaw controllers (KRaft)."
)

Which = Annotated[
    str,
    argument(
        "C",
        values.controller,
        "id, active, standby, any, or last (the one that such a word last chose)",
    ),
]


@statement(app, "stop")
def stop(
    broker: Broker,
    no_wait: Annotated[
        bool, flag("--no-wait", text="continue without waiting for its process to end")
    ] = False,
) -> StopBroker:
    """Start a controlled shutdown of a broker; ends when its process has exited."""
    return StopBroker(broker=broker, wait=not no_wait)


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
    broker: Broker,
    clean: Annotated[bool, flag("--clean", text="with empty disks")] = False,
    no_wait: NoWait = False,
) -> StartBroker:
    """Start a broker that is down; ends when it has registered (in KRaft mode: is unfenced)."""
    return StartBroker(broker=broker, clean=clean, wait=not no_wait)


@statement(app, "freeze")
def freeze(broker: Broker) -> FreezeBroker:
    """Pause a broker's process (SIGSTOP), as a long garbage collection does, while time passes."""
    return FreezeBroker(broker=broker)


@statement(app, "thaw")
def thaw(broker: Broker) -> ThawBroker:
    """Resume a frozen broker (SIGCONT)."""
    return ThawBroker(broker=broker)


@statement(controller_app, "stop")
def stop_controller(which: Which) -> ChangeController:
    """Stop a controller; an active controller resigns first."""
    return ChangeController(action="stop", which=which)


@statement(controller_app, "crash")
def crash_controller(which: Which) -> ChangeController:
    """Kill a controller's process."""
    return ChangeController(action="crash", which=which)


@statement(controller_app, "start")
def start_controller(
    which: Annotated[
        str,
        argument("C|all", values.controller_or_all, "its id, last, or all that are down"),
    ],
    no_wait: NoWait = False,
) -> ChangeController:
    """Start a controller that is down; ends when the quorum has a leader."""
    return ChangeController(action="start", which=which, wait=not no_wait)


@statement(controller_app, "freeze")
def freeze_controller(which: Which) -> ChangeController:
    """Pause a controller's process while time passes."""
    return ChangeController(action="freeze", which=which)


@statement(controller_app, "thaw")
def thaw_controller(which: Which) -> ChangeController:
    """Resume a frozen controller."""
    return ChangeController(action="thaw", which=which)
