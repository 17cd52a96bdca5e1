"""The inspector: everything that is known about one partition, as lines of a given width.

It shows several views side by side, which may disagree: the znode, the leader's (its ISR and what
it knows about its followers), each replica's own, and those of the controller and the clients.
"""

from typing import Final

from console.model.partition_fields import leader_number
from console.model.severity import HEALTHY
from console.model.tape_window import EPOCH_ROLES
from console.model.why import state_path
from console.model.workspace import Stage
from console.render.cause_chain import chain_lines
from console.render.columns import rounded
from console.render.lines import BLANK, Line, Span, cut, line, wrap
from console.render.state_words import STATE_WORDS, glyph_of
from console.render.tapes import tape_order
from console.render.why_sentence import sentence
from sessions.format.allowance import StillReadingError
from sessions.model.metadata_image import RECOVERY_WORDS
from sessions.model.states import UNKNOWN, PartitionState, ReplicaState
from sessions.model.truths import truths
from sessions.model.verdict import brokers_in_words
from sessions.model.waiting import Wait, wait_for, wait_of
from sessions.text import age, brackets, clock, number, plain

EPOCHS_SHOWN_MAX: Final = 5
ROOMY: Final = 46
"""A narrower inspector omits the age of fetches."""
TRUTH_WORDS: Final = {
    "leader": "leader",
    "leader_epoch": "epoch",
    "isr": "isr",
    "zk_version": "version",
}
"""The fields that may differ from the znode's, and their labels."""
KRAFT_WORDS: Final = {**TRUTH_WORDS, "zk_version": "partition epoch"}
ELR_FEATURE: Final = "eligible.leader.replicas.version"


def partition_lines(stage: Stage, partition: PartitionState, width: int) -> list[Line]:
    """The whole inspector for one partition."""
    told = [heading(stage, partition, width), replica_table(stage, partition, width)]
    explained = why(stage, partition, width)
    if stage.view.state.is_observed:  # what brokers know themselves is told to nobody
        sections = [*told, _metadata(stage, partition)]
    else:
        sections = [
            *told,
            epoch_caches(partition),
            znode(stage, partition),
            disagreements(stage, partition, width),
            audit(partition),
        ]
    is_fault = stage.index.severity.get(partition.name, HEALTHY) < HEALTHY
    sections.insert(len(told) if is_fault else len(sections), explained)
    rows: list[Line] = []
    for section in sections:
        if section:
            rows += [BLANK] * bool(rows) + section
    return [cut(row, width, stage.glyphs.more) for row in rows]


def heading(stage: Stage, partition: PartitionState, width: int) -> list[Line]:
    """Return state, leader and epochs, ISR and OSR as in the znode."""
    severity = stage.index.severity.get(partition.name, len(STATE_WORDS) - 1)
    word = STATE_WORDS[severity]
    leader = leader_number(partition)
    sign = f"{glyph_of(word, stage.glyphs)} {word.word} ".lstrip()
    first, *rest = wrap(word.meaning, max(10, width - len(sign)))
    rows = [
        line(Span(sign, word.role), Span(first, "muted")),
        *(line(" " * len(sign), Span(row, "muted")) for row in rest),
        line(
            Span("leader ", "muted"),
            Span(
                "none" if leader is None else str(leader), "error" if leader is None else "strong"
            ),
            Span("  epoch ", "muted"),
            plain(partition.leader_epoch),
            *_written(stage, partition),
        ),
        line(
            Span("ISR ", "muted"),
            brackets(partition.isr),
            Span("  OSR ", "muted"),
            Span(brackets(partition.osr), "warning" if partition.osr else ""),
            *_eligible(stage, partition),
            Span("  min ", "muted"),
            str(partition.min_isr),
        ),
        *recovery(stage, partition),
        *writes(stage, partition, width),
    ]
    is_told = partition.leader_isr or not stage.view.state.is_observed
    if is_told and sorted(partition.leader_isr) != sorted(partition.isr) and leader is not None:
        rows.append(
            line(
                Span("the leader acts on ISR ", "muted"),
                Span(brackets(partition.leader_isr), "warning"),
            )
        )
    if partition.adding or partition.removing:
        rows.append(
            line(
                Span("moving: adding ", "muted"),
                brackets(partition.adding),
                Span(" removing ", "muted"),
                brackets(partition.removing),
            )
        )
    return rows


