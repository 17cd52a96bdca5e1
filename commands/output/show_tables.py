"""Tables of ``show`` and of the end of a run, made from the read model alone."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

import msgspec

from commands.language.statements.show import Show
from commands.output.grids import Cell, Grid
from commands.output.kraft_tables import metadata_grids, quorum_grids
from emulator.events import Event
from emulator.releases.profiles import Profile
from sessions.grammar.event_patterns import pattern, since
from sessions.grammar.words import BadWord, nearest
from sessions.model.authority import authority
from sessions.model.checkpoint_files import checkpoint_files
from sessions.model.clients import behind, lag_of, library_of
from sessions.model.cluster_view import ClusterView
from sessions.model.metadata_image import Metadata, MetadataReader
from sessions.model.quorum import broker_role, controllers_running
from sessions.model.states import PartitionState, ReplicaState, ViewState
from sessions.model.truths import truths
from sessions.model.verdict import verdict, words
from sessions.text import clock, hexadecimal

WORDS: Final = {"leader_epoch": "epoch", "zk_version": "version"}
"""Columns whose title differs from the field's name."""

UNKNOWN: Final = -1
"""A follower's LEO that the leader does not know yet."""


def grids(show: Show, view: ClusterView) -> list[Grid]:
    """Return the tables of a ``show``.

    Raises:
        BadWord: something it names does not exist; one sentence with the nearest that does.
    """
    return TABLES[show.what](view, show.target)


def _cluster(view: ClusterView, _target: str) -> list[Grid]:
    state, counts, quorum = view.state, view.counts(), view.state.quorum
    rows: list[tuple[Cell, ...]] = [
        ("verdict", words(view, verdict(counts))),
        ("version", state.version),
        ("seed", state.seed),
        ("time", clock(state.time_us)),
        ("events", state.seq),
        ("controller", _controller(state)),
        ("controller epoch", state.controller.epoch if quorum is None else quorum.epoch),
        *_controllers_and_fencing(view.state),
        ("brokers up", f"{counts.brokers_up} of {counts.brokers}"),
        ("partitions", counts.partitions),
        ("offline", counts.offline),
        ("under min ISR", counts.under_min_isr),
        ("under-replicated", counts.under_replicated),
        ("links cut or slow", len(state.links)),
    ]
    return [Grid("cluster", ("WHAT", "VALUE"), rows)]


def _controller(state: ViewState) -> Cell:
    """The controller, and why it does not control anything if so."""
    here = authority(state)
    if here.controller is None or not here.trouble:
        return here.controller
    return f"{here.controller} ({here.trouble})"


def _controllers_and_fencing(state: ViewState) -> Iterator[tuple[Cell, ...]]:
    quorum, metadata = state.quorum, MetadataReader().at(state)
    if quorum is None or metadata is None:
        return
    yield "controllers up", f"{controllers_running(quorum)} of {len(quorum.controllers)}"
    yield "fenced brokers", sum(broker.fenced for broker in metadata.image.brokers.values())


def _partitions(view: ClusterView, topic: str) -> list[Grid]:
    partitions = list(view.state.partitions.values())
    if topic:
        partitions = [partition for partition in partitions if partition.topic == topic]
        if not partitions:
            topics = {partition.topic for partition in view.state.partitions.values()}
            raise BadWord(f"there is no topic '{topic}'{nearest(topic, topics)}")
    partitions.sort(key=lambda partition: (partition.topic, partition.partition))
    metadata = MetadataReader().at(view.state)
    eligible = () if metadata is None else ("ELR",)
    columns = ("PARTITION", "STATE", "LEADER", "EPOCH", "REPLICAS", "ISR", "OSR", *eligible)
    rows = [_partition_row(view, metadata, partition) for partition in partitions]
    return [Grid("partitions", (*columns, "HW", "LEO", "STATUS"), rows)]


