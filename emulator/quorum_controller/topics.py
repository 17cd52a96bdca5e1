"""Creation and deletion of topics and partitions.

Source: ``ReplicationControlManager`` (createTopics, deleteTopics, createPartitions), 3.9 to 4.1.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, field

from emulator.common.limits import CLUSTER_PARTITIONS_MAX
from emulator.common.names import is_topic_name, random_uuid
from emulator.metadata_log.records import (
    AnyRecord,
    PartitionRecord,
    RemoveTopicRecord,
    Replicas,
    TopicRecord,
)
from emulator.metadata_log.registrations import directories_of
from emulator.quorum_controller.configuration_control import alter_new_topic
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.replica_placer import RandomBelow, UsableBroker, place
from emulator.quorum_controller.result import (
    MAX_RECORDS_PER_BATCH,
    ApiError,
    ApiException,
    Result,
    take_room,
    user_operation,
)

DEFAULT: Final = -1
"""Use the controller's configured partition count or replication factor."""


class CreatableTopic(Struct, frozen=True):
    """A topic to create: by partition count and replication factor, or by replica lists."""

    name: str
    num_partitions: int = DEFAULT
    replication_factor: int = DEFAULT
    assignments: dict[int, Replicas] = field(default_factory=dict)
    configs: dict[str, str] = field(default_factory=dict)


class CreatedTopic(Struct, frozen=True):
    """The result of a topic's creation."""

    error: ApiError
    topic_id: str = ""
    num_partitions: int = DEFAULT
    replication_factor: int = DEFAULT


class CreatePartitionsTopic(Struct, frozen=True):
    """A topic's new partition count ``count``, with replicas; None: placed by the controller."""

    name: str
    count: int
    assignments: list[Replicas] | None = None


def create_topics(
    context: Context,
    topics: Sequence[CreatableTopic],
    random_below: RandomBelow,
    *,
    validate_only: bool = False,
) -> Result[dict[str, CreatedTopic]]:
    """Create topics individually; the records of all of them are one atomic batch.

    Raises:
        ApiException: POLICY_VIOLATION for more than 10,000 partitions, or records, in one request;
            INVALID_PARTITIONS if the cluster would have more than are emulated.
    """
    count = sum(_partitions_wanted(context, topic) for topic in topics)
    if count > MAX_RECORDS_PER_BATCH:
        raise ApiException(
            "POLICY_VIOLATION",
            f"{count} partitions in one request are too many: at most {MAX_RECORDS_PER_BATCH}.",
        )
    _check_room(context, count)
    records: list[AnyRecord] = []
    response: dict[str, CreatedTopic] = {}
    for topic in topics:
        try:
            created, result = _create_topic(context, topic, random_below)
        except ApiException as refused:
            response[topic.name] = CreatedTopic(refused.as_error())
        else:
            records += created
            response[topic.name] = result
    return user_operation([] if validate_only else records, response)


def delete_topics(context: Context, names: Iterable[str]) -> Result[dict[str, ApiError]]:
    """Delete topics by name. The brokers with replicas need not be alive.

    A topic that is named twice is not deleted (``ControllerApis.deleteTopics``).
    """
    records: list[AnyRecord] = []
    counts = Counter(names)
    response = {
        name: ApiError("INVALID_REQUEST", "Duplicate topic name.")
        for name, count in counts.items()
        if count > 1
    }
    for name, count in counts.items():
        if count > 1:
            continue
        try:
            take_room(records, [RemoveTopicRecord(context.topic(name).id)])
        except ApiException as refused:
            response[name] = refused.as_error()
        else:
            response[name] = ApiError()
    return Result(records, response, is_atomic=True)


