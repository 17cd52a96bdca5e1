"""The console's figures with very many partitions: key to paint, repainting, sorting, filtering.

``python -m benchmarks.console [--partitions N] [--seconds N]``; ``--session FILE``: a recording's.
The console runs without a terminal, but everything that would be sent to one is rendered. Keys go
the way that a terminal's keys go; a key is painted when the first screen update after it has been
rendered.
"""

import argparse
import asyncio
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from rich.console import RenderableType
from textual import events as keys
from textual._compositor import CompositorUpdate
from textual.screen import Screen

from commands.runs.live import replay_source_on_screen
from console.app import TidegaugeApp
from console.screens.partitions import PartitionsScreen
from console.widgets.virtual_table import VirtualTable
from emulator.events import Event, HighWatermarkChanged, RecordsAppended
from emulator.inputs.statements import Statement
from emulator.zookeeper.watches import Watches
from sessions.format.allowance import Allowance
from sessions.format.chunks import Kinds
from sessions.garbage_collection import collect_seldom
from sessions.model.cluster_view import ClusterView
from sessions.model.health import Counts
from sessions.model.states import Bookmark, BrokerState, PartitionState, ReplicaState, ViewState
from sessions.playback.cursor import Reply

BROKERS = 12
CHANGED_CELLS = 20
IN_SIGHT = 30
"""The cells that change are those of rows in sight: the most expensive ones."""
SIZE = (120, 40)
MS = 1_000
KEYS = ("down",) * 40 + ("pagedown",) * 20 + ("G", "up", "g", "j") * 5
ROUNDS = 5


def large_state(partitions: int) -> ViewState:
    """Topics of a hundred partitions with three replicas; one in a hundred is not healthy."""
    state = ViewState(version="3.9", seed=1, seq=partitions, time_us=60_000_000)
    state.brokers = {n: BrokerState(n, state="running") for n in range(BROKERS)}
    for number in range(partitions):
        topic, partition = f"topic{number // 100:04}", number % 100
        replicas = [(number + j) % BROKERS for j in range(3)]
        isr = replicas if number % 97 else replicas[:2]
        state.partitions[f"{topic}-{partition}"] = PartitionState(
            topic,
            partition,
            replicas,
            state="online",
            leader=replicas[0],
            leader_epoch=number % 17,
            controller_epoch=1,
            zk_version=4,
            isr=isr,
            leader_isr=isr,
            replica_states={
                b: ReplicaState(b, "leader" if b == replicas[0] else "follower", number, number)
                for b in replicas
            },
            min_isr=2,
            changed=number + 1,
        )
    return state