def _partition_row(
    view: ClusterView, metadata: Metadata | None, partition: PartitionState
) -> tuple[Cell, ...]:
    leader = partition.leader_replica
    eligible = () if metadata is None else (metadata.elr(partition),)
    return (
        partition.name,
        partition.state,
        partition.leader,
        partition.leader_epoch,
        partition.replicas,
        partition.isr,
        partition.osr,
        *eligible,
        None if leader is None else leader.high_watermark,
        None if leader is None else leader.log_end_offset,
        view.status(partition).replace("_", " "),
    )


def _replicas(view: ClusterView, target: str) -> list[Grid]:
    names = [target] if target in view.state.partitions else []
    if not names:
        names = [
            partition.name
            for partition in view.state.partitions.values()
            if target in ("", partition.topic)
        ]
    if not names and target:
        _known_partition(view, target)
    partitions = [view.state.partitions[name] for name in names]
    partitions.sort(key=lambda partition: (partition.topic, partition.partition))
    rows = [
        _replica_row(view, partition, replica)
        for partition in partitions
        for _, replica in sorted(partition.replica_states.items())
    ]
    columns = ("PARTITION", "BROKER", "ROLE", "IN ISR", "LOG START", "HW", "LEO", "REMOTE LEO")
    return [Grid("replicas", (*columns, "EPOCH:START"), rows)]


def _replica_row(
    view: ClusterView, partition: PartitionState, replica: ReplicaState
) -> tuple[Cell, ...]:
    is_leader = replica.broker == partition.leader
    remote_leo = None if is_leader else partition.remote_leo.get(replica.broker)
    return (
        partition.name,
        replica.broker,
        view.role(replica),
        "yes" if replica.broker in partition.isr else "no",
        replica.log_start,
        replica.high_watermark,
        replica.log_end_offset,
        None if remote_leo == UNKNOWN else remote_leo,
        _epochs_of(replica),
    )


def _topics(view: ClusterView, _target: str) -> list[Grid]:
    partitions: dict[str, list[PartitionState]] = {}
    for partition in view.state.partitions.values():
        partitions.setdefault(partition.topic, []).append(partition)
    rows: list[tuple[Cell, ...]] = [
        (
            topic,
            len(of_topic),
            max(len(partition.replicas) for partition in of_topic),
            [f"{k}={v}" for k, v in sorted(view.state.topic_configs.get(topic, {}).items())],
        )
        for topic, of_topic in sorted(partitions.items())
    ]
    return [Grid("topics", ("TOPIC", "PARTITIONS", "REPLICAS", "CONFIG"), rows)]


def _brokers(view: ClusterView, _target: str) -> list[Grid]:
    leads: dict[int | None, int] = {}
    replica_counts: dict[int, int] = {}
    for partition in view.state.partitions.values():
        leads[partition.leader] = leads.get(partition.leader, 0) + 1
        for broker in partition.replicas:
            replica_counts[broker] = replica_counts.get(broker, 0) + 1
    metadata = MetadataReader().at(view.state)
    rows: list[tuple[Cell, ...]] = [
        (
            broker.id,
            broker.state,
            broker.rack,
            hexadecimal(broker.session) if broker.session else None,
            broker.broker_epoch or None,
            leads.get(broker.id, 0),
            replica_counts.get(broker.id, 0),
            _role(view, broker.id) if metadata is None else broker_role(metadata, broker.id),
        )
        for _, broker in sorted(view.state.brokers.items())
    ]
    columns = ("BROKER", "STATE", "RACK", "SESSION", "EPOCH", "LEADS", "REPLICAS", "ROLE")
    return [Grid("brokers", columns, rows)]


def _role(view: ClusterView, broker: int) -> str:
    return "controller" if view.state.controller.broker == broker else ""


