"""The published TLA+ specifications of five generations of the protocol.

Source: hachikuji/kafka-specification (KafkaReplication and its modules
KafkaTruncateToHighWatermark, Kip101, Kip279, Kip320FirstTry and Kip320). They serve to validate the
search against TLC: equal constants yield the same number of states, the same depth and equally
short counterexamples. They therefore follow the specifications even where Kafka differs: in Kip101
a follower whose log is shorter than the offset returned by the leader is stuck, and an ISR can
become empty.

LeaderAndIsr requests are never consumed: each may be lost, repeated or reordered without a separate
action.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from typing import Any, Final, NamedTuple

from msgspec import Struct

from emulator.explorer.model import Action, Model, Property, Rule, Step, Symmetry, Value

NOBODY: Final = -1


class Record(NamedTuple):
    """A record in a log: its number, and the epoch of the leader that wrote it."""

    id: int
    epoch: int


class Replica(NamedTuple):
    """A replica: its log, its high watermark, and the last LeaderAndIsr request it handled.

    ``isr`` is a bit set, like all ISRs here.
    """

    log: tuple[Record, ...] = ()
    hw: int = 0
    epoch: int = -1
    leader: int = NOBODY
    isr: int = 0


Request = tuple[int, int]
"""The leader and the ISR in a LeaderAndIsr request."""


Requests = tuple[Request, ...]
"""Every LeaderAndIsr request ever sent, by its epoch."""


class Quorum(NamedTuple):
    """The epoch and leader chosen by the controller, and the true ISR."""

    epoch: int
    leader: int
    isr: int


Outcomes = Iterator[Step | Rule]


class Constants(Struct, frozen=True):
    """The bounds of a specification."""

    replicas: int
    log_size: int
    max_records: int
    max_leader_epoch: int


class Generation(Struct, frozen=True):
    """A generation of the protocol: its truncation of logs, and its checks.

    ``truncation`` returns the offset to which a new follower truncates, given the leader's log and
    its own replica; None for a generation that truncates on fetch. ``reaches`` tells whether a
    follower has the leader's records up to an offset. ``fences``: epochs are compared everywhere.
    """

    name: str
    truncation: Callable[[tuple[Record, ...], Replica], int] | None
    reaches: Callable[[int, Replica, Replica, int], bool]
    fences: bool = False
    truncates_on_fetch: bool = False
    holds: tuple[str, ...] = ()

    @property
    def compares_epochs(self) -> bool:
        """Whether followers are compared by record epochs or leader epochs."""
        return self.fences or self.truncates_on_fetch


def _to_high_watermark(_leader: tuple[Record, ...], follower: Replica) -> int:
    return follower.hw


def _to_end_of_epoch(leader: tuple[Record, ...], follower: Replica) -> int:
    """The end of the follower's latest epoch in the leader's log; its HW if unknown."""
    if not follower.log:
        return 0
    latest = follower.log[-1].epoch
    if not leader:
        return follower.hw
    if leader[-1].epoch == latest:
        return len(leader)
    for offset, record in enumerate(leader):
        if record.epoch > latest:
            return offset
    return follower.hw


def _to_matching_offset(leader: tuple[Record, ...], follower: Replica) -> int:
    """The offset after the last record that both have at the same offset."""
    offset = min(len(leader), len(follower.log))
    while offset and leader[offset - 1] != follower.log[offset - 1]:
        offset -= 1
    return offset


def _by_log_end(leader: int, _led: Replica, follower: Replica, offset: int) -> bool:
    return follower.leader == leader and len(follower.log) >= offset


def _by_epoch_of_record(leader: int, led: Replica, follower: Replica, offset: int) -> bool:
    if follower.leader != leader:
        return False
    if offset == 0:
        return True
    log, own = led.log, follower.log
    return len(log) >= offset <= len(own) and log[offset - 1].epoch == own[offset - 1].epoch


def _by_leader_epoch(leader: int, led: Replica, follower: Replica, offset: int) -> bool:
    return follower.leader == leader and follower.epoch == led.epoch and len(follower.log) >= offset


WEAK_ISR: Final = "WeakIsr"
STRONG_ISR: Final = "StrongIsr"
COMMITTED_AGREEMENT: Final = "CommittedAgreement"
LOG_MATCHING: Final = "LogMatching"
HW_BELOW_LEO: Final = "HwBelowLeo"
PROPERTIES: Final = (WEAK_ISR, STRONG_ISR, COMMITTED_AGREEMENT, LOG_MATCHING, HW_BELOW_LEO)

GENERATIONS: Final = {
    generation.name: generation
    for generation in (
        Generation(
            "TruncateToHW",
            _to_high_watermark,
            _by_log_end,
            holds=(LOG_MATCHING, HW_BELOW_LEO),
        ),
        Generation("Kip101", _to_end_of_epoch, _by_log_end, holds=(LOG_MATCHING, HW_BELOW_LEO)),
        Generation("Kip279", _to_matching_offset, _by_log_end, holds=(LOG_MATCHING, HW_BELOW_LEO)),
        Generation(
            "Kip320FirstTry",
            None,
            _by_epoch_of_record,
            truncates_on_fetch=True,
            holds=(COMMITTED_AGREEMENT, LOG_MATCHING, HW_BELOW_LEO),
        ),
        Generation("Kip320", _to_matching_offset, _by_leader_epoch, fences=True, holds=PROPERTIES),
    )
}
"""The generations by module name."""


def specification(generation: Generation, constants: Constants, *, symmetric: bool) -> Model:
    """Return the model of a generation.

    ``symmetric``: states that differ only in replica names are merged.
    """
    replicas = range(constants.replicas)
    initial: list[Value] = [Replica() for _ in replicas]
    initial += [(), Quorum(-1, NOBODY, (1 << constants.replicas) - 1), 0]
    return Model(
        (*(f"replica {replica}" for replica in replicas), "requests", "quorum", "next record"),
        tuple(initial),
        _Actions(generation, constants).rules(),
        _properties(replicas),
        symmetry=_symmetry(replicas) if symmetric else None,
        kinds=(Record, Replica, Quorum),
    )


class _Actions:
    """The actions of the controller, a replica, and a leader with its followers.

    The parts are the replicas, the requests, the quorum and the number of the next record.
    """

    def __init__(self, generation: Generation, constants: Constants) -> None:
        self.generation = generation
        self.constants = constants
        self.replicas = range(constants.replicas)
        self.requests = constants.replicas
        self.quorum = constants.replicas + 1
        self.next_record = constants.replicas + 2

    def rules(self) -> list[Rule]:
        rules = [Rule((self.requests, self.quorum), self.control)]
        for replica in self.replicas:
            reads = (self.requests, self.quorum, replica)
            rules.append(Rule((self.requests, replica), self.take_request, (replica,)))
            rules.append(Rule(reads, self.lead, (replica,)))
        return rules

    # ---- the controller

    def control(self, requests: Requests, quorum: Quorum) -> Outcomes:
        """ControllerShrinkIsr and ControllerElectLeader, each with a request for the next epoch."""
        if quorum.epoch == self.constants.max_leader_epoch:
            return
        for replica in self.replicas:
            bit = 1 << replica
            leads = quorum.leader == replica
            if not leads and not quorum.isr & bit:
                continue
            # The last member of the ISR stays in it; the partition then has no leader.
            isr = quorum.isr if leads and quorum.isr == bit else quorum.isr & ~bit
            leader = NOBODY if leads else quorum.leader
            yield self._decide("ControllerShrinkIsr", replica, requests, quorum, (leader, isr))
            if not leads:
                request = (replica, quorum.isr)
                yield self._decide("ControllerElectLeader", replica, requests, quorum, request)

    def _decide(
        self, name: str, replica: int, requests: Requests, quorum: Quorum, request: Request
    ) -> Step:
        changes: dict[int, tuple[Value, Value]] = {
            self.requests: (requests, (*requests, request)),
            self.quorum: (quorum, Quorum(quorum.epoch + 1, *request)),
        }
        return Step(Action(name, (("replica", replica),)), changes)

    # ---- LeaderAndIsr requests

    def take_request(self, replica: int, requests: Requests, state: Replica) -> Outcomes:
        """BecomeLeader and BecomeFollower, on any request with a newer epoch."""
        for epoch in range(state.epoch + 1, len(requests)):
            leader, isr = requests[epoch]
            after = Replica(state.log, state.hw, epoch, leader, isr)
            if leader == replica:
                details = (("replica", replica), ("epoch", epoch))
                yield Step(Action("BecomeLeader", details), {replica: (state, after)})
            elif leader != NOBODY and self.generation.truncation is None:
                yield _follow(replica, state, after)
            elif leader != NOBODY and not self.generation.fences:
                yield Rule((leader,), self._truncate, (replica, state, after))

    def _truncate(self, replica: int, state: Replica, after: Replica, led: Replica) -> Outcomes:
        assert self.generation.truncation is not None
        offset = self.generation.truncation(led.log, state)
        if offset <= len(state.log):
            yield _follow(replica, state, _truncated(after, offset))

    # ---- leaders and their followers

    def lead(self, leader: int, requests: Requests, quorum: Quorum, led: Replica) -> Outcomes:
        """The interactions of a replica that considers itself the leader with the others."""
        if led.leader != leader:
            return
        if len(led.log) < self.constants.log_size:
            yield Rule((self.next_record,), self._write, (leader, led))
        yield from self._raise_high_watermark(leader, led)
        # Only the leader known to the quorum changes the ISR, and only in that epoch.
        decided = quorum if (quorum.leader, quorum.epoch) == (leader, led.epoch) else None
        request = requests[led.epoch]
        for follower in self.replicas:
            if follower != leader:
                pair = (leader, led, decided, request, follower)
                yield Rule((follower,), self._pair, pair)
            elif decided is not None and not led.isr >> leader & 1:
                yield from self._change_isr(leader, led, decided, follower, led)

    def _pair(
        self,
        leader: int,
        led: Replica,
        quorum: Quorum | None,
        request: Request,
        follower: int,
        state: Replica,
    ) -> Outcomes:
        yield from self._replicate(leader, led, follower, state)
        if quorum is not None:
            yield from self._change_isr(leader, led, quorum, follower, state)
        if self.generation.fences and state.epoch < led.epoch:
            # The follower requests the end of its epoch; the leader answers only in its own epoch.
            after = Replica(state.log, state.hw, led.epoch, leader, request[1])
            yield from self._truncate(follower, state, after, led)

    def _write(self, leader: int, led: Replica, record: int) -> Outcomes:
        """LeaderWrite."""
        if record < self.constants.max_records:
            appended = led._replace(log=(*led.log, Record(record, led.epoch)))
            changes = {leader: (led, appended), self.next_record: (record, record + 1)}
            yield Step(Action("LeaderWrite", (("replica", leader), ("record", record))), changes)

    def _raise_high_watermark(self, leader: int, led: Replica) -> Outcomes:
        """LeaderIncHighWatermark: by one, once every member of the leader's ISR has the record."""
        to = led.hw + 1
        if to > self.constants.log_size:
            return
        if self.generation.compares_epochs and to > len(led.log):
            return
        if not led.isr >> leader & 1 or self.generation.reaches(leader, led, led, to):
            members = tuple(replica for replica in self.replicas if led.isr >> replica & 1)
            yield from self._reached(leader, led, tuple(m for m in members if m != leader))

    def _reached(self, leader: int, led: Replica, members: tuple[int, ...]) -> Outcomes:
        """Check the first of the members not checked yet."""
        if members:
            yield Rule((members[0],), self._reaches, (leader, led, members))
        else:
            raised = led._replace(hw=led.hw + 1)
            details = (("replica", leader), ("hw", raised.hw))
            yield Step(Action("LeaderIncHighWatermark", details), {leader: (led, raised)})

    def _reaches(
        self, leader: int, led: Replica, members: tuple[int, ...], state: Replica
    ) -> Outcomes:
        if self.generation.reaches(leader, led, state, led.hw + 1):
            yield from self._reached(leader, led, members[1:])

    def _replicate(self, leader: int, led: Replica, follower: int, state: Replica) -> Outcomes:
        """FollowerReplicate, one record at a time; FollowerTruncate if fetches truncate."""
        generation, end = self.generation, len(state.log)
        if state.leader != leader or (generation.fences and state.epoch != led.epoch):
            return
        details = (("replica", follower), ("leader", leader))
        if generation.truncates_on_fetch and end and not _has_epoch(led, end, state.log[-1].epoch):
            truncated = _truncated(state, _to_matching_offset(led.log, state))
            yield Step(Action("FollowerTruncate", details), {follower: (state, truncated)})
        elif end < len(led.log):
            log = (*state.log, led.log[end])
            fetched = state._replace(log=log, hw=min(led.hw, end + 1))
            yield Step(Action("FollowerReplicate", details), {follower: (state, fetched)})

    # ---- the ISR

    def _change_isr(
        self, leader: int, led: Replica, quorum: Quorum, follower: int, state: Replica
    ) -> Outcomes:
        """LeaderShrinkIsr and LeaderExpandIsr."""
        reaches = self.generation.reaches
        if led.isr >> follower & 1:
            may, name = not reaches(leader, led, state, len(led.log)), "LeaderShrinkIsr"
        else:
            may = reaches(leader, led, state, led.hw) and self._may_expand(led)
            name = "LeaderExpandIsr"
        if may:
            isr = led.isr ^ 1 << follower
            changes: dict[int, tuple[Value, Value]] = {
                leader: (led, led._replace(isr=isr)),
                self.quorum: (quorum, quorum._replace(isr=isr)),
            }
            yield Step(Action(name, (("replica", leader), ("follower", follower))), changes)

    def _may_expand(self, led: Replica) -> bool:
        """If epochs are compared, the high watermark must be in the leader's own epoch."""
        if not self.generation.compares_epochs:
            return led.hw <= len(led.log)
        return led.hw == len(led.log) or (
            led.hw < len(led.log) and led.log[led.hw].epoch == led.epoch
        )


