"""A cluster rebuilt from a recording, up to any of its events: the start of a fork."""

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
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
from sessions.gateway.spill_file import KEEP_MEMORY, TemporarySpillFile

STEPS_AT_ONCE: Final = 4_096
"""Kernel events between two checks whether the run has exceeded the recorded one."""


def runner_of(cluster: Cluster) -> Runner:
    """Return the runner of a cluster that runs again; of records it keeps few in memory."""
    cluster.ledger.encoded.spill(KEEP_MEMORY, TemporarySpillFile)
    return Runner(cluster)


def first_of(session: SessionFile, inputs: Iterator[RecordedInput]) -> RecordedInput | None:
    """Return the first statement.

    Raises:
        SessionDamagedError: it cannot be read.
    """
    first = next(inputs, None)
    _require_intact(session)
    return first


def follow(
    session: SessionFile,
    inputs: Iterable[RecordedInput],
    runner: Runner,
    announce: Callable[[Statement], object] = lambda statement: None,
    is_over: Callable[[], bool] = lambda: False,
) -> bool:
    """Give a runner statements at their places; return False if ``is_over`` before the last one.

    ``announce`` is told of each statement before it is given.

    Raises:
        SessionIncompleteError: of a statement only the text is recorded.
        SessionDamagedError: one cannot be read, or has another place than its event.
    """
    for recorded in inputs:
        statement = statement_of(session, recorded)
        while not runner.return_to(recorded.time_us, recorded.steps, STEPS_AT_ONCE):
            if is_over():
                return False
            _require_place(session, runner, recorded)
        if is_over():
            return False
        announce(statement)
        runner.submit(statement)
    _require_intact(session)
    return True


def statement_of(session: SessionFile, recorded: RecordedInput) -> Statement:
    """Return a recorded statement.

    Raises:
        SessionIncompleteError: only its text is recorded.
    """
    if recorded.statement is None:
        raise SessionIncompleteError(
            f"{session.path} cannot be run again: of the statement '{recorded.text}' "
            f"(event {recorded.seq:,}) only the text is recorded."
        )
    return recorded.statement


def _require_intact(session: SessionFile) -> None:
    if session.inputs_damage:
        raise SessionDamagedError(session.inputs_damage)


def _require_place(session: SessionFile, runner: Runner, recorded: RecordedInput) -> None:
    """Check that a run that goes on to a statement has not passed the event that it became."""
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
    inputs = session.inputs()
    first = first_of(session, inputs)
    if first is None or first.seq > seq or session.first_seq > 1:
        raise SessionIncompleteError(f"{session.path} does not begin with its first statement.")
    if first.statement is not None:
        announce(first.statement)
    runner = runner_of(Cluster(session.origin.cluster, (observer,), first.text, first.line))
    follow(session, takewhile(lambda recorded: recorded.seq <= seq, inputs), runner, announce)
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
