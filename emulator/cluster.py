"""One cluster: assembled, booted, stepped, forked, hashed, and looked at.

It knows no statement but the one that it is made from. What people do to it, and when that has
ended, is the business of :mod:`emulator.scenario.runner`, which stands above it.

All state is one tree of plain structs (:class:`ClusterState`): it can be encoded, forked and
hashed. Everything outside learns what happens from the events that observers are given.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from emulator import events
from emulator.audit.ground_truth import Audit, AuditState
from emulator.audit.invariants import Invariants, InvariantState
from emulator.broker.broker import Broker, BrokerState
from emulator.broker.replica import Replica
from emulator.broker_context import ProcessState, Surroundings
from emulator.clients.client_host import ClientHost
from emulator.clients.context import ClientContext
from emulator.clients.state import ClientsState
from emulator.events import CLIENTS, ZOOKEEPER
from emulator.inputs.statements import CreateCluster
from emulator.protocol import PartitionInfo
from emulator.releases.config import ConfigError, Configuration, Settings, profile_of, resolve
from emulator.simulation.kernel import Host, Kernel, KernelState, Observer
from emulator.simulation.network import Network, NetworkState
from emulator.simulation.packed_list import as_list
from emulator.simulation.snapshot import copier
from emulator.storage.log import Log
from emulator.storage.record_ledger import RecordLedger
from emulator.zookeeper import data as znodes
from emulator.zookeeper.environment import Environment
from emulator.zookeeper.metadata import ZnodeFacts
from emulator.zookeeper.server import ServerState, ZooKeeperServer
from emulator.zookeeper.tree import ZooKeeper

BOOT_LIMIT_US = 60_000_000


class ClusterState(Struct, array_like=True):
    """Everything that a cluster is: plain data."""

    spec: CreateCluster
    kernel: KernelState
    network: NetworkState
    zookeeper: ZooKeeper
    server: ServerState
    settings: Settings
    brokers: dict[int, BrokerState]
    clients: ClientsState
    audit: AuditState
    invariants: InvariantState
    states: dict[str, PartitionInfo]
    assignments: dict[str, list[int]]
    topic_configs: dict[str, dict[str, str]]


_encoder = msgspec.msgpack.Encoder(enc_hook=as_list)


class Cluster:
    """A cluster of brokers with its ZooKeeper and clients, in virtual time."""

    def __init__(
        self,
        spec: CreateCluster,
        observers: Sequence[Observer] = (),
        text: str = "cluster",
        line: int = 0,
        by_type: Mapping[type[events.Event], Observer] | None = None,
    ) -> None:
        """Make the cluster and start its brokers one after another.

        Returns when all have registered. ``observers`` are given every event, those ``by_type`` the
        events of one type each; an event that nobody looks at is not even built.

        Raises:
            ConfigError: an unknown version or configuration name, or a value that is not allowed.
        """
        self._assemble(_fresh(spec), observers)
        for kind, observer in (by_type or {}).items():
            self.kernel.subscribe(observer, [kind])
        self._boot(text, line)

    @classmethod
    def _of(cls, state: ClusterState) -> "Cluster":
        cluster = cls.__new__(cls)
        cluster._assemble(state, ())
        return cluster

    def _assemble(self, state: ClusterState, observers: Sequence[Observer]) -> None:
        """Put behaviour around plain state."""
        self.state = state
        self.spec = state.spec
        self.kernel = Kernel(state.kernel, observers)
        self.network = Network(self.kernel, state.network)
        self.zookeeper = state.zookeeper
        self.environment = Environment(self.kernel, self.network)
        self.configuration = Configuration(state.settings)
        self.settings = state.settings
        self.profile = self.configuration.profile
        self.ledger = RecordLedger(state.clients.ledger)
        self.server = ZooKeeperServer(
            state.server, self.zookeeper, self.environment, self.kernel, self.network
        )
        surroundings = Surroundings(
            self.kernel,
            self.network,
            self.zookeeper,
            self.environment,
            self.configuration,
            self.ledger,
            self.server.session_opened,
        )
        self.brokers = {b: Broker(each, surroundings) for b, each in state.brokers.items()}
        self.clients = ClientHost(
            ClientContext(
                state.clients,
                kernel=self.kernel,
                network=self.network,
                profile=self.profile,
                ledger=self.ledger,
                bootstrap=sorted(state.brokers),
            )
        )
        self.kernel.actors = {
            **self.brokers,
            ZOOKEEPER: self.server,
            CLIENTS: self.clients,
        }
        self.facts = ZnodeFacts(
            self.kernel.emit, state.states, state.assignments, state.topic_configs
        )
        self.environment.observers.append(self.facts.changed)
        self.audit = Audit(state.audit, self.kernel, self.logs_of)
        self.invariants = Invariants(state.invariants, self.kernel, self.profile, self.replica)

    def _boot(self, text: str, line: int) -> None:
        spec = self.spec
        kernel = self.kernel
        ids = list(self.brokers)
        kernel.cause = kernel.emit(events.InputReceived, text, line, 0)
        kernel.emit(
            events.ClusterCreated,
            spec.version,
            spec.seed,
            ids,
            list(spec.racks),
            dict(spec.config),
            spec.stepwise,
        )
        root = kernel.cause
        kernel.start_host(ZOOKEEPER)
        kernel.start_host(CLIENTS)
        for broker in self.brokers.values():
            kernel.cause = root
            broker.start()
            limit_us = kernel.now + BOOT_LIMIT_US
            while not broker.state.broker_epoch and kernel.now < limit_us:
                self.step()
        self._let_controller_finish()
        kernel.emit(events.InputFinished, text, line, "NONE")

    def _let_controller_finish(self) -> None:
        """Go on until the controller has seen every broker and nothing is left in its queues."""
        limit_us = self.kernel.now + BOOT_LIMIT_US
        while self.kernel.now < limit_us:
            holder = self.controller_id()
            office = None if holder is None else self.brokers[holder].state.controller
            if (
                office is not None
                and len(office.live) == len(self.brokers)
                and not any(channel.queue for channel in office.channels.values())
            ):
                return
            if not self.step():
                return

    # ---- time

    @property
    def now_us(self) -> int:
        """Virtual time in microseconds."""
        return self.kernel.state.now_us

    @property
    def steps(self) -> int:
        """How many kernel events have been dispatched."""
        return self.kernel.state.steps

    @property
    def sequence(self) -> int:
        """The ``seq`` of the last event."""
        return self.kernel.state.sequence

    @property
    def next_time_us(self) -> int | None:
        """When the next kernel event is due."""
        return self.kernel.next_due_us()

    def step(self) -> bool:
        """Dispatch one kernel event, then let audit and invariants state what they found."""
        did = self.kernel.step()
        self.look()
        return did

    def look(self) -> None:
        """Let audit and invariants state what they found."""
        audit = self.state.audit
        if audit.dirty or (audit.deferred and self.now_us >= audit.due_us):
            self.audit.flush()
        if self.state.invariants.pending or self.state.invariants.cut:
            self.invariants.flush()

    def run_until(self, time_us: int, budget: int | None = None) -> bool:
        """Dispatch all that is due up to and including ``time_us``.

        False if ``budget`` steps did not do.
        """
        kernel = self.kernel
        queue = kernel.state.queue
        while queue and queue[0][0] <= time_us:
            if budget is not None:
                if budget <= 0:
                    return False
                budget -= 1
            self.step()
        kernel.state.now_us = max(kernel.state.now_us, time_us)
        return True

    # ---- copies

    def fork(self) -> "Cluster":
        """An independent copy, without observers, at the same moment."""
        copied = copier(ClusterState)
        assert copied is not None
        return Cluster._of(copied(self.state))

    @property
    def state_hash(self) -> str:
        """The SHA-256 of everything that the cluster is."""
        return sha256(_encoder.encode(self.state)).hexdigest()

    def subscribe(self, observer: Callable[[events.Event], None]) -> None:
        """Let an observer see all later events."""
        self.kernel.subscribe(observer)

    # ---- looking

    def logs_of(self, tp: str) -> dict[int, Log]:
        """Each assigned broker's log of a partition."""
        logs: dict[int, Log] = {}
        for number in self.state.assignments.get(tp, ()):
            broker = self.state.brokers.get(number)
            replica = None if broker is None else broker.replicas.get(tp)
            if replica is not None:
                logs[number] = replica.log
        return logs

    def replica(self, tp: str, broker: int) -> Replica | None:
        """A broker's replica of a partition, if its disk holds one."""
        state = self.state.brokers.get(broker)
        return None if state is None else state.replicas.get(tp)

    def state_of(self, tp: str) -> PartitionInfo | None:
        """What a partition's state znode says."""
        return self.state.states.get(tp)

    def assigned(self, tp: str) -> list[int] | None:
        """A partition's assigned replicas by its topic's znode."""
        return self.state.assignments.get(tp)

    def partitions(self) -> list[str]:
        """All topic-partitions."""
        return list(self.state.assignments)

    def topics(self) -> list[str]:
        """All topics, sorted."""
        return self.zookeeper.children(znodes.TOPICS) if self.zookeeper.find(znodes.TOPICS) else []

    def has_topic(self, topic: str) -> bool:
        """Whether ZooKeeper has a topic of this name."""
        above = self.zookeeper.find("/brokers/topics")
        return above is not None and topic in (above.children or ())

    def controller_id(self) -> int | None:
        """The broker that /controller names."""
        node = self.zookeeper.find(znodes.CONTROLLER)
        return None if node is None else znodes.controller_in(node.data)

    def controller_epoch(self) -> int | None:
        """The number in /controller_epoch."""
        node = self.zookeeper.find(znodes.CONTROLLER_EPOCH)
        return None if node is None else znodes.controller_epoch_in(node.data)

    def host_works(self, broker: int) -> bool:
        """Whether a broker's process is up and not frozen."""
        host = self.state.kernel.hosts[broker]
        return host.up and not host.frozen

    def broker_state(self, broker: int) -> str:
        """A broker's state word (see :class:`emulator.events.BrokerStateChanged`)."""
        frozen = self.state.kernel.hosts[broker].frozen
        return "frozen" if frozen else self.state.brokers[broker].state