def create_partitions(
    context: Context, topics: Iterable[CreatePartitionsTopic], random_below: RandomBelow
) -> Result[dict[str, ApiError]]:
    """Add partitions to topics; the records of all topics are one atomic batch.

    No more than 10,000 are created, and the topic's error does not tell that some were.
    """
    records: list[AnyRecord] = []
    response = {}
    partitions = 0
    for topic in topics:
        try:
            partitions += max(0, topic.count)
            _check_room(context, partitions)
            room = MAX_RECORDS_PER_BATCH - len(records)
            take_room(records, _create_partitions(context, topic, room, random_below))
        except ApiException as refused:
            response[topic.name] = refused.as_error()
        else:
            response[topic.name] = ApiError()
    return Result(records, response, is_atomic=True)


def check_manual_assignment(
    context: Context, replicas: Replicas, replication_factor: int | None
) -> None:
    """Validate a manual replica assignment.

    Raises:
        ApiException: INVALID_REPLICA_ASSIGNMENT if it is empty, names a broker twice or one that is
            not registered, or does not have ``replication_factor`` replicas (None: any number).
    """
    if not replicas:
        raise _bad_assignment("a partition needs a replica, and the list is empty")
    for broker in sorted(replicas):
        if broker not in context.image.brokers:
            registered = ", ".join(str(id_) for id_ in sorted(context.image.brokers))
            raise _bad_assignment(f"broker {broker} is not registered; registered: {registered}")
        if replicas.count(broker) > 1:
            raise _bad_assignment(f"broker {broker} stands in it more than once")
    if replication_factor is not None and len(replicas) != replication_factor:
        raise _bad_assignment(
            f"{len(replicas)} replica(s), but other partitions have {replication_factor}"
        )


def _check_room(context: Context, count: int) -> None:
    """Refuse partitions beyond those that a cluster may have here; Kafka has no limit."""
    existing = sum(len(topic.partitions) for topic in context.image.topics.values())
    maximum = CLUSTER_PARTITIONS_MAX - existing
    if count > maximum:
        raise ApiException(
            "INVALID_PARTITIONS",
            f"{count} partitions in one request are too many: at most {maximum} beside {existing}.",
        )


def _partitions_wanted(context: Context, topic: CreatableTopic) -> int:
    if topic.assignments:
        return len(topic.assignments)
    default = context.settings.num_partitions
    return default if topic.num_partitions == DEFAULT else max(0, topic.num_partitions)


def _create_topic(
    context: Context, topic: CreatableTopic, random_below: RandomBelow
) -> tuple[list[AnyRecord], CreatedTopic]:
    _check_name(context, topic.name)
    configs = alter_new_topic(context, topic.name, topic.configs)
    if topic.assignments:
        assignments = _manual(context, topic)
    else:
        assignments = _placed(context, topic, random_below)
    isrs = _active_replicas(context, assignments, manual=bool(topic.assignments))
    topic_id = random_uuid(random_below)
    partitions = [
        _partition(context, number, topic_id, replicas, isr)
        for number, (replicas, isr) in enumerate(zip(assignments, isrs, strict=True))
    ]
    created = CreatedTopic(ApiError(), topic_id, len(partitions), len(assignments[0]))
    return [TopicRecord(topic.name, topic_id), *configs, *partitions], created


def _partition(
    context: Context, number: int, topic_id: str, replicas: Replicas, isr: Replicas
) -> PartitionRecord:
    directories = directories_of(replicas, context.image.brokers)
    return PartitionRecord(number, topic_id, replicas, isr, leader=isr[0], directories=directories)


def _check_name(context: Context, name: str) -> None:
    if not is_topic_name(name):
        raise ApiException(
            "INVALID_TOPIC_EXCEPTION",
            f"{name!r} cannot be a topic's name: 1 to 249 letters, digits, '.', '_' and '-'.",
        )
    if name in context.image.topic_ids:
        raise ApiException("TOPIC_ALREADY_EXISTS", f"There is a topic {name!r} already.")
    if "." in name or "_" in name:
        # Metrics replace both with '_', so the two topics could not be told apart.
        for other in context.image.topic_ids:
            if other.replace(".", "_") == name.replace(".", "_"):
                raise ApiException(
                    "INVALID_TOPIC_EXCEPTION", f"{name!r} collides with the topic {other!r}."
                )


