"""One sentence that says why a partition is in its state."""

from collections.abc import Sequence

from console.model.silence import in_words, silences
from console.model.why import Fold, status_of
from console.model.workspace import Stage
from emulator import events
from emulator.events import Event
from sessions.model.states import PartitionState
from sessions.model.verdict import brokers_in_words
from sessions.model.waiting import wait_of
from sessions.text import broker_list, clean, number

MECHANISMS = {
    "isr-expiration": "had not fetched for replica.lag.time.max.ms",
    "session-expiry": "lost its ZooKeeper session",
    "broker-session": "sent no heartbeat for a whole session",
}
"""What a timer found out about a broker."""
LEFT_ISR = ("under_min_isr", "at_min_isr", "under_replicated")
"""States of which the broker that a timer found is the one that left the ISR."""


def sentence(stage: Stage, partition: PartitionState, links: Sequence[Event | Fold]) -> str:
    """``ISR lost 2: it had not fetched .., because replica 2 was paused (#608)``; empty if unknown.

    ``links`` is the chain of causes that ends in the event that explains the state.
    """
    what = _what(stage, partition)
    if not what:
        return ""
    chain = [link for link in links if not isinstance(link, Fold)]
    began = next((event for event in chain if silences(event)), None)
    timers = [event.task for event in chain if isinstance(event, events.TimerFired)]
    how = next((MECHANISMS[task] for task in timers if task in MECHANISMS), "")
    if status_of(stage.view.state, partition) not in LEFT_ISR:
        how = ""
    who = "it" if len(partition.osr) == 1 else "one of them"
    because = "" if began is None else f"because {in_words(began)} (#{number(began.seq)})"
    root = chain[0] if chain else None
    if not because and isinstance(root, events.InputReceived):
        because = f"after '{clean(root.text)}' (#{number(root.seq)})"
    rest = ", ".join(part for part in (f"{who} {how}" if how else "", because) if part)
    return f"{what}: {rest}" if rest else what


def _what(stage: Stage, partition: PartitionState) -> str:
    status = status_of(stage.view.state, partition)
    isr, out = broker_list(partition.isr), broker_list(partition.osr)
    eligible = f" or the ELR ({broker_list(elr)})" if (elr := stage.elr(partition)) else ""
    preferred = partition.replicas[0] if partition.replicas else None
    lost = f"ISR lost {out}"
    what = "acknowledged" if partition.lost else "committed offsets"
    leader = partition.leader_replica
    wait = wait_of(stage.view.state, partition)
    awaited = brokers_in_words(wait.brokers) if wait and wait.brokers else "the ISR"
    stays = "" if leader is None else f"the HW stays at {number(leader.high_watermark)}"
    return {
        "hw_stalled": f"{stays} until {awaited} fetches",
        "offline": f"no leader: none of the ISR ({isr or 'empty'}){eligible} can be elected",
        "leaderless": f"broker {partition.leader} is the leader, and does not serve",
        "under_min_isr": lost,
        "at_min_isr": lost,
        "under_replicated": lost,
        "waiting": f"writes with acks=all wait for {awaited} of the ISR",
        "unclean": f"{partition.leader} was elected from outside the ISR",
        "non_preferred": f"{partition.leader} leads instead of {preferred}",
        "lost": f"{number(partition.lost_count)} {what} are not in the leader's log",
        "diverged": "replicas hold different records at one offset",
    }.get(status, "")
