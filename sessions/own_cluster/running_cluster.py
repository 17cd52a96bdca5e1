"""A running cluster, read through a client that sends nothing but read requests."""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any, Final, TypeVar
from uuid import UUID

from msgspec.structs import replace

from emulator.cluster_image.image import (
    NO_LEADER,
    NO_RACK,
    Broker,
    ClientQuota,
    ClusterImage,
    CommittedOffset,
    Controller,
    Group,
    Member,
    Partition,
    Quorum,
    ReplicaLog,
    ScramUser,
    Topic,
    ZooKeeperController,
)
from emulator.common.errors import ERROR_NAMES
from emulator.common.scram import BY_NUMBER
from emulator.metadata_log.metadata_version import LEVELS, METADATA_VERSION, name_of
from emulator.releases.versions import RELEASES
from emulator.wire.messages import security as wire
from emulator.wire.types import Message
from emulator.wire.versions import versions_of
from sessions.own_cluster.access import entity_of, listeners_of, user_name
from sessions.own_cluster.read_only_client import NONSENSE, NoAnswerError, ReadOnlyClient, reason_of
from sessions.own_cluster.reading import Authority, Reading, SourceError
from sessions.text import clean

NAME: Final = "a running cluster"
_DESCRIBE_CLIENT_QUOTAS: Final = 48
_DESCRIBE_USER_SCRAM_CREDENTIALS: Final = 50
_DESCRIBE_QUORUM: Final = 55
_DESCRIBE_CLUSTER: Final = 60
_WITH_FENCED_BROKERS: Final = 2
"""The version of DescribeCluster that can list fenced brokers (KIP-1073)."""
_DESCRIBE_TOPIC_PARTITIONS: Final = 75
_OF_SASL: Final = (17, 36)
"""APIs that a listener without SASL need not advertise."""
_PAGE: Final = 2_000
"""How many partitions a response describes at most (``max.request.partition.size.limit``)."""
_RESOURCES_AT_ONCE: Final = 500

Value = TypeVar("Value")
Answer = dict[str, Any]
Names = dict[str, dict[int, Partition]]
Sizes = dict[tuple[str, int], list[ReplicaLog]]
Directories = dict[int, tuple[str, ...]]
"""The paths of each broker's log directories."""


def read_running_cluster(address: str, properties: dict[str, str]) -> Reading:
    """Return what a running cluster says of itself.

    What it does not answer, for lack of a permission or because it is too old, is left out, and
    this is noted.

    Raises:
        SourceError: kafka-python is not installed, or the cluster cannot be reached.
    """
    with ReadOnlyClient(address, properties) as client:
        try:
            return Reader(client).reading(address)
        except NONSENSE as error:
            raise SourceError(f"{clean(address)} gives {reason_of(error)}") from error


