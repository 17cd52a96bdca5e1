"""Every count on screen is right at once, whichever broker crashes at whichever moment of the demo.

The states are counted here from events alone, in a few plain lines that share nothing with the
product's tables; then each place that shows a count is read and compared: header, Overview, table,
filters, conditions, topics, time bar and alerts.
"""

import re
from collections.abc import Iterator

import pytest

from commands.runs.live import live_source
from console.model.alerts import alert_of
from console.model.conditions import parse
from console.model.filters import Filter
from console.model.severity import HEALTHY
from console.model.workspace import Stage
from console.render.bars import header_line
from console.render.lines import text_of
from console.render.overview import health_lines, healthy_sentence
from console.render.time_bar import worst_of
from console.screens.partitions import PartitionRows
from emulator.scenario.runner import Runner
from sessions.model.cluster_view import ClusterView
from sessions.model.health import holds
from sessions.model.states import PartitionState
from sessions.sources.live import LiveSource
from tests.console.fakes import ListSource
from tests.support.releases import THOROUGH

MOMENTS = 10 if THOROUGH else 5
"""At how many moments of the demo each broker crashes."""
SECONDS_AFTER = 25
"""How long it is followed: past the end of its session, with the defaults of every release."""
LOOK_EVERY = 40
"""Events between two looks at all that is shown."""


@pytest.fixture(scope="module")
def demo() -> Iterator[LiveSource]:
    source, recorder = live_source(None, None, {}, ())
    yield source
    source.close()
    recorder.close("ok")


def count(view: ClusterView) -> dict[str, int]:
    """How many partitions are in each state, told from the plain facts of the read model."""
    serving = {
        broker
        for broker, each in view.state.brokers.items()
        if each.state in ("running", "controlled_shutdown")
    }
    found = dict.fromkeys(
        (
            *("offline", "leaderless", "under_min_isr", "at_min_isr", "under_replicated"),
            *("unclean", "diverged", "non_preferred", "lost"),
        ),
        0,
    )
    for each in view.state.partitions.values():
        for state in wrong(each, serving):
            found[state] += 1
    return found


def wrong(each: PartitionState, serving: set[int]) -> Iterator[str]:
    if each.lost:
        yield "lost"
    if each.diverged:
        yield "diverged"
    if each.leader is None:
        return
    is_named_dead = each.leader >= 0 and each.leader not in serving
    leaders = [b for b, r in each.replica_states.items() if r.role == "leader" and b in serving]
    acting = [] if is_named_dead else leaders  # who leads beside a dead one led before it
    missing = set(each.replicas) - set(each.isr)
    conditions = {
        "offline": each.leader < 0,
        "leaderless": (each.led or is_named_dead) and not acting,
        "under_min_isr": len(each.isr) < each.min_isr,
        "at_min_isr": bool(missing) and len(each.isr) == each.min_isr,
        "under_replicated": bool(missing),
        "unclean": each.unclean and each.leader >= 0,
        "non_preferred": each.leader >= 0 and each.leader != each.replicas[0],
    }
    yield from (state for state, is_so in conditions.items() if is_so)


def shown_counts(stage: Stage) -> dict[str, dict[str, int]]:
    """Every count that is read off the screens, by where it stands."""
    found: dict[str, dict[str, int]] = {}
    health = [text_of(row) for row in health_lines(stage, 100)]
    labels = {
        "offline": "offline",
        "leaderless": "leader dead",
        "under_min_isr": "under min ISR",
        "at_min_isr": "at min ISR",
        "under_replicated": "under-replicated",
        "unclean": "unclean leader",
        "diverged": "diverged",
        "non_preferred": "not preferred",
        "lost": "lost records",
    }
    found["overview"] = {
        state: int(next(r for r in health if f" {label} " in r)[23:34].replace(",", ""))
        for state, label in labels.items()
    }
    header = text_of(header_line(stage, 300))
    words = {
        "offline": "offl",
        "leaderless": "dead",
        "under_min_isr": "<min",
        "at_min_isr": "=min",
        "under_replicated": "urp",
        "unclean": "uncl",
        "diverged": "divg",
        "lost": "lost",
    }
    found["header"] = {
        state: int(match[1])
        for state, word in words.items()
        if (match := re.search(rf"\b{word} (\d+)|{re.escape(word)} (\d+)", header)) and match[1]
    }
    rows = PartitionRows(stage)
    partitions = list(rows.rows())
    found["filter"] = {
        state: len(
            Filter(f"state={state}", rows.fields).select(rows.texts, rows.rows, len(partitions))
        )
        for state in labels
    }
    found["condition"] = {
        state: next(
            n for n in range(len(partitions) + 1) if parse(f"{state}={n}").holds(stage.view)
        )
        for state in labels
    }
    definitions = {state: holds(state) for state in labels}
    found["table of states"] = {
        state: sum(holds_of(each, stage.view.serving) for each in partitions)
        for state, holds_of in definitions.items()
    }
    return found


