"""One cluster: created, booted, stepped, forked, hashed and inspected.

It depends on no statement except the one that creates it. Executing statements and detecting when
they have completed is the task of :mod:`emulator.scenario.runner`, one layer above.

All state is one tree of plain structs (:class:`ClusterState`) that can be encoded, forked and
hashed. Outside code learns what happens from the events passed to observers.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct, field
from msgspec.structs import replace

from emulator import events
from emulator.audit.ground_truth import Audit, AuditState, PartitionAudit
from emulator.audit.invariants import Invariants, InvariantState, nobody_eligible
from emulator.broker.broker import BrokerState, broker_of
from emulator.broker.kraft_membership.membership import KRaftMembership
from emulator.broker.kraft_membership.state import KRaftMembershipState
from emulator.broker.replication.replica import Replica
from emulator.broker.zookeeper_membership.membership import (
    ZooKeeperMembership,
    ZooKeeperMembershipState,
)
from emulator.broker_context import UNOPENED, ProcessState, Surroundings
from emulator.clients.client_host import ClientHost
from emulator.clients.context import ClientContext
from emulator.clients.state import ClientsState
from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import NO_LEADER, ClusterImage
from emulator.common.names import uuid_of
from emulator.controller.context import ControllerState
from emulator.events import CLIENTS, ZOOKEEPER
from emulator.inputs.statements import CreateCluster
from emulator.kraft.controller_server import ControllerServer
from emulator.kraft.facts import MetadataFacts
from emulator.kraft.state import CommittedMetadata, ControllerProcess
from emulator.metadata_log.metadata_version import TRANSACTION_VERSION
from emulator.protocol import PartitionInfo
from emulator.quorum_controller.feature_control import default_features
from emulator.quorum_controller.result import ApiException
from emulator.raft.state import LEADER
from emulator.releases.config import (
    ConfigError,
    Configuration,
    Settings,
    check_authorizer,
    check_rebalance_protocols,
    is_kraft,
    profile_of,
    resolve,
    with_effect,
)
from emulator.releases.profiles import Profile
from emulator.restore.access import grant
from emulator.restore.groups import StoredGroup, stored_groups
from emulator.restore.logs import committed_offsets, replicas_on_disk
from emulator.restore.metadata_log import controller_ids, snapshot_of
from emulator.restore.znodes import stored_znodes
from emulator.simulation.kernel import Host, Kernel, KernelState, Observer
from emulator.simulation.network import Network, NetworkState
from emulator.simulation.pieces import pieces
from emulator.simulation.snapshot import copier
from emulator.storage.record_ledger import RecordLedger
from emulator.zookeeper import data as znodes
from emulator.zookeeper.environment import Environment
from emulator.zookeeper.metadata import ZnodeFacts
from emulator.zookeeper.server import ServerState, ZooKeeperServer
from emulator.zookeeper.tree import ZooKeeper

BOOT_LIMIT_US = 60_000_000
FIRST_CONTROLLER = 100
"""The id of the first controller in KRaft mode."""


class KRaftState(Struct, array_like=True):
    """What a cluster has instead of ZooKeeper.

    ``features`` are finalized by the first active controller. ``meant`` is the controller that an
    alias such as ``active`` last resolved to (-1: none yet).
    """

    features: dict[str, int]
    controllers: dict[int, ControllerProcess]
    committed: CommittedMetadata = field(default_factory=CommittedMetadata)
    meant: int = -1


class ClusterState(Struct, array_like=True):
    """The entire state of a cluster, as plain data."""

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
    kraft: KRaftState | None = None


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
        """Create the cluster and start its brokers one after another.

        Return when all have registered. ``observers`` receive every event, those in ``by_type`` the
        events of one type each; an event without observers is not even built.

        Raises:
            ConfigError: unknown version, unknown configuration name, or invalid value.
        """
        restored = None if spec.image is None else Restored(spec)
        self._assemble(_fresh(spec) if restored is None else restored.state(), observers)
        for kind, observer in (by_type or {}).items():
            self.kernel.subscribe(observer, [kind])
        self._boot(text, line, restored)

    @classmethod
    def _of(cls, state: ClusterState) -> "Cluster":
        cluster = cls.__new__(cls)
        cluster._assemble(state, ())
        return cluster

    def _assemble(self, state: ClusterState, observers: Sequence[Observer]) -> None:
        """Create the components that operate on the plain state."""
        self.state = state
        self.spec = state.spec
        self.kernel = Kernel(state.kernel, observers)
        self.network = Network(self.kernel, state.network)
        self.zookeeper = state.zookeeper
        self.environment = Environment(self.kernel, self.network)
        self.configuration = Configuration(state.settings)
        self.settings = state.settings
        self.profile = self.configuration.profile
        self.ledger = RecordLedger(
            state.clients.ledger, state.clients.encoded, state.kernel.started_ms
        )
        self.server = ZooKeeperServer(
            state.server,
            self.zookeeper,
            self.environment.of(ZOOKEEPER),
            self.kernel,
            self.network,
        )
        surroundings = Surroundings(
            self.kernel,
            self.network,
            self.zookeeper,
            self.environment,
            self.configuration,
            self.ledger,
            self.server.session_opened,
            [] if state.kraft is None else list(state.kraft.controllers),
            uuid_of(f"cluster {state.spec.seed}"),
        )
        self.kraft = kraft = state.kraft
        self.brokers = {
            b: broker_of(broker_state, surroundings) for b, broker_state in state.brokers.items()
        }
        self.clients = ClientHost(
            ClientContext(
                state.clients,
                kernel=self.kernel,
                network=self.network,
                profile=self.profile,
                ledger=self.ledger,
                bootstrap=sorted(state.brokers),
                in_kraft_mode=kraft is not None,
                transaction_version=self._transaction_version,
                membership_of=lambda broker: self.brokers[broker].membership,
            ),
            state.settings,
        )
        self.controllers: dict[int, ControllerServer] = {}
        if kraft is not None:
            self.controllers = self._controllers(kraft)
        self.kernel.actors = {
            **self.brokers,
            **self.controllers,
            ZOOKEEPER: self.server,
            CLIENTS: self.clients,
        }
        self.facts = ZnodeFacts(
            self.kernel.emit, state.states, state.assignments, state.topic_configs
        )
        self.environment.observers.append(self.facts.changed)
        self.kernel.subscribe(self._forget_deleted, [events.LogStartOffsetChanged])
        self.kernel.subscribe(self._forget_log, [events.LogDeleted])
        disks = {number: broker.core.replicas for number, broker in state.brokers.items()}
        self.audit = Audit(state.audit, self.kernel, disks, state.assignments)
        eligible_of = self.metadata_facts.eligible if self.controllers else nobody_eligible
        self.invariants = Invariants(
            state.invariants, self.kernel, self.profile, disks, eligible_of
        )
        if self.controllers:
            self.metadata_facts.on_lost = self.invariants.metadata_lost

    def _controllers(self, kraft: KRaftState) -> dict[int, ControllerServer]:
        state = self.state
        self.metadata_facts = facts = MetadataFacts(
            self.kernel, kraft.committed, state.states, state.assignments, state.topic_configs
        )
        return {
            number: ControllerServer(
                controller_state,
                voters=list(kraft.controllers),
                features=kraft.features,
                kernel=self.kernel,
                network=self.network,
                configuration=self.configuration,
                facts=facts,
            )
            for number, controller_state in kraft.controllers.items()
        }

    def _boot(self, text: str, line: int, restored: "Restored | None") -> None:
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
        kernel.start_host(CLIENTS)
        if restored is not None:
            self._resume(restored, root)
        elif self.kraft is not None:
            self._boot_kraft(root)
        else:
            self._boot_with_zookeeper(root)
        kernel.emit(events.InputFinished, text, line, "NONE")

    def _boot_with_zookeeper(self, root: int) -> None:
        """Start ZooKeeper, and then one broker after another."""
        kernel = self.kernel
        kernel.start_host(ZOOKEEPER)
        for broker in self.brokers.values():
            kernel.cause = root
            broker.start()
            limit_us = kernel.now + BOOT_LIMIT_US
            while not broker.state.broker_epoch and kernel.now < limit_us:
                self.step()
        self._let_controller_finish()

    def _boot_kraft(self, root: int) -> None:
        """Start the controllers, and once one is active the brokers."""
        kernel = self.kernel
        for controller in self.controllers.values():
            kernel.cause = root
            controller.start()
        self._step_until(lambda: self.active_controller() is not None)
        for broker in self.brokers.values():
            kernel.cause = root
            broker.start()
        self._step_until(lambda: all(map(self.is_up, self.brokers)) and self._all_registered())

    # ---- starting from an image

    def _resume(self, restored: "Restored", root: int) -> None:
        """Let the processes of an image continue that are up; its disks are in the state."""
        image = restored.image
        for group in restored.groups:
            self._tell_group(image, group)
        for broker in self.brokers.values():
            broker.core.replicas.tell_disk()
        if self.kraft is not None:
            self._resume_kraft(image, self.kraft, root)
        else:
            self._resume_with_zookeeper(image, root)
        if restored.groups:
            self._step_until(lambda: not any(map(_is_loading, self.state.brokers.values())))

    def _tell_group(self, image: ClusterImage, group: StoredGroup) -> None:
        """Report the records of a group that are in the log, and the offsets that they commit."""
        topic, _, number = group.tp.rpartition("-")
        partition = image.partition(topic, int(number))
        assert partition is not None
        broker = NO_LEADER if partition.leader is None else partition.leader
        if broker == NO_LEADER:
            broker = next(iter(partition.replicas), NO_LEADER)
        self.kernel.emit(
            events.GroupRecordsWritten,
            group.tp,
            broker,
            group.name,
            group.first_record,
            group.keys,
            group.values,
        )
        for tp, offset in group.offsets.items():
            self.kernel.emit(events.OffsetCommitted, group.name, tp, broker, offset)

    def _resume_kraft(self, image: ClusterImage, kraft: KRaftState, root: int) -> None:
        """Let controllers and brokers continue in the epoch of the active controller."""
        kernel, quorum = self.kernel, image.quorum
        assert quorum is not None
        hosts = controller_ids(image)
        leader, epoch = hosts.get(quorum.leader or NO_LEADER, NO_LEADER), quorum.epoch or 1
        for controller in quorum.controllers:
            if controller.voter and controller.up:
                kernel.cause = root
                self.controllers[hosts[controller.id]].resume(leader, epoch)
        snapshot = next(iter(kraft.controllers.values())).quorum.log.snapshots[-1]
        up = [broker.id for broker in image.brokers if broker.up]
        for number in up:
            kernel.cause = root
            membership = self.brokers[number].membership
            assert isinstance(membership, KRaftMembership)
            registration = snapshot.image.brokers[number]
            if registration.is_active:
                membership.lifecycle.resume(registration, leader, epoch)
            else:
                membership.start()
        if leader != NO_LEADER:
            self._step_until(lambda: self.active_controller() is not None)
            members = [self.kraft_membership(number) for number in up]
            self._step_until(
                lambda: all(member is not None and member.published for member in members)
            )

    def _resume_with_zookeeper(self, image: ClusterImage, root: int) -> None:
        """Register the brokers while nobody can become controller; then the image's one does.

        A session that ends with that holds /controller until then: without it the first broker
        would elect leaders in place of all that are not registered yet.
        """
        kernel, zookeeper, environment = self.kernel, self.zookeeper, self.environment
        kernel.start_host(ZOOKEEPER)
        for path, data, version in stored_znodes(image, self.profile):
            zookeeper.restore(environment, path, data, version)
        placeholder = zookeeper.open_session(environment, ZOOKEEPER, 0, is_kept_alive=True)
        zookeeper.create(environment, placeholder, znodes.CONTROLLER, None, ephemeral=True)
        up = [self.brokers[broker.id] for broker in image.brokers if broker.up]
        for broker in up:
            kernel.cause = root
            broker.start()
        self._step_until(lambda: all(broker.state.broker_epoch for broker in up))
        kernel.cause = root
        zookeeper.close_session(environment, placeholder)
        assert image.controller is not None
        successor = self.brokers.get(image.controller.broker or NO_LEADER)
        if successor in up and isinstance(successor.membership, ZooKeeperMembership):
            successor.membership.controller.resume()
        if up:
            self._step_until(lambda: self.controller_id() is not None)
            self._let_controller_finish(len(up))

    def _step_until(self, holds: Callable[[], bool]) -> None:
        limit_us = self.kernel.now + BOOT_LIMIT_US
        while not holds() and self.kernel.now < limit_us and self.step():
            pass

    def _all_registered(self) -> bool:
        """Whether every controller has registered too (KIP-919)."""
        assert self.kraft is not None
        if not self.profile.has("controller_registration"):
            return True
        return len(self.kraft.committed.image.controllers) == len(self.controllers)

    def _let_controller_finish(self, brokers: int | None = None) -> None:
        """Run until the controller knows every (running) broker and its queues are empty."""
        brokers = len(self.brokers) if brokers is None else brokers
        limit_us = self.kernel.now + BOOT_LIMIT_US
        while self.kernel.now < limit_us:
            holder = self.controller_id()
            controller = None if holder is None else self.controller_cache(holder)
            if (
                controller is not None
                and len(controller.live) == brokers
                and not any(channel.queue for channel in controller.channels.values())
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
        """Dispatch one kernel event, then report the findings of the audit and the invariants."""
        did = self.kernel.step()
        state = self.state
        audit, invariants = state.audit, state.invariants
        if audit.dirty or audit.deferred or invariants.pending or invariants.cut:
            self.look()
        return did

    def look(self) -> None:
        """Report the findings of the audit and the invariants."""
        audit, invariants = self.state.audit, self.state.invariants
        if audit.dirty or (audit.deferred and self.now_us >= audit.due_us):
            self.audit.flush()
        if invariants.pending or invariants.cut:
            self.invariants.flush()

    # ---- copies

    def fork(self) -> "Cluster":
        """An independent copy at the same point in time, without observers."""
        copied = copier(ClusterState)
        assert copied is not None
        return Cluster._of(copied(self.state))

    @property
    def state_hash(self) -> str:
        """The SHA-256 hash of the cluster's entire state, with its batches, wherever these are."""
        summed = sha256()
        for piece in pieces(self.state):
            summed.update(piece)
        return summed.hexdigest()

    def subscribe(self, observer: Callable[[events.Event], None]) -> None:
        """Pass all later events to an observer."""
        self.kernel.subscribe(observer)

    # ---- inspection

    def _forget_deleted(self, event: events.LogStartOffsetChanged) -> None:
        """Discard batches once the last log that has them deletes them."""
        logs = self.audit.logs_of(event.tp)
        deleting = logs.pop(event.broker, None)
        if deleting is None:
            return
        end = min([event.first_segment, *(log.first_offset for log in logs.values())])
        for batch in deleting.batches:
            if batch.end_offset > end:
                break
            self.ledger.forget(batch.first_record)

    def _forget_log(self, event: events.LogDeleted) -> None:
        """Discard the batches of a deleted topic once its last log is deleted.

        What was on a disk that is replaced stays known, because it may be lost.
        """
        brokers = self.state.brokers
        if brokers[event.broker].state != "running":
            return
        logs = {number: broker.replicas.get(event.tp) for number, broker in brokers.items()}
        deleted = logs.pop(event.broker)
        if deleted is not None and not any(logs.values()):
            for batch in deleted.log.batches:
                self.ledger.forget(batch.first_record)

    def controller_cache(self, broker: int) -> ControllerState | None:
        """The controller's cache of a broker that is, or believes to be, the controller."""
        known = self.state.brokers[broker].membership
        return known.controllership.state if isinstance(known, ZooKeeperMembershipState) else None

    def kraft_membership(self, broker: int) -> KRaftMembershipState | None:
        """What a broker has of the metadata log; None if there is no such broker in KRaft mode."""
        state = self.state.brokers.get(broker)
        known = None if state is None else state.membership
        return known if isinstance(known, KRaftMembershipState) else None

    def replica(self, tp: str, broker: int) -> Replica | None:
        """A broker's replica of a partition, if its disk holds one."""
        state = self.state.brokers.get(broker)
        return None if state is None else state.core.replicas.get(tp)

    def state_of(self, tp: str) -> PartitionInfo | None:
        """The content of a partition's state znode."""
        return self.state.states.get(tp)

    def assigned(self, tp: str) -> list[int] | None:
        """A partition's assigned replicas according to its topic's znode."""
        return self.state.assignments.get(tp)

    def partitions(self) -> list[str]:
        return list(self.state.assignments)

    def topics(self) -> list[str]:
        if self.kraft is not None:
            return sorted(self.kraft.committed.image.topic_ids)
        return self.zookeeper.children(znodes.TOPICS) if self.zookeeper.find(znodes.TOPICS) else []

    def has_topic(self, topic: str) -> bool:
        """Whether the metadata contains a topic of this name."""
        if self.kraft is not None:
            return topic in self.kraft.committed.image.topic_ids
        above = self.zookeeper.find("/brokers/topics")
        return above is not None and topic in (above.children or ())

    def controller_id(self) -> int | None:
        """The broker in /controller, or the controller that leads the quorum."""
        if self.kraft is not None:
            return self.active_controller()
        node = self.zookeeper.find(znodes.CONTROLLER)
        return None if node is None else znodes.controller_in(node.data)

    def controller_epoch(self) -> int | None:
        """The number in /controller_epoch, or the epoch of the quorum's leader."""
        if self.kraft is not None:
            active = self.active_controller()
            return None if active is None else self.kraft.controllers[active].quorum.epoch
        node = self.zookeeper.find(znodes.CONTROLLER_EPOCH)
        return None if node is None else znodes.controller_epoch_in(node.data)

    def active_controller(self) -> int | None:
        """The controller that leads the quorum; None if no running node knows one."""
        assert self.kraft is not None
        leaders = [
            controller
            for controller in self.kraft.controllers.values()
            if controller.quorum.role == LEADER and self.host_works(controller.id)
        ]
        newest = max(leaders, key=lambda controller: controller.quorum.epoch, default=None)
        return None if newest is None else newest.id

    def is_up(self, broker: int) -> bool:
        """Whether a started broker has registered, and in KRaft mode is unfenced."""
        epoch = self.state.brokers[broker].broker_epoch
        if self.kraft is None or not epoch:
            return bool(epoch)
        registration = self.kraft.committed.image.brokers.get(broker)
        is_unfenced = (
            registration is not None and registration.epoch == epoch and not registration.fenced
        )
        return is_unfenced and self.state.brokers[broker].process.ports != UNOPENED

    def host_works(self, broker: int) -> bool:
        """Whether a broker's process is up and not frozen."""
        host = self.state.kernel.hosts[broker]
        return host.up and not host.frozen

    def _transaction_version(self) -> int:
        """The finalized level of transaction.version (KIP-890); 0 without that feature."""
        features = {} if self.kraft is None else self.kraft.committed.image.features
        return features.get(TRANSACTION_VERSION, 0)

    def broker_state(self, broker: int) -> str:
        """A broker's state (see :class:`emulator.events.BrokerStateChanged`)."""
        frozen = self.state.kernel.hosts[broker].frozen
        return "frozen" if frozen else self.state.brokers[broker].state


