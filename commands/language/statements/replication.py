"""Replicas' own work: fetch, tick, replica pause and resume."""

from typing import Annotated, Literal, cast

import typer

from commands.language import values
from commands.language.statements.parameters import ReplicaName, argument, option
from emulator.inputs.statements import FetchRound, PauseReplica, ResumeReplica, Tick

app = typer.Typer()
replica_app = typer.Typer(name="replica", help="Stop and start a follower's fetching.")

TASKS = ("isr", "checkpoint", "rebalance")


@app.command("fetch")
def fetch(
    replica: ReplicaName,
    times: Annotated[
        int, option("--times", metavar="N", parse=values.count, text="rounds", default="1")
    ] = 1,
) -> FetchRound:
    """One complete fetch round of a follower: request, answer, append, HW."""
    return FetchRound(tp=replica.tp, broker=replica.broker, times=times)


@app.command("tick")
def tick(
    task: Annotated[str, argument("|".join(TASKS), values.choice(*TASKS), "the periodic task")],
    broker: Annotated[
        int | None, argument("B", values.broker, "a broker id; all running ones if left out")
    ] = None,
) -> Tick:
    """Run one periodic task now."""
    return Tick(task=cast(Literal["isr", "checkpoint", "rebalance"], task), broker=broker)


@replica_app.command("pause")
def pause(replica: ReplicaName) -> PauseReplica:
    """A follower stops fetching a partition; what is in flight for it is dropped."""
    return PauseReplica(tp=replica.tp, broker=replica.broker)


@replica_app.command("resume")
def resume(replica: ReplicaName) -> ResumeReplica:
    """A follower goes on fetching a partition."""
    return ResumeReplica(tp=replica.tp, broker=replica.broker)