def writes(stage: Stage, partition: PartitionState, width: int) -> list[Line]:
    """What becomes of writes with acks=all, if they are not acknowledged at once."""
    statuses = set(stage.view_statuses(partition))
    label = Span("writes ", "muted")
    if statuses & {"offline", "leaderless"}:
        rows = [line(label, Span("nobody takes them", "error"))]
        return rows if "offline" in statuses else [*rows, *_next_leader(stage, partition, width)]
    if "under_min_isr" in statuses:
        need = f"acks=all is refused: ISR of {len(partition.isr)}, min {partition.min_isr}"
        return [line(label, Span(need, "error"))]
    wait = wait_of(stage.view.state, partition) if statuses & {"waiting", "hw_stalled"} else None
    if wait is None or not wait.brokers:
        return []
    words = f"acks=all waits for {brokers_in_words(wait.brokers)}"
    return [line(label, Span(words, "warning")), *_times(wait, "warning", width)]


def _next_leader(stage: Stage, partition: PartitionState, width: int) -> list[Line]:
    """Until when a leader that does not serve is waited for, if another one can follow it."""
    leader, serving = leader_number(partition), stage.view.serving
    if leader is None or leader in serving or not serving & set(partition.isr):
        return []
    return _times(wait_for(stage.view.state, (leader,)), "error", width)


def _times(wait: Wait, role: str, width: int) -> list[Line]:
    """Since when something is waited for, and until when at the latest, as far as that is known."""
    if wait.since_us is None:
        return []
    until = "" if wait.until_us is None else f", until {clock(wait.until_us)} at the latest"
    indent = " " * len("writes ")
    rows = wrap(f"since {clock(wait.since_us)}{until}", width - len(indent))
    return [line(Span(f"{indent}{row}", role)) for row in rows]


def _written(stage: Stage, partition: PartitionState) -> Line:
    """The other epoch that was written with the state: the controller's, in KRaft its own."""
    if partition.zk_version == UNKNOWN:
        return ()
    if not stage.is_kraft:
        return line(Span("  controller epoch ", "muted"), plain(partition.controller_epoch))
    return line(Span("  partition epoch ", "muted"), plain(partition.zk_version))


def _eligible(stage: Stage, partition: PartitionState) -> Line:
    """The eligible leader replicas, where the cluster keeps any (KIP-966)."""
    metadata = stage.metadata
    is_kept = metadata is not None and metadata.image.features.get(ELR_FEATURE)
    if partition.elr is None and not is_kept:
        return ()
    elr = stage.elr(partition)
    return line(Span("  ELR ", "muted"), Span(brackets(elr), "accent" if elr else ""))


def recovery(stage: Stage, partition: PartitionState) -> list[Line]:
    """In KRaft, return the last leader of an offline partition, or an uncleanly elected one."""
    metadata = stage.metadata
    recorded = {} if metadata is None else metadata.partition(partition)
    parts: list[Span] = []
    last_known = partition.last_known_elr or recorded.get("last_known_elr")
    if last_known:
        parts += [Span("last known leader ", "muted"), Span(brackets(last_known))]
    if recorded.get("recovery"):
        gap = "  " if parts else ""
        word = RECOVERY_WORDS[recorded["recovery"]]
        parts += [Span(f"{gap}leader recovery state ", "muted"), Span(word, "warning")]
    return [line(*parts)] if parts else []


def replica_table(stage: Stage, partition: PartitionState, width: int) -> list[Line]:
    """One line a replica: role, LEO, HW, the leader's memory of it, its distance, its fetch."""
    fetches = width >= ROOMY
    title = f"{'REPLICA':<13}{'LEO':>7}{'HW':>7}{'REMOTE':>7}{'LAG':>5}"
    rows = [line(Span(title, "title"), Span(f"{'FETCH':>7}" if fetches else "", "title"))]
    no_log = "not known" if stage.view.state.is_observed else "no log here"
    for broker in tape_order(partition):
        replica = partition.replica_states.get(broker)
        if replica is None:
            rows.append(line(f"  {broker:>2} ", Span(no_log, "muted")))
        else:
            rows.append(replica_line(stage, partition, replica, fetches=fetches))
    return rows


