"""Producers and consumers of a real cluster, that behave as the emulator's are documented to."""

import time
from typing import Any

from emulator.common.errors import ERRORS
from emulator.inputs.statements import Consume, Produce
from tests.golden.real import wire
from tests.golden.real.look import UNREADABLE, assignment, value_of_partition
from tests.golden.real.processes import RealCluster, RealClusterError
from tests.golden.real.segments import Sequence, old_batch, records_in, sequenced_batch

NAMES = {error.code: error.name for error in ERRORS.values()}
ROUTING = {"UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER"}
"""Nothing was appended: try again for a while without counting."""
KEEPS_LEADER = {
    *("NONE", "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
}
PATIENCE_SECONDS = 3
BACKOFF_SECONDS = 0.1
TRIES_FOR_IDENTITY = 50


class Producer:
    """One producer: the leaders it knows, its identity, and what became of its records."""

    def __init__(self, cluster: RealCluster, name: str) -> None:
        self.cluster = cluster
        self.seen: dict[str, Any] = {"name": name, "acked": 0, "failed": 0, "errors": []}
        self.leaders: dict[tuple[str, int], int] = {}
        self.sequences: dict[tuple[str, int], int] = {}
        self.identity: tuple[int, int] | None = None

    def produce(self, wanted: Produce) -> str:
        """Send the records one after another; the last one's error."""
        if wanted.partition is None and len(assignment(self.cluster, wanted.topic)) > 1:
            raise RealClusterError("produce: name the partition, as the topic has several")
        if wanted.batch > 1 or wanted.key is not None or wanted.background:
            raise RealClusterError("produce: no --batch, --key or --async on a real cluster")
        error = "NONE"
        for number in range(wanted.count):
            value = wanted.value if wanted.count == 1 else f"{wanted.value}-{number}"
            error = self._deliver(wanted, value)
            self.seen["acked" if error == "NONE" else "failed"] += 1
            if error != "NONE":
                self.seen["errors"].append(error)
        return error

    def _deliver(self, wanted: Produce, value: str) -> str:
        """One record until it is acknowledged, or given up."""
        target = wanted.topic, wanted.partition or 0
        batch = self._batch(wanted, target, value)
        retries, patience = wanted.retries or 0, time.monotonic() + PATIENCE_SECONDS
        while True:
            error = self._attempt(wanted, target, batch)
            free = error in ROUTING and time.monotonic() < patience
            if error == "NONE" or not (free or (ERRORS[error].retriable and retries > 0)):
                break
            retries -= not free
            time.sleep(BACKOFF_SECONDS)
        if wanted.idempotent and error == "NONE":
            self.sequences[target] = self.sequences.get(target, 0) + 1
        return error

    def _batch(self, wanted: Produce, target: tuple[str, int], value: str) -> bytes:
        if not wanted.idempotent:
            return old_batch(value)
        if self.identity is None:
            self.identity = self._new_identity()
        return sequenced_batch(value, Sequence(*self.identity, self.sequences.get(target, 0)))

    def _new_identity(self) -> tuple[int, int]:
        for _ in range(TRIES_FOR_IDENTITY):
            error, producer, epoch = wire.init_producer_id(
                self.cluster.ports[self.cluster.live()[0]]
            )
            if not error:
                return producer, epoch
            time.sleep(BACKOFF_SECONDS)
        raise RealClusterError(f"no broker gives a producer id: {NAMES.get(error, error)}")

    def _attempt(self, wanted: Produce, target: tuple[str, int], batch: bytes) -> str:
        leader = self.leaders.get(target)
        if leader is None:
            leader, error = self._leader_of(*target)
        if leader is None:
            return error
        error = self._send(leader, wanted, target, batch)
        if error in KEEPS_LEADER:
            self.leaders[target] = leader
        else:
            self.leaders.pop(target, None)
        return error

    def _send(self, leader: int, wanted: Produce, target: tuple[str, int], batch: bytes) -> str:
        try:
            code = wire.produce(
                self.cluster.ports[leader],
                *target,
                batch,
                acks=-1 if wanted.acks is None else wanted.acks,
                timeout_ms=wanted.timeout_us // 1_000,
                version=3 if wanted.idempotent else 0,
            )
        except ConnectionRefusedError:
            return "NOT_LEADER_OR_FOLLOWER"  # its process is gone, and nothing was appended
        except UNREADABLE:
            return "NETWORK_EXCEPTION"
        return NAMES.get(code, str(code))

    def _leader_of(self, topic: str, partition: int) -> tuple[int | None, str]:
        """The leader that the first broker to know one names, or why there is none."""
        error = "LEADER_NOT_AVAILABLE"
        for broker in self.cluster.live():
            try:
                told = wire.metadata(self.cluster.ports[broker], topic)
            except UNREADABLE:
                continue
            if partition in told and told[partition].leader >= 0:
                return told[partition].leader, "NONE"
            if told and partition not in told:
                error = "UNKNOWN_TOPIC_OR_PARTITION"
        return None, error


def consume(cluster: RealCluster, wanted: Consume) -> dict[str, Any]:
    """What one read of one partition gives: up to the HW, from a replica in the rack if named."""
    if wanted.group is not None:
        raise RealClusterError("consume: no groups on a real cluster")
    partition, offset = wanted.partition or 0, wanted.offset or 0
    leader = value_of_partition(cluster, wanted.topic, partition, "leader")
    assert isinstance(leader, int)
    got = _fetched(cluster, leader, wanted, partition, offset)
    if got.preferred >= 0:
        got = _fetched(cluster, got.preferred, wanted, partition, offset)
    below = [
        each.value for each in records_in(got.records) if offset <= each.offset < got.high_watermark
    ]
    error = NAMES.get(got.error, str(got.error))
    return {"name": wanted.consumer, "values": below, "error": error}


def _fetched(
    cluster: RealCluster, broker: int, wanted: Consume, partition: int, offset: int
) -> wire.Fetched:
    port = cluster.ports[broker]
    if wanted.rack:
        return wire.fetch_from_rack(port, wanted.topic, partition, offset, wanted.rack)
    return wire.fetch(port, wanted.topic, partition, offset)
