"""How far the clocks of nodes are apart, from what two nodes saw at about the same time.

A change of leader is seen by the controller, the leader and the followers within milliseconds, and
an election of the quorum by its voters. For each such occasion the times of two nodes are compared.
A node that was down, frozen or cut off saw some of them late, so the differences of the occasions
that were seen without delay lie close together, and the others are scattered: what the clocks
differ by is the middle of the shortest interval that has a third of them. Of occasions within
seconds the one that was seen with the least difference counts, because what delays one, delays all.
"""

from collections import defaultdict
from typing import Final

from msgspec import Struct

from sessions.postmortem.text_logs.facts import (
    ControllerElected,
    FollowerStarted,
    LeaderAndIsrReceived,
    LeaderStarted,
    PartitionChanged,
    QuorumRole,
)
from sessions.postmortem.text_logs.log_line import LogLine

OCCASIONS_MIN: Final = 3
"""With fewer, nothing is said about two clocks."""
SIGNIFICANT_US: Final = 1_000_000
"""Differences below this are within what an occasion may take to be seen."""
MOMENT_US: Final = 3_000_000
"""Occasions within so much time are one."""
_OCCASIONS_MAX: Final = 10_000
"""The first ones suffice, and memory stays constant."""

Occasion = tuple[str, int]


class ClockDifference(Struct, frozen=True):
    """How far a node's clock is ahead of the clock of another node, in microseconds.

    ``spread_us`` is half the interval from which it was taken.
    """

    node: int
    reference: int
    ahead_us: int
    spread_us: int
    occasions: int

    @property
    def is_significant(self) -> bool:
        """Whether the clocks differ by more than the occasions scatter."""
        return abs(self.ahead_us) > max(SIGNIFICANT_US, 3 * self.spread_us)

    @property
    def sentence(self) -> str:
        seconds, spread = abs(self.ahead_us) / 1e6, self.spread_us / 1e6
        direction = "ahead of" if self.ahead_us > 0 else "behind"
        return (
            f"the clock of node {self.node} is {seconds:.3f} s {direction} that of node "
            f"{self.reference} (from {self.occasions} events which both saw, "
            f"give or take {spread:.3f} s)"
        )


class ClockDifferences:
    """Collects who saw what when."""

    def __init__(self) -> None:
        self._seen: dict[Occasion, dict[int, int]] = {}

    def add(self, line: LogLine) -> None:
        """Remember a line that another node may have seen, too."""
        occasion = _occasion(line)
        if occasion is None or line.node is None:
            return
        if occasion not in self._seen and len(self._seen) >= _OCCASIONS_MAX:
            return
        self._seen.setdefault(occasion, {}).setdefault(line.node, line.time_us)

    def estimate(self) -> tuple[ClockDifference, ...]:
        """Return each node's difference to the node that shares most occasions with others."""
        shared: defaultdict[int, int] = defaultdict(int)
        for times in self._seen.values():
            for node in times:
                shared[node] += len(times) - 1
        if not shared:
            return ()
        reference = max(sorted(shared), key=lambda node: shared[node])
        differences: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for times in self._seen.values():
            at_us = times.get(reference)
            if at_us is not None:
                for node, time_us in times.items():
                    if node != reference:
                        differences[node].append((at_us, time_us - at_us))
        return tuple(
            _difference(node, reference, moments)
            for node, occasions in sorted(differences.items())
            if len(moments := _moments(occasions)) >= OCCASIONS_MIN
        )


def _moments(occasions: list[tuple[int, int]]) -> list[int]:
    """The smallest difference of each moment, of occasions with their times."""
    moments: list[int] = []
    last_us = None
    for at_us, difference in sorted(occasions):
        if last_us is not None and at_us - last_us < MOMENT_US:
            moments[-1] = min(moments[-1], difference, key=abs)
        else:
            moments.append(difference)
        last_us = at_us
    return moments


def _difference(node: int, reference: int, values: list[int]) -> ClockDifference:
    values.sort()
    count = max(OCCASIONS_MIN, len(values) // 3)
    intervals = zip(values, values[count - 1 :], strict=False)
    low, high = min(intervals, key=lambda interval: interval[1] - interval[0])
    return ClockDifference(node, reference, (low + high) // 2, (high - low) // 2, len(values))


def _occasion(line: LogLine) -> Occasion | None:
    match line.fact:
        case LeaderStarted(tp=tp, epoch=int(epoch)) | FollowerStarted(tp=tp, epoch=int(epoch)):
            return tp, epoch
        case LeaderAndIsrReceived(tp=tp, epoch=epoch):
            return tp, epoch
        case PartitionChanged(tp=tp, epoch=int(epoch), leader=int()):
            return tp, epoch
        case QuorumRole(role="Leader" | "Follower", epoch=epoch):
            return "the quorum", epoch
        case ControllerElected(epoch=int(epoch)):
            return "the controller", epoch
        case _:
            return None