def _is_loading(broker: BrokerState) -> bool:
    """Whether a broker leads partitions whose groups it has not loaded yet."""
    return any(broker.core.coordinator.partitions.values())


class Restored:
    """The cluster of an image before anything has started, in the release of a statement."""

    def __init__(self, spec: CreateCluster) -> None:
        """Complete the image that the statement has.

        Raises:
            ConfigError: there is no such release, or it does not support the image's mode.
        """
        assert spec.image is not None
        self.spec = spec
        mode = spec.mode or spec.image.mode
        self.image = complete(replace(spec.image, release=spec.version, mode=mode)).image
        self.profile = profile_of(spec.version)
        self.groups = stored_groups(self.image, self.profile)

    def state(self) -> ClusterState:
        """The state of a cluster whose disks hold what the image says."""
        spec, image = self.spec, self.image
        static = with_effect(image.static_configs or {}, spec.version) | spec.config
        check_authorizer(spec.config, spec.version, in_kraft_mode=image.mode == "kraft")
        check_rebalance_protocols(static, spec.version, in_kraft_mode=image.mode == "kraft")
        resolve(spec.version, static)
        ids = [broker.id for broker in image.brokers]
        kraft = None
        snapshot = snapshot_of(image) if image.mode == "kraft" else None
        if snapshot is not None:
            kraft = KRaftState(
                dict(image.features or {}),
                {host: ControllerProcess(host) for host in controller_ids(image).values()},
            )
            for controller in kraft.controllers.values():
                controller.quorum.log.start_at(snapshot)
        controllers = [] if kraft is None else list(kraft.controllers)
        state = _state_of(spec, self.profile, ids, controllers, kraft)
        self._set(state.settings, static)
        self._fill_disks(state)
        for number, broker in state.brokers.items():
            if snapshot is not None and isinstance(broker.membership, KRaftMembershipState):
                broker.membership.quorum.log.start_at(snapshot)
                for topic in image.topics:
                    for partition in topic.partitions:
                        if number in partition.replicas:
                            tp = f"{topic.name}-{partition.partition}"
                            broker.membership.topic_ids[tp] = topic.id or ""
        return state

    def _fill_disks(self, state: ClusterState) -> None:
        """Give brokers their logs, and tell the audit what is committed in them."""
        ledger = RecordLedger(state.clients.ledger, state.clients.encoded)
        for group in self.groups:
            ledger.enter(group.writer, group.tp, group.keys, group.values, acks=-1, now_us=0)
        for number, replicas in replicas_on_disk(self.image, self.profile, self.groups).items():
            state.brokers[number].replicas.update(replicas)
        for tp, (leader, offsets) in committed_offsets(self.image, self.groups).items():
            state.audit.partitions[tp] = PartitionAudit(leader, committed=offsets)

    def _set(self, settings: Settings, static: dict[str, str]) -> None:
        brokers = self.image.brokers
        settings.defaults = static
        settings.racks = {broker.id: broker.rack for broker in brokers if broker.rack}
        settings.hosts = {broker.id: broker.host for broker in brokers if broker.host}
        settings.brokers = {
            broker.id: dict(broker.static_configs) for broker in brokers if broker.static_configs
        }
        grant(settings, self.image)


