"""What every part of a broker builds on: the process, timers, metadata, responses and effects.

No part knows the broker as such; the other parts that it needs are passed to its constructor.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from msgspec import Struct, field

from emulator import events
from emulator.broker_effects import Effect
from emulator.common.errors import NOT_LEADER
from emulator.protocol import (
    AddPartitionsToTxnResponse,
    AnyMessage,
    ConnectionLost,
    InitProducerIdResponse,
    PartitionInfo,
    ProduceResponse,
    ShareGroupStateResponse,
    WriteTxnMarkersResponse,
)
from emulator.releases.config import Configuration, TopicValues, resolve, resolve_topic
from emulator.releases.config_names import BrokerConfig
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.simulation.timers import Timers, TimerState
from emulator.storage.record_ledger import RecordLedger
from emulator.zookeeper.environment import Environment
from emulator.zookeeper.tree import ZooKeeper

OWN = (
    ProduceResponse,
    InitProducerIdResponse,
    WriteTxnMarkersResponse,
    AddPartitionsToTxnResponse,
    ShareGroupStateResponse,
)
"""Responses to requests that a broker may send to itself, bypassing the network."""
CLOSING_US = 300
"""How long a peer takes to notice that its connection was closed."""


class TopicInfo(NamedTuple):
    """A topic's id and its number of partitions."""

    id: str
    partitions: int


class ClusterMetadata(Protocol):
    """What a broker knows of its cluster, however it learns it: what its parts ask about it."""

    topic_ids: Mapping[str, str]
    """The topic id with which each replica here was created; empty where topics have names only."""
    arrives_in_requests: bool
    """Whether a controller announces partitions in requests, apart from the orders to lead them."""
    has_broker_epochs: bool
    """Whether the epochs of other brokers are known."""
    fetchers_start_late: bool
    """Whether a new fetcher waits for its thread to start, which a controller's request does not
    wait for."""

    @property
    def known_topic_ids(self) -> Container[str] | None:
        """The ids of all topics; None if fetches name topics and not their ids."""

    @property
    def controller(self) -> int:
        """The controller that requests can be sent to; -1 if none is known."""

    def partition_count(self, topic: str) -> int:
        """The number of partitions of a topic; 0 if it does not exist.

        Raises:
            ConnectionLoss: it is in ZooKeeper, which does not respond.
        """

    def exists(self, topic: str) -> bool:
        """Whether a topic exists, as an observer of the cluster sees it."""

    def topic(self, name: str) -> TopicInfo | None:
        """A topic's id and number of partitions; None if it does not exist or has no id."""

    def topic_with_id(self, topic_id: str) -> TopicInfo | None:
        """The topic with an id; None if none has it."""

    def feature_level(self, name: str) -> int:
        """The finalized level of a feature; 0 if there is none."""

    def group_config(self, group: str) -> Mapping[str, str]:
        """The configuration of a group, as far as it has its own (GROUP resources, KIP-848)."""

    def topic_names(self) -> Iterable[str]:
        """The names of all topics that have ids."""

    def leader(self, tp: str) -> int | None:
        """The leader of a partition; -1 if it has none, None if there is no such partition."""

    def broker_epoch(self, broker: int) -> int | None:
        """The epoch of a broker that is not fenced; None if it is unknown."""

    def create(self, topic: str, partitions: int, factor: int, config: dict[str, str]) -> None:
        """Create a topic of the broker's own, if that is possible now."""


DOWN: Final = ("stopped", "crashed")
"""The states of a broker without a process."""
UNOPENED, OPEN, CLOSED = "unopened", "open", "closed"
"""Whether a process accepts requests: not yet, now, or no more."""


class Surroundings(NamedTuple):
    """What all brokers of one cluster share."""

    kernel: Kernel
    network: Network
    zookeeper: ZooKeeper
    environment: Environment
    configuration: Configuration
    ledger: RecordLedger
    session_opened: Callable[[], None]
    voters: Sequence[int] = ()
    """The controllers in KRaft mode; empty where ZooKeeper keeps the metadata."""
    cluster_id: str = ""
    """The cluster id with which all directories were formatted in KRaft mode."""


class ProcessState(Struct, array_like=True):
    """A broker process's view of itself and the cluster; all of it is lost when the process ends.

    ``status`` is the state in :class:`emulator.events.BrokerStateChanged`. ``ports`` says whether
    it accepts requests. ``broker_epoch`` is the one of its registration, with ZooKeeper its czxid
    (0: it has not registered). ``known_controller``, ``controller_epoch``, ``live_brokers`` and
    ``metadata`` are what it last received. ``topic_configs`` are the topics' configuration
    overrides as the broker last read them.
    """

    id: int
    status: str = "stopped"
    timers: TimerState = field(default_factory=TimerState)
    ports: str = UNOPENED
    broker_epoch: int = 0
    known_controller: int = -1
    controller_epoch: int = 0
    live_brokers: list[int] = field(default_factory=list)
    metadata: dict[str, PartitionInfo] = field(default_factory=dict)
    topic_configs: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def is_up(self) -> bool:
        """Whether the process exists, even if it is still starting or already stopping."""
        return self.status not in DOWN


