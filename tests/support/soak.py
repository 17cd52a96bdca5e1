"""Long random runs in rounds of faults and repair, and what must hold after each.

In a round anything happens; then links are made whole and what hangs is woken, and once all is
quiet the living agree with the znodes; then everything is started, and the cluster is whole: every
partition led, in sync and equal everywhere, clients served by whom the znodes name. Nothing that
the release keeps is ever broken. The same seed gives the same run everywhere.
"""

from random import Random

from emulator.cluster import Cluster
from emulator.coordinator.internal_topics import is_internal
from emulator.inputs.statements import (
    AnyInput,
    ConfigureTopic,
    Consume,
    CreateCluster,
    CreateTopic,
    DeleteTopic,
    HealLinks,
    Produce,
    ReleaseMessages,
    Settle,
    Statement,
    ThawBroker,
    Wait,
    ZkCommand,
)
from emulator.releases.profiles import VERSIONS
from emulator.scenario.runner import Runner
from tests.support.agreement import disagreements, incomplete
from tests.support.healing import heal
from tests.support.random_scripts import BROKERS, PARTITIONS, statements

SECOND_US = 1_000_000
QUIET_US = 60 * SECOND_US
"""Longer than a session and than a lag time."""
NEWS_US = 10 * SECOND_US
"""Longer than leaders wait before they tell the controller of an ISR that they have written."""


class SoakError(AssertionError):
    """Something that must hold does not."""


class RandomRun:
    """Statements given to a cluster, and what is broken after them."""

    def __init__(self, spec: CreateCluster) -> None:
        self.version = spec.version
        self.cluster = Cluster(spec)
        self.runner = Runner(self.cluster)
        self.done: list[AnyInput] = []

    def do(self, wanted: AnyInput) -> str:
        """Give a statement, which may be refused; return its error."""
        self.done.append(wanted)
        return self.runner.execute(Statement(wanted, type(wanted).__name__)).error

    def unexpected(self) -> list[str]:
        """Return the invariants that are broken, although the release keeps them."""
        invariants = self.cluster.state.invariants
        return [str(invariants.violated)] if invariants.unexpected else []

    def check(self, when: str, problems: list[str]) -> None:
        """Raise :class:`SoakError` if there are problems."""
        if problems:
            lines = "\n".join(problems)
            raise SoakError(f"{self.version}, {len(self.done)} statements, {when}:\n{lines}")


class Soak(RandomRun):
    """One run: a cluster of the seed's release."""

    def __init__(self, seed: int, version: str | None = None) -> None:
        self.draw = Random(seed)
        release = version or VERSIONS[seed % len(VERSIONS)]
        config = self.draw.choice([{}, {"zookeeper.session.timeout.ms": "3000"}])
        config = config | self.draw.choice([{}, {"unclean.leader.election.enable": "true"}])
        config["delete.topic.enable"] = "true"
        super().__init__(CreateCluster(brokers=BROKERS, version=release, seed=seed, config=config))

    def run(self, rounds: int, length: int) -> None:
        """So many rounds of so many statements each.

        Raises:
            SoakError: something does not hold; it says in which release, what, and after what.
        """
        for _ in range(rounds):
            self._topics()
            for wanted in statements(self.draw, length):
                self.do(wanted)
                self.check("broken", self.unexpected())
            self._quieten()
            self.check("while some are down", disagreements(self.cluster))
            heal(self.runner)
            self.check("broken", self.unexpected())
            self.check("not whole", incomplete(self.cluster))
            self.check("after all was repaired", disagreements(self.cluster))
            self._serve()

    def _topics(self) -> None:
        """Make what is not there; at times delete what is, and turn things back to normal."""
        if self.draw.random() < 0.3:
            self.do(DeleteTopic(topic="u"))
            self.do(Wait(duration_us=5 * SECOND_US))
        for topic in ("t", "u"):
            factor = self.draw.randint(1, BROKERS)
            wanted = CreateTopic(topic=topic, partitions=PARTITIONS, replication_factor=factor)
            if self.do(wanted) != "NONE":
                self.do(ConfigureTopic(topic=topic, config={"min.insync.replicas": "1"}))
        self.do(Wait(duration_us=SECOND_US))

    def _quieten(self) -> None:
        """No more trouble, but for brokers that are down.

        Up to 2.1 a controller does not notice that a broker was away while it could not look
        (KAFKA-1120, mended by KIP-380): there the next one puts that right.
        """
        for source, destination in list(self.cluster.state.network.links):
            self.do(ReleaseMessages(source=source, destination=destination))
        self.do(HealLinks())
        for broker in self.cluster.brokers:
            if self.cluster.broker_state(broker) == "frozen":
                self.do(ThawBroker(broker=broker))
        self.do(Wait(duration_us=QUIET_US))
        if not self.cluster.profile.has("broker_epochs"):
            self.do(ZkCommand(command="delete", path="/controller"))
            self.do(Wait(duration_us=QUIET_US))
        self.do(Settle(quiet_us=NEWS_US))

    def _serve(self) -> None:
        """Clients are served by whom the znodes name, and read what leaders hold."""
        for tp in [tp for tp in self.cluster.partitions() if not is_internal(tp)]:
            topic, _, number = tp.rpartition("-")
            record = Produce(
                topic=topic, partition=int(number), value="probe", acks=-1, producer="probe"
            )
            self.check(f"probing {tp}", [e for e in [self.do(record)] if e != "NONE"])
            info, known = self.cluster.state_of(tp), self.cluster.clients.state.producers["probe"]
            leader = known.leaders[topic].get(int(number))
            if info is None or leader != info.leader:
                self.check("clients", [f"{tp} is led by {info}, the producer says {leader}"])
            self.do(Wait(duration_us=SECOND_US))
            self.do(Consume(topic=topic, partition=int(number), consumer="probe"))
            reader = self.cluster.clients.state.consumers["probe"]
            end = self.cluster.audit.logs_of(tp)[leader].end if leader is not None else -1
            if reader.position != end:
                self.check("clients", [f"{tp} ends at {end}, the consumer at {reader.position}"])
