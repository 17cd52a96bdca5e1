"""Kafka's own command-line tools on an emulated cluster.

They need Java, and run where ``KAFKA_LIBS`` names a folder with Kafka's jars: those of 4.1.2, which
``make clients`` downloads, or others, which ``mvn dependency:copy-dependencies`` puts there for
``org.apache.kafka:kafka_2.13:2.8.2``, say.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wire.members import eventually
from tidegauge.kafka_cluster import KafkaCluster

LIBS = os.environ.get("KAFKA_LIBS")
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
SECONDS = 60

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(
        LIBS is None or shutil.which("java") is None, reason="KAFKA_LIBS names no jars of Kafka"
    ),
]


IN_TOOLS = {
    "kafka.admin.TopicCommand": "org.apache.kafka.tools.TopicCommand",
    "kafka.admin.ConsumerGroupCommand": (
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    ),
    "kafka.tools.ConsoleProducer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka.tools.ConsoleConsumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka.admin.LeaderElectionCommand": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka.admin.ReassignPartitionsCommand": (
        "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
    ),
    "kafka.admin.BrokerApiVersionsCommand": "org.apache.kafka.tools.BrokerApiVersionsCommand",
}
"""What the tools are called where they have a jar of their own (KIP-906)."""
HAS_JAR = LIBS is not None and any(Path(LIBS).glob("kafka-tools-*.jar"))


class Tools:
    """The tools, told of one cluster."""

    def __init__(self, servers: str) -> None:
        self.servers = servers

    def run(self, tool: str, words: str, typed: str = "", subcommand: str = "") -> str:
        """What a tool prints; an error that it ends in fails the test."""
        tool = IN_TOOLS.get(tool, tool) if HAS_JAR else tool
        command = ["java", *QUICK, "-cp", str(Path(LIBS or "") / "*"), tool, *subcommand.split()]
        done = subprocess.run(
            [*command, "--bootstrap-server", self.servers, *words.split()],
            input=typed,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Exception" not in done.stdout + done.stderr
        return done.stdout

    def topics(self, words: str) -> str:
        return self.run("kafka.admin.TopicCommand", words)

    def groups(self, words: str) -> str:
        return self.run("kafka.admin.ConsumerGroupCommand", words)


@pytest.fixture(
    params=[pytest.param(each, marks=pytest.mark.kafka(version=each)) for each in ("3.9", "4.1")]
)
def version(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def tools(version: str, kafka_cluster: KafkaCluster) -> Iterator[Tools]:
    made = Tools(kafka_cluster.bootstrap_servers)
    made.topics("--create --topic orders --partitions 3 --replication-factor 3")
    yield made
    kafka_cluster.assert_nothing_lost()


def rows(text: str, topic: str = "orders") -> list[list[str]]:
    return [line.split() for line in text.splitlines() if topic in line.split()]


def test_topics_are_described_and_deleted(tools: Tools, kafka_cluster: KafkaCluster) -> None:
    described = tools.topics("--describe --topic orders")
    assert "PartitionCount: 3\tReplicationFactor: 3" in described
    for partition in range(3):
        leader = kafka_cluster.leader("orders", partition)
        assert f"Topic: orders\tPartition: {partition}\tLeader: {leader}\t" in described
    tools.topics("--alter --topic orders --partitions 4")
    assert "PartitionCount: 4" in tools.topics("--describe --topic orders")
    assert "orders" in tools.topics("--list").split()
    tools.topics("--delete --topic orders")
    eventually(lambda: "orders" not in tools.topics("--list").split(), "the topic is gone")


def test_what_the_console_producer_sends_the_console_consumer_reads(tools: Tools) -> None:
    sent = [f"v{number}" for number in range(20)]
    tools.run("kafka.tools.ConsoleProducer", "--topic orders", "\n".join(sent) + "\n")
    words = "--topic orders --group billing --from-beginning --max-messages 20"
    read = tools.run("kafka.tools.ConsoleConsumer", words)
    assert sorted(read.split()) == sorted(sent)
    described = rows(tools.groups("--describe --group billing"))
    assert sum(int(row[3]) for row in described) == len(sent), "current offsets"
    assert {row[5] for row in described} == {"0"}, "lag"
    tools.groups("--group billing --topic orders --reset-offsets --to-earliest --execute")
    described = rows(tools.groups("--describe --group billing"))
    assert sum(int(row[5]) for row in described) == len(sent), "lag after the reset"
    assert "billing" in tools.groups("--list")
    tools.groups("--delete --group billing")
    assert "billing" not in tools.groups("--list")


def test_configuration_and_leaders_change(tools: Tools, kafka_cluster: KafkaCluster) -> None:
    of_topic = "--entity-type topics --entity-name orders"
    command = "kafka.admin.ConfigCommand"
    tools.run(command, f"--alter {of_topic} --add-config min.insync.replicas=2")
    assert "min.insync.replicas=2" in tools.run(command, f"--describe {of_topic}")
    preferred = kafka_cluster.leader("orders")
    kafka_cluster.crash(preferred)
    kafka_cluster.start(preferred)
    kafka_cluster.wait_until("orders-0.isr == [0,1,2]")
    election = "--election-type preferred --all-topic-partitions"
    tools.run("kafka.admin.LeaderElectionCommand", election)
    kafka_cluster.wait_until(f"orders-0.leader == {preferred}")


def test_replicas_are_reassigned(tools: Tools, kafka_cluster: KafkaCluster, tmp_path: Path) -> None:
    replicas = kafka_cluster.isr("orders")[::-1]
    wanted = {"topic": "orders", "partition": 0, "replicas": replicas}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"version": 1, "partitions": [wanted]}), "utf-8")
    command, words = "kafka.admin.ReassignPartitionsCommand", f"--reassignment-json-file {plan}"
    assert "Successfully started" in tools.run(command, f"{words} --execute")
    done = "Reassignment of partition orders-0 is complete"
    eventually(lambda: done in tools.run(command, f"{words} --verify"), "it is complete")


def test_brokers_are_configured(tools: Tools, kafka_cluster: KafkaCluster) -> None:
    command = "kafka.admin.ConfigCommand"
    one, every = "--entity-type brokers --entity-name 1", "--entity-type brokers --entity-default"
    tools.run(command, f"--alter {one} --add-config message.max.bytes=5000,num.io.threads=9")
    tools.run(command, f"--alter {every} --add-config message.max.bytes=6000")
    described = tools.run(command, f"--describe {one}")
    assert "message.max.bytes=5000" in described
    assert "DYNAMIC_DEFAULT_BROKER_CONFIG:message.max.bytes=6000" in described
    assert "message.max.bytes=6000" in tools.run(command, f"--describe {every}")
    everything = tools.run(command, f"--describe {one} --all")
    assert "num.io.threads=9 sensitive=false" in everything
    assert "ssl.keystore.password=null sensitive=true" in everything
    tools.run(command, f"--alter {one} --delete-config message.max.bytes")
    assert "message.max.bytes=6000" in tools.run(command, f"--describe {one} --all")


@pytest.mark.skipif(not HAS_JAR, reason="the tools were called otherwise")
def test_records_are_counted_and_deleted(tools: Tools, tmp_path: Path) -> None:
    tools.run("kafka.tools.ConsoleProducer", "--topic orders", "a\nb\nc\n")
    offsets = tools.run("org.apache.kafka.tools.GetOffsetShell", "--topic orders").split()
    ends = {row.split(":")[1]: int(row.split(":")[2]) for row in offsets}
    assert (len(ends), sum(ends.values())) == (3, 3)
    partition, end = max(ends.items(), key=lambda each: each[1])
    plan = tmp_path / "delete.json"
    row = {"topic": "orders", "partition": int(partition), "offset": end}
    plan.write_text(json.dumps({"version": 1, "partitions": [row]}), "utf-8")
    command = "org.apache.kafka.tools.DeleteRecordsCommand"
    deleted = tools.run(command, f"--offset-json-file {plan}")
    assert f"partition: orders-{partition}\tlow_watermark: {end}" in deleted
    words = f"--topic-partitions orders:{partition} --time earliest"
    first = tools.run("org.apache.kafka.tools.GetOffsetShell", words).strip()
    assert first == f"orders:{partition}:{end}"


@pytest.mark.skipif(not HAS_JAR, reason="the tools were called otherwise")
def test_the_cluster_and_its_transactions_are_listed(tools: Tools, version: str) -> None:
    cluster = "org.apache.kafka.tools.ClusterTool"
    assert tools.run(cluster, "", subcommand="cluster-id").startswith("Cluster ID: ")
    if version == "4.1":
        endpoints = tools.run(cluster, "", subcommand="list-endpoints").splitlines()
        assert [row.split()[0] for row in endpoints[1:]] == ["0", "1", "2"]
    listed = tools.run("org.apache.kafka.tools.TransactionsCommand", "list")
    assert listed.split() == ["TransactionalId", "Coordinator", "ProducerId", "TransactionState"]


@pytest.mark.skipif(not HAS_JAR, reason="the tool came with KRaft")
def test_the_quorum_is_described(tools: Tools, version: str) -> None:
    if version != "4.1":
        pytest.skip("there is no quorum")
    command = "org.apache.kafka.tools.MetadataQuorumCommand"
    status = tools.run(command, "describe --status")
    assert "LeaderId:               100" in status
    assert "CurrentObservers" in status
    replication = tools.run(command, "describe --replication")
    assert [row.split()[-1] for row in replication.splitlines()[1:]] == [
        "Leader",
        *["Observer"] * 3,
    ]


def test_the_versions_that_brokers_advertise_are_listed(tools: Tools, version: str) -> None:
    listed = tools.run("kafka.admin.BrokerApiVersionsCommand", "")
    newest = 11 if version == "3.9" else 13
    assert listed.count(f"Produce(0): 0 to {newest} [usable: ") == 3


@pytest.mark.skipif(not HAS_JAR, reason="the tool was called otherwise")
def test_features_are_described(tools: Tools, version: str) -> None:
    described = tools.run("org.apache.kafka.tools.FeatureCommand", "describe")
    rows = [line.split("\t") for line in described.splitlines()]
    told = {row[0]: row[1:4] for row in rows}
    if version == "3.9":
        assert told == {}
    else:
        assert told["Feature: transaction.version"] == [
            "SupportedMinVersion: 0",
            "SupportedMaxVersion: 2",
            "FinalizedVersionLevel: 2",
        ]
        assert told["Feature: metadata.version"][2] == "FinalizedVersionLevel: 4.1-IV1"


@pytest.mark.skipif(not HAS_JAR, reason="the tool was called otherwise")
def test_log_directories_are_described(tools: Tools) -> None:
    tools.run("kafka.tools.ConsoleProducer", "--topic orders", "one\ntwo\n")
    described = tools.run("org.apache.kafka.tools.LogDirsCommand", "--describe --topic-list orders")
    brokers = json.loads(described.splitlines()[-1])["brokers"]
    assert [each["broker"] for each in brokers] == [0, 1, 2]
    for broker in brokers:
        (directory,) = broker["logDirs"]
        assert directory["error"] is None
        logs = {each["partition"]: each for each in directory["partitions"]}
        assert sorted(logs) == ["orders-0", "orders-1", "orders-2"]
        assert sum(each["size"] for each in logs.values()) > len("onetwo")
        assert {each["offsetLag"] for each in logs.values()} == {0}
