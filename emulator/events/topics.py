"""Topics and configuration."""

from emulator.events import fields
from emulator.events.base import Event


class TopicCreated(Event, frozen=True, label="TOPIC"):
    """The topic's znode was written.

    ``assignment[i]`` is partition i's replica list, its preferred leader first.
    """

    topic: fields.Topic
    assignment: fields.Assignment
    config: fields.Config

    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.topic}-{number}" for number in range(len(self.assignment)))


class PartitionsAdded(Event, frozen=True, label="TOPIC"):
    """Partitions were added to a topic.

    ``assignment`` holds the new partitions' replica lists; ``first`` is the first one's number.
    """

    topic: fields.Topic
    first: fields.First
    assignment: fields.Assignment

    def names(self) -> tuple[str, ...]:
        """Return the names of the new partitions."""
        return tuple(
            f"{self.topic}-{number}"
            for number in range(self.first, self.first + len(self.assignment))
        )


class TopicDeleted(Event, frozen=True, label="TOPIC"):
    """The topic's znodes were deleted."""

    topic: fields.Topic


class ReplicasAssigned(Event, frozen=True, label="ASSIGN"):
    """A partition's assigned replicas changed (reassignment)."""

    tp: fields.Tp
    replicas: fields.Replicas
    adding: fields.Adding
    removing: fields.Removing


class ConfigChanged(Event, frozen=True, label="CONFIG"):
    """A configuration value was set; ``entity`` is ``topic``, ``broker`` or ``group``.

    An empty ``value`` means it was removed.
    """

    entity: fields.Entity
    name: fields.Name
    key: fields.Key
    value: fields.Value

    def names(self) -> tuple[str, ...]:
        """Return the name of what is configured."""
        return (f"{self.entity}.{self.name}",)
