"""A cluster on the bench: statements by their inputs, and replicas in one line of text."""

from typing import Any, Literal

from msgspec import Struct

from emulator.broker.replication.replica import Replica
from emulator.cluster import Cluster
from emulator.events import CLIENTS, Event, LogTruncated, MessageSent
from emulator.inputs.statements import (
    AnyInput,
    CreateCluster,
    CreateTopic,
    FetchRound,
    Produce,
    Statement,
    Tick,
    Wait,
)
from emulator.protocol import (
    FetchPartition,
    FetchRequest,
    LeaderAndIsrRequest,
    PartitionInfo,
    UpdateMetadataRequest,
)
from emulator.replication.partition import LoseTail
from emulator.scenario.outcome import Outcome
from emulator.scenario.runner import Runner, Ticket

SECOND_US = 1_000_000
TP = "t-0"


class Seen(Struct):
    """What an observer was given."""

    events: list[Event] = []

    def of(self, kind: type[Event], **fields: Any) -> list[Any]:
        """The events of one kind whose fields have these values."""
        return [
            each
            for each in self.events
            if type(each) is kind
            and all(getattr(each, name) == value for name, value in fields.items())
        ]


class Lab:
    """A cluster with a record of its events, and short ways to say what happens in it."""

    def __init__(self, version: str = "3.9", brokers: int = 2, **spec: Any) -> None:
        self.seen = Seen()
        made = CreateCluster(brokers=brokers, version=version, **spec)
        self.cluster = Cluster(made, [self.seen.events.append])
        self.runner = Runner(self.cluster)

    # ---- statements

    def do(self, wanted: AnyInput) -> Outcome:
        return self.runner.execute(Statement(wanted, type(wanted).__name__))

    def submit(self, wanted: AnyInput) -> Ticket:
        return self.runner.submit(Statement(wanted, type(wanted).__name__))

    def topic(self, *replicas: int, **options: Any) -> None:
        """Topic ``t`` with one partition on these brokers; returns when they have been told."""
        outcome = self.do(CreateTopic(topic="t", assignment=[list(replicas)], **options))
        assert outcome.error == "NONE", outcome
        self.wait(100)

    def produce(self, *values: str, acks: int = 1, **options: Any) -> list[Outcome]:
        """One record after another to ``t-0``, without retries."""
        given = {"topic": "t", "partition": 0, "acks": acks, "retries": 0, **options}
        return [self.do(Produce(value=value, **given)) for value in values]

    def fetch(self, broker: int, times: int = 1) -> Outcome:
        return self.do(FetchRound(tp=TP, broker=broker, times=times))

    def tick(
        self, task: Literal["isr", "checkpoint", "rebalance"], broker: int | None = None
    ) -> None:
        self.do(Tick(task=task, broker=broker))

    def wait(self, milliseconds: float) -> None:
        self.do(Wait(duration_us=round(milliseconds * 1000)))

    # ---- message by message

    def tell(
        self, leader: int, epoch: int, isr: list[int], brokers: list[int], tp: str = TP
    ) -> None:
        """As the controller would: LeaderAndIsr to some brokers, UpdateMetadata to all.

        ZooKeeper knows nothing of it. Producers that have not asked yet find the leader.
        """
        cluster = self.cluster
        controller = cluster.controller_id()
        assert controller is not None
        office = cluster.controller_cache(controller)
        assert office is not None
        live = sorted(office.live)
        replicas = cluster.assigned(tp) or []
        info = PartitionInfo(leader, epoch, isr, epoch, replicas, office.epoch)
        for broker in brokers:
            cluster.network.send(
                controller,
                broker,
                LeaderAndIsrRequest(
                    controller, office.epoch, office.live[broker], {tp: info}, live
                ),
            )
        for broker in live:
            cluster.network.send(
                controller,
                broker,
                UpdateMetadataRequest(
                    controller, office.epoch, office.live[broker], live, {tp: info}
                ),
            )
        self.wait(5)

    def fetch_at(self, follower: int, leader: int, offset: int, epoch: int = -1) -> None:
        """A fetch by hand: the leader takes it, the follower writes nothing of the response."""
        request = FetchRequest(follower, 0, {TP: FetchPartition(offset, epoch)}, one_shot=True)
        self.cluster.network.send(follower, leader, request)
        self.wait(1)

    def lose_tail(self, broker: int, offset: int) -> None:
        """A broker's log of ``t-0`` ends at ``offset``, as if the rest had been lost on disk."""
        self.cluster.brokers[broker].core.replicas.do(
            self.replica(broker), LoseTail(offset, "test")
        )

    # ---- looking

    def responses(self, destination: int = CLIENTS) -> list[MessageSent]:
        """The responses that were sent to a host."""
        return [each for each in self.seen.of(MessageSent, destination=destination) if each.request]

    def replica(self, broker: int, tp: str = TP) -> Replica:
        found = self.cluster.replica(tp, broker)
        assert found is not None
        return found

    def ends(self, *brokers: int) -> str:
        """``LEO/HW`` of each broker's replica of ``t-0``, such as ``3/0 5/0``."""
        replicas = [self.replica(broker) for broker in brokers]
        return " ".join(f"{each.log.end}/{each.high_watermark}" for each in replicas)

    def remote(self, leader: int) -> dict[int, int]:
        """What a leader of ``t-0`` remembers of its followers' LEOs."""
        remotes = self.replica(leader).remotes
        return {follower: remote.leo for follower, remote in remotes.items()}

    def log(self, broker: int) -> str:
        """``value/epoch`` of each record in offset order, such as ``a/0 b/1``."""
        value_of = self.cluster.clients.value_of
        return " ".join(
            f"{value_of(batch.first_record + i)}/{batch.leader_epoch}"
            for batch in self.replica(broker).log.batches
            for i in range(batch.count)
        )

    def values(self, broker: int) -> str:
        """The record values of a log, such as ``a b``."""
        return " ".join(each.partition("/")[0] for each in self.log(broker).split())

    def epochs(self, broker: int) -> list[tuple[int, int]]:
        """The entries of a replica's leader-epoch cache."""
        cache = self.replica(broker).epochs
        assert cache is not None
        return [(epoch, start) for epoch, start in cache.entries]

    def truncated(self, broker: int) -> list[LogTruncated]:
        """Where a broker has truncated its logs."""
        return self.seen.of(LogTruncated, broker=broker)

    def consumed(self, name: str = "c1") -> list[str]:
        """The values that a consumer was given last."""
        value_of = self.cluster.clients.value_of
        runs = self.cluster.clients.state.consumers[name].runs
        return [value_of(first + i) for first, count in runs for i in range(count)]

    def state(self, tp: str = TP) -> str:
        """What the state znode says: ``leader 0 e1 isr [0] v1``."""
        info = self.cluster.state_of(tp)
        if info is None:
            return "nonexistent"
        return f"leader {info.leader} e{info.leader_epoch} isr {info.isr} v{info.zk_version}"
