"""Records the file of the current schema in ``released/``, and beside it what is read from it.

``python -m tests.sessions.format.release``: once for each schema, after its last change.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import msgspec
import zstandard

from sessions.format.file import SessionFile
from sessions.format.schema import SCHEMA

RELEASED: Final = Path(__file__).parent / "released"
ROOT: Final = Path(__file__).parents[3]
STORY: Final = """\
cluster --brokers 3 --controllers 3 --version 4.1 --seed 7 --config log.retention.check.interval.ms=1000
topic create orders --partitions 2 --replication-factor 3 --config min.insync.replicas=2
topic create short --replica-assignment 0:1:2 --config segment.bytes=100 --config retention.bytes=180
topic create gone --partitions 1 --replication-factor 2
wait 1s
produce orders --count 12 --value v --acks all
produce short --count 9 --value s --acks all
mark calm
consume orders
broker crash 1
wait 12s
produce orders --count 3 --acks 1 --value w
controller crash active
wait 20s
broker start 1
controller start last
wait 8s
network cut 0 2
wait 1s
network heal
topic delete gone
reassign orders-1 2,0
wait 3s
broker stop 2
wait 2s
"""  # noqa: E501
PROGRAM: Final = """\
from sessions.recording import keyframe_taker
from tidegauge import main

keyframe_taker.KEYFRAME_EVENTS_MIN = keyframe_taker.KEYFRAME_EVENTS_MAX = 3_000
main()
"""
"""So short a recording would have no keyframe."""


def main() -> None:
    """Record the story with the program as it is."""
    name = f"schema-{SCHEMA}.tide.db"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "story.tide").write_text(STORY, encoding="utf-8")
        run = [sys.executable, "-P", "-c", PROGRAM, "run", "story.tide", "--record", name]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(run, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        data = Path(folder, name).read_bytes()
    path = RELEASED / name
    path.write_bytes(data)
    with SessionFile(path) as session:
        read = {
            "events": [
                (type(event).__name__, msgspec.structs.asdict(event))
                for event in session.all_events()
            ],
            "inputs": [[i.seq, i.time_us, i.steps, i.line, i.text] for i in session.inputs()],
            "bookmarks": [[m.seq, m.name, m.note] for m in session.bookmarks()],
            "outcome": session.outcome,
        }
    packed = zstandard.ZstdCompressor(level=19).compress(msgspec.json.encode(read))
    path.with_name(f"schema-{SCHEMA}.json.zst").write_bytes(packed)


if __name__ == "__main__":
    main()
