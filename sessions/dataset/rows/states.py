"""The state of partitions and replicas while their rows are open.

A row is open from the event that set its values until the next event that changes one of them.
"""

from emulator.events import Event
from sessions.dataset.writer import Row


class Replica:
    """A replica's values, and the event since which they hold."""

    __slots__ = (
        "broker",
        "hw",
        "in_isr",
        "leader_epoch",
        "leo",
        "log_start",
        "remote_leo",
        "role",
        "since_seq",
        "since_us",
    )

    def __init__(self, broker: int, event: Event) -> None:
        self.broker = broker
        self.role = "offline"
        self.leader_epoch = -1
        self.leo = 0
        self.hw = 0
        self.log_start = 0
        self.remote_leo: int | None = None
        self.in_isr = False
        self.since_seq = event.seq
        self.since_us = event.time_us

    def row(self, tp: str, to_seq: int | None, to_us: int | None) -> Row:
        """Return the values as a row of ``replica_states`` that ends at the event ``to_seq``."""
        return (
            tp,
            self.broker,
            self.role,
            self.leader_epoch,
            self.leo,
            self.hw,
            self.log_start,
            self.remote_leo,
            self.in_isr,
            self.since_seq,
            self.since_us,
            to_seq,
            to_us,
        )


class Partition:
    """A partition's values, the event since which they hold, and its replicas.

    ``since_seq`` 0: the partition does not exist, or no longer; logs of it may be left.
    """

    __slots__ = (
        "controller_epoch",
        "held",
        "isr",
        "leader",
        "leader_epoch",
        "min_isr",
        "remembered",
        "replicas",
        "since_seq",
        "since_us",
        "state",
        "tp",
        "unclean_election",
        "zk_version",
    )

    def __init__(self, tp: str) -> None:
        self.tp = tp
        self.held: dict[int, Replica] = {}
        self.remembered: dict[int, dict[int, int]] = {}
        self.replicas: tuple[int, ...] = ()
        self.min_isr = 1
        self.unclean_election = False
        self.since_seq = 0
        self.since_us = 0
        self.forget_znode()

    def forget_znode(self) -> None:
        """Clear the state znode's values."""
        self.state = "nonexistent"
        self.leader: int | None = None
        self.leader_epoch: int | None = None
        self.controller_epoch: int | None = None
        self.zk_version: int | None = None
        self.isr: tuple[int, ...] = ()

    def leader_remembers(self, follower: int) -> int | None:
        """Return the follower's LEO as tracked by the state znode's leader, None if unknown."""
        if self.leader is None:
            return None
        leo = self.remembered.get(self.leader, {}).get(follower, -1)
        return None if leo < 0 else leo

    def row(self, to_seq: int | None, to_us: int | None) -> Row:
        """Return the values as a row of ``partition_states`` that ends at the event ``to_seq``."""
        leader = None if self.leader is None else self.held.get(self.leader)
        if leader is not None and leader.role != "leader":
            leader = None  # it is down, or does not know yet that it leads
        return (
            self.tp,
            self.state,
            self.leader,
            self.leader_epoch,
            self.controller_epoch,
            self.zk_version,
            self.isr,
            self.replicas,
            self.min_isr,
            self.unclean_election,
            None if leader is None else leader.hw,
            None if leader is None else leader.leo,
            self.since_seq,
            self.since_us,
            to_seq,
            to_us,
        )