def _fresh(spec: CreateCluster) -> ClusterState:
    """The initial state of a cluster, before anything has started."""
    profile = profile_of(spec.version)
    resolve(spec.version, spec.config)
    ids = spec.broker_ids
    if spec.racks and not profile.has("broker_rack"):
        since = profile.first_with("broker_rack")
        raise ConfigError(f"Brokers have racks since {since}, not in {spec.version}.")
    if spec.racks and len(spec.racks) != len(ids):
        raise ConfigError(f"There are {len(spec.racks)} racks for {len(ids)} brokers.")
    kraft = _fresh_kraft(spec, profile, ids) if is_kraft(spec.version, spec.mode) else None
    check_authorizer(spec.config, spec.version, in_kraft_mode=kraft is not None)
    check_rebalance_protocols(spec.config, spec.version, in_kraft_mode=kraft is not None)
    controllers = [] if kraft is None else list(kraft.controllers)
    if kraft is None and (spec.controllers > 1 or spec.features):
        raise ConfigError(
            f"In ZooKeeper mode, which is {spec.version}'s own, brokers elect the controller among"
            " themselves, and there are no features: give --mode kraft."
        )
    if spec.hosts and len(spec.hosts) != len(ids):
        raise ConfigError(f"There are {len(spec.hosts)} hosts for {len(ids)} brokers.")
    state = _state_of(spec, profile, ids, controllers, kraft)
    state.settings.racks = dict(zip(ids, spec.racks, strict=False))
    state.settings.hosts = dict(zip(ids, spec.hosts, strict=False))
    return state


