"""The states that a partition can be in, each defined once, and the number of partitions in each.

Everything that shows, filters, counts or measures a state (tables, header, time bar, alerts,
filters, forecasts, the Spark jobs) uses :data:`STATES`. A state is a function of a partition's
znode, the running brokers, and the audit. Only ``hw_stalled`` depends on the time as well, so it
alone has no flag (see :func:`sessions.model.waiting.is_stalled`).

What becomes of a partition's writes follows from its states (:data:`WRITES`).
"""

from collections.abc import Callable, Sequence, Set
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from sessions.model.states import PartitionState

OFFLINE: Final = 1
UNDER_MIN_ISR: Final = 2
UNCLEAN: Final = 4
DIVERGED: Final = 8
AT_MIN_ISR: Final = 16
UNDER_REPLICATED: Final = 32
NON_PREFERRED: Final = 64
REASSIGNING: Final = 128
LEADERLESS: Final = 256
LOST: Final = 512
WAITING: Final = 1024
REFUSED: Final = 2048
BLOCKED: Final = 4096

SERVING: Final = frozenset({"running", "controlled_shutdown"})
"""States of a broker process in which its replicas serve requests; a frozen one does not."""


class State(Struct, frozen=True):
    """One state of partitions.

    ``flag`` is 0 for a state that depends on the time. ``label`` is its displayed name, and
    ``meaning`` defines it in a sentence, in Kafka's terms. ``is_counted``: :class:`Counts` has a
    field of that name.
    """

    name: str
    flag: int
    label: str
    meaning: str
    is_counted: bool = True


STATES: Final = (
    State("offline", OFFLINE, "offline", "the metadata names no leader (-1)"),
    State(
        "leaderless",
        LEADERLESS,
        "leader dead",
        "the named leader is dead or frozen, and no running broker acts as leader",
    ),
    State(
        "under_min_isr",
        UNDER_MIN_ISR,
        "under min ISR",
        "the ISR is below min.insync.replicas",
    ),
    State(
        "waiting",
        WAITING,
        "writes waiting",
        "writes with acks=all wait for a broker in the ISR that does not respond or fetch",
        False,
    ),
    State("unclean", UNCLEAN, "unclean leader", "the leader was elected from outside the ISR"),
    State("diverged", DIVERGED, "diverged", "two replicas hold different records at an offset"),
    State("lost", LOST, "lost records", "an acknowledged record is not in the leader's log"),
    State(
        "at_min_isr",
        AT_MIN_ISR,
        "at min ISR",
        "the ISR has shrunk to min.insync.replicas",
    ),
    State(
        "under_replicated",
        UNDER_REPLICATED,
        "under-replicated",
        "a replica is not in the ISR",
    ),
    State(
        "hw_stalled",
        0,
        "HW stalled",
        "records wait above an HW that does not move",
        False,
    ),
    State(
        "non_preferred",
        NON_PREFERRED,
        "not preferred",
        "led by another than the preferred replica",
    ),
    State("reassigning", REASSIGNING, "reassigning", "replicas are being added or removed", False),
)
"""Every state that is not healthy, the most severe first. One partition may be in several."""

STATUSES: Final = (*(state.name for state in STATES), "healthy")
"""A partition's states, most severe first."""

_STALLED: Final = STATUSES.index("hw_stalled")
BY_FLAG: Final = tuple((state.flag, state.name) for state in STATES[:_STALLED])
"""The states that are worse than a high watermark that does not move, in order."""
BY_MILD_FLAG: Final = tuple((state.flag, state.name) for state in STATES[_STALLED + 1 :])
"""Those that are milder."""


WRITES: Final = ("nobody", "refused", "waiting", "ok")
"""What becomes of writes with acks=all, the worst first.

Nobody takes them; the leader refuses them (NOT_ENOUGH_REPLICAS); they wait for a broker in the ISR
that does not respond or fetch; or they are acknowledged at once.
"""


class Counts(Struct, frozen=True, array_like=True, gc=False):
    """How many brokers run, and how many partitions are in each state (one may be in several).

    ``blocked``: writes wait for a broker that does not respond, be it the leader or another one in
    the ISR, or that cannot fetch. ``refused``: a leader acts, and refuses writes with acks=all.
    ``lost_records`` are acknowledged records. ``trouble`` is the cluster's own, a place in
    :data:`sessions.model.authority.TROUBLES`.
    """

    brokers_up: int = 0
    brokers: int = 0
    partitions: int = 0
    offline: int = 0
    under_min_isr: int = 0
    at_min_isr: int = 0
    under_replicated: int = 0
    unclean: int = 0
    diverged: int = 0
    non_preferred: int = 0
    leaderless: int = 0
    lost: int = 0
    blocked: int = 0
    refused: int = 0
    lost_records: int = 0
    trouble: int = 0


