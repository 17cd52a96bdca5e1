"""A rolling restart: each node stops in order and starts again, as a careful operator does it."""

from typing import Final

from msgspec import Struct

from emulator.inputs.statements import (
    AnyInput,
    ChangeController,
    StartBroker,
    Statement,
    StopBroker,
)
from emulator.scenario.runner import Runner
from sessions.rehearsal.outcome import partitions_of
from sessions.rehearsal.restart_order import restart_order
from sessions.rehearsal.runs import Rehearsal
from sessions.rehearsal.watch import Watch

PATIENCE_US: Final = 120_000_000
"""How long the restart waits at most until a broker is in all its ISRs again."""
LOOK_US: Final = 500_000
"""How often it looks."""


class Restart(Struct, frozen=True):
    """One node's restart; ``caught_up``: it was in all its ISRs again before the next one began."""

    node: int
    seconds: float
    caught_up: bool


class Roll(Struct, frozen=True):
    """A rolling restart in virtual time.

    ``least_isr`` is the smallest ISR that each partition had, if that was smaller than before.
    ``unwritable`` is how long each partition refused writes with acks=all, or had no leader, in
    seconds; partitions that did before are left out.
    """

    restarts: list[Restart]
    least_isr: dict[str, int]
    unwritable: dict[str, float]


def roll(rehearsal: Rehearsal) -> Roll:
    """Restart each node of the cluster itself, one after another, once all cases have been run."""
    runner = rehearsal.runner
    watch = Watch(runner, rehearsal.requirements)
    restarts = [_restarted(rehearsal, runner, node) for node in restart_order(rehearsal.image)]
    return Roll(restarts, watch.least, watch.finish())


def _restarted(rehearsal: Rehearsal, runner: Runner, node: int) -> Restart:
    begun_us = runner.now_us
    controller = rehearsal.controllers.get(node)
    if controller is not None:
        _do(runner, ChangeController(action="stop", which=str(controller)))
        _do(runner, ChangeController(action="start", which=str(controller)))
    caught_up = True
    if node in runner.cluster.brokers:
        member_of = [
            tp for tp, partition in partitions_of(runner.cluster).items() if node in partition.isr
        ]
        _do(runner, StopBroker(broker=node))
        _do(runner, StartBroker(broker=node))
        caught_up = _await_isrs(runner, node, member_of)
    return Restart(node, round((runner.now_us - begun_us) / 1_000_000, 3), caught_up)


def _await_isrs(runner: Runner, broker: int, tps: list[str]) -> bool:
    limit_us = runner.now_us + PATIENCE_US
    while runner.now_us < limit_us:
        states = runner.cluster.state.states
        if all(tp not in states or broker in states[tp].isr for tp in tps):
            return True
        runner.run_until(runner.now_us + LOOK_US)
    return False


def _do(runner: Runner, action: AnyInput) -> None:
    runner.execute(Statement(action, "roll"))
