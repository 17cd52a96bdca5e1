"""Metadata logs are read as Kafka's own tools and classes read them.

``recordings/faults-RELEASE/`` (``faults-RELEASE-SEED/``) has the metadata logs of a real cluster of
4 brokers and 3 controllers through 20 random faults: brokers and controllers were killed, stopped,
frozen, and cut off; partitions were reassigned, leaders elected, topics created, changed and
deleted. Beside them is what Kafka printed of them: ``dump.txt.gz`` by ``kafka-dump-log
--cluster-metadata-decoder`` (of 4.1.2 for 3.9.2, whose own tool leaves out what control records
say), ``images.jsonl.gz`` by ``tests/wire/Images.java`` with that release's classes.
"""

import gzip
import json
from pathlib import Path

import pytest

from emulator.quorum_controller.explanation.trace import Explainer
from sessions.postmortem.incident import examine, read_paths
from tests.sessions.postmortem.as_kafka import changed, dumped, printed

FAULTS = sorted((Path(__file__).parent / "recordings").glob("faults-*"))
parametrize = pytest.mark.parametrize("folder", FAULTS, ids=lambda folder: folder.name)


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


@parametrize
def test_each_record_is_what_kafka_dump_log_prints(folder: Path) -> None:
    expected = printed("\n".join(lines_of(folder / "dump.txt.gz")))
    assert len(expected) > 300
    assert dumped(read_paths([str(folder)]).batches()) == expected


@parametrize
def test_the_image_after_each_batch_is_kafkas_own(folder: Path) -> None:
    expected = [json.loads(line) for line in lines_of(folder / "images.jsonl.gz")]
    assert len(expected) > 40
    release = folder.name.split("-")[1]
    assert list(changed(read_paths([str(folder)]), release)) == expected


@parametrize
def test_a_rule_explains_each_record(folder: Path) -> None:
    incident = examine(read_paths([str(folder)]), rules=Explainer())
    assert incident.is_checked
    assert incident.unexplained == []
    assert incident.records > 300
