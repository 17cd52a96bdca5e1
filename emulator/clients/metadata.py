"""A producer's metadata: partition leaders, and the partition of each record.

Metadata of a topic is used until an error invalidates it, or for five minutes
(metadata.max.age.ms).
"""

from emulator.clients import partitioners as partitioner
from emulator.clients.context import ClientContext
from emulator.clients.state import Producer
from emulator.inputs.statements import Produce

Leaders = dict[int, int]
"""The leader of each partition of a topic by number; -1: none."""


class ProducerMetadata:
    """A producer's metadata and its partitioner."""

    def __init__(self, context: ClientContext) -> None:
        self.kernel = context.kernel
        self.defaults = context.producer_defaults
        profile = context.profile
        self.built_in = profile.has("built_in_partitioner")
        self.sticky = profile.has("sticky_partitioner")
        self.begins_at_zero = context.in_kraft_mode

    # ---- leaders

    def leaders_of(self, producer: Producer, topic: str) -> Leaders | None:
        """The leaders known to the producer; None if it has to request them."""
        leaders = producer.leaders.get(topic)
        if leaders is None:
            return None
        age_us = self.kernel.state.now_us - producer.learned_us.get(topic, 0)
        return leaders if age_us < self.defaults.metadata_max_age_us else None

    def learn(self, producer: Producer, topic: str, leaders: Leaders) -> None:
        """Store a broker's metadata of a topic."""
        self.forget(producer, topic)
        producer.leaders[topic] = dict(leaders)
        producer.learned_us[topic] = self.kernel.now

    def forget(self, producer: Producer, topic: str) -> None:
        """Request the topic's metadata again before its next batch."""
        producer.leaders.pop(topic, None)
        producer.available.pop(topic, None)

    def forget_broker(self, producer: Producer, broker: int) -> None:
        """Request metadata again for topics with a leader on a broker whose connection closed."""
        for topic in [t for t, led in producer.leaders.items() if broker in led.values()]:
            self.forget(producer, topic)

    # ---- partitions

    def partition(self, producer: Producer, statement: Produce, leaders: Leaders) -> int:
        """The partition of the producer's next batch."""
        if statement.partition is not None:
            return statement.partition
        if statement.key is not None and statement.partitioner != "roundrobin":
            return partitioner.partition_for_key(statement.key.encode(), max(1, len(leaders)))
        if statement.partitioner == "roundrobin":
            return self._next_in_turn(producer, statement.topic, leaders, start=0)
        if statement.partitioner == "default" and self.built_in:
            return self._stay_or_switch(producer, statement.topic, leaders)
        if statement.partitioner == "sticky" or self.sticky:
            return self._next_sticky(producer, statement.topic, leaders)
        start = 0 if statement.topic in producer.round_robin else self.kernel.random_below(1 << 30)
        return self._next_in_turn(producer, statement.topic, leaders, start=start)

    def _next_in_turn(self, producer: Producer, topic: str, leaders: Leaders, *, start: int) -> int:
        turn = producer.round_robin.get(topic, start)
        producer.round_robin[topic] = turn + 1
        return partitioner.round_robin(turn, *_choices(producer, topic, leaders))

    def _next_sticky(self, producer: Producer, topic: str, leaders: Leaders) -> int:
        previous = producer.sticky.get(topic)
        chosen = partitioner.sticky(
            previous, *_choices(producer, topic, leaders), self.kernel.random()
        )
        producer.sticky[topic] = chosen
        return chosen

    def _stay_or_switch(self, producer: Producer, topic: str, leaders: Leaders) -> int:
        chosen = producer.sticky.get(topic)
        given = producer.sticky_bytes.get(topic, 0)
        if chosen is None and self.begins_at_zero:
            chosen = producer.sticky[topic] = 0
        elif chosen is None or given >= self.defaults.batch_size_bytes:
            chosen = partitioner.uniform(*_choices(producer, topic, leaders), self.kernel.random())
            producer.sticky[topic] = chosen
            producer.sticky_bytes[topic] = 0
        return chosen

    def gave(self, producer: Producer, statement: Produce, size_bytes: int) -> None:
        """Count the bytes sent to the built-in partitioner's current partition."""
        chose = statement.partition is None and statement.key is None
        if self.built_in and chose and statement.partitioner == "default":
            given = producer.sticky_bytes.get(statement.topic, 0)
            producer.sticky_bytes[statement.topic] = given + size_bytes


def _choices(producer: Producer, topic: str, leaders: Leaders) -> tuple[list[int], int]:
    """The partitions with a leader, and the total number of partitions."""
    count = max(1, len(leaders))
    if producer.leaders.get(topic) is not leaders:
        return _available(leaders), count
    available = producer.available.get(topic)
    if available is None:
        available = producer.available[topic] = _available(leaders)
    return available, count


def _available(leaders: Leaders) -> list[int]:
    return [p for p, leader in sorted(leaders.items()) if leader >= 0]
