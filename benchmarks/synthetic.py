"""A long synthetic session: the normal flow of partitions with three replicas.

For benchmarks of event readers, where running a cluster first would take longer than the
measurement itself.
"""

from collections.abc import Iterator

from emulator.events import (
    CLIENTS,
    ClusterCreated,
    Event,
    HighWatermarkChanged,
    IsrChanged,
    LogCreated,
    MessageSent,
    PartitionStateChanged,
    ProduceAcknowledged,
    ProduceSent,
    RecordsAppended,
    RemoteLogEndOffsetChanged,
    ReplicaRoleChanged,
    TopicCreated,
    ZnodeCreated,
)
from emulator.zookeeper.data import state_json

BROKERS = 12
REPLICAS = 3
LATENCY_US = 500


class Flow:
    """The state of the cluster, as far as its events need it."""

    def __init__(self, partitions: int, batch: int) -> None:
        self.partitions = partitions
        self.batch = batch
        self.seq = 0
        self.time_us = 0
        self.record = 1
        self.offsets = [0] * partitions
        self.parked: dict[tuple[int, int], int] = {}

    def replicas(self, partition: int) -> list[int]:
        """The brokers of a partition, its leader first."""
        return [(partition + j) % BROKERS for j in range(REPLICAS)]

    def next(self, cause: int | None = None) -> tuple[int, int, int]:
        """Number, time and cause for the next event."""
        self.seq += 1
        return self.seq, self.time_us, self.seq - 1 if cause is None else cause

    def message(self, name: str, source: int, to: int, request: int, *detail: str | int) -> Event:
        """A message about one partition."""
        return MessageSent(*self.next(), name, source, to, request, [list(detail)])

    def beginning(self) -> Iterator[Event]:
        """Create the cluster and its topic."""
        yield ClusterCreated(*self.next(), "3.9", 1, list(range(BROKERS)), [], {}, False)
        assignment = [self.replicas(partition) for partition in range(self.partitions)]
        yield TopicCreated(*self.next(), "orders", assignment, {"min.insync.replicas": "2"})
        for partition, brokers in enumerate(assignment):
            tp, leader = f"orders-{partition}", brokers[0]
            path = f"/brokers/topics/orders/partitions/{partition}/state"
            znode = state_json(leader, 0, brokers, 1)
            yield ZnodeCreated(*self.next(), path, znode, 0, partition + 1)
            yield PartitionStateChanged(*self.next(), tp, leader, 0, brokers, 1, 0)
            for broker in brokers:
                yield LogCreated(*self.next(), tp, broker)
                role = "leader" if broker == leader else "follower"
                yield ReplicaRoleChanged(*self.next(), tp, broker, role, leader, 0)
            yield IsrChanged(*self.next(), tp, leader, brokers, 0)

    def fetched(self, partition: int, broker: int, leader: int, offset: int) -> Iterator[Event]:
        """A follower's fetch, which its leader parks."""
        fetch = self.message("FetchRequest", broker, leader, 0, f"orders-{partition}", offset)
        self.parked[partition, broker] = fetch.seq
        yield fetch

    def produced(self, number: int) -> Iterator[Event]:
        """Send, replicate, commit and acknowledge one batch."""
        partition = number % self.partitions
        tp, (leader, *followers) = f"orders-{partition}", self.replicas(partition)
        base, first, count = self.offsets[partition], self.record, self.batch
        end = self.offsets[partition] = base + count
        self.record += count
        values = [f"value-{record}" for record in range(first, first + count)]
        yield ProduceSent(*self.next(0), "p1", tp, first, [], values, -1)
        request = self.message("ProduceRequest", CLIENTS, leader, 0, tp, count)
        yield request
        self.time_us += LATENCY_US + number % 97
        yield RecordsAppended(*self.next(), tp, leader, base, count, 0, first)
        for broker in followers:
            fetch = self.parked.pop((partition, broker), 0)
            yield self.message("FetchResponse", leader, broker, fetch, tp, base, base, count)
        self.time_us += LATENCY_US
        for broker in followers:
            yield RecordsAppended(*self.next(), tp, broker, base, count, 0, first)
            yield from self.fetched(partition, broker, leader, end)
        self.time_us += LATENCY_US
        for broker in followers:
            yield RemoteLogEndOffsetChanged(*self.next(), tp, leader, broker, end)
        yield HighWatermarkChanged(*self.next(), tp, leader, end, base, "fetch")
        yield self.message("ProduceResponse", leader, CLIENTS, request.seq, tp, base)
        for broker in followers:
            fetch = self.parked.pop((partition, broker))
            yield self.message("FetchResponse", leader, broker, fetch, tp, end, end, 0)
        self.time_us += LATENCY_US
        yield ProduceAcknowledged(*self.next(), "p1", tp, first, count, base)
        for broker in followers:
            yield HighWatermarkChanged(*self.next(), tp, broker, end, base, "response")
            yield from self.fetched(partition, broker, leader, end)


def synthetic_events(events: int, partitions: int = 100, batch: int = 10) -> Iterator[Event]:
    """Yield at least this many events, about 20 per batch of ``batch`` records."""
    flow = Flow(partitions, batch)
    yield from flow.beginning()
    number = 0
    while flow.seq < events:
        yield from flow.produced(number)
        number += 1
