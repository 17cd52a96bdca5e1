"""A running cluster as a source of the console: connected, and recorded."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import time

from msgspec import Struct

from commands.exits import CommandError, ExitCode
from commands.runs.live import asked
from commands.runs.recording import TEMPORARY_BYTES_MAX, session_path
from emulator.common.version import THIS_PROGRAM
from emulator.inputs.statements import CreateCluster
from sessions.attached.poller import Poller
from sessions.format.metadata import Origin
from sessions.model.states import NO_SEED
from sessions.own_cluster.reading import SourceError
from sessions.recording.recorder import Recorder
from sessions.sources.attached import AttachedSource
from sessions.text import US_PER_SECOND, clean

SCHEME = "kafka://"


class _Ended(Struct, frozen=True):
    """Answers a recorder's questions on close, although nothing was run."""

    poller: Poller
    steps: int = 0
    state_hash: str = ""

    @property
    def now_us(self) -> int:
        return self.poller.looked_us


def attached_source(
    address: str,
    properties: Mapping[str, str],
    every_us: int,
    target: Path | None,
    limit_bytes: int | None,
) -> tuple[AttachedSource, Recorder]:
    """Connect to a running cluster, and look at it from now on; the caller closes both.

    Without a ``target`` the recording is a temporary file that is deleted with the recorder.

    Raises:
        CommandError: the cluster cannot be reached, or the recording cannot be made.
    """
    name = _name_of(address)
    path = None if target is None else session_path(target, name)
    try:
        poller = Poller(address, dict(properties), every_us / US_PER_SECOND)
    except SourceError as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    now_us = int(time() * US_PER_SECOND)
    origin = Origin(
        name=name,
        program=THIS_PROGRAM,
        version=poller.release,
        seed=NO_SEED,
        cluster=CreateCluster(version=poller.release, mode=poller.image.mode or ""),
        began=datetime.now(UTC).isoformat(timespec="seconds"),
        sources=[address],
        wall_clock_us=now_us - poller.now_us,
    )
    if path is None and limit_bytes is None:
        limit_bytes = TEMPORARY_BYTES_MAX
    try:
        recorder = Recorder(path, origin, limit_bytes=limit_bytes)
    except BaseException:
        poller.close()
        raise
    recorder.follow(_Ended(poller))
    source = AttachedSource(poller, recorder, lambda text: asked(text, {}), name)
    poller.start()
    return source, recorder


def _name_of(address: str) -> str:
    """The first server's host, which names the cluster on the screen and its recording."""
    server = address.removeprefix(SCHEME).split(",")[0].rstrip("/")
    return clean(server).replace("/", "-").replace(":", "-")
