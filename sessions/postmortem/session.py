"""The session of a real cluster's history: its events, with wall-clock times."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeVar

from msgspec import Struct

from emulator.inputs.statements import CreateCluster
from sessions.format.metadata import Origin
from sessions.format.schema import SUFFIX
from sessions.model.states import NO_SEED
from sessions.own_cluster.places import Place, date_of
from sessions.postmortem.events import midnight_before
from sessions.postmortem.incident import Incident, Progress, Rules, begin_of, examine, release_of
from sessions.postmortem.merging import MergedLog
from sessions.postmortem.text_logs.merging import TextLogs
from sessions.recording.recorder import Recorder
from sessions.text import clean

PROGRAM: Final = "tidegauge postmortem"


class Timed(Protocol):
    """A history that was read."""

    @property
    def end_us(self) -> int:
        """Its end in wall-clock time, in microseconds since 1970 UTC."""


History = TypeVar("History", bound=Timed)


class Ended(Struct, frozen=True):
    """What a recorder asks at the end: there is no run, only a history."""

    now_us: int
    steps: int = 0
    state_hash: str = ""


def record(
    log: MergedLog,
    path: Path,
    sources: Sequence[str],
    *,
    lines: TextLogs | None = None,
    rules: Rules | None = None,
    until: Place | None = None,
    progress: Progress | None = None,
) -> Incident:
    """Read a history once, and write its session.

    Raises:
        SourceError: there is no record in it.
        SessionError: the file exists or cannot be written.
    """
    return write_session(
        path,
        sources,
        CreateCluster(version=release_of(log, lines), mode="kraft"),
        begin_of(log, lines),
        lambda recorder: examine(
            log,
            [recorder],
            lines=lines,
            rules=rules,
            until=until,
            progress=progress,
        ),
    )


def write_session(
    path: Path,
    sources: Sequence[str],
    cluster: CreateCluster,
    begin_us: int,
    examined: Callable[[Recorder], History],
) -> History:
    """Write the session of a history that begins at ``begin_us``, which ``examined`` reads once.

    Raises:
        SessionError: the file exists or cannot be written.
    """
    zero_us = midnight_before(begin_us)
    origin = Origin(
        name=clean(path.name.removesuffix(SUFFIX)),
        program=PROGRAM,
        version=cluster.version,
        seed=NO_SEED,
        cluster=cluster,
        began=date_of(begin_us).isoformat(timespec="seconds"),
        sources=[clean(source) for source in sources],
        wall_clock_us=zero_us,
    )
    with Recorder(path, origin) as recorder:
        history = examined(recorder)
        recorder.follow(Ended(history.end_us - zero_us))
    return history
