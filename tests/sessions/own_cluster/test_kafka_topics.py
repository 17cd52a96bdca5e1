"""The text of kafka-topics --describe, as tools of all ages print it."""

import io
import time
from pathlib import Path

import pytest

from emulator.cluster_image.image import ClusterImage, Partition
from sessions.own_cluster.content import Content
from sessions.own_cluster.importing import read_source
from sessions.own_cluster.reading import SourceError
from sessions.own_cluster.recognition import read
from tests.sessions.own_cluster.recorded import CASES, IDS, RECORDINGS, imported, partitions_of

FIELDS = ("replicas", "leader", "isr")


def read_text(text: str | bytes) -> ClusterImage:
    data = text.encode() if isinstance(text, str) else text
    return read(Content("topics.txt", io.BytesIO(data))).image


def partition_of(line: str) -> Partition:
    return read_text(line).topics[0].partitions[0]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_recorded_text_says_what_was_so(case: Path) -> None:
    image = read_source(str(case / "topics.txt")).image
    fields = (*FIELDS, "elr", "last_known_elr") if "kraft" in str(case) else FIELDS
    assert imported(image, *fields) == partitions_of(case, *fields)
    assert all("min.insync.replicas" in (topic.configs or {}) for topic in image.topics)


@pytest.mark.parametrize("release", ["0.8.2.2", "1.1.1"])
def test_what_old_tools_say_of_the_znodes_of_a_cluster_is_understood(release: str) -> None:
    """The tools of these releases printed it of the znodes that 2.8.2 had left."""
    image = read_source(str(RECORDINGS / "topics" / f"{release}.txt")).image
    case = RECORDINGS / "zookeeper-2.8.2" / "04"
    assert imported(image, *FIELDS) == partitions_of(case, *FIELDS)
    told = read_source(str(case / "zookeeper.json")).image
    assert {topic.name: topic.configs for topic in image.topics} == {
        topic.name: topic.configs for topic in told.topics
    }


@pytest.mark.parametrize(
    "line",
    [
        "topic: t\tpartition: 1\tleader: 3\treplicas: 3,1\tisr: 3,1",
        "\tTopic: t\tPartition: 1\tLeader: 3\tReplicas: 3,1\tIsr: 3,1",
        "\tTopic: t\tPartition: 1    \tLeader: 3\tReplicas: 3,1\tIsr: 3,1",
        "  Topic: t   Partition: 1   Leader: 3   Replicas: 3, 1  Isr: 3,1",
        "\tTopic: t\tPartition: 1\tLeader: 3\tReplicas: 3,1\tIsr: 3,1\tElr: N/A\tLastKnownElr: N/A",
        "\tTopic: t\tPartition: 1\tLeader: 3\tReplicas: 3,1\tIsr: 3,1\r\n",
    ],
    ids=["0.8.0", "0.8.2", "padded", "spaces", "3.8", "windows"],
)
def test_a_line_of_every_age_is_understood(line: str) -> None:
    assert partition_of(line) == Partition(1, (3, 1), 3, (3, 1))


def test_what_newer_tools_add_is_kept() -> None:
    partition = partition_of(
        "\tTopic: t\tPartition: 0\tLeader: none\tReplicas: 3,1,4\tIsr: \tAdding Replicas: 4"
        "\tRemoving Replicas: 1\tElr: 3\tLastKnownElr: 3,1"
    )
    assert partition == Partition(
        0, (3, 1, 4), -1, (), elr=(3,), last_known_elr=(3, 1), adding=(4,), removing=(1,)
    )
    assert partition_of("Topic: t\tPartition: 0\tLeader: -1\tReplicas: 3\tIsr: 3").leader == -1


def test_a_topic_has_its_id_and_configurations_with_commas() -> None:
    image = read_text(
        "Topic:t\tPartitionCount:1\tReplicationFactor:1\tConfigs:cleanup.policy=compact,delete,a=0:1,2:3"
        "\tMarkedForDeletion:true\n\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
        "Topic: u\tTopicId: JvQvmNPDTLWkIYgUThLjnw\tPartitionCount: 0\tReplicationFactor: 0"
        "\tConfigs: \n"
    )
    first, second = image.topics
    assert first.configs == {"cleanup.policy": "compact,delete", "a": "0:1,2:3"}
    assert first.deleting
    assert (second.id, second.configs) == ("JvQvmNPDTLWkIYgUThLjnw", {})


def test_text_from_powershell_and_warnings_are_read() -> None:
    text = "WARN something\nTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    for data in (text.encode("utf-16"), b"\xef\xbb\xbf" + text.encode()):
        reading = read(Content("topics.txt", io.BytesIO(data)))
        assert reading.image == read_text(text)
        assert reading.notes == ("1 line without a topic or partition skipped",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Topic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\nTopic: t\tPart",
            "line 2 is cut off",
        ),
        ("Topic: t\tPartition: 0\tLeader: 1\tRepl", "line 1 is cut off before Replicas"),
        ("Topic: t\tPartition: 0\tLeader: x\tReplicas: 1\tIsr: 1", "no number after Leader: 'x'"),
        (
            "Topic: t\tPartitionCount: 2\tReplicationFactor: 1\tConfigs:\n"
            "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1",
            "topic t has 2 partitions, and 1 are described",
        ),
        (
            "Topic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
            "Topic: t\tPartition: 0\tLeader: 2\tReplicas: 2\tIsr: 2",
            "t-0 a second time",
        ),
        (f"Topic: t\tPartition: 0\tLeader: {'9' * 9999}\tReplicas: 1\tIsr: 1", "no number"),
        ("Topic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n" + "x" * (1 << 20), "of over"),
        ("hello", "unknown kind"),
    ],
    ids=[
        "torn",
        "torn-line",
        "word",
        "missing",
        "twice",
        "huge-number",
        "long-line",
        "other",
    ],
)
def test_a_text_that_is_not_whole_is_refused_in_one_sentence(text: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason) as refused:
        read_text(text)
    assert "topics.txt" in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_long_word_is_looked_at_once() -> None:
    began = time.process_time()
    with pytest.raises(SourceError):
        read_text("Topic: " + "a" * 60_000)
    assert time.process_time() - began < 1