def replica_line(
    stage: Stage, partition: PartitionState, replica: ReplicaState, *, fetches: bool
) -> Line:
    """One replica of the table; ``fetches``: with the age of its last fetch."""
    glyphs = stage.glyphs
    leader = partition.leader_replica
    is_leader = leader is replica
    broker = stage.view.state.brokers.get(replica.broker)
    frozen = broker is not None and broker.state == "frozen"
    down = replica.role == "offline"
    mark = glyphs.offline if down else glyphs.down if frozen else glyphs.up
    word = (
        "down"
        if down
        else "frozen"
        if frozen
        else "leader"
        if is_leader
        else "paused"
        if replica.paused
        else "former"
        if replica.role == "leader"
        else replica.role
    )
    role = (
        "error"
        if frozen
        else (
            "error"
            if down
            else "warning"
            if replica.broker in partition.osr or replica.paused
            else ""
        )
    )
    remembered = None if leader is None or is_leader else leader_memory(partition, replica.broker)
    behind = None if leader is None or is_leader else leader.log_end_offset - replica.log_end_offset
    fetch_us = fetch_age(stage, partition, replica.broker)
    return line(
        Span(f"{mark}{replica.broker:>3} {word[:8]:<8}", role),
        f"{rounded(number(replica.log_end_offset), 6):>7}",
        Span(f"{rounded(number(replica.high_watermark), 6):>7}", "hw"),
        Span(f"{'' if is_leader else _remote(remembered):>7}", "muted"),
        Span(f"{'' if not behind else rounded(number(behind), 4):>5}", "warning"),
        Span(f"{age(fetch_us):>7}" if fetches and not is_leader and not down else "", "muted"),
    )


def _remote(remembered: int | None) -> str:
    return "?" if remembered is None or remembered < 0 else rounded(number(remembered), 6)


def leader_memory(partition: PartitionState, follower: int) -> int | None:
    """Return the current leader's value for a follower's LEO; None or -1: unknown."""
    leader = partition.leader_replica
    return None if leader is None else leader.remote_leo.get(follower)


def fetch_age(stage: Stage, partition: PartitionState, follower: int) -> int | None:
    """Microseconds since the follower last sent the leader a fetch; None if it never did."""
    broker = stage.view.state.brokers.get(follower)
    sent_us = None
    if broker is not None and partition.leader is not None:
        sent_us = broker.fetch_sent_us.get(partition.leader)
    return None if sent_us is None else stage.source.time_us - sent_us


def caught_up_age(stage: Stage, partition: PartitionState, follower: int) -> int | None:
    """Return microseconds since the follower was last caught up, as far as the leader knows.

    That is the last time at which its fetch offset was at least the leader's LEO: before the leader
    appended the first record that it lacks. 0: it is caught up; None: the leader knows nothing
    about it, or the time is unknown.
    """
    leader = partition.leader_replica
    remembered = leader_memory(partition, follower)
    if leader is None or remembered is None or remembered < 0:
        return None
    if remembered >= leader.log_end_offset:
        return 0
    source = stage.source
    written = stage.writes.find(partition.name, leader.broker, remembered, source.seq)
    return None if written is None else source.time_us - written.time_us


def epoch_caches(partition: PartitionState) -> list[Line]:
    """Leader-epoch caches, epoch and start offset, one line a replica."""
    rows = [line(Span("LEADER-EPOCH CACHE", "title"), Span(" epoch:start", "muted"))]
    for broker in tape_order(partition):
        replica = partition.replica_states.get(broker)
        if replica is None:
            continue
        if replica.epochs is None:
            return [line(Span("LEADER-EPOCH CACHE", "title"), Span(" none before 0.11", "muted"))]
        shown = replica.epochs[-EPOCHS_SHOWN_MAX:]
        spans = [
            Span(f" e{epoch}:{number(start)}", f"epoch{epoch % EPOCH_ROLES}")
            for epoch, start in shown
        ]
        rows.append(line(f"  {broker:>2} ", *(spans or [Span(" empty", "muted")])))
    return rows