class BrokerContext:
    """One broker's surroundings, as its parts use them."""

    def __init__(
        self,
        process: ProcessState,
        surroundings: Surroundings,
        own_response: Callable[[int, AnyMessage], None],
    ) -> None:
        """Run in ``surroundings`` with the state ``process``.

        ``own_response`` handles responses to this broker's requests to itself. ``metadata`` builds
        on the rest of the context, and is added to it before any part of the broker is made.
        """
        self.process = process
        self.id = process.id
        self.kernel = kernel = surroundings.kernel
        self.emit = kernel.emit
        self.network = surroundings.network
        self.ledger = surroundings.ledger
        self.configuration = surroundings.configuration
        self.settings = self.configuration.settings
        self.profile = self.configuration.profile
        self.stepwise = self.settings.stepwise
        self.own_response = own_response
        self.timers = Timers(kernel, process.id, process.timers)
        self.arm = self.timers.arm
        self.later = self.timers.later
        self.reactions: dict[type, tuple[Callable[[Any], object], ...]] = {}
        self._config_version = -1
        self._config: BrokerConfig
        self._topic_values: dict[str, TopicValues] = {}
        self.metadata: ClusterMetadata

    def carry_out(self, effect: Effect) -> None:
        """Let the parts that react to an effect do so now, in the order of ``REACTIONS``."""
        for react in self.reactions[type(effect)]:
            react(effect)

    # ---- configuration as this broker sees it

    @property
    def config(self) -> BrokerConfig:
        """The configuration in force at this broker.

        Its own values come from its file and, from 1.1 on, from its znode and that of all brokers.
        """
        if self._config_version != self.configuration.version:
            settings = self.settings
            self._config = resolve(settings.version, settings.of_broker(self.id))
            self._topic_values.clear()
            self._config_version = self.configuration.version
        return self._config

    def min_insync_replicas(self, topic: str) -> int:
        """min.insync.replicas of a topic as this broker sees it."""
        return self.topic_values(topic).min_insync_replicas

    def unclean_election(self, topic: str) -> bool:
        """unclean.leader.election.enable of a topic as this broker sees it."""
        return self.topic_values(topic).unclean_leader_election_enable

    def topic_values(self, topic: str) -> TopicValues:
        """The effective configuration of a topic's partitions on this broker."""
        if self._config_version == self.configuration.version:
            cached = self._topic_values.get(topic)
            if cached is not None:
                return cached
        config = self.config
        values = resolve_topic(config, self.process.topic_configs.get(topic, {}))
        self._topic_values[topic] = values
        return values

    def group_duration_us(self, group: str, name: str, default_us: int) -> int:
        """A group's own value of a configuration that is in milliseconds, or else the default."""
        own_ms = self.metadata.group_config(group).get(name)
        return default_us if own_ms is None else int(own_ms) * 1_000

    @property
    def timestamp_ms(self) -> int:
        """The wall-clock time written to znodes."""
        return self.kernel.state.wall_clock_ms(self.kernel.now)

    def fence_controller(self, controller: int, controller_epoch: int, broker_epoch: int) -> str:
        """The error for a whole request of the controller; NONE: accept it and its epoch.

        Rejected are requests from an older controller, and those meant for an earlier incarnation
        of this broker (KafkaApis.isBrokerEpochStale, 2.2+).
        """
        process = self.process
        if controller_epoch < process.controller_epoch:
            return self._fenced(
                "STALE_CONTROLLER_EPOCH", controller, controller_epoch, process.controller_epoch
            )
        if self.profile.has("broker_epochs") and 0 < broker_epoch < process.broker_epoch:
            return self._fenced(
                "STALE_BROKER_EPOCH", controller, broker_epoch, process.broker_epoch
            )
        process.controller_epoch = controller_epoch
        process.known_controller = controller
        return "NONE"

    def _fenced(self, error: str, controller: int, given: int, known: int) -> str:
        self.refuse(controller, self.kernel.cause, "", error, given, known)
        return error

    def refuse(
        self, source: int, request: int, tp: str, error: str, given: int, known: int
    ) -> None:
        """Emit the event that this broker rejects a request, or one partition of it.

        ``given`` is the offending value in the request, ``known`` the broker's own value (see
        :class:`emulator.events.RequestRefused`).
        """
        self.emit(events.RequestRefused, self.id, source, request, tp, error, given, known)

    def set_status(self, status: str) -> None:
        """Set the process's state and emit it (:class:`emulator.events.BrokerStateChanged`)."""
        self.process.status = status
        self.emit(events.BrokerStateChanged, self.id, status)

    def absence_error(self, tp: str) -> str:
        """The error of a client's request about a partition without a replica here.

        A client that is told so looks for the partition elsewhere. Source:
        ``ReplicaManager.getPartitionOrError``.
        """
        is_known = self.metadata.leader(tp) is not None
        if is_known and self.profile.has("absent_replica_is_no_leader"):
            return NOT_LEADER
        return "UNKNOWN_TOPIC_OR_PARTITION"

    def respond(
        self, destination: int, request: int, response: AnyMessage, *, is_prompt: bool = False
    ) -> None:
        """Send the response to ``request``; this broker's own requests complete at once.

        ``is_prompt`` as for :meth:`Network.send`.
        """
        if destination == self.id and isinstance(response, OWN):
            self.own_response(request, response)
        else:
            self.network.send(self.id, destination, response, request, is_prompt=is_prompt)

    def close_connection(self, peer: int, request: int = 0, *, lost: bool = False) -> None:
        """Close the connection that a request arrived on (how an acks=0 request fails).

        ``lost``: the client waits for a response to the request, which it will not get.
        """
        kernel = self.kernel
        at_us = kernel.state.now_us + CLOSING_US
        kernel.schedule(at_us, peer, ConnectionLost(self.id, request, lost), kernel.cause, self.id)
