"""What librdkafka was told with acks=all, and what is there after leadership has moved twice.

    python docs/acknowledged_and_gone.py 0.10.2
    python docs/acknowledged_and_gone.py 3.9

All three replicas have the record, but the followers have not yet heard of the high watermark that
covers it. Leadership moves in an orderly way. By the rules of 0.10.2 the remaining follower
truncates its log to the high watermark that it knows, and then the new leader dies. Every election
is clean, and ``min.insync.replicas`` is 2. Since 0.11 (KIP-101) a follower asks the leader where
its epoch ends, and truncates nothing.
"""

import sys
from contextlib import closing

from confluent_kafka import KafkaError, Message, Producer

from tidegauge.kafka_cluster import ClusterServer, KafkaCluster

CONFIG: dict[str, str | int | bool] = {
    "min.insync.replicas": 2,
    "unclean.leader.election.enable": False,
    "replica.fetch.wait.max.ms": 5_000,
    "replica.lag.time.max.ms": 30_000,
}
"""An idle follower hears of a new high watermark after 5 s, or with the next record."""


def acknowledged(cluster: KafkaCluster, value: str) -> list[str]:
    """Produce a value with acks=all, and return it if librdkafka was told that it is written."""
    offsets = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            offsets.append((message.value() or b"").decode())

    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
    producer.produce("orders", value, partition=0, on_delivery=delivered)
    producer.flush(30)
    return offsets


def move_leadership_twice(cluster: KafkaCluster) -> None:
    """From broker 1 to broker 2 in order, and on to broker 0 as 2 dies before 0 has fetched."""
    cluster.run("network hold 0 2 --only Fetch")
    cluster.stop(1)
    cluster.wait_until("orders-0.leader == 2")
    cluster.run("wait 100ms")
    cluster.crash(2)
    cluster.wait_until("orders-0.leader == 0")


def run(server: ClusterServer, version: str) -> tuple[list[str], list[str], list[str]]:
    """What was acknowledged, what the last leader has, and what the audit calls lost."""
    with closing(KafkaCluster(server, version=version, config=CONFIG)) as cluster:
        cluster.run("topic create orders --replica-assignment 1:2:0")
        cluster.wait_until("orders-0.leader == 1")
        offsets = acknowledged(cluster, "paid")
        move_leadership_twice(cluster)
        return offsets, cluster.records("orders"), [each["value"] for each in cluster.lost()]


def main() -> None:
    """Print what became of the record by the rules of the releases that are named."""
    server = ClusterServer()
    for version in sys.argv[1:] or ("0.10.2", "3.9"):
        offsets, kept, lost = run(server, version)
        sys.stdout.write(f"{version}: acknowledged {offsets}, the leader has {kept}, lost {lost}\n")
    server.stop()


if __name__ == "__main__":
    main()
