"""A cluster rebuilt from a recording, up to any of its events: the start of a fork."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.scenario.runner import Advance, Runner
from emulator.zookeeper.watches import Watches
from sessions.format.errors import SessionDamagedError, SessionIncompleteError, consistent
from sessions.format.file import SessionFile
from sessions.format.metadata import RecordedInput

STEPS_AT_ONCE: Final = 4_096
"""Kernel events between two checks whether the run has exceeded the recorded one."""


def require_place(session: SessionFile, runner: Runner, recorded: RecordedInput) -> None:
    """Check that a run that goes on to a statement has not passed the event that it became.

    Raises:
        SessionDamagedError: it has, so the file names a wrong time, perhaps one that never comes.
    """
    if runner.cluster.sequence >= recorded.seq:
        raise SessionDamagedError(
            f"{session.path} is damaged: the statement at event {recorded.seq:,} has another time."
        )


def rerun(
    session: SessionFile,
    seq: int,
    observer: Callable[[Event], None],
    announce: Callable[[Statement], None],
) -> Runner:
    """Run a session's statements again up to event ``seq``; ``observer`` receives every event.

    The cluster is as it was after the simulation's step in which that event happened. ``announce``
    is told of each statement before it is given.

    Raises:
        SessionIncompleteError: the recording does not hold all statements up to there.
    """
    with consistent(session.path):
        return _run(session, seq, observer, announce)


def _run(
    session: SessionFile,
    seq: int,
    observer: Callable[[Event], None],
    announce: Callable[[Statement], None],
) -> Runner:
    inputs = [entry for entry in session.inputs() if entry.seq <= seq]
    if session.inputs_damage:
        raise SessionDamagedError(session.inputs_damage)
    if not inputs or session.first_seq > 1:
        raise SessionIncompleteError(f"{session.path} does not begin with its first statement.")
    first = inputs[0]
    if first.statement is not None:
        announce(first.statement)
    runner = Runner(Cluster(session.origin.cluster, (observer,), first.text, first.line))
    for entry in inputs[1:]:
        if entry.statement is None:
            raise SessionIncompleteError(f"of the statement '{entry.text}' only the text is known.")
        while not runner.return_to(entry.time_us, entry.steps, STEPS_AT_ONCE):
            require_place(session, runner, entry)
        announce(entry.statement)
        runner.submit(entry.statement)
    while runner.cluster.sequence < seq and runner.advance(budget=1) is not Advance.IDLE:
        pass
    return runner


def watches_at(path: Path, seq: int, observer: Callable[[Event], None]) -> Watches:
    """Return each znode's watchers after the simulation step in which event ``seq`` happened.

    Setting a watch emits no event, so the session is run again up to that point.

    Raises:
        SessionError: the recording cannot be read, or does not hold all statements up to there.
    """
    with SessionFile(path) as session:
        return rerun(session, seq, observer, lambda statement: None).cluster.zookeeper.watches