def _manual(context: Context, topic: CreatableTopic) -> list[Replicas]:
    if topic.replication_factor != DEFAULT or topic.num_partitions != DEFAULT:
        raise ApiException(
            "INVALID_REQUEST",
            "Give either the replicas of each partition, or how many of both there are to be.",
        )
    replication_factor = None
    for replicas in topic.assignments.values():
        check_manual_assignment(context, replicas, replication_factor)
        replication_factor = len(replicas)
    numbers = sorted(topic.assignments)
    if numbers != list(range(len(numbers))):
        raise _bad_assignment(f"partitions are numbered from 0 on, not {numbers}")
    return [topic.assignments[number] for number in numbers]


def _placed(context: Context, topic: CreatableTopic, random_below: RandomBelow) -> list[Replicas]:
    settings = context.settings
    factor, partitions = topic.replication_factor, topic.num_partitions
    if factor < DEFAULT or factor == 0:
        raise ApiException(
            "INVALID_REPLICATION_FACTOR",
            f"Replication factor must be 1 or more, or -1 for the default, not {factor}.",
        )
    if partitions < DEFAULT or partitions == 0:
        raise ApiException(
            "INVALID_PARTITIONS",
            f"Number of partitions must be 1 or more, or -1 for the default, not {partitions}.",
        )
    return place(
        usable_brokers(context),
        settings.num_partitions if partitions == DEFAULT else partitions,
        settings.default_replication_factor if factor == DEFAULT else factor,
        random_below,
    )


def usable_brokers(context: Context) -> list[UsableBroker]:
    """The brokers on which replicas may be placed: those that are not shutting down."""
    return [
        UsableBroker(heartbeat.id, context.image.brokers[heartbeat.id].rack, heartbeat.fenced)
        for _, heartbeat in sorted(context.state.heartbeats.brokers.items())
        if not heartbeat.is_shutting_down and heartbeat.id in context.image.brokers
    ]


def _create_partitions(
    context: Context, addition: CreatePartitionsTopic, room: int, random_below: RandomBelow
) -> list[AnyRecord]:
    """Return the records of the partitions: one more than there is room for if there are more."""
    topic = context.topic(addition.name)
    existing = len(topic.partitions)
    additional = addition.count - existing
    if additional <= 0:
        raise ApiException(
            "INVALID_PARTITIONS",
            f"Topic {addition.name} has {existing} partition(s); the number can only grow.",
        )
    replication_factor = len(topic.partitions[0].replicas)
    if addition.assignments is None:
        count = min(additional, room + 1)
        assignments = place(usable_brokers(context), count, replication_factor, random_below)
    else:
        if len(addition.assignments) != additional:
            raise _bad_assignment(
                f"{additional} partition(s) are to be added, not {len(addition.assignments)}"
            )
        for replicas in addition.assignments:
            check_manual_assignment(context, replicas, replication_factor)
        assignments = addition.assignments
    isrs = _active_replicas(context, assignments, manual=addition.assignments is not None)
    return [
        _partition(context, existing + index, topic.id, replicas, isrs[index])
        for index, replicas in enumerate(assignments)
    ]


def _active_replicas(
    context: Context, assignments: Sequence[Replicas], *, manual: bool
) -> list[Replicas]:
    """Return the first ISR of each new partition: its active replicas."""
    active = context.active_brokers()
    isrs = []
    for number, replicas in enumerate(assignments):
        isr = tuple(broker for broker in replicas if broker in active)
        if not isr:
            error = "INVALID_REPLICA_ASSIGNMENT" if manual else "INVALID_REPLICATION_FACTOR"
            raise ApiException(
                error,
                f"Partition {number} has no replica that is unfenced and not shutting down:"
                f" {list(replicas)}.",
            )
        isrs.append(isr)
    return isrs


def _bad_assignment(reason: str) -> ApiException:
    return ApiException("INVALID_REPLICA_ASSIGNMENT", f"Replica assignment: {reason}.")
