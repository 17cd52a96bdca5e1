"""A recording as a story that a page steps through: its events, and what is shown after each."""

from collections.abc import Callable
from math import inf
from typing import Any, Final

from commands.runs.why import of_partition
from console.model.partition_fields import high_watermark, leader_number, log_end_offset
from console.model.tape_window import Window, foreign_offsets, records_in
from console.model.why import Fold
from console.model.workspace import Stage
from console.render.cause_chain import fold_text
from console.render.tapes import tape_order
from emulator import events
from emulator.events import CHANGE, Event, MetadataRecordCommitted
from sessions.model.batches import named_up_to
from sessions.model.event_text import in_words
from sessions.model.health import STATES
from sessions.model.quorum import controller_of
from sessions.model.states import BrokerState, PartitionState, Run
from sessions.model.touches import objects_of
from sessions.model.verdict import verdict, words
from sessions.replay_page.story import Changes, Story
from sessions.sources.source import Source
from sessions.text import broker_list, clean, number

EVENTS_MAX: Final = 100_000
"""More events make a page that browsers open slowly."""
RUNS_MAX: Final = 100
"""Runs at the end of a log that the page has."""
OFFSETS_MAX: Final = 200
"""Offsets at the end of the logs that the page draws."""
VALUES_MAX: Final = 20_000
"""Records whose values the page has."""
TEXT_MAX: Final = 300
"""Characters of an event's text."""
VALUE_MAX: Final = 40
"""Characters of a record's value."""
HEALTHY: Final = ("healthy", "healthy", "nothing is wrong")
COLUMNS: Final = (
    "STATE", "WRITES", "LEADER", "EPOCH", "REPLICAS", "ISR", "OSR", "ELR", "HW", "LEO",
)  # fmt: skip
"""What a row has, in this order; one without a title is not shown."""
ELR: Final = COLUMNS.index("ELR")
OFFSETS: Final = slice(COLUMNS.index("HW"), None)
"""What changes with every record."""

Progress = Callable[[int], object]


def story_of(source: Source, title: str, command: str, opens_at: int, progress: Progress) -> Story:
    """Walk through a recording from its beginning to its end; the cursor is left there.

    ``opens_at`` is the event that is shown first.
    """
    first = source.first_seq
    source.seek_seq(first - 1)
    begins_us = source.view.time_us if first > 1 else source.first_time_us
    gatherer = Gatherer(Stage(source, paused=True, patience=inf), begins_us)
    gatherer.take()
    for seq in range(first, source.last_seq + 1):
        source.step(1)
        for event in source.events(seq, seq):  # all of them together may not fit in memory
            gatherer.take(event)
        if seq % 256 == 0:
            progress(seq - first)
    state = source.view.state
    story = gatherer.story
    mode = "KRaft" if state.quorum is not None else "ZooKeeper"
    story.title = clean(title)
    story.command = clean(command)
    story.facts = [f"Kafka {clean(state.version)}, {mode}"]
    story.facts += [] if state.is_observed else [f"random seed {state.seed}"]
    story.first_seq = first
    story.opens_at = max(0, min(opens_at, source.last_seq) - first + 1)
    story.batches = gatherer.batches
    if not gatherer.has_elr:
        story.columns[ELR] = ""
    if not gatherer.has_all_values:
        story.notes.append(f"Values of the first {number(VALUES_MAX)} records only.")
    return story