def _state_of(
    spec: CreateCluster,
    profile: Profile,
    brokers: list[int],
    controllers: list[int],
    kraft: KRaftState | None,
) -> ClusterState:
    """The state of a cluster of stopped processes."""
    hosts = {number: Host(number) for number in (*brokers, *controllers, ZOOKEEPER, CLIENTS)}
    kernel = KernelState(random_state=spec.seed * 2_654_435_761 + 88_172_645, hosts=hosts)
    kernel.started_ms = spec.started_ms or kernel.started_ms
    settings = Settings(spec.version, spec.stepwise, dict(spec.config))
    return ClusterState(
        spec,
        kernel,
        NetworkState(latency_us=spec.latency_us),
        ZooKeeper.fresh(
            has_config_node=profile.has("zookeeper_config_node"),
            zxid=spec.zxid,
            first_session=spec.zookeeper_session,
        ),
        ServerState(),
        settings,
        {
            number: BrokerState(
                ProcessState(number),
                ZooKeeperMembershipState() if kraft is None else KRaftMembershipState(),
            )
            for number in brokers
        },
        ClientsState(),
        AuditState(),
        InvariantState(),
        {},
        {},
        {},
        kraft,
    )


def _fresh_kraft(spec: CreateCluster, profile: Profile, brokers: list[int]) -> KRaftState:
    """The formatted controllers and brokers of a cluster without ZooKeeper."""
    controllers = list(range(FIRST_CONTROLLER, FIRST_CONTROLLER + spec.controllers))
    if set(controllers) & set(brokers):
        raise ConfigError(
            f"Brokers {brokers[0]} to {brokers[-1]} leave no ids for controllers, which are"
            f" {FIRST_CONTROLLER} to {controllers[-1]}."
        )
    if (spec.zxid, spec.zookeeper_session) != (CreateCluster().zxid, 0):
        raise ConfigError("In KRaft mode there is no ZooKeeper: no zxid, and no session of it.")
    chosen = spec.features if profile.has("features_chosen_at_format") else {}
    try:
        features = default_features(profile.release, chosen)
    except ApiException as refused:
        raise ConfigError(refused.message) from None
    return KRaftState(
        features,
        {number: ControllerProcess(number) for number in controllers},
    )
