"""Placement of new partitions' replicas: striped over racks, and over brokers in each rack.

Racks are used round-robin, as are the brokers within each; both start at a random position. Fenced
brokers come last and never lead. After as many partitions as there are unfenced brokers the order
is shuffled, so that assignments do not repeat. Source:
``org.apache.kafka.metadata.placement.StripedReplicaPlacer``.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from emulator.metadata_log.records import Replicas
from emulator.quorum_controller.result import ApiException

RandomBelow = Callable[[int], int]
"""Returns a random integer from 0 up to a limit, exclusive."""

_Item = TypeVar("_Item")


class UsableBroker(NamedTuple):
    """A broker on which replicas may be placed."""

    id: int
    rack: str | None
    fenced: bool


def place(
    brokers: Iterable[UsableBroker],
    partitions: int,
    replication_factor: int,
    random_below: RandomBelow,
) -> list[Replicas]:
    """Return the replicas of the given number of partitions, the preferred leader first.

    Raises:
        ApiException: INVALID_REPLICATION_FACTOR if there are too few brokers, or all are fenced.
    """
    racks = _RackList(list(brokers), random_below)
    if replication_factor <= 0:
        raise _refused(f"it must be 1 or more, not {replication_factor}")
    if racks.unfenced == 0:
        raise _refused("all brokers are fenced")
    if replication_factor > racks.brokers:
        raise _refused(
            f"{replication_factor} is more than the {racks.brokers} broker(s) that are registered"
        )
    return [racks.place(replication_factor) for _ in range(partitions)]


def _refused(reason: str) -> ApiException:
    return ApiException("INVALID_REPLICATION_FACTOR", f"Replication factor: {reason}.")


class _BrokerList:
    """Brokers used round-robin: each round starts at the next one and has each broker once."""

    def __init__(self, brokers: list[int], random_below: RandomBelow) -> None:
        self._brokers = sorted(brokers)
        self._offset = random_below(len(brokers)) if brokers else 0
        self._index = 0
        self._turn = 0

    def next(self, turn: int) -> int | None:
        """Return the next broker of a round, or None at its end."""
        count = len(self._brokers)
        if not count:
            return None
        if turn != self._turn:
            self._turn, self._index = turn, 0
            self._offset = (self._offset + 1) % count
        if self._index >= count:
            return None
        self._index += 1
        return self._brokers[(self._index - 1 + self._offset) % count]

    def shuffle(self, random_below: RandomBelow) -> None:
        _shuffle(self._brokers, random_below)


class _Rack:
    """The brokers of one rack."""

    def __init__(self, brokers: list[UsableBroker], random_below: RandomBelow) -> None:
        self.fenced = _BrokerList([broker.id for broker in brokers if broker.fenced], random_below)
        self.unfenced = _BrokerList(
            [broker.id for broker in brokers if not broker.fenced], random_below
        )

    def next(self, turn: int) -> int | None:
        """Return the next broker, unfenced ones first."""
        broker = self.unfenced.next(turn)
        return self.fenced.next(turn) if broker is None else broker

    def shuffle(self, random_below: RandomBelow) -> None:
        self.fenced.shuffle(random_below)
        self.unfenced.shuffle(random_below)


class _RackList:
    """The racks, used round-robin; brokers without a rack form one of them."""

    def __init__(self, brokers: list[UsableBroker], random_below: RandomBelow) -> None:
        self.brokers = len(brokers)
        self.unfenced = sum(not broker.fenced for broker in brokers)
        self._random_below = random_below
        in_rack: dict[str | None, list[UsableBroker]] = {}
        for broker in brokers:
            in_rack.setdefault(broker.rack, []).append(broker)
        self._racks = {name: _Rack(members, random_below) for name, members in in_rack.items()}
        self._names = sorted(in_rack, key=lambda name: (name is not None, name or ""))
        self._offset = random_below(len(self._names)) if self._names else 0
        self._turn = 0

    def place(self, replication_factor: int) -> Replicas:
        """Return the replicas of one partition, given enough brokers of which one is unfenced."""
        if self._turn == self.unfenced and self.unfenced > 1:
            self._shuffle()
            self._turn = 0
        count = len(self._names)
        self._offset %= count
        first_rack = self._offset
        while (leader := self._rack(first_rack).unfenced.next(self._turn)) is None:
            first_rack = (first_rack + 1) % count
        replicas = [leader]
        rack = self._offset
        passes_over: int | None = first_rack
        while len(replicas) < replication_factor:
            if rack == passes_over:
                # The leader's rack is already used in the first round.
                passes_over = None
            elif (broker := self._rack(rack).next(self._turn)) is not None:
                replicas.append(broker)
            rack = (rack + 1) % count
        self._turn += 1
        self._offset += 1
        return tuple(replicas)

    def _rack(self, index: int) -> _Rack:
        return self._racks[self._names[index]]

    def _shuffle(self) -> None:
        _shuffle(self._names, self._random_below)
        for rack in self._racks.values():
            rack.shuffle(self._random_below)


def _shuffle(items: list[_Item], random_below: RandomBelow) -> None:
    """Shuffle as ``java.util.Collections.shuffle`` does."""
    for size in range(len(items), 1, -1):
        other = random_below(size)
        items[size - 1], items[other] = items[other], items[size - 1]