class Reader:
    """Asks a cluster one question after the other.

    ``notes`` says what it did not answer.
    """

    def __init__(self, client: ReadOnlyClient) -> None:
        self.apis = {key: last for key, (_, last) in client.versions.items()}
        self.is_kraft = _DESCRIBE_QUORUM in self.apis
        self.connection = client
        self.client = client.admin
        self.failure = client.failure
        self.notes: list[str] = []

    def ask(self, subject: str, question: Callable[[], Value], default: Value) -> Value:
        """Return the answer, or the default with a note if there is none."""
        try:
            return question()
        except (*self.failure, NoAnswerError) as error:
            self.notes.append(f"{subject} left out: {reason_of(error)}")
            return default

    def reading(self, address: str) -> Reading:
        """Return all that the cluster says.

        Raises:
            SourceError: it does not answer at all.
        """
        apis = self.apis
        try:
            cluster = self._metadata()
        except self.failure as error:
            raise SourceError(f"{clean(address)} does not answer: {reason_of(error)}") from error
        topics = cluster["topics"]
        if apis.get(_DESCRIBE_CLUSTER, 0) >= _WITH_FENCED_BROKERS:
            listed = self.ask("fenced brokers", self.client.describe_cluster, cluster)
            cluster["brokers"] = listed["brokers"]
        partitions = {topic["name"]: _partitions(topic) for topic in topics}
        self.ask("ELRs", lambda: self._add_elrs(partitions, apis), None)
        self.ask("reassignments", lambda: self._add_reassignments(partitions), None)
        sizes, directories = self.ask("sizes of logs", self._sizes, (Sizes(), Directories()))
        self.ask("offsets", lambda: self._add_offsets(partitions), None)
        release, features = self.identity()
        no_configs: dict[str, dict[str, str]] = {}
        alive = [
            broker["broker_id"] for broker in cluster["brokers"] if not broker.get("is_fenced")
        ]
        configs = self.ask("configurations", lambda: self.configs(alive, partitions), no_configs)
        image = ClusterImage(
            release=release,
            mode="kraft" if self.is_kraft else "zk",
            cluster_id=cluster.get("cluster_id"),
            quorum=self.ask("the quorum", self._quorum, None) if self.is_kraft else None,
            controller=None
            if self.is_kraft
            else ZooKeeperController(cluster.get("controller_id", NO_LEADER)),
            features=features,
            configs=configs.get("all"),
            users=self.ask("SCRAM users", self._users, ()),
            quotas=self.ask("quotas", self._quotas, ()),
            brokers=tuple(_brokers(cluster, partitions, directories, configs)),
            topics=tuple(
                Topic(
                    topic["name"],
                    id=uuid_text(topic.get("topic_id")),
                    configs=configs.get(f"topic:{topic['name']}"),
                    partitions=tuple(
                        replace(partition, logs=tuple(_logs(sizes, topic["name"], number)))
                        for number, partition in sorted(partitions[topic["name"]].items())
                    ),
                )
                for topic in topics
            ),
            groups=self.ask("groups", lambda: tuple(self._groups()), ()),
        )
        return Reading(address, NAME, Authority.METADATA, image, tuple(self.notes))

    def identity(self) -> tuple[str | None, dict[str, int] | None]:
        """Return the brokers' release, such as ``3.6``, and in KRaft mode the features."""
        if not self.is_kraft:
            return _release({}, self.apis), None
        none: Answer = {}
        features = self.ask("features", lambda: Answer(self.client.describe_features()), none)
        return _release(features, self.apis), _finalized(features)

    def _metadata(self) -> Answer:
        """Return all that a Metadata response has: brokers that are alive, and topics.

        The library's own description of a cluster cannot read what brokers of 2.8 to 3.6 answer.
        """
        from kafka.protocol.metadata import MetadataRequest

        manager = self.client._manager
        request = MetadataRequest(topics=None, allow_auto_topic_creation=False)

        async def send() -> Any:  # noqa: ANN401
            return await manager.send(request)

        answer: Answer = manager.run(send).to_dict()
        for broker in answer["brokers"]:
            broker["broker_id"] = broker.pop("node_id")
        return answer

    def _add_elrs(self, partitions: Names, apis: Container[int]) -> None:
        if _DESCRIBE_TOPIC_PARTITIONS not in apis:
            return
        cursor = None
        while True:
            page = self.client.describe_topic_partitions([], _PAGE, cursor)
            for topic in page["topics"]:
                numbered = partitions.get(topic["name"], {})
                for partition in topic["partitions"]:
                    partition_before = numbered.get(partition["partition_index"])
                    if partition_before is not None:
                        numbered[partition_before.partition] = replace(
                            partition_before,
                            elr=tuple(partition["eligible_leader_replicas"] or ()),
                            last_known_elr=tuple(partition["last_known_elr"] or ()),
                        )
            if page["next_cursor"] is None or page["next_cursor"] == cursor:
                return
            cursor = page["next_cursor"]

    def _add_reassignments(self, partitions: Names) -> None:
        moving = self.client.list_partition_reassignments()
        for partition_key, state in moving.items():
            described = partitions.get(partition_key.topic, {}).get(partition_key.partition)
            if described is not None:
                partitions[partition_key.topic][partition_key.partition] = replace(
                    described,
                    adding=tuple(state.adding_replicas),
                    removing=tuple(state.removing_replicas),
                )
        for numbered in partitions.values():
            for number, partition in numbered.items():
                if partition.adding is None:
                    numbered[number] = replace(partition, adding=(), removing=())

    def _add_offsets(self, partitions: Names) -> None:
        from kafka import TopicPartition
        from kafka.admin import OffsetSpec

        led = [
            TopicPartition(topic, number)
            for topic, numbered in partitions.items()
            for number, partition in numbered.items()
            if partition.leader != NO_LEADER
        ]
        if not led:
            return
        starts = self.client.list_partition_offsets(dict.fromkeys(led, OffsetSpec.EARLIEST))
        ends = self.client.list_partition_offsets(dict.fromkeys(led, OffsetSpec.LATEST))
        for partition_key in led:
            described = partitions[partition_key.topic][partition_key.partition]
            end = ends[partition_key].offset
            partitions[partition_key.topic][partition_key.partition] = replace(
                described, log_start=starts[partition_key].offset, log_end=end, high_watermark=end
            )

    def _users(self) -> tuple[ScramUser, ...]:
        """Users with the iterations of their SCRAM credentials (2.7+): nobody is told the keys."""
        request = wire.DescribeUserScramCredentialsRequest(None)
        answer = self._answer(_DESCRIBE_USER_SCRAM_CREDENTIALS, request)
        return tuple(
            ScramUser(
                user.user if self.is_kraft else user_name(user.user),
                {
                    BY_NUMBER[credential.mechanism]: credential.iterations
                    for credential in user.credential_infos
                    if credential.mechanism in BY_NUMBER
                },
            )
            for user in (answer.results if answer else ())
        )

    def _quotas(self) -> tuple[ClientQuota, ...]:
        """The quotas of all entities (2.6+)."""
        answer = self._answer(_DESCRIBE_CLIENT_QUOTAS, wire.DescribeClientQuotasRequest())
        return tuple(
            ClientQuota(
                *entity_of((part.entity_type, part.entity_name) for part in entry.entity),
                {value.key: value.value for value in entry.values},
            )
            for entry in (answer.entries or () if answer else ())
        )

    def _answer(self, key: int, request: Message) -> Any:  # noqa: ANN401 - a message of any API
        """Return the answer of any broker; None if the cluster is too old for the API.

        Raises:
            NoAnswerError: it refuses.
        """
        connection = self.connection
        if connection.version_of(key) is None:
            return None
        answer = connection.decode(key, connection.ask(connection.brokers()[0], key, request))
        if answer.error_code:
            raise NoAnswerError(ERROR_NAMES.get(answer.error_code, str(answer.error_code)))
        return answer

    def _sizes(self) -> tuple[Sizes, Directories]:
        sizes: Sizes = {}
        directories: Directories = {}
        for answer in self.client.describe_log_dirs():
            directories[answer["broker"]] = tuple(
                sorted(directory["log_dir"] for directory in answer["log_dirs"])
            )
            for directory in answer["log_dirs"]:
                for topic in directory.get("topics") or ():
                    for partition in topic["partitions"]:
                        log = ReplicaLog(
                            answer["broker"],
                            size=partition["partition_size"],
                            lag=partition["offset_lag"],
                            log_dir=directory["log_dir"],
                            future=bool(partition["is_future_key"]),
                        )
                        key = topic["name"], partition["partition_index"]
                        sizes.setdefault(key, []).append(log)
        return sizes, directories

    def configs(self, brokers: Iterable[int], topics: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return configurations by ``topic:NAME``, ``broker:ID``, ``static:ID``, and ``all``."""
        from kafka.admin import ConfigResource, ConfigResourceType

        configs: dict[str, dict[str, str]] = {"all": {}}
        names = list(topics)
        for start in range(0, len(names), _RESOURCES_AT_ONCE):
            resources = [
                ConfigResource(ConfigResourceType.TOPIC, name)
                for name in names[start : start + _RESOURCES_AT_ONCE]
            ]
            answer = self.client.describe_configs(resources, config_filter="all")
            for name, values in answer.get("topic", {}).items():
                configs[f"topic:{name}"] = dict(_of_source(values, "DYNAMIC_TOPIC_CONFIG"))
        for number in brokers:
            resource = ConfigResource(ConfigResourceType.BROKER, str(number))
            answer = self.client.describe_configs([resource], config_filter="all")
            values = answer.get("broker", {}).get(str(number), {})
            configs[f"broker:{number}"] = dict(_of_source(values, "DYNAMIC_BROKER_CONFIG"))
            configs[f"static:{number}"] = dict(_of_source(values, "STATIC_BROKER_CONFIG"))
            configs["all"] |= dict(_of_source(values, "DYNAMIC_DEFAULT_BROKER_CONFIG"))
        return configs

    def _quorum(self) -> Quorum:
        answer = self.client.describe_metadata_quorum()
        (topic,) = answer["topics"]
        (partition,) = topic["partitions"]
        endpoints = {
            node["node_id"]: node["listeners"][0]
            for node in answer.get("nodes") or ()
            if node["listeners"]
        }
        leader = partition["leader_id"]
        return Quorum(
            leader=leader,
            epoch=partition["leader_epoch"],
            offset=partition["high_watermark"] - 1,
            controllers=tuple(
                Controller(
                    voter["replica_id"],
                    voter=True,
                    up=True if voter["replica_id"] == leader else None,
                    directory_id=uuid_text(voter.get("replica_directory_id")),
                    host=endpoints.get(voter["replica_id"], {}).get("host"),
                    port=endpoints.get(voter["replica_id"], {}).get("port"),
                )
                for voter in partition["current_voters"]
            ),
        )

    def _groups(self) -> Iterator[Group]:
        names = [group["group_id"] for group in self.client.list_groups()]
        if not names:
            return
        described = self.client.describe_groups(names)
        for name in names:
            group = described.get(name, {})
            offsets = self.client.list_group_offsets({name: None}).get(name, {})
            yield Group(
                name,
                state=group.get("group_state"),
                members=tuple(
                    Member(
                        member["member_id"],
                        member.get("client_id"),
                        (member.get("client_host") or "").removeprefix("/"),
                        member.get("group_instance_id"),
                    )
                    for member in group.get("members") or ()
                ),
                offsets=tuple(
                    CommittedOffset(
                        place.topic,
                        place.partition,
                        committed.offset,
                        leader_epoch=committed.leader_epoch
                        if committed.leader_epoch is not None and committed.leader_epoch >= 0
                        else None,
                    )
                    for place, committed in sorted(offsets.items())
                    if committed.offset >= 0
                ),
            )


def _partitions(topic: dict[str, Any]) -> dict[int, Partition]:
    return {
        partition["partition_index"]: Partition(
            partition["partition_index"],
            replicas=tuple(partition["replica_nodes"]),
            leader=partition["leader_id"],
            isr=tuple(partition["isr_nodes"]),
            leader_epoch=partition["leader_epoch"]
            if partition.get("leader_epoch", -1) >= 0
            else None,
        )
        for partition in topic["partitions"]
    }


def _brokers(
    cluster: dict[str, Any],
    partitions: Names,
    directories: Directories,
    configs: dict[str, dict[str, str]],
) -> Iterator[Broker]:
    alive = set()
    for broker in cluster["brokers"]:
        number = broker["broker_id"]
        alive.add(number)
        fenced = broker.get("is_fenced")
        yield Broker(
            number,
            rack=broker.get("rack") or NO_RACK,
            up=not fenced,
            fenced=fenced,
            host=broker.get("host"),
            port=broker.get("port"),
            listeners=listeners_of(configs.get(f"static:{number}", {})),
            log_dirs=directories.get(number) or None,
            configs=configs.get(f"broker:{number}"),
            static_configs=configs.get(f"static:{number}"),
        )
    assigned = {
        broker
        for numbered in partitions.values()
        for partition in numbered.values()
        for broker in partition.replicas
    }
    for number in sorted(assigned - alive):
        yield Broker(number, up=False)


def _logs(sizes: Sizes, topic: str, number: int) -> list[ReplicaLog]:
    return sorted(sizes.get((topic, number), ()), key=lambda log: log.broker)


def _of_source(values: dict[str, Any], source: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if value["config_source"] == source and value["value"] is not None:
            yield name, value["value"]


def _release(features: Answer, newest: dict[int, int]) -> str | None:
    """The release of the brokers, from the features or the APIs that they support.

    Patch releases do not differ in these, so the result is a line, such as ``3.6``.
    """
    supported = features.get(METADATA_VERSION, {}).get("supported")
    if supported is not None:
        return name_of(min(supported[1], len(LEVELS))).split("-")[0]
    alike = [
        release
        for release in RELEASES
        if all(
            newest.get(key) == versions[-1]
            for key, versions in versions_of(release).items()
            if key not in _OF_SASL
        )
    ]
    return alike[-1].rpartition(".")[0] if alike else None


def _finalized(features: dict[str, Any]) -> dict[str, int]:
    levels = {name: feature.get("finalized", (0, 0))[1] for name, feature in features.items()}
    return {name: level for name, level in levels.items() if level}


def uuid_text(uuid: bytes | str | UUID | None) -> str | None:
    """Return an id as Kafka writes it; None if there is none."""
    if not uuid:
        return None
    if isinstance(uuid, bytes):
        data = uuid
    else:
        data = (uuid if isinstance(uuid, UUID) else UUID(uuid)).bytes
    return urlsafe_b64encode(data).decode().rstrip("=") if any(data) else None
