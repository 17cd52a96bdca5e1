"""Replica actions: fetch, replica pause and resume."""

from typing import Annotated

import click

from commands.language.declaration import option, statement
from commands.language.statements.parameters import ReplicaName
from emulator.inputs.statements import FetchRound, PauseReplica, ResumeReplica

app = click.Group()
replica_app = click.Group("replica", help="Stop and start a follower's fetching.")


@statement(app, "fetch")
def fetch(
    replica: ReplicaName,
    times: Annotated[int, option("--times", kind="N", text="rounds", default="1")] = 1,
) -> FetchRound:
    """Run one complete fetch round of a follower: request, response, append, HW update."""
    return FetchRound(tp=replica.tp, broker=replica.broker, times=times)


@statement(replica_app, "pause")
def pause(replica: ReplicaName) -> PauseReplica:
    """Stop a follower from fetching a partition; a fetch in flight is dropped."""
    return PauseReplica(tp=replica.tp, broker=replica.broker)


@statement(replica_app, "resume")
def resume(replica: ReplicaName) -> ResumeReplica:
    """Let a follower fetch a partition again."""
    return ResumeReplica(tp=replica.tp, broker=replica.broker)