def znode(stage: Stage, partition: PartitionState) -> list[Line]:
    """The ``state`` znode: its version and data; in KRaft what the log says."""
    if stage.is_kraft:
        return _metadata(stage, partition)
    node = stage.view.state.znodes.get(state_path(partition))
    title = Span("ZNODE", "title")
    if node is None:
        return [line(title, Span(" no state znode", "muted"))]
    head = line(
        title,
        Span(f" ..{state_path(partition)[len('/brokers/topics') :]}", "muted"),
        f" v{node.version}",
    )
    spans = [Span(f" leader {partition.leader} leader_epoch {partition.leader_epoch}")]
    return [head, line(*spans, f" isr {brackets(partition.isr)}")]


def _metadata(stage: Stage, partition: PartitionState) -> list[Line]:
    title, metadata = Span("METADATA", "title"), stage.metadata
    if metadata is None:
        return [line(title, Span(" reading..", "muted"))] if stage.is_kraft else []
    node = metadata.nodes.get(f"/topics/{partition.topic}/{partition.partition}")
    if node is None and not metadata.taken:
        return []
    if node is None:
        return [line(title, Span(" no record of it", "muted"))]
    value = node.value
    return [
        line(title, Span(f" {node.path} ", "muted"), f"at offset {number(node.changed)}"),
        line(
            f" leader {value['leader']} leaderEpoch {value['leader_epoch']}"
            f" isr {brackets(value['isr'])}"
        ),
    ]


def disagreements(stage: Stage, partition: PartitionState, width: int) -> list[Line]:
    """Return the views that differ from the znode, broken to a width; nothing if all agree."""
    rows: list[Line] = []
    others = truths(stage.view, partition)
    words = KRAFT_WORDS if stage.is_kraft else TRUTH_WORDS
    for truth in others:
        if truth.disagrees:
            views = [
                f"{name} {_word(getattr(truth, field))}"
                for field, name in words.items()
                if field in truth.disagrees
            ]
            first, *rest = wrap(" ".join(views), max(10, width - len(truth.who) - 3))
            rows.append(line(f"  {truth.who} ", Span(first, "warning")))
            rows += [line(" " * (len(truth.who) + 3), Span(row, "warning")) for row in rest]
    title = line(Span("DISAGREE", "title"), Span(f" with the {others[0].who}", "muted"))
    return [title, *rows] if rows else []


def _word(value: int | list[int] | None) -> str:
    """Return one line for a party's view."""
    if value is None:
        return "unknown"
    if isinstance(value, list):
        return brackets(value)
    return "none" if value < 0 else str(value)


def audit(partition: PartitionState) -> list[Line]:
    """Return what has been lost, duplicated or diverged; nothing if nothing has."""
    fates = {
        "lost": partition.lost,
        "offsets lost": partition.lost_offsets,
        "duplicated": partition.duplicated,
        "diverged": partition.diverged,
        "read and lost": partition.consumed_lost,
    }
    counts = {what: len(entries) for what, entries in fates.items()}
    counts["offsets lost"] = partition.lost_count - counts["lost"]
    parts = [
        Span(f" {counts[what]:,} {what} (offset {entries[0][0]}..)", "error")
        for what, entries in fates.items()
        if entries
    ]
    return [line(Span("AUDIT", "title"), *parts)] if parts else []


def why(stage: Stage, partition: PartitionState, width: int) -> list[Line]:
    """The chain of causes behind the state, the root first."""
    try:
        events = stage.explainer.chain(stage.view.state, partition)
    except StillReadingError:
        return [line(Span("WHY", "title"), Span(" reading..", "muted"))]
    title = line(Span("WHY", "title"), Span(" the root first", "muted"))
    if not events:
        return []
    said = sentence(stage, partition, events)
    told = [line(Span(f" {row}")) for row in wrap(said, max(10, width - 2))] if said else []
    return [title, *told, *chain_lines(events, width, stage.glyphs)]