def _producers(view: ClusterView, _target: str) -> list[Grid]:
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            producer.acked,
            producer.failed,
            producer.retries,
            producer.pending,
            list(_counted(producer.errors)),
        )
        for name, producer in sorted(view.state.producers.items())
    ]
    columns = ("PRODUCER", "ACKED", "FAILED", "RETRIES", "PENDING", "ERRORS")
    return [Grid("producers", columns, rows)]


def _consumers(view: ClusterView, _target: str) -> list[Grid]:
    rows: list[tuple[Cell, ...]] = [
        (name, sum(count for _, count in consumer.runs), consumer.position, consumer.error)
        for name, consumer in sorted(view.state.consumers.items())
    ]
    return [Grid("consumers", ("CONSUMER", "RECORDS", "POSITION", "ERROR"), rows)]


def _clients(view: ClusterView, _target: str) -> list[Grid]:
    now_us = view.state.time_us
    rows: list[tuple[Cell, ...]] = [
        (
            connection.client,
            library_of(connection),
            connection.address,
            connection.broker,
            f"{connection.api} {connection.api_version}" if connection.api else "",
            connection.requests,
            connection.requests_per_second(now_us),
            [f"{name} x{count}" for name, count in connection.errors.items()],
            connection.group,
            lag_of(view, connection),
        )
        for connection in view.state.connections.values()
    ]
    columns = ("CLIENT", "LIBRARY", "ADDRESS", "BROKER", "LAST REQUEST", "REQUESTS", "PER SECOND")
    return [Grid("clients", (*columns, "ERRORS", "GROUP", "LAG"), rows, empty="none is connected")]


def _faults(view: ClusterView, _target: str) -> list[Grid]:
    rows: list[tuple[Cell, ...]] = [
        (fault.name, fault.api, fault.effect, fault.injected, fault.times - fault.injected)
        for fault in view.state.faults.values()
    ]
    columns = ("FAULT", "API", "EFFECT", "INJECTED", "LEFT")
    return [Grid("faults", columns, rows, empty="none was injected")]


def _groups(view: ClusterView, _target: str) -> list[Grid]:
    rows: list[tuple[Cell, ...]] = []
    for name, group in sorted(view.state.groups.items()):
        lags = behind(view, group.offsets)
        head = (name, group.state, group.generation, group.broker, len(group.members))
        rows += [(*head, tp, offset, lags.get(tp)) for tp, offset in sorted(group.offsets.items())]
        rows += [] if group.offsets else [(*head, "", None, None)]
    columns = ("GROUP", "STATE", "GENERATION", "COORDINATOR", "MEMBERS")
    grids = [Grid("groups", (*columns, "PARTITION", "OFFSET", "LAG"), rows, empty="there is none")]
    return [*grids, *(grid for grid in (_members(view), *_shared(view)) if grid.rows)]


def _members(view: ClusterView) -> Grid:
    """The members of groups of the new protocols, and for whom each waits."""
    rows: list[tuple[Cell, ...]] = []
    for name, group in sorted(view.state.groups.items()):
        for member, assignment in sorted(group.assignments.items()):
            waits = [
                f"{group.members.get(owner, owner)} {tp}"
                for owner, partitions in group.kept_from(member).items()
                for tp in partitions
            ]
            epochs = (assignment.epoch, group.generation, group.assignment_epoch)
            owned = (assignment.partitions, group.targets.get(member, []), assignment.revoking)
            member_columns = (name, group.protocol, assignment.consumer, member)
            rows.append((*member_columns, *epochs, *owned, waits))
    columns = ("GROUP", "PROTOCOL", "CONSUMER", "MEMBER", "EPOCH", "GROUP EPOCH", "TARGET EPOCH")
    return Grid("members", (*columns, "HAS", "TARGET", "GIVES UP", "WAITS FOR"), rows)


