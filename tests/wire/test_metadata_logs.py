"""Kafka's own tool and classes, asked about every metadata log that was recorded.

They read those of their own release and older ones.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

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


RECORDED: Final = recorded()
IDS: Final = [str(segments[0].relative_to(TESTS)) for _, segments in RECORDED]
parametrize = pytest.mark.parametrize("log", RECORDED, ids=IDS)


def unpacked(log: tuple[str, list[Path]], folder: Path) -> list[str]:
    """The segments of a log, in a folder of their own; a newer release's test is skipped."""
    release, segments = log
    jar = next(Path(LIBS or "").glob("kafka-metadata-*.jar"))
    known = RELEASE.findall(jar.name)[0]
    if numbers_of(release) > numbers_of(known):
        pytest.skip(f"the classes of {known} cannot read all records of {release}")
    paths = []
    for segment in segments:
        data = segment.read_bytes()
        data = gzip.decompress(data) if segment.suffix == ".gz" else data
        name = segment.name.removesuffix(".gz") if len(log[1]) > 1 else FIRST
        (folder / name).write_bytes(data)
        paths.append(str(folder / name))
    return paths


def java(*words: str) -> str:
    command = ["java", *QUICK, "-cp", str(Path(LIBS or "") / "*"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@parametrize
def test_kafka_dump_log_prints_the_same_records(
    log: tuple[str, list[Path]], tmp_path: Path
) -> None:
    segments = unpacked(log, tmp_path)
    text = java(
        "kafka.tools.DumpLogSegments", "--cluster-metadata-decoder", "--files", ",".join(segments)
    )
    expected = printed(text)
    assert expected
    assert dumped(read_paths([str(tmp_path)]).batches()) == expected


@parametrize
def test_kafkas_image_is_the_same_after_each_batch(
    log: tuple[str, list[Path]], tmp_path: Path
) -> None:
    segments = unpacked(log, tmp_path)
    expected = [json.loads(line) for line in java(str(IMAGES), *segments).splitlines()]
    assert expected
    assert list(changed(read_paths([str(tmp_path)]), log[0])) == expected
