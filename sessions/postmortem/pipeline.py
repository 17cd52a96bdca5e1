"""Two processes that write the session of a long history: one reads and packs it, one stores it.

The reading process (``read``) makes the events and packs them into chunks, which it sends through a
pipe; the storing process (``store``) folds them and writes the file. What neither needs, such as
the timeline, is left to whoever started them. Each notices when the one that reads from it, or that
started it, has exited.
"""

import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct

from emulator.events import Event
from emulator.inputs.statements import CreateCluster
from sessions.child_process import environment, python_command
from sessions.format import codec
from sessions.format.errors import SessionError
from sessions.garbage_collection import collect_seldom
from sessions.own_cluster.places import Place
from sessions.own_cluster.reading import SourceError
from sessions.postmortem.incident import begin_of, examine, read_sources, release_of
from sessions.postmortem.session import write_session
from sessions.recording.recorder import CHUNK_EVENTS_MAX, Recorder, adapted

TOO_EARLY: Final = "the process that reads the history has ended too early"
READER: Final = "read"
STORER: Final = "store"
_LENGTH_BYTES: Final = 4
_PIPE_BYTES: Final = 1 << 20
"""The size of the pipe: it holds some chunks, so that neither process often waits."""
_ENCODE: Final = msgspec.msgpack.Encoder().encode
_MODULE: Final = "sessions.postmortem.pipeline"


class Task(Struct, frozen=True):
    """What to read, and which session to write; ``zone`` is that of text logs."""

    paths: list[str]
    session: str
    zone: str
    until: Place


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What the storing process reports: first that the file is there, then that it is complete."""

    is_complete: bool = False
    error: str = ""


class Begun(Struct, frozen=True, tag=True):
    """The first message of the reading process; ``begin_us`` is wall-clock time."""

    release: str
    begin_us: int


class Packed(Struct, frozen=True, tag=True):
    """The next events, as a block of a session."""

    data: bytes


class Ended(Struct, frozen=True, tag=True):
    """The last message of the reading process: the end of the history in wall-clock time."""

    end_us: int


class Failed(Struct, frozen=True, tag=True):
    """The last message if it could not go on."""

    why: str


Message = Begun | Packed | Ended | Failed
_MESSAGES: Final = msgspec.msgpack.Decoder(Message)


def start(name: str, task: Task, stdin: int) -> "subprocess.Popen[bytes]":
    """Start one of the processes."""
    return subprocess.Popen(
        python_command("-m", _MODULE, name, msgspec.json.encode(task).decode()),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=name == STORER,  # the process that started it handles ctrl-c
    )


# ---- reading


class Packer:
    """Packs the events that it is called with, and sends them in chunks."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._events: list[Event] = []
        self._limit = CHUNK_EVENTS_MAX

    def __call__(self, event: Event) -> None:
        self._events.append(event)
        if len(self._events) >= self._limit:
            self.flush()

    def flush(self) -> None:
        """Send what was taken since the last chunk."""
        if self._events:
            self._send_events(self._events)
            self._events = []

    def _send_events(self, members: list[Event]) -> None:
        try:
            block = codec.encode(members, codec.group(members))
        except codec.BlockTooLargeError:
            middle = len(members) // 2
            self._send_events(members[:middle])
            self._send_events(members[middle:])
            return
        self.send(Packed(block))
        self._limit = adapted(self._limit, len(block))

    def send(self, message: Message) -> None:
        encoded = _ENCODE(message)
        self._pipe.write(len(encoded).to_bytes(_LENGTH_BYTES, "big"))
        self._pipe.write(encoded)
        self._pipe.flush()


def read(task: Task, pipe: IO[bytes]) -> None:
    """Read a history, and send its events."""
    packer = Packer(pipe)
    try:
        log, lines = read_sources(task.paths, ZoneInfo(task.zone))
        packer.send(Begun(release_of(log, lines), begin_of(log, lines)))
        incident = examine(log, [packer], lines=lines, until=task.until, only_events=True)
        packer.flush()
        packer.send(Ended(incident.end_us))
    except SourceError as error:
        packer.send(Failed(str(error)))


# ---- storing


def store(task: Task, pipe: IO[bytes], report: Callable[[Outcome], object]) -> None:
    """Write the session of the history that comes through a pipe."""
    messages = _messages(pipe)

    def stored(recorder: Recorder) -> Ended:
        report(Outcome())
        return _stored(recorder, messages)

    try:
        begun = next(messages, None)
        if not isinstance(begun, Begun):
            raise SourceError(TOO_EARLY)
        cluster = CreateCluster(version=begun.release, mode="kraft")
        write_session(Path(task.session), task.paths, cluster, begun.begin_us, stored)
        report(Outcome(is_complete=True))
    except (SessionError, SourceError) as error:
        report(Outcome(error=str(error)))
    except Exception as error:
        report(Outcome(error=f"{task.session} could not be written: {error!r}."))


def _stored(recorder: Recorder, messages: Iterator[Message]) -> Ended:
    for message in messages:
        if isinstance(message, Packed):
            recorder.take_chunk(codec.decode(message.data), message.data)
        elif isinstance(message, Ended):
            return message
    raise SourceError(TOO_EARLY)


def _messages(pipe: IO[bytes]) -> Iterator[Message]:
    while start := pipe.read(_LENGTH_BYTES):
        message = _MESSAGES.decode(pipe.read(int.from_bytes(start, "big")))
        if isinstance(message, Failed):
            raise SourceError(message.why)
        yield message


def _end_with_the_first() -> None:
    """Exit when the other end of standard input is closed."""
    sys.stdin.buffer.read()
    os._exit(1)


def _report(outcome: Outcome) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
    sys.stdout.flush()


def main() -> None:
    """Run one of the processes."""
    collect_seldom()
    name, text = sys.argv[1:]
    task = msgspec.json.decode(text, type=Task)
    if name == READER:
        read(task, sys.stdout.buffer)
        return
    threading.Thread(target=_end_with_the_first, daemon=True).start()
    with start(READER, task, subprocess.DEVNULL) as reader:
        assert reader.stdout is not None
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            fcntl.fcntl(reader.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        store(task, reader.stdout, _report)
        reader.kill()
    os._exit(0)


if __name__ == "__main__":
    main()
