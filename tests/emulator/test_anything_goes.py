"""Whatever is done to a cluster in whatever order: it never breaks its word, and it recovers.

``pytest tests/emulator --hypothesis-profile=deep`` looks for much longer.
"""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from emulator.cluster import Cluster
from emulator.common.names import split
from emulator.events import CLIENTS, ZOOKEEPER
from emulator.inputs.statements import (
    AddPartitions,
    AnyInput,
    CancelReassignment,
    ConfigureBroker,
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
    ExpireSession,
    FetchRound,
    FreezeBroker,
    HealLinks,
    HoldMessages,
    IsolateBroker,
    PauseReplica,
    Produce,
    Reassign,
    ReleaseMessages,
    ResumeReplica,
    StartBroker,
    Statement,
    StopBroker,
    ThawBroker,
    Tick,
    Wait,
    ZkCommand,
)
from emulator.releases.config import with_effect
from emulator.releases.profiles import VERSIONS
from emulator.scenario.runner import Runner
from tests.support.healing import heal
from tests.support.releases import THOROUGH

DEEP = settings.get_current_profile_name() == "deep"
ALSO = [HealthCheck.too_slow, HealthCheck.data_too_large]
LOOK = (
    settings(suppress_health_check=ALSO)
    if DEEP
    else settings(
        derandomize=True,
        deadline=None,
        max_examples=12 if THOROUGH else 6,
        stateful_step_count=20,
        suppress_health_check=ALSO,
    )
)
BROKERS = 3
MILLISECOND_US = 1_000
PROCESS = (StartBroker, StopBroker, ThawBroker, FreezeBroker)
brokers = st.integers(0, BROKERS - 1)
hosts = st.sampled_from([0, 1, 2, ZOOKEEPER])
replica_lists = st.lists(brokers, min_size=1, max_size=BROKERS, unique=True)
topics = st.builds(
    CreateTopic,
    topic=st.just("t"),
    partitions=st.just(2),
    replication_factor=st.integers(1, BROKERS),
    config=st.sampled_from([{}, {"min.insync.replicas": "2"}]),
)
produces = st.builds(
    Produce,
    topic=st.just("t"),
    partition=st.sampled_from([None, 0, 1]),
    value=st.just("v"),
    count=st.integers(1, 5),
    batch=st.integers(1, 2),
    acks=st.sampled_from([None, 0, 1, -1]),
    retries=st.sampled_from([0, 3]),
    timeout_us=st.sampled_from([300 * MILLISECOND_US, 2000 * MILLISECOND_US]),
    producer=st.sampled_from(["p1", "p2"]),
    background=st.booleans(),
    idempotent=st.booleans(),
)
consumes = st.builds(
    Consume,
    topic=st.just("t"),
    consumer=st.sampled_from(["c1", "c2"]),
    group=st.sampled_from([None, "g"]),
    then=st.sampled_from(["stay", "leave", "die"]),
)