def _fresh(spec: CreateCluster) -> ClusterState:
    """The state of a cluster in which nothing has started yet."""
    profile = profile_of(spec.version)
    resolve(spec.version, spec.config)
    ids = list(range(spec.first_id, spec.first_id + spec.brokers))
    if spec.racks and not profile.has("broker_rack"):
        since = profile.first_with("broker_rack")
        raise ConfigError(f"Brokers have racks since {since}, not in {spec.version}.")
    if spec.racks and len(spec.racks) != len(ids):
        raise ConfigError(f"There are {len(spec.racks)} racks for {len(ids)} brokers.")
    hosts = {number: Host(number) for number in (*ids, ZOOKEEPER, CLIENTS)}
    kernel = KernelState(random_state=spec.seed * 2_654_435_761 + 88_172_645, hosts=hosts)
    settings = Settings(
        spec.version,
        spec.stepwise,
        dict(spec.config),
        racks=dict(zip(ids, spec.racks, strict=False)),
    )
    return ClusterState(
        spec,
        kernel,
        NetworkState(),
        ZooKeeper.fresh(has_config_node=profile.has("zookeeper_config_node")),
        ServerState(),
        settings,
        {number: BrokerState(ProcessState(number)) for number in ids},
        ClientsState(),
        AuditState(),
        InvariantState(),
        {},
        {},
        {},
    )
