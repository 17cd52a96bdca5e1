"""Administrative requests over the wire protocol: topics, partitions, configuration.

Only the controller creates and deletes topics; any other broker answers NOT_CONTROLLER. It writes
the same znodes as Kafka's tools, and responds when the change has reached its own metadata, or when
the request times out. Source: ``kafka.server.ZkAdminManager`` (``AdminManager`` up to 2.7),
``DelayedCreatePartitions`` and ``DelayedDeleteTopics`` 0.10.1 to 3.9.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from msgspec import Struct, field

from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.common.limits import CLUSTER_PARTITIONS_MAX, REQUEST_PARTITIONS_MAX
from emulator.common.names import is_topic_name
from emulator.coordinator import internal_topics
from emulator.protocol import (
    AlterConfigsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    NewTopic,
    TopicCreated,
    TopicsResponse,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from emulator.releases.config import (
    ConfigError,
    changed_lists,
    check_dynamic,
    check_without_effect,
    resolve,
    resolve_topic,
    topic_config_names,
    with_effect,
)
from emulator.releases.config_descriptions import (
    BROKER,
    DEFAULT_BROKER,
    STATIC_BROKER,
    Layers,
    describe_broker,
    describe_defaults,
    describe_topic,
    static_values,
    unexpected_broker,
)
from emulator.releases.config_names import LISTS
from emulator.replication import assignment
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.admin_client import AdminZkClient, colliding
from emulator.zookeeper.client import ZkClient

TIMEOUT: Final = "admin-timeout"
NO_PATHS: Final = ("", ".", "..")
"""Names that ZooKeeper refuses at the end of a path."""


class RefusedTopicError(Exception):
    """A topic that cannot be created or changed: the error's name and a message."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class DelayedTopics(Struct, array_like=True):
    """A request waiting for its change to appear in the metadata.

    ``partitions`` maps topics to their expected partition counts; 0: the topic is to be gone.
    """

    client: int
    partitions: dict[str, int]
    errors: dict[str, str]
    messages: dict[str, str]
    created: dict[str, TopicCreated] = field(default_factory=dict)


class AdminRequestsState(Struct, array_like=True):
    """Waiting requests by request number."""

    delayed: dict[int, DelayedTopics] = field(default_factory=dict)


