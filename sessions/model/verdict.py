"""The verdict on a cluster: one line in words, by what people lose.

Which verdicts hold follows from the counts alone, so a time bar, an alert and a header say the
same. Only the words about who is waited for, and until when, need the whole state.
"""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from sessions.model.authority import TROUBLES, authority
from sessions.model.cluster_view import ClusterView
from sessions.model.health import STATES, Counts
from sessions.model.states import ViewState
from sessions.model.waiting import next_controller_us, wait_for
from sessions.text import US_PER_SECOND, clock, natural_list, number, plural

BROKERS_NAMED_MAX: Final = 3
"""More brokers are counted and not named."""
AT_LATEST: Final = " at the latest"
"""What a line without room for it leaves out."""
REASONS: Final = " ("
"""Begins the reasons, which a line without room for them leaves out with all that follows."""
HEALTHY: Final = "healthy"
OF_TROUBLE: Final = {
    "no controller": "NO CONTROLLER",
    "zookeeper unreachable": "ZOOKEEPER UNREACHABLE",
    "quorum lost": "QUORUM LOST",
}
"""The headlines of the cluster's own troubles."""
MILD: Final = tuple(
    state
    for state in STATES
    if state.name in ("unclean", "diverged", "at_min_isr", "under_replicated")
)
"""States of which nobody has lost anything yet."""


NOBODY_DECIDES: Final = "nobody can elect a leader or change an ISR"


class Verdict(Struct, frozen=True):
    """A judgement: its ``kind``, its headline, and how many partitions, brokers or records.

    ``is_loss``: people lose something, be it only the time until their writes are acknowledged.
    """

    kind: str
    headline: str
    count: int = 0
    is_loss: bool = True


def verdicts(counts: Counts) -> Iterator[Verdict]:
    """All verdicts that hold, the worst first; at least one."""
    if counts.offline:
        yield Verdict("offline", "NO LEADER", counts.offline)
    if counts.blocked:
        yield Verdict("blocked", "WRITES BLOCKED", counts.blocked)
    if counts.refused:
        yield Verdict("refused", "WRITES REFUSED", counts.refused)
    trouble = TROUBLES[counts.trouble]
    if trouble in OF_TROUBLE:
        yield Verdict(trouble, OF_TROUBLE[trouble])
    if counts.lost_records:
        yield Verdict("lost", "RECORDS LOST", counts.lost_records)
    yield from _mild(counts, trouble)


def _mild(counts: Counts, trouble: str) -> Iterator[Verdict]:
    is_calm = not trouble
    if trouble and trouble not in OF_TROUBLE:
        yield Verdict(trouble, "cut off from ZooKeeper", 0, False)
    for state in MILD:
        if count := getattr(counts, state.name):
            is_calm = False
            yield Verdict(state.name, state.label, count, False)
    down = counts.brokers - counts.brokers_up
    if down:
        is_calm = False
        yield Verdict("brokers down", "brokers down", down, False)
    if is_calm and not (counts.offline or counts.blocked or counts.refused or counts.lost_records):
        yield Verdict(HEALTHY, HEALTHY, 0, False)


def verdict(counts: Counts) -> Verdict:
    """The worst verdict that holds."""
    return next(verdicts(counts))


def words(view: ClusterView, verdict: Verdict) -> str:
    """``WRITES BLOCKED: 9 partitions wait for broker 2, until 00:00:59 at the latest (frozen)``."""
    describe = DETAILS.get(verdict.kind, _partitions)
    details = describe(view, verdict)
    return f"{counted(verdict)}: {details}" if details else counted(verdict)


def counted(verdict: Verdict) -> str:
    """The headline with the number of what it is about: ``2 RECORDS LOST``."""
    is_one = verdict.count == 1
    if verdict.kind == "lost":
        return f"{number(verdict.count)} {'RECORD' if is_one else 'RECORDS'} LOST"
    if verdict.kind == "brokers down":
        return f"{number(verdict.count)} {'broker' if is_one else 'brokers'} down"
    return verdict.headline


def _partitions(_view: ClusterView, verdict: Verdict) -> str:
    return plural(verdict.count, "partition")


def _offline(view: ClusterView, verdict: Verdict) -> str:
    return f"{_partitions(view, verdict)} cannot be written or read"


def _blocked(view: ClusterView, verdict: Verdict) -> str:
    wait = "waits" if verdict.count == 1 else "wait"
    return f"{_partitions(view, verdict)} {wait} {_blocked_by(view)}"


def _refused(view: ClusterView, verdict: Verdict) -> str:
    below = f"{_partitions(view, verdict)} below min.insync.replicas"
    absent = view.blocked().absent
    if not absent:
        return below
    return f"{below} without {brokers_in_words(absent)}{_reasons(view, absent, 'behind')}"


def _lost(view: ClusterView, _verdict: Verdict) -> str:
    partitions = [view.partitions[tp] for tp in view.lost]
    kinds = ["acknowledged records"] if any(partition.lost for partition in partitions) else []
    if any(partition.lost_offsets for partition in partitions):
        kinds.append("committed offsets")
    return f"{' and '.join(kinds)} of {names_in_words(sorted(view.lost))}"


def _unclean(view: ClusterView, verdict: Verdict) -> str:
    return f"{_partitions(view, verdict)}, {_lost_uncleanly(view)}"