def _follow(replica: int, state: Replica, state_after: Replica) -> Step:
    details = (("replica", replica), ("leader", state_after.leader), ("epoch", state_after.epoch))
    return Step(Action("BecomeFollower", details), {replica: (state, state_after)})


def _truncated(replica: Replica, offset: int) -> Replica:
    return replica._replace(log=replica.log[:offset], hw=min(replica.hw, offset))


def _has_epoch(led: Replica, end: int, epoch: int) -> bool:
    """Whether a leader's log has a record of an epoch right before an offset."""
    return len(led.log) >= end and led.log[end - 1].epoch == epoch


# ---- invariants


def _properties(replicas: range) -> list[Property]:
    properties, quorum = [], len(replicas) + 1
    for replica in replicas:
        below = Property(HW_BELOW_LEO, (replica,), lambda state: state.hw <= len(state.log))
        properties.append(below)
        properties.append(Property(WEAK_ISR, (replica,), partial(_has_what_it_exposes, replica)))
        strong = (quorum, replica)
        properties.append(Property(STRONG_ISR, strong, partial(_has_what_isr_exposes, replica)))
        for other in replicas:
            if other == replica:
                continue
            pair = (replica, other)
            properties.append(Property(WEAK_ISR, pair, partial(_weak_isr, *pair)))
            properties.append(Property(STRONG_ISR, (quorum, *pair), partial(_strong_isr, *pair)))
            if replica < other:
                properties.append(Property(COMMITTED_AGREEMENT, pair, _committed_agreement))
                properties.append(Property(LOG_MATCHING, pair, _log_matching))
    return properties


