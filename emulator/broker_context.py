"""What every part of a broker builds on: the process, timers, ZooKeeper client and responses.

No part knows the broker as such; the other parts that it needs are passed to its constructor.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from msgspec import Struct, field

from emulator import events
from emulator.protocol import (
    AddPartitionsToTxnResponse,
    AnyMessage,
    ConnectionLost,
    InitProducerIdResponse,
    PartitionInfo,
    ProduceResponse,
    WriteTxnMarkersResponse,
)
from emulator.releases.config import (
    BrokerConfig,
    Configuration,
    TopicValues,
    resolve,
    resolve_topic,
)
from emulator.simulation.kernel import STARTED_MS, Kernel
from emulator.simulation.network import Network
from emulator.simulation.timers import Timers, TimerState
from emulator.storage.record_ledger import RecordLedger
from emulator.zookeeper.client import ZkClient, ZkClientState
from emulator.zookeeper.environment import Environment
from emulator.zookeeper.metadata import PartitionMetadata
from emulator.zookeeper.tree import ZooKeeper

OWN = (ProduceResponse, InitProducerIdResponse, WriteTxnMarkersResponse, AddPartitionsToTxnResponse)
"""Responses to requests that a broker may send to itself, bypassing the network."""
CLOSING_US = 300
"""How long a peer takes to notice that its connection was closed."""


class Topics(Protocol):
    """The topics of a cluster in KRaft mode, as one broker sees and creates them."""

    def partition_count(self, topic: str) -> int:
        """The number of partitions of a topic; 0 if it does not exist."""

    def leader(self, tp: str) -> int | None:
        """The leader of a partition; -1 if it has none, None if there is no such partition."""

    def has_id(self, topic_id: str) -> bool:
        """Whether there is a topic with that id."""

    def replica_topic_id(self, tp: str) -> str:
        """The topic id with which this broker created its replica of a partition."""

    def create(self, topic: str, partitions: int, factor: int, config: dict[str, str]) -> None:
        """Ask the controller to create a topic."""


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


DOWN: Final = ("stopped", "crashed")
"""The states of a broker without a process."""


class ProcessState(Struct, array_like=True):
    """A broker process's view of itself and the cluster; all of it is lost when the process ends.

    ``status`` is the state in :class:`emulator.events.BrokerStateChanged`. ``broker_epoch`` is the
    czxid of its registration (0: its sockets are not open yet). ``known_controller``,
    ``controller_epoch``, ``live_brokers`` and ``metadata`` are what it last received.

    ``topic_configs`` are the topics' configuration overrides as the broker last read them: when it
    started, when it created its first log of a topic, and at each change notification, the last
    being ``config_change`` (-1: none). ``unread_topics`` are those that could not be read.
    """

    id: int
    status: str = "stopped"
    zk: ZkClientState = field(default_factory=ZkClientState)
    timers: TimerState = field(default_factory=TimerState)
    broker_epoch: int = 0
    known_controller: int = -1
    controller_epoch: int = 0
    live_brokers: list[int] = field(default_factory=list)
    metadata: dict[str, PartitionInfo] = field(default_factory=dict)
    topic_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    config_change: int = -1

    @property
    def is_up(self) -> bool:
        """Whether the process exists, even if it is still starting or already stopping."""
        return self.status not in DOWN

    unread_topics: dict[str, None] = field(default_factory=dict)


class BrokerContext:
    """One broker's surroundings, as its parts use them."""

    def __init__(self, process: ProcessState, surroundings: Surroundings) -> None:
        """Run in ``surroundings`` with the state ``process``."""
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
        self.voters = list(surroundings.voters)
        self.cluster_id = surroundings.cluster_id
        self.topics: Topics | None = None
        self.own_response: Callable[[int, AnyMessage], None]
        self.timers = Timers(kernel, process.id, process.timers)
        self.arm = self.timers.arm
        self.later = self.timers.later
        self.zk = ZkClient(
            process.id,
            process.zk,
            kernel=kernel,
            network=surroundings.network,
            zookeeper=surroundings.zookeeper,
            environment=surroundings.environment.of(process.id),
            timers=self.timers,
            timeout_us=lambda: self.config.zookeeper_session_timeout_us,
            session_opened=surroundings.session_opened,
        )
        self.metadata = PartitionMetadata(self.zk)
        self._config_version = -1
        self._config: BrokerConfig
        self._topic_values: dict[str, TopicValues] = {}

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

    def max_message_bytes(self, topic: str) -> int:
        """max.message.bytes of a topic as this broker sees it."""
        return self.topic_values(topic).max_message_bytes

    def topic_values(self, topic: str) -> TopicValues:
        """The effective configuration of a topic's partitions on this broker."""
        if self._config_version == self.configuration.version:
            found = self._topic_values.get(topic)
            if found is not None:
                return found
        config = self.config
        values = resolve_topic(config, self.process.topic_configs.get(topic, {}))
        self._topic_values[topic] = values
        return values

    @property
    def timestamp_ms(self) -> int:
        """The wall-clock time written to znodes."""
        return STARTED_MS + self.kernel.now // 1000

    @property
    def session(self) -> int:
        """The id of its ZooKeeper session; 0 if it has none."""
        return self.process.zk.session

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

    def knows(self, tp: str) -> bool:
        """Whether the broker's metadata has a partition."""
        if self.topics is not None:
            return self.topics.leader(tp) is not None
        return tp in self.process.metadata

    def topic_id(self, tp: str) -> str:
        """The id of the topic of a replica here; empty in ZooKeeper mode."""
        return "" if self.topics is None else self.topics.replica_topic_id(tp)

    def respond(self, destination: int, request: int, response: AnyMessage) -> None:
        """Send the response to ``request``; this broker's own requests complete at once."""
        if destination == self.id and isinstance(response, OWN):
            self.own_response(request, response)
        else:
            self.network.send(self.id, destination, response, request)

    def close_connection(self, peer: int, request: int = 0, *, lost: bool = False) -> None:
        """Close the connection that a request arrived on (how an acks=0 request fails).

        ``lost``: the client waits for a response to the request, which it will not get.
        """
        kernel = self.kernel
        at_us = kernel.state.now_us + CLOSING_US
        kernel.schedule(at_us, peer, ConnectionLost(self.id, request, lost), kernel.cause, self.id)
