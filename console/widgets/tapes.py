"""The tapes of one partition, with a cursor that moves from record to record."""

from msgspec import structs
from textual import events

from console.model.motion import Motion
from console.model.records import record_at
from console.model.tape_window import pan_to
from console.model.workspace import Stage
from console.render.inspector import caught_up_age
from console.render.lines import BLANK, Line, Span, cut, data, line
from console.render.record import ACKS
from console.render.tapes import (
    LABEL_WIDTH,
    Drawing,
    fitted,
    legend,
    room_for,
    tape_lines,
    tape_order,
)
from console.widgets.text import TextView
from sessions.model.states import PartitionState, ReplicaState
from sessions.text import age, clock, json_text, number

PAGE_STEP = 8
"""Offsets by which a page key moves the cursor."""


class TapeView(TextView):
    """The tapes at the time cursor; the cursor is a replica and an offset.

    Until it is moved sideways, it stays at the end of its tape.
    """

    filter_hint = ""

    def __init__(self, stage: Stage, tp: str, *, id: str | None = None) -> None:
        super().__init__(stage, id=id)
        self.tp = tp
        self.pan = 0
        self.shows_values = False
        self.broker: int | None = None
        self.at: int | None = None
        self._drawn = Drawing(stage.glyphs)
        self.motion = Motion()

    @property
    def partition(self) -> PartitionState | None:
        return self.stage.view.state.partitions.get(self.tp)

    # ---- the cursor

    def tapes(self) -> list[int]:
        """The brokers whose tapes are shown, in order."""
        partition = self.partition
        return [] if partition is None else tape_order(partition)

    def place(self) -> tuple[int, int] | None:
        """The broker and the offset under the cursor."""
        tapes, partition = self.tapes(), self.partition
        if partition is None or not tapes:
            return None
        broker = self.broker if self.broker in tapes else tapes[0]
        assert broker is not None
        replica = partition.replica_states.get(broker)
        end = 0 if replica is None else replica.log_end_offset
        low, high = self._bounds(partition)
        offset = end - 1 if self.at is None else self.at
        return broker, max(low, min(offset, high))

    def _bounds(self, partition: PartitionState) -> tuple[int, int]:
        """The oldest and the newest offset that any replica holds."""
        replicas = partition.replica_states.values()
        low = min((replica.log_start for replica in replicas), default=0)
        high = max((replica.log_end_offset for replica in replicas), default=0) - 1
        return low, max(low, high)

    def record_id(self) -> int | None:
        """The record under the cursor, or the leader's at that offset if the replica has none."""
        place, partition = self.place(), self.partition
        if place is None or partition is None:
            return None
        replica = partition.replica_states.get(place[0])
        record = None if replica is None else record_at(replica, place[1])
        leader = partition.leader_replica
        return record_at(leader, place[1]) if record is None and leader is not None else record

    # ---- drawing

    def show_partition(self, partition: PartitionState) -> None:
        """Draw the tapes at the time cursor, with the records that the event there truncated."""
        stage, width = self.stage, self.columns

        def lag_of(follower: int) -> str:
            lag_us = caught_up_age(stage, partition, follower)
            return "now" if lag_us == 0 else age(lag_us)

        now_s = stage.frame_s
        self.motion.follow(partition, stage.source.seq, now_s, is_step=stage.pacer.paused)
        drawing = Drawing(
            glyphs=stage.glyphs,
            event=stage.reader.get(stage.source.seq),
            value_of=stage.view.value if self.shows_values else None,
            lag_of=lag_of,
            cursor=self.place() if self.has_focus else None,
            caches=True,
            gliding=self.motion.high_watermarks(now_s),
            vanishing=self.motion.vanishing(now_s),
            frozen=[b.id for b in stage.view.state.brokers.values() if b.state == "frozen"],
        )
        self._drawn = drawing = structs.replace(drawing, pan=self._pan(partition, drawing))
        rows: list[Line] = tape_lines(partition, width, drawing)
        rows += [self._record_line(), legend(stage.glyphs, width)]
        if self.styles.height is None or self.styles.height.value != len(rows):
            self.styles.height = len(rows)
        self.show([cut(row, width, stage.glyphs.more) for row in rows])

    def is_busy(self) -> bool:
        """Whether something on the tapes is still moving."""
        return self.motion.is_moving

    def _pan(self, partition: PartitionState, drawing: Drawing) -> int:
        """How far the window must be from the end to show the cursor.

        How much fits depends on the marks in it, so the window is placed twice.
        """
        place = self.place()
        if self.at is None or place is None:
            self.pan = 0
            return 0
        for _ in range(2):
            shown = structs.replace(drawing, pan=self.pan)
            window, _ = fitted(partition, room_for(self.columns), shown)
            self.pan = pan_to(window, place[1], self.pan)
        return self.pan

    def _record_line(self) -> Line:
        """What is known of the record under the cursor."""
        place, record = self.place(), self.record_id()
        if place is None:
            return BLANK
        where = Span(f" {place[0]}@{number(place[1])}  ", "key" if self.has_focus else "muted")
        if record is None:
            return line(where, Span("no record", "muted"))
        batch = self.stage.view.batch(record)
        if batch is None:
            return line(where, Span(f"record {number(record)}", "muted"))
        index = record - batch.first_record
        key = batch.keys[index] if batch.keys else None
        acks = ACKS.get(batch.acks, str(batch.acks))
        origin = f"  sent by {batch.producer} {clock(batch.sent_us)} acks {acks}  enter opens it"
        return line(
            where,
            Span("" if key is None else "key ", "muted"),
            data("" if key is None else f"{key} "),
            data(batch.values[index], "strong"),
            data(origin, "muted"),
        )

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the record under the mouse; a double click opens it."""
        event.prevent_default()
        partition, tapes = self.partition, self.tapes()
        index = (self.top + event.y - self.gutter.top - 1) // 2
        if partition is None or not 0 <= index < len(tapes):
            return
        window, _ = fitted(partition, room_for(self.columns), self._drawn)
        place = (event.x - self.gutter.left - LABEL_WIDTH) // window.cell
        if 0 <= place < len(window.offsets):
            self.broker, self.at = tapes[index], window.offsets[place]
            self.post_message(self.Selected(self))
            if event.chain > 1:
                self.post_message(self.Chosen(self))

    # ---- what keys do

    def _move(self, offsets: int) -> None:
        place, partition = self.place(), self.partition
        if place is None or partition is None:
            return
        low, high = self._bounds(partition)
        self.broker = place[0]
        self.at = max(low, min(place[1] + offsets, high))

    def action_move_left(self) -> None:
        self._move(-1)

    def action_move_right(self) -> None:
        self._move(1)

    def action_move_page_up(self) -> None:
        """Go back by a page of records."""
        self._move(-PAGE_STEP)

    def action_move_page_down(self) -> None:
        """Go forward by a page of records."""
        self._move(PAGE_STEP)

    def action_move_first(self) -> None:
        if (partition := self.partition) is not None:
            self.at = self._bounds(partition)[0]

    def action_move_last(self) -> None:
        """Go to the end of the tape, and stay there."""
        self.at = None

    def action_move_up(self) -> None:
        self._beside(-1)

    def action_move_down(self) -> None:
        self._beside(1)

    def _beside(self, step: int) -> None:
        place, tapes = self.place(), self.tapes()
        if place is not None:
            index = max(0, min(tapes.index(place[0]) + step, len(tapes) - 1))
            self.broker = tapes[index]
            self.show_line(1 + 2 * index)

    def action_wide(self) -> None:
        """Show the values of records, or their epochs."""
        self.shows_values = not self.shows_values

    def cell_text(self) -> str:
        """The value of the record under the cursor."""
        record = self.record_id()
        return "" if record is None else self.stage.view.value(record)

    def row_text(self) -> str:
        """The partition as JSON."""
        partition = self.partition
        return "" if partition is None else json_text(partition)

    def replica(self) -> ReplicaState | None:
        place, partition = self.place(), self.partition
        if place is None or partition is None:
            return None
        return partition.replica_states.get(place[0])