class Gatherer:
    """Folds one event after the other, and notes which values of the page have changed.

    ``begins_us`` is the time before the first one.
    """

    def __init__(self, stage: Stage, begins_us: int) -> None:
        self.stage = stage
        self.changes = Changes()
        self.batches: list[tuple[int, list[str]]] = []
        self.has_all_values = True
        self.has_elr = False
        self.story = Story(
            title="",
            facts=[],
            command="",
            first_seq=1,
            begins_us=begins_us,
            columns=[*COLUMNS],
            states=[*((state.name, state.label, state.meaning) for state in STATES), HEALTHY],
            keys=self.changes.keys,
            changes=self.changes.steps,
        )
        self._words: dict[str, int] = {}
        self._time_us = begins_us
        self._values = 0
        self._next_record = 0
        self._replicas: dict[str, list[int]] = {}

    def take(self, event: Event | None = None) -> None:
        """Note the state at the cursor, after an event (None: before the first)."""
        self.changes.begin()
        if event is not None:
            self._event(event)
        changed = self.stage.follow()
        partitions = self.stage.view.partitions
        stops = isinstance(event, events.InputReceived)
        is_another_cluster = self._cluster()
        # Of a frozen broker's replicas, which are offline, no event tells.
        if is_another_cluster or _concerns_all(event):
            changed |= partitions.keys()
        elif isinstance(event, MetadataRecordCommitted):
            changed |= objects_of(event) & partitions.keys()
        # The event that says why may come after the one that wrote the state.
        explain = is_another_cluster or (event is not None and event.level >= CHANGE)
        for tp in sorted(changed):
            partition = partitions.get(tp)
            if partition is None:
                stops |= self._partition_deleted(tp)
            else:
                stops |= self._partition(partition, explain=explain)
        stops |= is_another_cluster
        self._records()
        if stops:
            self.story.stops.append(len(self.changes.steps) - 1)

    def _event(self, event: Event) -> None:
        word, text = in_words(event)
        columns = self.story.events
        index = self._words.setdefault(word, len(self._words))
        if index == len(self.story.words):
            self.story.words.append(word)
        columns.words.append(index)
        columns.texts.append(text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}..")
        columns.levels.append(event.level)
        columns.times.append(event.time_us - self._time_us)
        columns.causes.append(event.seq - event.cause if event.cause else 0)
        self._time_us = event.time_us

    def _cluster(self) -> bool:
        view = self.stage.view
        state = view.state
        brokers = [_broker(broker) for _, broker in sorted(state.brokers.items())]
        stops = self.changes.put(("brokers",), brokers)
        if state.quorum is not None:
            controllers = sorted(state.quorum.controllers.items())
            stops |= self.changes.put(("controllers",), controllers)
        stops |= self.changes.put(("controller",), controller_of(state))
        outcome = verdict(view.counts())
        sentence = words(view, outcome)
        stops |= self.changes.put(("trouble",), outcome.is_loss)
        self.changes.put(("verdict",), clean(sentence))
        return stops

    def _records(self) -> None:
        """Keep the values of records that are new, up to the most that a page has."""
        if not self.has_all_values:
            return
        batches = self.stage.view.state.batches
        new = batches[named_up_to(batches, self._next_record - 1) :] if batches else ()
        for batch in new:
            self._next_record = batch.first_record + 1
            if self._values + len(batch.values) > VALUES_MAX:
                self.has_all_values = False
                return
            values = [clean(value[:VALUE_MAX]) for value in batch.values]
            self._values += len(values)
            self.batches.append((batch.first_record, values))

    def _partition_deleted(self, name: str) -> bool:
        tp = clean(name)
        for broker in self._replicas.pop(tp, []):
            self.changes.put(("replica", tp, broker), None)
            self.changes.put_list(("log", tp, broker), [], _run)
        for key in ("partition", "tapes", "why"):
            self.changes.put((key, tp), None)
        return True

    def _partition(self, partition: PartitionState, *, explain: bool) -> bool:
        tp = clean(partition.name)
        row = self._row(partition)
        before = self.changes.last(("partition", tp))
        changed = self.changes.put(("partition", tp), row)
        if explain or before is None or before[: OFFSETS.start] != row[: OFFSETS.start]:
            self._explain(partition, tp)
        self._tapes(partition, tp)
        return changed and (before is None or before[0] != row[0])

    def _row(self, partition: PartitionState) -> list[Any]:
        stage = self.stage
        status = stage.view.status(partition)
        leader = leader_number(partition)
        elr = broker_list(stage.elr(partition))
        self.has_elr = self.has_elr or bool(elr)
        return [
            status,
            stage.view.writes(partition),
            "none" if leader is None else leader,
            number(partition.leader_epoch),
            broker_list(partition.replicas),
            broker_list(partition.isr),
            broker_list(partition.osr),
            elr,
            number(high_watermark(partition)),
            number(log_end_offset(partition)),
        ]

    def _explain(self, partition: PartitionState, tp: str) -> None:
        if self.stage.view.status(partition) == "healthy":
            self.changes.put(("why", tp), None)
            return
        answer = of_partition(self.stage, partition)
        links = [
            clean(fold_text(link.events)) if isinstance(link, Fold) else link.seq
            for link in answer.links
        ]
        self.changes.put(("why", tp), [clean(answer.sentence), links])

    def _tapes(self, partition: PartitionState, tp: str) -> None:
        order = tape_order(partition)
        self.changes.put(("tapes", tp), order)
        self._replicas[tp] = sorted({*self._replicas.get(tp, []), *partition.replica_states})
        replicas = partition.replica_states
        newest = max((replica.log_end_offset for replica in replicas.values()), default=0)
        window = Window(first=max(0, newest - OFFSETS_MAX), end=newest, cell=1)
        leader = partition.leader_replica
        original = {} if leader is None else records_in(leader, window)
        foreign = foreign_offsets(partition, window, original)
        for broker in self._replicas[tp]:
            replica = replicas.get(broker)
            if replica is None:
                self.changes.put(("replica", tp, broker), None)
                self.changes.put_list(("log", tp, broker), [], _run)
                continue
            role = "leader" if broker == partition.leader else ""
            role = role or ("ISR" if broker in partition.isr else "OSR")
            facts = (
                self.stage.view.role(replica),
                role,
                replica.high_watermark,
                replica.log_end_offset,
                replica.log_start,
                sorted(foreign.get(broker, ())),
            )
            self.changes.put(("replica", tp, broker), facts)
            self.changes.put_list(("log", tp, broker), replica.log[-RUNS_MAX:], _run)


def _concerns_all(event: Event | None) -> bool:
    """Whether an event changes partitions that it does not name: one that clears ELRs."""
    return isinstance(event, MetadataRecordCommitted) and event.kind == "ClearElr"


def _broker(broker: BrokerState) -> tuple[int, str]:
    return (broker.id, broker.state)


def _run(run: Run) -> tuple[int, int, int, int]:
    return (run.base_offset, run.count, run.leader_epoch, run.first_record)
