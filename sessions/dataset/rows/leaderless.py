"""The time in which partitions were leaderless: no broker could serve them.

A partition is *leaderless* while it exists, has had a leader, and no broker with a running process
acts as its leader. A frozen broker serves no requests, whatever its role, and a crashed one counts
from its crash on, long before ZooKeeper and the controller detect it. The job
``availability`` uses the same definition, and a test checks that the two are equal.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from emulator.events import (
    BrokerStateChanged,
    Event,
    LogDeleted,
    PartitionsAdded,
    PartitionStateChanged,
    ReplicaRoleChanged,
    TopicCreated,
    TopicDeleted,
)

FROZEN: Final = "frozen"


class Partition:
    """The relevant state of one partition; ``since_us`` is set while it is leaderless."""

    __slots__ = ("exists", "leaders", "led", "since_us")

    def __init__(self) -> None:
        self.exists = False
        self.led = False
        self.leaders: set[int] = set()
        self.since_us: int | None = None


class LeaderlessTime:
    """Adds up the leaderless time of all partitions."""

    def __init__(self) -> None:
        self.total_us = 0
        self._partitions: defaultdict[str, Partition] = defaultdict(Partition)
        self._led_by: defaultdict[int, set[str]] = defaultdict(set)
        self._frozen: set[int] = set()

    def handlers(self) -> dict[type[Event], Callable[[Any], None]]:
        return {
            TopicCreated: self._added,
            PartitionsAdded: self._added,
            PartitionStateChanged: self._state_changed,
            TopicDeleted: self._topic_deleted,
            ReplicaRoleChanged: self._role_changed,
            LogDeleted: self._log_deleted,
            BrokerStateChanged: self._broker_changed,
        }

    def up_to(self, end_us: int) -> int:
        """Return the total time if the session ends at ``end_us``."""
        open_us = sum(
            end_us - partition.since_us
            for partition in self._partitions.values()
            if partition.since_us is not None
        )
        return self.total_us + open_us

    def _look(self, tp: str, time_us: int) -> None:
        """Update whether the partition is leaderless now."""
        partition = self._partitions[tp]
        served = bool(partition.leaders - self._frozen)
        partition.led = partition.exists and (partition.led or served)
        if partition.exists and partition.led and not served:
            if partition.since_us is None:
                partition.since_us = time_us
        elif partition.since_us is not None:
            self.total_us += time_us - partition.since_us
            partition.since_us = None

    def _added(self, event: TopicCreated | PartitionsAdded) -> None:
        first = event.first if isinstance(event, PartitionsAdded) else 0
        for number in range(first, first + len(event.assignment)):
            self._exists(f"{event.topic}-{number}", event.time_us)

    def _exists(self, tp: str, time_us: int) -> None:
        self._partitions[tp].exists = True
        self._look(tp, time_us)

    def _state_changed(self, event: PartitionStateChanged) -> None:
        if not self._partitions[event.tp].exists:
            self._exists(event.tp, event.time_us)

    def _topic_deleted(self, event: TopicDeleted) -> None:
        for tp, partition in self._partitions.items():
            if partition.exists and tp.rpartition("-")[0] == event.topic:
                partition.exists = False
                self._look(tp, event.time_us)

    def _role_changed(self, event: ReplicaRoleChanged) -> None:
        if event.role == "leader":
            self._partitions[event.tp].leaders.add(event.broker)
            self._led_by[event.broker].add(event.tp)
        else:
            self._partitions[event.tp].leaders.discard(event.broker)
            self._led_by[event.broker].discard(event.tp)
        self._look(event.tp, event.time_us)

    def _log_deleted(self, event: LogDeleted) -> None:
        self._partitions[event.tp].leaders.discard(event.broker)
        self._led_by[event.broker].discard(event.tp)
        self._look(event.tp, event.time_us)

    def _broker_changed(self, event: BrokerStateChanged) -> None:
        frozen = event.state == FROZEN
        if frozen == (event.broker in self._frozen):
            return
        (self._frozen.add if frozen else self._frozen.discard)(event.broker)
        for tp in self._led_by[event.broker]:
            self._look(tp, event.time_us)
