"""Kafka's own tool and classes, asked about every metadata log that was recorded.

They read those of their own release and older ones.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from emulator.releases.versions import numbers_of
from sessions.postmortem.incident import read_paths
from tests.sessions.postmortem.as_kafka import changed, dumped, printed

LIBS: Final = os.environ.get("KAFKA_LIBS")
TESTS: Final = Path(__file__).parent.parent
IMAGES: Final = Path(__file__).with_name("Images.java")
QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
SECONDS: Final = 120
FIRST: Final = f"{0:020}.log"
INCIDENTS: Final = {"last-in-sync": "3.9.2", "zombie-leader": "4.1.2"}
RELEASE: Final = re.compile(r"\d+\.\d+\.\d+")

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(
        LIBS is None or shutil.which("java") is None, reason="KAFKA_LIBS names no jars of Kafka"
    ),
]


class Log(NamedTuple):
    """A log as Kafka wrote it: its release, its first recorded file, and its segments."""

    release: str
    recorded: Path
    segments: list[Path]


def recorded() -> list[tuple[str, list[Path]]]:
    """The release of each recorded metadata log, and its segments."""
    folders = {path.parent for path in TESTS.rglob(f"{FIRST}*")}
    logs = [sorted([*folder.glob("0*.log"), *folder.glob("0*.log.gz")]) for folder in folders]
    explained = TESTS / "emulator/quorum_controller/explanation/recordings"
    logs += [[path] for path in explained.glob("*.log.gz")]
    found = [(release_of(segments[0].relative_to(TESTS)), segments) for segments in logs]
    return sorted(found, key=lambda each: str(each[1][0]))


def release_of(path: Path) -> str:
    """The release that recorded a log: in its path, or that of the incident."""
    incident = next((part for part in path.parts if part in INCIDENTS), "")
    return INCIDENTS.get(incident) or str(RELEASE.findall(str(path))[-1])


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Log]:
    """The logs that the classes can read: those of their own release and older ones."""
    jar = next(Path(LIBS or "").glob("kafka-metadata-*.jar"))
    known = numbers_of(RELEASE.findall(jar.name)[0])
    return [
        Log(release, segments[0], unpacked(segments, tmp_path_factory.mktemp("log")))
        for release, segments in recorded()
        if numbers_of(release) <= known
    ]


def unpacked(segments: list[Path], folder: Path) -> list[Path]:
    """The segments of a log, in a folder of their own."""
    paths = []
    for segment in segments:
        data = segment.read_bytes()
        name = segment.name.removesuffix(".gz") if len(segments) > 1 else FIRST
        paths.append(folder / name)
        paths[-1].write_bytes(gzip.decompress(data) if segment.suffix == ".gz" else data)
    return paths


def by_log(logs: list[Log], heading: str, *words: str) -> Iterator[tuple[Log, str]]:
    """What one Java program says of each log: a line with ``heading`` and a path begins another."""
    command = ["java", *QUICK, "-cp", str(Path(LIBS or "") / "*"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    said: dict[Path, str] = {}
    for part in re.split(f"^{heading}", done.stdout, flags=re.MULTILINE)[1:]:
        path, _, text = part.partition("\n")
        folder = Path(path).parent
        said[folder] = said.get(folder, "") + text
    for log in logs:
        yield log, said[log.segments[0].parent]


def test_kafka_dump_log_prints_the_same_records(logs: list[Log]) -> None:
    files = ",".join(str(path) for log in logs for path in log.segments)
    words = ("kafka.tools.DumpLogSegments", "--cluster-metadata-decoder", "--files", files)
    for log, text in by_log(logs, "Dumping ", *words):
        expected = printed(text)
        assert expected
        batches = read_paths([str(log.segments[0].parent)]).batches()
        assert dumped(batches) == expected, log.recorded


def test_kafkas_image_is_the_same_after_each_batch(logs: list[Log]) -> None:
    files = [str(path) for log in logs for path in log.segments]
    for log, text in by_log(logs, "segment ", str(IMAGES), *files):
        expected = [json.loads(line) for line in text.splitlines()]
        assert expected
        folder = str(log.segments[0].parent)
        assert list(changed(read_paths([folder]), log.release)) == expected, log.recorded