def _shared(view: ClusterView) -> Iterator[Grid]:
    """The partitions that share groups share out, and the records that are in flight."""
    partitions: list[tuple[Cell, ...]] = []
    records: list[tuple[Cell, ...]] = []
    for name, group in sorted(view.state.groups.items()):
        for tp, share in sorted(group.shares.items()):
            counts = (share.count("acquired"), share.count("available"), share.archived)
            broker = None if share.broker < 0 else share.broker
            partitions.append((name, tp, broker, share.start, *counts))
            records += [
                (
                    *(name, tp, run.first, run.last, run.state, run.deliveries),
                    run.consumer or None,
                    clock(run.locked_until_us) if run.locked_until_us else None,
                )
                for run in share.runs
            ]
    columns = ("GROUP", "PARTITION", "BROKER", "START", "ACQUIRED", "AVAILABLE", "ARCHIVED")
    yield Grid("share partitions", columns, partitions)
    columns_of_records = ("GROUP", "PARTITION", "FIRST", "LAST", "STATE", "DELIVERIES", "CONSUMER")
    yield Grid("records in flight", (*columns_of_records, "LOCKED UNTIL"), records)


def _audit(view: ClusterView, _target: str) -> list[Grid]:
    state = view.state
    kinds = ("lost", "duplicated", "diverged", "consumed_lost")
    totals = dict.fromkeys(kinds, 0)
    rows: list[tuple[Cell, ...]] = []
    for partition in state.partitions.values():
        for kind in kinds:
            records: list[tuple[int, int]] = getattr(partition, kind)
            totals[kind] += len(records)
            rows.extend(
                (kind.replace("_", " "), partition.name, offset, view.value(record))
                for offset, record in records
            )
        for begin, end in partition.lost_offsets:
            totals["lost"] += end - begin
            loss = f"(unknown, as all up to {end - 1})"
            rows.append(("lost", partition.name, begin, loss))
    violated: list[tuple[Cell, ...]] = [
        (seq, name, tp, "yes" if known else "no", detail)
        for seq, name, tp, detail, known in state.invariants
    ]
    counts: list[tuple[Cell, ...]] = [(state.acked, *totals.values(), len(violated))]
    tables = [
        Grid("audit", ("ACKED", *(kind.upper() for kind in kinds), "INVARIANTS_VIOLATED"), counts)
    ]
    if rows:
        tables.append(
            Grid("records", ("WHAT", "PARTITION", "OFFSET", "VALUE"), sorted(rows, key=str))
        )
    if violated:
        columns = ("EVENT", "INVARIANT", "PARTITION", "KNOWN", "DETAIL")
        tables.append(Grid("invariants violated", columns, violated))
    return tables


def _epochs(view: ClusterView, tp: str) -> list[Grid]:
    partition = _known_partition(view, tp)
    rows: list[tuple[Cell, ...]] = [
        (
            broker,
            replica.role,
            f"leader epochs exist since {Profile.first_with('leader_epochs')}"
            if replica.epochs is None
            else _epochs_of(replica),
        )
        for broker, replica in sorted(partition.replica_states.items())
    ]
    return [Grid(f"leader epochs of {tp}", ("BROKER", "ROLE", "EPOCH:START"), rows)]


def _epochs_of(replica: ReplicaState) -> list[str]:
    return [f"{epoch}:{start}" for epoch, start in replica.epochs or ()]


def _log(view: ClusterView, target: str) -> list[Grid]:
    tp, _, broker = target.partition("@")
    partition = _known_partition(view, tp)
    replica = partition.replica_states.get(int(broker))
    if replica is None:
        raise BadWord(f"broker {broker} has no log of {tp}")
    title = f"log of {target}: HW {replica.high_watermark}, LEO {replica.log_end_offset}"
    rows = list(_records(view, replica))
    return [Grid(title, ("OFFSET", "EPOCH", "BELOW HW", "KEY", "VALUE"), rows, empty="empty")]