def completed(numbers: Sequence[int]) -> Counts:
    """Return the counts of a file, which up to schema 13 does not say what becomes of writes.

    There it is told from the states, of which one partition may be in several.
    """
    counts = Counts(*numbers)
    if len(numbers) == len(Counts.__struct_fields__):
        return counts
    unserved = max(counts.offline, counts.leaderless)
    return replace(
        counts,
        blocked=max(0, counts.leaderless - counts.offline),
        refused=max(0, counts.under_min_isr - unserved),
        lost_records=counts.lost,
    )


FLAGGED: Final = (
    *((state.flag, state.name) for state in STATES if state.flag),
    (REFUSED, "refused"),
    (BLOCKED, "blocked"),
)
"""Every flag, with the name of its state, or of what becomes of writes."""
COUNTED: Final = tuple((state.flag, state.name) for state in STATES if state.is_counted)
"""The flags that are counted, with their field in :class:`Counts`, the most severe first."""
ALERTING: Final = tuple(
    state for state in STATES if state.is_counted and state.name != "non_preferred"
)
"""The counted states that call for attention, the most severe first."""


def flags_of(
    partition: PartitionState,
    serving: Set[int],
    severed: Set[tuple[int, int]] = frozenset(),
) -> int:
    """All that is wrong with a partition, as far as it does not depend on the time.

    ``serving`` are the brokers whose process serves requests (:data:`SERVING`), ``severed`` the
    followers that cannot fetch from a leader, with it
    (:func:`sessions.model.authority.severed_followers`).
    """
    flags = DIVERGED if partition.diverged else 0
    if partition.lost or partition.lost_offsets:
        flags |= LOST
    if partition.adding or partition.removing:
        flags |= REASSIGNING
    if partition.state == "nonexistent":
        return flags
    if partition.state == "offline":
        flags |= OFFLINE
    is_led = has_acting_leader(partition, serving)
    if not is_led:
        flags |= LEADERLESS if partition.led or _is_named_dead(partition, serving) else 0
    elif partition.state == "online" and missing_from_isr(partition, serving, severed):
        flags |= WAITING
    flags |= _isr_flags(partition) | _leader_flags(partition)
    return flags | _writes_flags(flags, is_led=is_led)


def missing_from_isr(
    partition: PartitionState, serving: Set[int], severed: Set[tuple[int, int]]
) -> list[int]:
    """The members of the ISR for which writes with acks=all wait.

    They do not respond, were told not to fetch, or cannot reach the leader.
    """
    leader, replicas = partition.leader, partition.replica_states
    return [
        broker
        for broker in partition.isr
        if broker not in serving
        or (
            broker != leader
            and ((broker, leader) in severed or (broker in replicas and replicas[broker].paused))
        )
    ]


def _writes_flags(flags: int, *, is_led: bool) -> int:
    if flags & OFFLINE:
        return 0
    if not is_led:
        return BLOCKED if flags & LEADERLESS else 0
    if flags & UNDER_MIN_ISR:
        return REFUSED
    return BLOCKED if flags & WAITING else 0


def writes_of(flags: int) -> str:
    """The state of a partition's writes with acks=all, one of :data:`WRITES`."""
    if flags & (OFFLINE | LEADERLESS):
        return "nobody"
    if flags & REFUSED:
        return "refused"
    return "waiting" if flags & BLOCKED else "ok"


def _is_named_dead(partition: PartitionState, serving: Set[int]) -> bool:
    """Whether a leader is named that does not serve: it need not have led before."""
    return partition.state == "online" and partition.leader not in serving


def has_acting_leader(partition: PartitionState, serving: Set[int]) -> bool:
    """Return whether a serving broker considers itself the partition's leader.

    For a moment after a failover this may differ from the leader in the znode. But while that one
    does not serve, whoever else considers itself the leader is a former one, cut off from the news.
    """
    states = partition.replica_states
    if not states:
        return False
    leader = -1 if partition.leader is None else partition.leader
    acting = states.get(leader)
    if acting is not None and acting.role == "leader" and acting.broker in serving:
        return True
    if leader >= 0 and leader not in serving:
        return False
    return any(
        replica.role == "leader" and replica.broker in serving for replica in states.values()
    )


def _isr_flags(partition: PartitionState) -> int:
    isr = partition.isr
    replicas = partition.replicas
    flags = UNDER_REPLICATED if isr != replicas and not set(isr).issuperset(replicas) else 0
    if len(isr) < partition.min_isr:
        return flags | UNDER_MIN_ISR
    if flags and len(isr) == partition.min_isr:
        return flags | AT_MIN_ISR
    return flags


def _leader_flags(partition: PartitionState) -> int:
    if partition.leader is None or partition.leader < 0:
        return 0
    flags = UNCLEAN if partition.unclean else 0
    if partition.replicas and partition.leader != partition.replicas[0]:
        flags |= NON_PREFERRED
    return flags


Holds = Callable[[PartitionState, Set[int]], bool]


def holds(name: str) -> Holds:
    """The definition of one counted state, as a function of a partition and the serving brokers.

    Raises:
        KeyError: no counted state has that name.
    """
    flag = {counted: flag for flag, counted in COUNTED}[name]
    return lambda partition, serving: bool(flags_of(partition, serving) & flag)
