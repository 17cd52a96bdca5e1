"""A process that records until it is killed: it writes each flushed event number to a pipe.

Run as ``python -m tests.sessions.recording_child PATH [LIMIT_BYTES]``.
"""

import sys
from pathlib import Path

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import CreateTopic, Produce
from emulator.scenario.runner import Runner
from sessions.recording.recorder import Recorder
from tests.sessions.examples import SPEC, execute, origin, second, small_chunks, statement


def main(path: Path, limit_bytes: int | None) -> None:
    """Record for ever, flushing at odd moments."""
    with small_chunks(events=50, keyframes=150):
        recorder = Recorder(path, origin(), limit_bytes=limit_bytes)

        def observe(event: Event) -> None:
            recorder(event)
            if event.seq % 37 == 0:
                recorder.flush()
                print(event.seq, flush=True)  # noqa: T201 - the pipe to the parent

        runner = Runner(Cluster(SPEC, (observe,)))
        recorder.follow(runner)
        line = 2
        topic = CreateTopic(topic="orders", partitions=3, replication_factor=3)
        for given in (topic, second()):
            recorder.announce(statement(given, line))
            execute(runner, given, line)
            line += 1
        batch = Produce(topic="orders", value="v", count=10, acks=-1)
        while True:
            recorder.announce(statement(batch, line))
            execute(runner, batch, line)
            line += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
