"""The assignment of replicas to brokers.

Every function returns one replica list per partition, its preferred leader first. There are two
policies: the simple rule of ``seed``, and Kafka's own algorithm, which shifts the followers after
each round over the brokers, so that a dead broker's load spreads over all others. The caller
provides the random numbers (Kafka draws ``start`` and ``shift``). Source:
``kafka.admin.AdminUtils`` 0.8.2 to 3.9.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence


class AssignmentError(ValueError):
    """No assignment exists for the given arguments.

    ``error_name`` is Kafka's error, ``message`` a sentence for users.
    """

    def __init__(self, error_name: str, message: str) -> None:
        super().__init__(message)
        self.error_name = error_name
        self.message = message


def assign_seed(
    brokers: Sequence[int], partitions: int, replication_factor: int, first_partition: int = 0
) -> list[list[int]]:
    """Put replica j of partition i on number (i + j) mod n of the sorted brokers (``seed``)."""
    _check(brokers, partitions, replication_factor)
    ids = sorted(brokers)
    return [
        [ids[(partition + replica) % len(ids)] for replica in range(replication_factor)]
        for partition in range(first_partition, first_partition + partitions)
    ]


def assign_kafka(
    brokers: Sequence[int],
    partitions: int,
    replication_factor: int,
    start: int,
    shift: int,
    first_partition: int = 0,
) -> list[list[int]]:
    """Assign as Kafka does without racks (``assignReplicasToBrokersRackUnaware``).

    ``start`` is the index of partition 0's first replica, ``shift`` the distance of its second
    replica from the next broker. Both are drawn from 0 .. n - 1 for a new topic, and both are
    :func:`start_of_added` when partitions are added.
    """
    _check(brokers, partitions, replication_factor)
    ids = sorted(brokers)
    assignment = []
    for partition in range(first_partition, first_partition + partitions):
        if partition > 0 and partition % len(ids) == 0:
            shift += 1
        first = (partition + start) % len(ids)
        followers = [
            ids[_follower_index(first, shift, replica, len(ids))]
            for replica in range(replication_factor - 1)
        ]
        assignment.append([ids[first], *followers])
    return assignment


def assign_rack_aware(
    racks: Mapping[int, str],
    partitions: int,
    replication_factor: int,
    start: int,
    shift: int,
    first_partition: int = 0,
) -> list[list[int]]:
    """Assign as Kafka does when every broker has a rack: all racks are used before any is reused.

    ``racks`` maps brokers to racks; ``start`` and ``shift`` are as in :func:`assign_kafka`, applied
    to the brokers as ordered by :func:`interleave_racks`.
    """
    _check(tuple(racks), partitions, replication_factor)
    ids = interleave_racks(racks)
    rack_count = len(set(racks.values()))
    assignment = []
    for partition in range(first_partition, first_partition + partitions):
        if partition > 0 and partition % len(ids) == 0:
            shift += 1
        first = (partition + start) % len(ids)
        assignment.append(
            _replicas_across_racks(racks, ids, first, shift * rack_count, replication_factor)
        )
    return assignment


def start_of_added(brokers: Sequence[int], preferred_leader: int) -> int:
    """Return the ``start`` (and ``shift``) for partitions added to a topic.

    It is the index of the first broker whose id is not less than the preferred leader of the
    topic's partition 0, or 0 if there is none (``AdminUtils.addPartitions``).
    """
    index = bisect_left(sorted(brokers), preferred_leader)
    return index if index < len(brokers) else 0


def interleave_racks(racks: Mapping[int, str]) -> list[int]:
    """Order brokers so that neighbours differ in rack: round-robin over the racks by name."""
    queues = {
        rack: sorted(broker for broker in racks if racks[broker] == rack)
        for rack in sorted(set(racks.values()))
    }
    turns = max((len(queue) for queue in queues.values()), default=0)
    return [queue[turn] for turn in range(turns) for queue in queues.values() if turn < len(queue)]


def _replicas_across_racks(
    racks: Mapping[int, str], ids: Sequence[int], first: int, shift: int, replication_factor: int
) -> list[int]:
    """Choose one partition's replicas, skipping brokers in racks that are already used."""
    rack_count = len(set(racks.values()))
    replicas = [ids[first]]
    used_racks = {racks[ids[first]]}
    attempt = 0
    while len(replicas) < replication_factor:
        broker = ids[_follower_index(first, shift, attempt, len(ids))]
        attempt += 1
        rack_is_free = racks[broker] not in used_racks or len(used_racks) == rack_count
        if rack_is_free and broker not in replicas:
            replicas.append(broker)
            used_racks.add(racks[broker])
    return replicas


def _follower_index(first: int, shift: int, replica: int, brokers: int) -> int:
    """Return the index of a follower: 1 to n - 1 positions after the first replica."""
    return (first + 1 + (shift + replica) % (brokers - 1)) % brokers


def _check(brokers: Sequence[int], partitions: int, replication_factor: int) -> None:
    if partitions <= 0:
        raise AssignmentError(
            "INVALID_PARTITIONS", f"Number of partitions must be 1 or more, not {partitions}."
        )
    if replication_factor <= 0:
        raise AssignmentError(
            "INVALID_REPLICATION_FACTOR",
            f"Replication factor must be 1 or more, not {replication_factor}.",
        )
    if replication_factor > len(brokers):
        raise AssignmentError(
            "INVALID_REPLICATION_FACTOR",
            f"Replication factor {replication_factor} is larger than the number of available"
            f" brokers, {len(brokers)}.",
        )