def _has_what_it_exposes(leader: int, led: Replica) -> bool:
    return led.leader != leader or led.hw <= len(led.log)


def _has_what_isr_exposes(leader: int, quorum: Quorum, led: Replica) -> bool:
    return not quorum.isr or _has_what_it_exposes(leader, led)


def _weak_isr(leader: int, other: int, led: Replica, member: Replica) -> bool:
    """A presumed leader and a member of its own ISR agree below the leader's HW."""
    if led.leader != leader or not led.isr >> other & 1:
        return True
    return member.log[: led.hw] == led.log[: led.hw]


def _strong_isr(leader: int, other: int, quorum: Quorum, led: Replica, member: Replica) -> bool:
    """A presumed leader and a member of the true ISR agree below the leader's HW."""
    if led.leader != leader or not quorum.isr >> other & 1:
        return True
    return member.log[: led.hw] == led.log[: led.hw]


def _committed_agreement(first: Replica, second: Replica) -> bool:
    """No two replicas expose different records."""
    exposed = min(first.hw, second.hw)
    return first.log[:exposed] == second.log[:exposed]


def _log_matching(first: Replica, second: Replica) -> bool:
    """Two records with the same offset and epoch are the same record."""
    pairs = zip(first.log, second.log, strict=False)
    return all(record == its for record, its in pairs if record.epoch == its.epoch)


# ---- symmetry


def _symmetry(replicas: range) -> Symmetry:
    """Replicas are interchangeable."""
    renamings = list(permutations(replicas))
    requests, _quorum, next_record = others = range(len(replicas), len(replicas) + 3)

    def renamed(renaming: tuple[int, ...], leader: int, isr: int) -> Request:
        members = (1 << renaming[replica] for replica in replicas if isr >> replica & 1)
        return NOBODY if leader == NOBODY else renaming[leader], sum(members)

    def rename(number: int, part: int, value: Any) -> Value:  # noqa: ANN401 (any part's)
        renaming = renamings[number]
        if part == next_record:
            return int(value)
        if part == requests:
            return tuple(renamed(renaming, *request) for request in value)
        leader, isr = renamed(renaming, value.leader, value.isr)
        replaced: Value = value._replace(leader=leader, isr=isr)
        return replaced

    return Symmetry([(*renaming, *others) for renaming in renamings], rename)