class LargeSource:
    """A live source in which each frame changes a few cells."""

    kind = "LIVE"
    name = "large"
    trouble = ""
    read_only = False
    goes_on = True
    can_forecast = False
    at_tail = True
    first_time_us = 0
    image = None
    recorder = None
    bootstrap_servers = ""
    notes: Sequence[str] = ()
    stale_us: int | None = None
    heading_for: int | None = None
    wall_clock_us: int | None = None

    def __init__(self, partitions: int) -> None:
        self.view = ClusterView(large_state(partitions))
        self.targets: list[str] = []
        self.time_us = self.view.time_us
        self.chance = random.Random(1)

    @property
    def present(self) -> ClusterView:
        """What is shown."""
        return self.view

    def keep_up(self) -> None:
        """Nothing happens meanwhile."""

    def stand_still(self) -> None:
        """It stands still anyway."""

    def starting_point(self) -> None:
        """There is nothing to look ahead from."""

    def statements_of(self, text: str) -> Sequence[Statement]:
        """None."""
        return ()

    def replies(self) -> Sequence[tuple[str, Reply]]:
        """None."""
        return ()

    @property
    def seq(self) -> int:
        """The last event."""
        return self.view.seq

    @property
    def first_seq(self) -> int:
        """The first event."""
        return 1

    @property
    def last_seq(self) -> int:
        """The last event."""
        return self.view.seq

    @property
    def last_time_us(self) -> int:
        """The present."""
        return self.time_us

    def watches(self, seq: int, observer: Callable[[Event], None]) -> Watches:
        """Do nothing."""
        return Watches()

    def advance(self, wall_seconds: float, speed: float, budget_ms: float) -> int:
        """Append a record to some of the partitions in sight, or move their HW."""
        self.time_us += int(wall_seconds * speed * 1_000_000)
        chosen = self.chance.sample(self.targets, min(len(self.targets), CHANGED_CELLS))
        for tp in chosen:
            partition = self.view.partitions[tp]
            replica = partition.replica_states[partition.replicas[0]]
            place = (self.view.seq + 1, self.time_us, 0, tp, replica.broker)
            leo, hw = replica.log_end_offset, replica.high_watermark
            event: Event = (
                HighWatermarkChanged(*place, leo, hw, "fetch")
                if leo > hw
                else RecordsAppended(*place, leo, 1, 0, leo)
            )
            self.view.apply(event)
        return len(chosen)

    def step(self, n: int) -> None:
        """Nothing to step through."""

    def seek_seq(self, seq: int) -> None:
        """Nowhere to go."""

    def seek_time(self, time_us: int) -> None:
        """Nowhere to go."""

    def to_tail(self) -> None:
        """Already there."""

    def events(self, first: int, last: int) -> Sequence[Event]:
        """None are kept."""
        return ()

    def touching(
        self, objects: Iterable[int | str], seq: int, direction: int, kinds: Kinds = None
    ) -> int | None:
        """None are kept."""
        return None

    def reading_at_most(self, allowance: Allowance) -> AbstractContextManager[None]:
        """Nothing is read."""
        return nullcontext()

    def bookmarks(self) -> Sequence[Bookmark]:
        """None are set."""
        return ()

    def put_bookmark(self, name: str, note: str = "", seq: int | None = None) -> Bookmark:
        """It is not kept."""
        return Bookmark(name, note, self.seq if seq is None else seq, self.time_us)

    def remove_bookmark(self, seq: int) -> bool:
        """There is none."""
        return False

    def flush(self) -> None:
        """Nothing is written."""

    def samples(self) -> Sequence[tuple[int, int, Counts]]:
        """None are kept."""
        return ()

    def submit(self, text: str) -> Reply:
        """Nothing can be asked of it."""
        return Reply()


class MeasuredApp(TidegaugeApp):
    """Renders what a terminal would get, and says when."""

    painted_at = 0.0

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if renderable is not None:
            cast("CompositorUpdate", renderable).render_segments(self.console)
            self.painted_at = time.perf_counter()
        super()._display(screen, renderable)


