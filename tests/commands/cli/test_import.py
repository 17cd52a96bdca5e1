"""``tidegauge import``: sources in, an image out, and what was assumed in between."""

import json
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from emulator.cluster_image.document import decode

TOPICS = """\
Topic: orders\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: min.insync.replicas=2
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2
\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 2,3\tIsr: 2
"""


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.txt"
    path.write_text(TOPICS)
    return path


def test_an_image_is_written_and_what_was_assumed_is_said(
    topics: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = topics.with_name("prod.cluster.json")
    arguments = ["import", str(topics), "--rack", "1=a", "--set", "topic:orders:retention.ms=1"]
    assert run_program([*arguments, "--out", str(out)]) == ExitCode.OK
    told = capsys.readouterr().err.splitlines()
    assert told[0] == f"read {topics} (kafka-topics --describe): 1 topic, 2 partitions"
    assert "assumed: racks of brokers 2, 3: none" in told
    assert "assumed: state of broker 3: down, because it is in no ISR" in told
    assert told[-1] == f"wrote {out}"
    image = decode(out.read_bytes())
    assert [(broker.id, broker.rack) for broker in image.brokers] == [(1, "a")]
    assert image.topics[0].configs == {"min.insync.replicas": "2", "retention.ms": "1"}


def test_an_image_on_standard_output_is_the_same_as_in_a_compressed_file(
    topics: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = topics.with_name("prod.cluster.json.zst")
    assert run_program(["import", str(topics), "--out", str(packed)]) == ExitCode.OK
    assert run_program(["import", str(topics), "--out", "-"]) == ExitCode.OK
    document = capsys.readouterr().out
    assert run_program(["import", str(packed), "--out", "-"]) == ExitCode.OK
    assert capsys.readouterr().out == document
    assert decode(document.encode()).partition_count == 2


def test_an_existing_file_is_replaced_only_on_request(
    topics: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = topics.with_name("prod.cluster.json")
    out.write_text("mine")
    arguments = ["import", str(topics), "--out", str(out)]
    assert run_program(arguments) == ExitCode.UNREACHABLE
    assert "already exists; --replace replaces it" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert run_program([*arguments, "--replace"]) == ExitCode.OK
    assert decode(out.read_bytes()).partition_count == 2


def test_two_images_are_compared_in_words(topics: Path, capsys: pytest.CaptureFixture[str]) -> None:
    later = topics.with_name("later.txt")
    text = TOPICS.replace("Leader: 1", "Leader: 2").replace("replicas=2", "replicas=1")
    later.write_text(text + "Topic: new\tPartition: 0\tLeader: 3\tReplicas: 3\tIsr: 3\n")
    assert run_program(["import", "--diff", str(topics), str(later)]) == ExitCode.FAILED
    assert capsys.readouterr().out.splitlines() == [
        "topic new: new with 1 partition",
        "min.insync.replicas of topic orders: 2 -> 1",
        "leader of orders-0: 1 -> 2",
    ]
    assert run_program(["import", "--diff", str(topics), str(topics), "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "same": True, "differences": []}


def test_contradictions_name_both_values_and_the_winner(
    topics: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = topics.with_name("other.txt")
    other.write_text(TOPICS.replace("Leader: 1", "Leader: 2"))
    assert run_program(["import", str(topics), str(other), "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["partitions"] == 2
    assert told["contradictions"] == [
        {
            "what": "leader of orders-0",
            "values": [
                {"source": str(topics), "value": "1"},
                {"source": str(other), "value": "2"},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        (["--out", "prod.json"], ExitCode.USAGE, "must end in .cluster.json"),
        (["--rack", "a=1"], ExitCode.USAGE, "no rack of a broker"),
        (["--set", "group:g:x=1"], ExitCode.USAGE, "no configuration of a resource"),
        (["--version", "4.1", "--mode", "zk"], ExitCode.UNREACHABLE, "no ZooKeeper mode"),
        (["--set", "topic:order:x=1"], ExitCode.UNREACHABLE, "the nearest is 'orders'"),
        (
            ["--set", "min.insync.replica=2"],
            ExitCode.USAGE,
            "--set: There is no configuration 'min.insync.replica'; the nearest is "
            "'min.insync.replicas'",
        ),
        (
            ["--set", "broker:1:num.io.thread=8"],
            ExitCode.USAGE,
            "the nearest is 'num.io.threads'",
        ),
        (["--set", "topic:orders:retention.m=1"], ExitCode.USAGE, "the nearest is 'retention.ms'"),
        (["--set", "min.insync.replicas=two"], ExitCode.USAGE, "must be an integer, not 'two'"),
        (["missing.txt"], ExitCode.UNREACHABLE, "missing.txt cannot be read: no such file"),
        (["--json", "--out", "-"], ExitCode.USAGE, "both print to standard output"),
        (["--diff"], ExitCode.USAGE, "--diff compares two sources"),
        (
            ["--diff", "--out", "a.cluster.json"],
            ExitCode.USAGE,
            "--out is for one image, and --dif",
        ),
        (["--diff", "--set", "min.insync.replicas=2"], ExitCode.USAGE, "--set is for one image"),
        (["--command-config", "none"], ExitCode.UNREACHABLE, "none cannot be read: no such file"),
        (["--diff", "x", "--command-config", "none"], ExitCode.UNREACHABLE, "none cannot be read"),
    ],
    ids=[
        *("name", "rack", "setting", "mode", "topic"),
        *("key", "broker-key", "topic-key", "value", "missing", "stdout", "one", "out", "set"),
        *("properties", "diff-properties"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    topics: Path, capsys: pytest.CaptureFixture[str], more: list[str], status: int, message: str
) -> None:
    assert run_program(["import", str(topics), *more]) == status
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told


def test_a_cluster_without_brokers_cannot_be_rehearsed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "configs.txt"
    path.write_text("Dynamic configs for topic t are:\n")
    assert run_program(["rehearse", str(path)]) == ExitCode.UNREACHABLE
    assert "the sources name no broker" in capsys.readouterr().err
