"""Random runs without ZooKeeper, in rounds of faults and repair, and what must hold after each.

In a round anything happens to brokers, controllers, links and topics; then everything works again,
and once all is quiet every broker's image and every controller's log equal what the quorum has
committed, every partition is led, in sync and equal everywhere, and clients are served. Nothing
that the release keeps is ever broken. The same seed gives the same run everywhere.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from emulator.cluster import Cluster
from emulator.inputs.statements import (
    AddPartitions,
    AlterPartition,
    AnyInput,
    CancelReassignment,
    ChangeController,
    ConfigureTopic,
    Consume,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    DelayLink,
    DeleteTopic,
    DropOnLink,
    ElectPreferred,
    ElectUnclean,
    FreezeBroker,
    HealLinks,
    HoldMessages,
    IsolateBroker,
    Produce,
    Reassign,
    ReleaseMessages,
    StartBroker,
    StopBroker,
    ThawBroker,
    Wait,
)
from tests.support.agreement import incomplete
from tests.support.memberships import kraft_state
from tests.support.releases import THOROUGH
from tests.support.soak import SECOND_US, RandomRun

KRAFT_VERSIONS: Final = (
    *("3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9"),
    *("4.0", "4.1", "4.2", "4.3", "4.4"),
)
BROKERS: Final = 4
QUIET_US: Final = (90 if THOROUGH else 30) * SECOND_US
"""Longer than sessions, lag times and the pauses between elections and rebalances."""
NO_OPS_MAX: Final = 2
"""Records that change nothing and may still be on their way to a broker."""


class KraftSoak(RandomRun):
    """One run: a cluster of the seed's release."""

    def __init__(self, seed: int, version: str | None = None, *, quiet_us: int = QUIET_US) -> None:
        self.draw = draw = Random(seed)
        self.quiet_us = quiet_us
        spec = CreateCluster(
            version=version or KRAFT_VERSIONS[seed % len(KRAFT_VERSIONS)],
            mode="kraft",
            brokers=BROKERS,
            controllers=draw.choice([1, 3, 3, 5]),
            seed=seed,
            config={
                "broker.session.timeout.ms": "4000",
                "broker.heartbeat.interval.ms": "500",
                "replica.lag.time.max.ms": draw.choice(["4000", "15000"]),
                "min.insync.replicas": draw.choice(["1", "2"]),
                "auto.leader.rebalance.enable": draw.choice(["true", "false"]),
                "leader.imbalance.check.interval.seconds": "5",
            },
        )
        super().__init__(spec)

    def run(self, rounds: int, length: int) -> None:
        """Run so many rounds of so many statements each.

        Raises:
            tests.support.soak.SoakError: something does not hold; it says in which release,
                what, and after what.
        """
        for _ in range(rounds):
            for topic in ("t", "u"):
                factor = self.draw.randint(1, BROKERS)
                self.do(CreateTopic(topic=topic, partitions=2, replication_factor=factor))
            for _ in range(length):
                self.do(self.draw.choice(STATEMENTS)(self.draw, self.cluster))
                self.check("broken", self.unexpected())
            self._repair()
            self.check("broken", self.unexpected())
            self.check("the truths differ", disagreements(self.cluster))
            self.check("not whole", incomplete(self.cluster))
            self._serve()

    def _repair(self) -> None:
        """Make everything work again, as operators would, and wait."""
        for source, destination in list(self.cluster.state.network.links):
            self.do(ReleaseMessages(source=source, destination=destination))
        self.do(HealLinks())
        for controller in map(str, self.cluster.controllers):
            self.do(ChangeController(action="thaw", which=controller))
            self.do(ChangeController(action="start", which=controller, wait=False))
        for broker in self.cluster.brokers:
            self.do(ThawBroker(broker=broker))
        self._start_brokers()
        self._start_brokers()  # those that a repaired controller has only now let shut down
        for topic in self.cluster.topics():
            self.do(ConfigureTopic(topic=topic, config={"min.insync.replicas": None}))
        for tp in self.cluster.partitions():
            info = self.cluster.state_of(tp)
            if info is None or info.leader < 0:
                self.do(ElectUnclean(tp=tp))
        self.do(Wait(duration_us=self.quiet_us))

    def _start_brokers(self) -> None:
        self.do(Wait(duration_us=self.quiet_us))
        for broker in self.cluster.brokers:
            self.do(StartBroker(broker=broker, wait=False))
        self.do(Wait(duration_us=self.quiet_us))

    def _serve(self) -> None:
        """Clients are served by the committed leaders, and read what these hold."""
        for tp in self.cluster.partitions():
            topic, _, number = tp.rpartition("-")
            record = Produce(
                topic=topic, partition=int(number), value="probe", acks=-1, producer="probe"
            )
            isr, error = self.cluster.state_of(tp), self.do(record)
            few = isr is not None and len(isr.isr) < 2 and error == "NOT_ENOUGH_REPLICAS"
            self.check(f"probing {tp}", [error] if error != "NONE" and not few else [])
            self.do(Consume(topic=topic, partition=int(number), consumer="probe"))
            reader = self.cluster.clients.state.consumers["probe"]
            leader = -1 if isr is None else isr.leader
            end = self.cluster.audit.logs_of(tp)[leader].end
            if reader.position != end:
                self.check("clients", [f"{tp} ends at {end}, the consumer at {reader.position}"])