class AnythingGoes(RuleBasedStateMachine):
    """Random statements on a cluster of one release."""

    version = "3.9"

    def do(self, wanted: AnyInput) -> None:
        """Give a statement; that it is refused is fine, that it never ends or raises is not."""
        self.runner.execute(Statement(wanted, type(wanted).__name__))

    @initialize(topic=topics, seed=st.integers(0, 3))
    def begin(self, topic: CreateTopic, seed: int) -> None:
        fewer = {"offsets.topic.num.partitions": "2"}  # where the release has it
        config = with_effect(fewer, self.version)
        spec = CreateCluster(brokers=BROKERS, version=self.version, seed=seed, config=config)
        self.cluster = Cluster(spec)
        self.runner = Runner(self.cluster)
        self.do(topic)

    # ---- clients

    @rule(wanted=produces)
    def produce(self, wanted: Produce) -> None:
        self.do(wanted)

    @rule(wanted=consumes)
    def consume(self, wanted: Consume) -> None:
        self.do(wanted)

    # ---- processes

    @rule(broker=brokers, power=st.booleans())
    def crash(self, broker: int, power: bool) -> None:
        self.do(CrashBroker(broker=broker, lose_unflushed=power))

    @rule(wanted=st.one_of(*(st.builds(kind, broker=brokers) for kind in PROCESS)))
    def process(self, wanted: AnyInput) -> None:
        self.do(wanted)

    @rule(broker=brokers)
    def expire(self, broker: int) -> None:
        self.do(ExpireSession(broker=broker))

    @rule(tp=st.sampled_from(["t-0", "t-1"]), broker=brokers)
    def fetch(self, tp: str, broker: int) -> None:
        self.do(FetchRound(tp=tp, broker=broker))

    @rule(tp=st.sampled_from(["t-0", "t-1"]), broker=brokers, resume=st.booleans())
    def slow(self, tp: str, broker: int, resume: bool) -> None:
        kind = ResumeReplica if resume else PauseReplica
        self.do(kind(tp=tp, broker=broker))

    # ---- links

    @rule(source=brokers, destination=hosts, one_way=st.booleans())
    def cut(self, source: int, destination: int, one_way: bool) -> None:
        self.do(CutLink(source=source, destination=destination, one_way=one_way))

    @rule(broker=brokers)
    def isolate(self, broker: int) -> None:
        self.do(IsolateBroker(broker=broker))

    @rule()
    def heal_links(self) -> None:
        self.do(HealLinks())

    @rule(source=brokers, destination=st.one_of(hosts, st.just(CLIENTS)))
    def lose_some(self, source: int, destination: int) -> None:
        self.do(DropOnLink(source=source, destination=destination, percent=30.0))

    @rule(source=brokers, destination=hosts, delay_us=st.sampled_from([40_000, 700_000]))
    def slow_down(self, source: int, destination: int, delay_us: int) -> None:
        self.do(DelayLink(source=source, destination=destination, delay_us=delay_us))

    @rule(source=brokers, destination=hosts, api=st.sampled_from([None, "LeaderAndIsr", "Fetch"]))
    def hold(self, source: int, destination: int, api: str | None) -> None:
        self.do(HoldMessages(source=source, destination=destination, api=api))

    @rule(source=brokers, destination=hosts, lose=st.booleans())
    def release(self, source: int, destination: int, lose: bool) -> None:
        self.do(ReleaseMessages(source=source, destination=destination, lose=lose))

    # ---- administration, and time

    @rule()
    def move_the_controller(self) -> None:
        self.do(ZkCommand(command="delete", path="/controller"))

    @rule()
    def elect(self) -> None:
        self.do(ElectPreferred())

    @rule(wanted=st.builds(Tick, task=st.sampled_from(["isr", "checkpoint", "rebalance"])))
    def tick(self, wanted: Tick) -> None:
        self.do(wanted)

    @rule(unclean=st.sampled_from(["true", "false"]))
    def configure(self, unclean: str) -> None:
        config = {"unclean.leader.election.enable": unclean}
        self.do(ConfigureTopic(topic="t", config=config))

    @rule(broker=brokers, min_isr=st.sampled_from(["", "2"]))
    def configure_a_broker(self, broker: int, min_isr: str) -> None:
        self.do(ConfigureBroker(broker=broker, config={"min.insync.replicas": min_isr}))

    @rule(tp=st.sampled_from(["t-0", "t-1"]))
    def elect_anybody(self, tp: str) -> None:
        self.do(ElectUnclean(tp=tp))

    @rule(tp=st.sampled_from(["t-0", "t-1"]), replicas=replica_lists)
    def move(self, tp: str, replicas: list[int]) -> None:
        self.do(Reassign(tp=tp, replicas=replicas))

    @rule(tp=st.sampled_from(["t-0", "t-1"]))
    def take_back(self, tp: str) -> None:
        self.do(CancelReassignment(tp=tp))

    @rule()
    def delete(self) -> None:
        self.do(DeleteTopic(topic="t"))

    @rule(topic=topics)
    def create(self, topic: CreateTopic) -> None:
        self.do(topic)

    @rule()
    def grow(self) -> None:
        self.do(AddPartitions(topic="t", partitions=3))

    @rule(milliseconds=st.sampled_from([1, 300, 3_000, 25_000]))
    def wait(self, milliseconds: int) -> None:
        self.do(Wait(duration_us=milliseconds * MILLISECOND_US))

    # ---- what must hold

    @invariant()
    def no_unexpected_violation(self) -> None:
        invariants = self.cluster.state.invariants
        assert invariants.unexpected == 0, invariants.violated

    @invariant()
    def logs_are_in_order(self) -> None:
        for state in self.cluster.state.brokers.values():
            for replica in state.replicas.values():
                log = replica.log
                assert 0 <= log.start <= log.end
                assert log.flushed <= log.end
                assert [b.base_offset for b in log.batches] == [
                    log.start,
                    *(b.end_offset for b in log.batches[:-1]),
                ][: len(log.batches)]
                if self.cluster.profile.has("high_watermark_in_log"):
                    assert replica.high_watermark <= log.end

    def teardown(self) -> None:
        """After everything is put right, every partition is online, and whole everywhere.

        A topic that is being deleted is left out: while its partitions move, or its brokers are
        dead, the deletion waits, and meanwhile nobody sees to its partitions.
        """
        runner = getattr(self, "runner", None)
        if runner is None:
            return
        heal(runner)
        cluster = runner.cluster
        self.no_unexpected_violation()
        for tp in cluster.partitions():
            if cluster.zookeeper.find(f"/admin/delete_topics/{split(tp)[0]}") is not None:
                continue
            info, assigned = cluster.state_of(tp), cluster.assigned(tp)
            assert info is not None, tp
            assert assigned is not None
            assert info.leader >= 0, (tp, info)
            assert sorted(info.isr) == sorted(assigned), (tp, info)
            ends = {broker: log.end for broker, log in cluster.audit.logs_of(tp).items()}
            assert len(set(ends.values())) == 1, (tp, ends)


def machine_of(release: str) -> type[AnythingGoes]:
    """The machine for one release."""
    return type(f"On_{release.replace('.', '_')}", (AnythingGoes,), {"version": release})


@pytest.mark.parametrize("release", VERSIONS)
def test_anything_goes(release: str) -> None:
    case = machine_of(release).TestCase
    case.settings = LOOK
    case().runTest()
