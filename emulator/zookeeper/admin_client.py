"""How topics come into ZooKeeper, whoever creates them (``kafka.zk.AdminZkClient``).

Kafka's tools, the controller's broker on a client's request, and a broker that needs an internal
topic all do the same: they assign replicas to the brokers that live, and write the topic's
configuration, and then the topic. Source: ``AdminUtils`` 0.8.1 to 2.0, ``AdminZkClient`` up to 3.9.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from emulator.releases.profiles import Profile
from emulator.replication import assignment
from emulator.zookeeper import data as znodes
from emulator.zookeeper.data import TopicAssignment


class AdminZkClient(Struct, eq=False):
    """Assigns the replicas of topics, and writes the topics' znodes.

    ``write`` sets or creates a znode, ``racks`` returns the racks of the brokers that have one, and
    ``draw`` draws below a number.
    """

    profile: Profile
    racks: Callable[[], Mapping[int, str]]
    draw: Callable[[int], int]
    write: Callable[[str, str], object]

    def assign(self, live: Sequence[int], partitions: int, factor: int) -> list[list[int]]:
        """Assign the replicas of a new topic.

        Raises:
            AssignmentError: there is no assignment with that replication factor.
        """
        start, shift = self.draw(max(1, len(live))), self.draw(max(1, len(live)))
        return self._assign(live, partitions, factor, start, shift, 0)

    def assign_added(
        self, live: Sequence[int], partitions: int, first: Sequence[int], have: int
    ) -> list[list[int]]:
        """Assign the replicas of partitions added to ``have``; ``first`` are those of partition 0.

        It starts again where the topic started (``AdminUtils.addPartitions``).

        Raises:
            AssignmentError: there is no assignment with that replication factor.
        """
        start = assignment.start_of_added(sorted(live), first[0])
        return self._assign(live, partitions, len(first), start, start, have)

    def _assign(
        self, live: Sequence[int], partitions: int, factor: int, start: int, shift: int, have: int
    ) -> list[list[int]]:
        racks = {broker: rack for broker, rack in self.racks().items() if broker in live}
        if racks and self.profile.has("broker_rack"):
            return assignment.assign_rack_aware(racks, partitions, factor, start, shift, have)
        return assignment.assign_kafka(live, partitions, factor, start, shift, have)

    def create(self, topic: str, lists: list[list[int]], config: dict[str, str]) -> str:
        """Write a topic with the replicas ``lists``; return its id, empty before KIP-516."""
        data, topic_id = znodes.new_topic_json(self.profile, lists, self.draw)
        self.write(znodes.topic_config_path(topic), znodes.config_json(config))
        self.write(znodes.topic_path(topic), data)
        return topic_id

    def add_partitions(self, topic: str, assignment: TopicAssignment, new: list[list[int]]) -> None:
        """Write the replicas of partitions that are added to a topic."""
        added = dict(enumerate(new, start=len(assignment.replicas)))
        self.write(znodes.topic_path(topic), znodes.changed_topic_json(assignment, added))


def colliding(topic: str, others: Iterable[str]) -> str | None:
    """Another topic that differs only in '.' and '_', as in metrics (``Topic.hasCollision``)."""
    plain = topic.replace(".", "_")
    return next((other for other in others if other.replace(".", "_") == plain), None)