def disagreements(cluster: Cluster) -> list[str]:
    """Return who differs from what the quorum has committed, one line each."""
    kraft, active = cluster.kraft, cluster.active_controller()
    assert kraft is not None
    if active is None:
        return ["no controller is active"]
    committed, found = kraft.committed.image, []
    for number in cluster.brokers:
        image = kraft_state(cluster, number).image
        for what in ("topics", "brokers", "configs", "features"):
            if getattr(image, what) != getattr(committed, what):
                found.append(f"broker {number} has other {what} than are committed")
        if committed.offset - image.offset > NO_OPS_MAX:
            found.append(f"broker {number} is at {image.offset}, not {committed.offset}")
    found += [
        f"broker {n} is fenced" for n, each in committed.brokers.items() if not each.is_active
    ]
    leader = kraft.controllers[active].quorum
    for number, controller in kraft.controllers.items():
        quorum = controller.quorum
        shared = min(quorum.high_watermark, leader.high_watermark)
        first = max(quorum.log.start_offset, leader.log.start_offset)
        if quorum.log.from_offset(first, shared) != leader.log.from_offset(first, shared):
            found.append(f"controller {number} has other committed records than {active}")
    return found


Draw = Callable[[Random, Cluster], AnyInput]


def _broker(draw: Random) -> int:
    return draw.randrange(BROKERS)


def _ends(draw: Random, cluster: Cluster) -> tuple[int, int]:
    source, destination = draw.sample([*cluster.brokers, *cluster.controllers], 2)
    return source, destination


def _controller(draw: Random, cluster: Cluster) -> str:
    return draw.choice(["active", "standby", "any", *map(str, cluster.controllers)])


def _topic(draw: Random) -> str:
    return draw.choice("tu")


def _tp(draw: Random) -> str:
    return f"{_topic(draw)}-{draw.randrange(3)}"


def _members(draw: Random) -> list[int]:
    return draw.sample(range(BROKERS), draw.randint(1, BROKERS))


def _produce(draw: Random, _cluster: Cluster) -> AnyInput:
    return Produce(
        topic=_topic(draw),
        partition=draw.randrange(2),
        value="v",
        count=draw.choice([1, 3]),
        acks=draw.choice([0, 1, -1, -1]),
        retries=draw.choice([0, 3]),
        timeout_us=draw.choice([300_000, 2_000_000]),
        background=True,
        idempotent=draw.random() < 0.2,
    )


def _change_controller(draw: Random, cluster: Cluster) -> AnyInput:
    which = _controller(draw, cluster)
    match draw.choice(["crash", "start", "freeze", "thaw", "stop"]):
        case "crash":
            return ChangeController(action="crash", which=which)
        case "stop":
            return ChangeController(action="stop", which=which, wait=False)
        case "freeze":
            return ChangeController(action="freeze", which=which)
        case "thaw":
            return ChangeController(action="thaw", which=which)
        case _:
            return ChangeController(action="start", which=which, wait=False)


def _link(draw: Random, cluster: Cluster) -> AnyInput:
    source, destination = _ends(draw, cluster)
    wanted: list[AnyInput] = [
        CutLink(source=source, destination=destination, one_way=draw.choice([True, False])),
        DelayLink(source=source, destination=destination, delay_us=draw.choice([4_000, 700_000])),
        DropOnLink(source=source, destination=destination, percent=draw.choice([5.0, 40.0])),
        HoldMessages(source=source, destination=destination, api=None),
        ReleaseMessages(source=source, destination=destination, lose=draw.choice([True, False])),
        IsolateBroker(broker=_broker(draw)),
        HealLinks(),
        HealLinks(),
    ]
    return draw.choice(wanted)


def _alter_partition(draw: Random, _cluster: Cluster) -> AnyInput:
    return AlterPartition(
        tp=_tp(draw),
        broker=_broker(draw),
        isr=_members(draw),
        leader_epoch=draw.choice([-1, 0, 1]),
        partition_epoch=draw.choice([-1, 1]),  # 0 could name an ISR that is not one
    )


def _settings(draw: Random, _cluster: Cluster) -> AnyInput:
    values: list[dict[str, str | None]] = [
        {"min.insync.replicas": "1"},
        {"min.insync.replicas": "3"},
        {"unclean.leader.election.enable": "true"},
        {"unclean.leader.election.enable": None},
    ]
    return ConfigureTopic(topic=_topic(draw), config=draw.choice(values))


STATEMENTS: Final[tuple[Draw, ...]] = (
    *(_produce, _produce, _produce, _link, _link),
    *(_change_controller, _change_controller, _alter_partition, _settings),
    lambda draw, _: Wait(duration_us=draw.choice([1_000, 300_000, 2_000_000, 7_000_000])),
    lambda draw, _: Wait(duration_us=draw.choice([50_000, 1_000_000, 20_000_000])),
    lambda draw, _: CrashBroker(broker=_broker(draw), lose_unflushed=draw.random() < 0.2),
    lambda draw, _: StartBroker(broker=_broker(draw), wait=False),
    lambda draw, _: StartBroker(broker=_broker(draw), wait=False),
    lambda draw, _: StopBroker(broker=_broker(draw), wait=False),
    lambda draw, _: FreezeBroker(broker=_broker(draw)),
    lambda draw, _: ThawBroker(broker=_broker(draw)),
    lambda draw, _: Reassign(tp=_tp(draw), replicas=_members(draw)),
    lambda draw, _: CancelReassignment(tp=_tp(draw)),
    lambda draw, _: ElectUnclean(tp=_tp(draw)),
    lambda draw, _: ElectPreferred(),
    lambda draw, _: AddPartitions(topic=_topic(draw), partitions=3),
    lambda draw, _: DeleteTopic(topic=_topic(draw)),
    lambda draw, _: CreateTopic(topic=_topic(draw), partitions=2, replication_factor=3),
)
"""What a round is made of; what stands twice comes twice as often."""