def _healthy(view: ClusterView, _verdict: Verdict) -> str:
    return plural(len(view.partitions), "partition") if view.partitions else ""


def _blocked_by(view: ClusterView) -> str:
    blocked = view.blocked()
    if not blocked.brokers:
        return "for a leader"
    until_us = None if blocked.is_stuck else _until_us(view.state, blocked.brokers)
    until = "" if until_us is None else f", until {by_second(until_us)}{AT_LATEST}"
    reasons = _reasons(view, blocked.brokers, "paused")
    return f"for {brokers_in_words(blocked.brokers)}{until}{reasons}"


def _reasons(view: ClusterView, brokers: tuple[int, ...], otherwise: str) -> str:
    """Why brokers do not fetch: `` (crashed)``, `` (0 frozen, 1 and 2 cut off)``."""
    severed = {follower for follower, _ in view.severed}
    by_reason: dict[str, list[int]] = {}
    for broker in brokers:
        reason = "cut off" if broker in severed else otherwise
        if broker not in view.serving and (known := view.state.brokers.get(broker)) is not None:
            reason = known.state
        by_reason.setdefault(reason, []).append(broker)
    if len(by_reason) == 1 or len(brokers) > BROKERS_NAMED_MAX:
        return f"{REASONS}{', '.join(by_reason)})"
    parts = [f"{natural_list(members)} {reason}" for reason, members in by_reason.items()]
    return f"{REASONS}{', '.join(parts)})"


def by_second(time_us: int) -> str:
    """A time in whole seconds, rounded up: something is over by then."""
    return clock(-(-time_us // US_PER_SECOND) * US_PER_SECOND).partition(".")[0]


def _until_us(state: ViewState, brokers: tuple[int, ...]) -> int | None:
    """Until when these brokers are waited for, perhaps by a controller that is yet to come."""
    here, until_us = authority(state), wait_for(state, brokers).until_us
    if not here.trouble or until_us is None:
        return until_us
    next_us = None if here.is_zookeeper_unreachable else next_controller_us(state, here)
    return None if next_us is None or next_us < state.time_us else max(until_us, next_us)


def _no_controller(view: ClusterView, _verdict: Verdict) -> str:
    state = view.state
    here = authority(state)
    if here.controller is None:
        return NOBODY_DECIDES
    kind = "broker" if state.quorum is None else "controller"
    next_us = next_controller_us(state, here)
    is_known = next_us is not None and next_us >= state.time_us
    until = f", next at {by_second(next_us or 0)}{AT_LATEST}" if is_known else ""
    trouble = here.trouble if here.trouble != "cut off" else "cut off from ZooKeeper"
    return f"{kind} {here.controller} is {trouble}{until}"


def _zookeeper_gone(_view: ClusterView, _verdict: Verdict) -> str:
    return NOBODY_DECIDES


def _quorum_lost(view: ClusterView, _verdict: Verdict) -> str:
    return f"{_running(view.state)}, {NOBODY_DECIDES}"


def _cut_off(view: ClusterView, _verdict: Verdict) -> str:
    cut = authority(view.state).cut_off
    return brokers_in_words(cut) if cut else ""


def _down(view: ClusterView, _verdict: Verdict) -> str:
    brokers = view.state.brokers.values()
    down = tuple(broker.id for broker in brokers if broker.state != "running")
    return brokers_in_words(down) if down else ""


def _lost_uncleanly(view: ClusterView) -> str:
    """How many acknowledged records partitions with an unclean leader have lost, and which."""
    if view.state.is_observed:
        return "what it lost is not known"
    counts = {
        tp: partition.lost_count
        for tp, partition in view.partitions.items()
        if partition.unclean and partition.lost_count
    }
    if not counts:
        return "no acknowledged record lost"
    return f"{plural(sum(counts.values()), 'record')} lost of {names_in_words(sorted(counts))}"


def _running(state: ViewState) -> str:
    assert state.quorum is not None
    processes = state.quorum.controllers.values()
    running = sum(process == "running" for process in processes)
    return f"{running} of {len(processes)} controllers run"


def brokers_in_words(brokers: tuple[int, ...]) -> str:
    """``broker 2``, ``brokers 1 and 2``, ``12 brokers``."""
    if len(brokers) > BROKERS_NAMED_MAX:
        return plural(len(brokers), "broker")
    return f"{'broker' if len(brokers) == 1 else 'brokers'} {natural_list(brokers)}"


def names_in_words(names: list[str]) -> str:
    """``orders-0``, ``orders-0, orders-1 and 7 more``."""
    if len(names) <= BROKERS_NAMED_MAX:
        return ", ".join(names)
    first_names = names[: BROKERS_NAMED_MAX - 1]
    return f"{', '.join(first_names)} and {number(len(names) - len(first_names))} more"


DETAILS: Final[dict[str, Callable[[ClusterView, Verdict], str]]] = {
    "offline": _offline,
    "blocked": _blocked,
    "refused": _refused,
    "no controller": _no_controller,
    "zookeeper unreachable": _zookeeper_gone,
    "quorum lost": _quorum_lost,
    "zookeeper cut": _cut_off,
    "brokers down": _down,
    "lost": _lost,
    "unclean": _unclean,
    HEALTHY: _healthy,
}
"""What to add to the headline of each kind of verdict; the others are about partitions."""