def _records(view: ClusterView, replica: ReplicaState) -> Iterator[tuple[Cell, ...]]:
    for run in replica.log:
        for at in range(run.count):
            record, offset = run.first_record + at, run.base_offset + at
            batch = view.batch(record)
            key = batch.keys[record - batch.first_record] if batch and batch.keys else None
            epoch = None if run.leader_epoch < 0 else run.leader_epoch
            below = "yes" if offset < replica.high_watermark else "no"
            yield (offset, epoch, below, key, view.value(record))


def _files(view: ClusterView, target: str) -> list[Grid]:
    broker = int(target)
    if broker not in view.state.brokers:
        brokers = ", ".join(map(str, sorted(view.state.brokers)))
        raise BadWord(f"there is no broker {broker}; there are {brokers}")
    return [
        Grid(file.path, ("CONTENT",), [(line,) for line in file.lines], empty="empty")
        for file in checkpoint_files(view.state, broker)
    ]


def _truths(view: ClusterView, tp: str) -> list[Grid]:
    rows: list[tuple[Cell, ...]] = [
        (
            truth.who,
            truth.leader,
            truth.leader_epoch,
            truth.isr,
            truth.zk_version,
            truth.high_watermark,
            truth.log_end_offset,
            [WORDS.get(name, name) for name in truth.disagrees],
        )
        for truth in truths(view, _known_partition(view, tp))
    ]
    columns = ("WHO", "LEADER", "EPOCH", "ISR", "VERSION", "HW", "LEO", "DISAGREES")
    return [Grid(f"truths of {tp}", columns, rows)]


def _known_partition(view: ClusterView, tp: str) -> PartitionState:
    partition = view.state.partitions.get(tp)
    if partition is None:
        raise BadWord(f"there is no partition '{tp}'{nearest(tp, view.state.partitions)}")
    return partition


def _counted(names: list[str]) -> Iterator[str]:
    """Yield ``NAME x3`` for each name, in order of first appearance."""
    for name in dict.fromkeys(names):
        yield f"{name} x{names.count(name)}"


def events_grid(
    show: Show, happened: Iterable[Event], first: int = 0, rows_max: int | None = None
) -> Grid:
    """Return the events that ``show events`` selects from ``first`` on, at most ``rows_max``.

    Raises:
        BadWord: there is no such mark.
    """
    from sessions.model.event_text import in_words

    event_pattern = pattern(show.pattern) if show.pattern else None
    selected = (
        event
        for event in since(show.since, happened)
        if event.seq >= first and (event_pattern is None or event_pattern.matches(event))
    )
    rows: list[tuple[Cell, ...]] = [
        (
            event.seq,
            clock(event.time_us),
            type(event).__name__,
            event.cause or None,
            in_words(event)[1],
            _fields(event),
        )
        for event in islice(selected, rows_max)
    ]
    columns = ("EVENT", "TIME", "TYPE", "CAUSE", "WHAT", "FIELDS")
    return Grid("events", columns, rows, unprinted=("FIELDS",))


def _fields(event: Event) -> str:
    """Format an event's own fields as an event pattern compares them: ``broker=2 tp=orders-0``."""
    names = event.__struct_fields__[len(Event.__struct_fields__) :]
    return " ".join(f"{name}={_plain(getattr(event, name))}" for name in names)


def _plain(value: object) -> str:
    """Format a field as it is written in a pattern."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


TABLES: Final[dict[str, Callable[[ClusterView, str], list[Grid]]]] = {
    "cluster": _cluster,
    "partitions": _partitions,
    "replicas": _replicas,
    "topics": _topics,
    "brokers": _brokers,
    "producers": lambda view, target: [*_producers(view, target), *_consumers(view, target)],
    "clients": _clients,
    "faults": _faults,
    "groups": _groups,
    "quorum": quorum_grids,
    "metadata": metadata_grids,
    "audit": _audit,
    "epochs": _epochs,
    "log": _log,
    "files": _files,
    "truths": _truths,
}
"""The function that makes each table, by the word that selects it."""