class ZkAdminManager(Struct, eq=False):
    """Creates and changes topics, and describes and alters their configuration.

    Waiting requests are kept in ``state``; ``client`` writes topics.
    """

    context: BrokerContext
    state: AdminRequestsState
    zk: ZkClient
    client: AdminZkClient
    is_controller: Callable[[], bool]

    # ---- topics

    def create_topics(self, client: int, request: int, message: CreateTopicsRequest) -> None:
        """Create topics; respond when each of their partitions has a leader."""
        topics = message.topics
        created: dict[str, TopicCreated] = {}
        default = self.context.config.num_partitions
        partitions = sum(_partitions_wanted(new_topic, default) for new_topic in topics.values())

        def create(topic: str) -> int:
            self._check_partitions(partitions)
            created[topic] = self._create(topic, topics[topic], write=not message.validate_only)
            return 0 if message.validate_only else created[topic].partitions

        self._one_by_one(client, request, list(topics), message.timeout_us, create, created)

    def create_partitions(
        self, client: int, request: int, message: CreatePartitionsRequest
    ) -> None:
        """Add partitions to topics; respond when each of their partitions has a leader."""
        topics = message.topics
        partitions = sum(max(0, count) for count, _ in topics.values())

        def grow(topic: str) -> int:
            self._check_partitions(partitions)
            self._grow(topic, *topics[topic], write=not message.validate_only)
            return 0 if message.validate_only else topics[topic][0]

        self._one_by_one(client, request, list(topics), message.timeout_us, grow)

    def delete_topics(self, client: int, request: int, message: DeleteTopicsRequest) -> None:
        """Delete topics; respond when they have disappeared from this broker's metadata."""

        def delete(topic: str) -> int:
            if not self.context.config.delete_topic_enable:
                raise RefusedTopicError(
                    "TOPIC_DELETION_DISABLED", "delete.topic.enable is false on this broker."
                )
            if not self._exists(topic):
                raise _unknown(topic)
            with suppress(errors.NodeExistsError):  # its deletion has already been requested
                self.zk.create(znodes.delete_topic_path(topic), None)
            return -1

        self._one_by_one(client, request, message.topics, message.timeout_us, delete)

    def create_automatically(self, topic: str) -> str:
        """Create a topic that a client asked for, with the broker's defaults; return the error.

        Source: ``KafkaApis.createTopic``, ``AutoTopicCreationManager``.
        """
        internal = internal_topics.INTERNAL_TOPICS.get(topic)
        if internal is not None:
            internal_topics.create(self.context, internal)
            return "LEADER_NOT_AVAILABLE"
        try:
            config = self.context.config
            count, factor = config.num_partitions, config.default_replication_factor
            self._create(topic, NewTopic(count, factor, {}, {}), write=True)
        except RefusedTopicError as error:
            return "LEADER_NOT_AVAILABLE" if error.name == "TOPIC_ALREADY_EXISTS" else error.name
        except errors.ZooKeeperError:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        return "LEADER_NOT_AVAILABLE"

    def _one_by_one(
        self,
        client: int,
        request: int,
        topics: list[str],
        timeout_us: int,
        work: Callable[[str], int],
        created: dict[str, TopicCreated] | None = None,
    ) -> None:
        """Apply ``work`` to each topic, then wait until the metadata shows the result.

        ``work`` returns the topic's expected partition count, -1 if it is to be gone, and 0 if
        there is nothing to wait for.
        """
        results = dict.fromkeys(topics, NONE)
        messages: dict[str, str] = {}
        partitions: dict[str, int] = {}
        for topic in topics:
            try:
                if not self.is_controller():
                    raise RefusedTopicError("NOT_CONTROLLER", "This is not the controller.")
                if expected := work(topic):
                    partitions[topic] = max(0, expected)
            except RefusedTopicError as error:
                results[topic], messages[topic] = error.name, str(error)
            except errors.ZooKeeperError as error:
                results[topic], messages[topic] = "UNKNOWN_SERVER_ERROR", str(error)
        delayed = DelayedTopics(client, partitions, results, messages, created or {})
        if timeout_us > 0 and not self._is_done(delayed):
            self.state.delayed[request] = delayed
            due_us = self.context.kernel.now + timeout_us
            self.context.timers.set_deadline(TIMEOUT, request, due_us)
            return
        if timeout_us <= 0 and partitions:
            results.update(dict.fromkeys(partitions, "REQUEST_TIMED_OUT"))
        response = TopicsResponse(request, results, messages, delayed.created)
        self.context.respond(client, request, response)

    def metadata_changed(self) -> None:
        """Answer the requests whose change the updated metadata shows."""
        for request, delayed in list(self.state.delayed.items()):
            if self._is_done(delayed):
                self._respond(request, delayed)

    def expire(self) -> None:
        """Answer the requests that have timed out."""
        for request in self.context.timers.overdue(TIMEOUT):
            delayed = self.state.delayed.get(int(request))
            if delayed is not None:
                for topic, count in delayed.partitions.items():
                    if not self._shows(topic, count):
                        delayed.errors[topic] = "REQUEST_TIMED_OUT"
                self._respond(int(request), delayed)

    def _respond(self, request: int, delayed: DelayedTopics) -> None:
        del self.state.delayed[request]
        self.context.timers.clear_deadline(TIMEOUT, request)
        response = TopicsResponse(request, delayed.errors, delayed.messages, delayed.created)
        self.context.respond(delayed.client, request, response)

    def _is_done(self, delayed: DelayedTopics) -> bool:
        return all(self._shows(topic, count) for topic, count in delayed.partitions.items())

    def _shows(self, topic: str, count: int) -> bool:
        """Whether the metadata has a leader of each partition; for count 0: no such topic."""
        metadata = self.context.process.metadata
        if not count:
            return f"{topic}-0" not in metadata
        infos = (metadata.get(f"{topic}-{number}") for number in range(count))
        return all(info is not None and info.leader >= 0 for info in infos)

    # ---- writing

    def _create(self, topic: str, new_topic: NewTopic, *, write: bool) -> TopicCreated:
        """Create a topic; what is wrong with it is looked for in Kafka's order.

        Source: ``ZkAdminManager.createTopics``, ``AdminZkClient.validateTopicCreate``; until 2.6
        ``AdminManager.createTopics``, which begins with the configuration.
        """
        profile = self.context.profile
        is_invalid_config = profile.has("new_topic_invalid_config_error")
        wrong_value = "INVALID_CONFIG" if is_invalid_config else "UNKNOWN_SERVER_ERROR"
        if profile.has("existing_topic_refused_first"):
            self._check_new(topic)
        if profile.has("new_topic_configuration_checked_first"):
            self._checked(new_topic.config, wrong_value)
        lists, topic_id = self._lists(new_topic), ""
        if not is_topic_name(topic):
            raise _invalid_name(topic)
        self._check_new(topic)
        if {".", "_"} & set(topic) and (other := colliding(topic, self.zk.children(znodes.TOPICS))):
            raise RefusedTopicError(
                "INVALID_TOPIC_EXCEPTION", f"Topic '{topic}' collides with '{other}'."
            )
        if len({len(replicas) for replicas in lists}) != 1:
            raise _bad_assignment("Not all partitions have as many replicas.")
        if any(not replicas or len({*replicas}) < len(replicas) for replicas in lists):
            raise _bad_assignment("A partition has no broker, or one twice.")
        config = self._checked(new_topic.config, wrong_value)
        if write:
            topic_id = self.client.create(topic, lists, config)
        entries = describe_topic(self.context.settings.version, config, self._layers())
        return TopicCreated(topic_id, len(lists), len(lists[0]), entries)

    def _check_new(self, topic: str) -> None:
        if self._exists(topic):
            raise RefusedTopicError("TOPIC_ALREADY_EXISTS", f"Topic '{topic}' already exists.")

    def _lists(self, new_topic: NewTopic) -> list[list[int]]:
        """Each partition's replicas, as given or assigned by Kafka's algorithm."""
        context, live = self.context, self.context.process.live_brokers
        if new_topic.assignment and (new_topic.partitions, new_topic.replication_factor) != (
            -1,
            -1,
        ):
            raise RefusedTopicError(
                "INVALID_REQUEST",
                "Both numPartitions or replicationFactor and replicasAssignments were set. Both"
                " cannot be used at the same time.",
            )
        if new_topic.assignment:
            numbers = sorted(new_topic.assignment)
            if numbers != list(range(len(numbers))):
                raise _bad_assignment("The partitions are not numbered from 0 without gaps.")
            return [new_topic.assignment[number] for number in numbers]
        partitions, factor = new_topic.partitions, new_topic.replication_factor
        if context.profile.has("new_topic_with_defaults"):
            config = context.config
            partitions = config.num_partitions if partitions == -1 else partitions
            factor = config.default_replication_factor if factor == -1 else factor
        try:
            return self.client.assign(live, partitions, factor)
        except assignment.AssignmentError as error:
            raise RefusedTopicError(error.error_name, str(error)) from None

    def _check_lists(self, lists: list[list[int]]) -> None:
        live = self.context.process.live_brokers
        for replicas in lists:
            if not replicas or len(set(replicas)) != len(replicas):
                raise _bad_assignment(f"{replicas} are no different brokers.")
            if unknown := [broker for broker in replicas if broker not in live]:
                raise _bad_assignment(f"Broker {unknown[0]} does not live; {live} do.")

    def _grow(
        self, topic: str, count: int, replica_lists: list[list[int]] | None, *, write: bool
    ) -> None:
        if topic in NO_PATHS:
            raise RefusedTopicError("UNKNOWN_SERVER_ERROR", "")
        node = self.zk.find(znodes.topic_path(topic))
        current = znodes.topic_in(None if node is None else node.data)
        if current is None or not current.replicas:
            raise _unknown(topic)
        have = len(current.replicas)
        if count <= have:
            raise RefusedTopicError(
                "INVALID_PARTITIONS", f"Topic '{topic}' has {have} partitions already."
            )
        if replica_lists is not None:
            if len(replica_lists) != count - have:
                raise _bad_assignment(f"There are {count - have} new partitions.")
            self._check_lists(replica_lists)
            new = replica_lists
        else:
            first = current.replicas[min(current.replicas)]
            live = self.context.process.live_brokers
            try:
                new = self.client.assign_added(live, count - have, first, have)
            except assignment.AssignmentError as error:
                raise RefusedTopicError(error.error_name, str(error)) from None
        if write:
            self.client.add_partitions(topic, current, new)

    def _exists(self, topic: str) -> bool:
        # A name with a slash would be that of a znode below a topic's.
        return is_topic_name(topic) and self.zk.find(znodes.topic_path(topic)) is not None

    def _count(self, topic: str) -> int:
        node = self.zk.find(znodes.topic_path(topic))
        current = znodes.topic_in(None if node is None else node.data)
        return 0 if current is None else len(current.replicas)

    # ---- configuration

    def describe_configs(self, client: int, request: int, message: DescribeConfigsRequest) -> None:
        """Return the configuration of a topic, of this broker, or of all brokers."""
        context, version = self.context, self.context.settings.version
        layers = self._layers()
        if message.topic is not None:
            is_name = is_topic_name(message.topic)
            tells_all = is_name and not context.profile.has("unknown_topics_not_described")
            if self.zk.usable() and (tells_all or self._exists(message.topic)):
                entries = describe_topic(version, self._own_values(message.topic), layers)
                response = DescribeConfigsResponse(request, NONE, entries)
            else:
                error = "UNKNOWN_TOPIC_OR_PARTITION" if is_name else "INVALID_TOPIC_EXCEPTION"
                response = DescribeConfigsResponse(request, error)
        elif message.broker and (reason := unexpected_broker(message.broker, context.id)):
            response = DescribeConfigsResponse(request, "INVALID_REQUEST", message=reason)
        elif message.broker:
            response = DescribeConfigsResponse(request, NONE, describe_broker(version, layers))
        else:
            defaults = context.settings.broker_defaults.get(context.id, {})
            response = DescribeConfigsResponse(request, NONE, describe_defaults(version, defaults))
        context.respond(client, request, response)

    def _layers(self) -> Layers:
        settings, me = self.context.settings, self.context.id
        return [
            (BROKER, settings.brokers.get(me, {})),
            (DEFAULT_BROKER, settings.broker_defaults.get(me, {})),
            (STATIC_BROKER, static_values(settings, me, in_kraft_mode=False)),
        ]

    def alter_configs(self, client: int, request: int, message: AlterConfigsRequest) -> None:
        """Alter topic configuration, and notify the brokers."""
        results = dict.fromkeys(message.topics, NONE)
        messages: dict[str, str] = {}
        for topic, changes in message.topics.items():
            try:
                self._alter(topic, changes, message)
            except RefusedTopicError as error:
                results[topic], messages[topic] = error.name, str(error)
            except errors.ZooKeeperError as error:
                results[topic], messages[topic] = "UNKNOWN_SERVER_ERROR", str(error)
        self.context.respond(client, request, TopicsResponse(request, results, messages))

    def _alter(self, topic: str, changes: Mapping[str, str], message: AlterConfigsRequest) -> None:
        """Alter a topic; what is wrong is looked for in Kafka's order.

        Source: ``ZkAdminManager.incrementalAlterConfigs``, ``alterTopicConfigs``.
        """
        is_invalid_config = self.context.profile.has("wrong_value_is_invalid_config")
        wrong_value = "INVALID_CONFIG" if is_invalid_config else "INVALID_REQUEST"
        if topic in NO_PATHS and not message.replaces:
            raise RefusedTopicError(wrong_value, f"Invalid path of topic {topic!r}.")
        before = {} if message.replaces else self._own_values(topic)
        try:
            lists = changed_lists(
                before, message.appended.get(topic, {}), message.subtracted.get(topic, {})
            )
        except ConfigError as error:
            raise RefusedTopicError(wrong_value, str(error)) from None
        self._check_alterable(topic)
        values = {**before, **{k: v for k, v in changes.items() if v}, **lists}
        for name in (name for name, value in changes.items() if not value):
            values.pop(name, None)
        merged = self._checked(values, wrong_value)
        if not message.validate_only:
            zk = self.zk
            zk.write(znodes.topic_config_path(topic), znodes.config_json(merged))
            change = znodes.config_change_json(self.context.profile, "topics", topic)
            zk.create(znodes.CONFIG_CHANGE, change, sequential=True)

    def _check_alterable(self, topic: str) -> None:
        """Refuse a topic that does not exist; until 2.6 only ZooKeeper is asked for it."""
        profile = self.context.profile
        if self._exists(topic):
            return
        if not topic and profile.has("wrong_value_is_invalid_config"):
            raise RefusedTopicError("INVALID_REQUEST", "Default topic resources are not allowed.")
        if profile.has("unknown_topic_error_when_altering"):
            raise _unknown(topic)
        if not is_topic_name(topic):
            raise _invalid_name(topic)
        raise RefusedTopicError("UNKNOWN_SERVER_ERROR", f'Topic "{topic}" does not exist.')

    def alter_broker_configs(
        self, client: int, request: int, message: IncrementalAlterConfigsRequest
    ) -> None:
        """Alter this broker's configuration or that of all brokers, and notify them (KIP-226)."""
        name, error, reason = message.resource_name, NONE, ""
        try:
            self._alter_brokers(message)
        except ConfigError as refusal:
            error, reason = "INVALID_REQUEST", str(refusal)
        except errors.ZooKeeperError as failure:
            error, reason = "UNKNOWN_SERVER_ERROR", str(failure)
        response = IncrementalAlterConfigsResponse(
            request, NONE, {name: error}, {name: reason} if reason else {}
        )
        self.context.respond(client, request, response)

    def update_features(self, client: int, request: int, _: UpdateFeaturesRequest) -> None:
        """Say whether this is the controller; no release with ZooKeeper has features to update."""
        error = NONE if self.is_controller() else "NOT_CONTROLLER"
        self.context.respond(client, request, UpdateFeaturesResponse(request, error, {}))

    def _alter_brokers(self, message: IncrementalAlterConfigsRequest) -> None:
        context, name = self.context, message.resource_name
        settings, profile = context.settings, context.profile
        if not profile.has("dynamic_broker_config"):
            since = profile.first_with("dynamic_broker_config")
            raise ConfigError(f"Brokers' configurations can be altered since {since} (KIP-226).")
        check_dynamic(message.values, settings.version, name, context.id)
        path = znodes.broker_config_path(context.id if name else None)
        before = {} if message.replaces else self._config_at(path)
        values = {k: v for k, v in {**before, **message.values}.items() if v is not None}
        resolve(settings.version, settings.defaults | with_effect(values, settings.version))
        if not message.validate_only:
            self.zk.write(path, znodes.config_json(values))
            change = znodes.config_change_json(profile, "brokers", name or znodes.ALL_BROKERS)
            self.zk.create(znodes.CONFIG_CHANGE, change, sequential=True)

    def _own_values(self, topic: str) -> dict[str, str]:
        return self._config_at(znodes.topic_config_path(topic))

    def _config_at(self, path: str) -> dict[str, str]:
        data = self.zk.data(path)
        return (znodes.config_in(data) if data else None) or {}

    def _check_partitions(self, count: int) -> None:
        """Refuse a request for more partitions than there may be here; Kafka has no limits."""
        existing = len(self.context.process.metadata)
        maximum = min(REQUEST_PARTITIONS_MAX, CLUSTER_PARTITIONS_MAX - existing)
        if count > maximum:
            raise RefusedTopicError(
                "INVALID_PARTITIONS",
                f"{count} partitions in one request are too many: "
                f"at most {maximum} beside {existing}.",
            )

    def _checked(self, config: Mapping[str, str], wrong_value: str) -> dict[str, str]:
        """The configuration, if all names and values are valid for topics.

        ``wrong_value`` is the error for an invalid value.
        """
        names = topic_config_names(self.context.profile.numbers)
        unknown = [name for name in config if name not in names]
        if unknown:
            raise RefusedTopicError("INVALID_CONFIG", f"Unknown topic config name: {unknown[0]}")
        try:
            for name, value in config.items():
                if value:
                    check_without_effect(name, value)
                elif name not in LISTS:
                    raise ConfigError(f"{name} needs a value.")
            resolve_topic(self.context.config, dict(config))
        except ConfigError as error:
            raise RefusedTopicError(wrong_value, str(error)) from None
        return dict(config)


def _unknown(topic: str) -> RefusedTopicError:
    reason = f"The topic '{topic}' does not exist."
    return RefusedTopicError("UNKNOWN_TOPIC_OR_PARTITION", reason)


def _invalid_name(topic: str) -> RefusedTopicError:
    return RefusedTopicError("INVALID_TOPIC_EXCEPTION", f"{topic!r} is no topic name.")


def _partitions_wanted(topic: NewTopic, default: int) -> int:
    if topic.assignment:
        return len(topic.assignment)
    return default if topic.partitions == -1 else max(0, topic.partitions)


def _bad_assignment(message: str) -> RefusedTopicError:
    return RefusedTopicError("INVALID_REPLICA_ASSIGNMENT", message)