def check(stage: Stage) -> None:
    stage.follow()
    wanted = count(stage.view)
    records = sum(partition.lost_count for partition in stage.view.state.partitions.values())
    for place, shown in shown_counts(stage).items():
        said = wanted | ({"lost": records} if place in ("overview", "header") else {})
        assert shown == {state: said[state] for state in shown}, place
    healthy = sum(rank == HEALTHY for rank in stage.index.severity.values())
    total = len(stage.view.state.partitions)
    assert stage.index.faults == total - healthy
    counts = stage.view.counts()
    if any(wanted.values()):
        assert healthy < total
    down = counts.brokers - counts.brokers_up
    if total and not stage.index.faults and not down:
        assert healthy_sentence(stage).startswith(f"No faults. {total} of {total}")
    alerting = [state for state in wanted if wanted[state] and state != "non_preferred"]
    calm = ("all is well", "broker down")
    if alerting:
        assert worst_of([counts]).height
        assert alert_of(counts) not in calm
    elif not counts.blocked and not counts.trouble:
        assert bool(worst_of([counts]).height) is bool(down)
        assert alert_of(counts) == calm[bool(down)]


class ForkedSource(ListSource):
    """A copy of a live cluster that goes on by itself."""

    def __init__(self, runner: Runner, view: ClusterView) -> None:
        super().__init__([], "LIVE")
        self.runner = runner.fork()
        self.view = view.copy()
        self.runner.cluster.subscribe(self.view.apply)

    @property
    def time_us(self) -> int:
        return self.runner.now_us


def crash_everywhere(source: LiveSource, broker: int) -> None:
    statement = source.statements_of(f"broker crash {broker}")[0]
    for _ in range(MOMENTS):
        forked = ForkedSource(source.runner, source.recorder.view)
        stage = Stage(forked)
        looked_at = [forked.view.seq]

        def look(event: object, stage: Stage = stage, looked_at: list[int] = looked_at) -> None:
            if stage.view.seq - looked_at[0] >= LOOK_EVERY:
                looked_at[0] = stage.view.seq
                check(stage)

        forked.runner.submit(statement)
        led = [p for p in forked.view.partitions.values() if p.led and p.leader == broker]
        check(stage)
        assert forked.view.counts().leaderless >= len(led), "a dead leader is a fault at once"
        forked.runner.cluster.subscribe(look)
        forked.runner.advance(forked.runner.now_us + SECONDS_AFTER * 1_000_000)
        check(stage)
        source.advance(0.4, 1.0, 10_000)


@pytest.mark.parametrize("broker", [0, 1, 2])
def test_every_count_on_screen_is_right_whenever_a_broker_crashes(
    demo: LiveSource, broker: int
) -> None:
    crash_everywhere(demo, broker)


def test_a_frozen_leader_serves_nobody_and_thawed_it_does_again() -> None:
    source, recorder = live_source(None, None, {}, ())
    try:
        source.advance(3.0, 1.0, 10_000)
        stage = Stage(source)
        broker = source.view.state.controller.broker
        led = [p.name for p in source.view.state.partitions.values() if p.leader == broker]
        assert led
        assert source.submit(f"broker freeze {broker}").error == "NONE"
        check(stage)
        assert {tp for tp in stage.index.keys if stage.index.severity[tp] < HEALTHY} >= set(led)
        assert source.submit(f"broker thaw {broker}").error == "NONE"
        check(stage)
        assert source.view.counts().leaderless == 0
    finally:
        source.close()
        recorder.close("ok")
