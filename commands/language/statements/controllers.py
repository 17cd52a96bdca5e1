"""Statements about controllers: stop, crash, start, freeze, thaw."""

from typing import Annotated

import click

from commands.language import values
from commands.language.declaration import argument, statement
from commands.language.statements.parameters import NoWait
from emulator.inputs.statements import ChangeController

app = click.Group("controller", help="Stop, crash, start, freeze and thaw controllers (KRaft).")

Which = Annotated[
    str,
    argument(
        "C",
        text="id, active, standby, any, or last (the one that such a word last chose)",
    ),
]


@statement(app, "stop")
def stop_controller(which: Which) -> ChangeController:
    """Stop a controller; an active controller resigns first."""
    return ChangeController(action="stop", which=which)


@statement(app, "crash")
def crash_controller(which: Which) -> ChangeController:
    """Kill a controller's process."""
    return ChangeController(action="crash", which=which)


@statement(app, "start")
def start_controller(
    which: Annotated[
        str,
        argument("C|all", values.controller_or_all, "its id, last, or all that are down"),
    ],
    no_wait: NoWait = False,
) -> ChangeController:
    """Start a controller that is down; ends when the quorum has a leader."""
    return ChangeController(action="start", which=which, wait=not no_wait)


@statement(app, "freeze")
def freeze_controller(which: Which) -> ChangeController:
    """Pause a controller's process while time passes."""
    return ChangeController(action="freeze", which=which)


@statement(app, "thaw")
def thaw_controller(which: Which) -> ChangeController:
    """Resume a frozen controller."""
    return ChangeController(action="thaw", which=which)