def p95(values: Sequence[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


class Taken(NamedTuple):
    """Milliseconds by the clock, and of a core's work; on a busy machine the first are more."""

    wall: float
    core: float


async def key_to_paint(app: MeasuredApp, key: str) -> Taken:
    """What passes from a key to the next rendered screen update."""
    begin, work = time.perf_counter(), time.process_time()
    app.post_message(keys.Key(key, key if len(key) == 1 else None))
    while app.painted_at < begin:  # noqa: ASYNC110 - an event would wake us a turn later
        await asyncio.sleep(0)
    taken = Taken((app.painted_at - begin) * MS, (time.process_time() - work) * MS)
    await asyncio.sleep(0.03)
    return taken


def timed(work: Callable[[], object]) -> Taken:
    """The median of some rounds."""
    taken = []
    for _ in range(ROUNDS):
        begin, spent = time.perf_counter(), time.process_time()
        work()
        passed = time.perf_counter() - begin
        taken.append(Taken(passed * MS, (time.process_time() - spent) * MS))
    return Taken(*map(statistics.median, zip(*taken, strict=True)))


async def repaint(
    app: MeasuredApp, source: LargeSource, table: VirtualTable[Any], seconds: float
) -> tuple[float, float]:
    """The share of a core that repainting changed cells takes, and how often it is done."""
    source.targets = [table.order[index] for index in range(IN_SIGHT)]
    app.stage.pacer.paused = False
    await asyncio.sleep(1.0)
    turn, work, begin = app.stage.turn, time.process_time(), time.perf_counter()
    await asyncio.sleep(seconds)
    wall = time.perf_counter() - begin
    app.stage.pacer.paused = True
    return (time.process_time() - work) / wall, (app.stage.turn - turn) / wall


def orders(table: VirtualTable[Any]) -> dict[str, Taken]:
    """What sorting and filtering all rows takes."""
    by_id = {column.id: column for column in table.rows.columns}
    figures = {}
    for name in ("state", "name", "lag", "leo"):
        table.sorted_by = by_id[name]
        figures[f"sort by {name}"] = timed(table.arrange_rows)
    table.sorted_by = by_id["state"]
    for text in ("topic0042", "re:-7$", "isr<min", "topic~00 and lag>10"):
        figures[f"filter {text}"] = timed(partial(table.set_filter, text))
    table.set_filter("")
    return figures


def figures_of(name: str, taken: Sequence[Taken]) -> dict[str, Taken]:
    """The usual and the worst of some keys."""
    walls, cores = zip(*taken, strict=True)
    return {
        f"{name}, median": Taken(statistics.median(walls), statistics.median(cores)),
        f"{name}, p95": Taken(p95(walls), p95(cores)),
    }


async def measured(partitions: int, seconds: float) -> None:
    """Print all figures of one console."""
    source = LargeSource(partitions)
    app = MeasuredApp(source, paused=True)
    app.stage.settle()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        figures = {"first paint of the table": await key_to_paint(app, "2")}
        await pilot.pause(0.5)
        screen = app.screen
        assert isinstance(screen, PartitionsScreen)
        figures |= figures_of("key to paint", [await key_to_paint(app, key) for key in KEYS])
        sorting = [await key_to_paint(app, key) for key in ("shift+right", "r") * 5]
        figures |= figures_of("sort key to paint", sorting)
        await pilot.press("g")
        figures |= orders(screen.table)
        share, frames = await repaint(app, source, screen.table, seconds)
    report(figures)
    print(f"{CHANGED_CELLS} changed cells, {frames:.1f} times a second: {share:.1%} of a core")


def report(figures: dict[str, Taken]) -> None:
    """One figure a line."""
    print(f"{'':<36} {'ms by the clock':>16} {'ms of a core':>14}")
    for name, taken in figures.items():
        print(f"{name:<36} {taken.wall:>16.1f} {taken.core:>14.1f}")


JOURNEY = ("2", "down", "G", "g", "3", "2", "less_than_sign", "greater_than_sign", "1", "5", "2")
"""Keys with which somebody looks at a recording: its table, the events of a partition."""


async def replayed(path: Path) -> None:
    """Print what opening a recording and looking at its end takes, key by key."""
    begin, work = time.perf_counter(), time.process_time()
    source = replay_source_on_screen(path)
    app = MeasuredApp(source, paused=True)
    figures = {}
    async with app.run_test(size=SIZE):
        while not app.painted_at:  # noqa: ASYNC110 - as for keys
            await asyncio.sleep(0)
        first = Taken((app.painted_at - begin) * MS, (time.process_time() - work) * MS)
        figures["first paint"] = first
        await asyncio.sleep(1)
        begin, work = time.perf_counter(), time.process_time()
        figures["L, first paint"] = await key_to_paint(app, "L")
        while not source.at_tail:  # noqa: ASYNC110 - as for keys
            await asyncio.sleep(0.01)
        last = Taken((time.perf_counter() - begin) * MS, (time.process_time() - work) * MS)
        figures["L, at the end"] = last
        await asyncio.sleep(1)
        for key in JOURNEY:
            figures[key] = await key_to_paint(app, key)
            await asyncio.sleep(0.3)
        figures |= figures_of("key to paint", [await key_to_paint(app, key) for key in KEYS])
    source.close()
    report(figures)
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def main(arguments: Sequence[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.console", description=__doc__)
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to repaint")
    parser.add_argument("--session", type=Path, help="look at a recording instead")
    chosen = parser.parse_args(arguments)
    collect_seldom()
    if chosen.session is not None:
        asyncio.run(replayed(chosen.session))
    else:
        asyncio.run(measured(chosen.partitions, chosen.seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
