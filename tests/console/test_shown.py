"""What each screen shows at 120x40 and at 80x24, in every state, empty, and in plain ASCII."""

import pytest
from msgspec import structs

from console.actions.registry import SCREENS
from console.render.state_words import STATE_WORDS, glyph_of
from sessions.model.cluster_view import ClusterView
from sessions.model.states import BrokerState, PartitionState, ReplicaState, ViewState
from tests.console.contexts import BESIDE, LIVE_ONLY, open_context
from tests.console.driving import LARGE, SIZES, SMALL, Console, console
from tests.console.fakes import ListSource, failover

SHOWN: dict[str, tuple[str, ...]] = {
    "overview": ("offline", "under min ISR", "faults and interventions", "broker 1 crashed"),
    "partitions": ("partitions ── 6/6", "✖ OFFL orders-5", "=MIN", "LDR", "OSR"),
    "partition": ("tapes ── orders-1", "offset", "cache  e0:0", "HW", "events of orders-1"),
    "brokers": ("brokers ── 2/3 up", "crashed", "LEADERS", "OSR"),
    "broker": ("replicas on broker 2", "HERE", "BEHIND", "orders-0", "leader"),
    "znodes": ("znodes ── 13 znodes", "brokers", "zookeeper (2)"),
    "znode": ("versions of /controller", "created ephemeral", "deleted"),
    "events": ("events ── 170 events, following", "STATE", "orders-5"),
    "event": ("causes, this event, effects", "── #100 ──", "caused by #"),
    "diagram": ("#100 in space and time", "clients", "zk"),
    "lost": ("lost records ── 0 records", "No acknowledged record has been lost"),
    "groups": ("groups", "There is no consumer group at this time", "esc goes back"),
    "clients": ("clients ── 0 connections", "No client is connected", "console --serve"),
    "record": ("record 72,004", "value       m4", "COPIES", "offset 4  epoch 0"),
    "bookmarks": ("bookmarks ── 1 bookmark", "b1", "before the crash"),
    "difference": ("Nothing differs.", ", . < > [ ] { } move in time"),
    "menu": ("sort by", "TOPIC-PART", "LEO"),
    "page": ("help: partitions", "esc goes back"),
    "notice": ("It is one.", "To return to this:", "shows event #20"),
}
"""What is to be read on each screen of the recorded failover."""
EMPTY: dict[str, tuple[str, ...]] = {
    "overview": ("There are no topics.", "Nothing has gone wrong, and no fault was injected."),
    "partitions": ("There are no partitions at this time.", ": topic create T"),
    "events": ("There are no events.", "L goes to the end of what exists"),
    "bookmarks": ("There are no bookmarks.", "b sets one at the time cursor"),
}
"""What they say before anything has happened: why there is nothing, and which key helps."""
HIDDEN_WHEN_SMALL = {"There are no topics."}


def check(driven: Console, size: tuple[int, int]) -> str:
    """A screen that is well drawn, as text: it fits, it is printable, its header is there."""
    lines, source = driven.lines(), driven.source
    assert len(lines) == size[1]
    assert all(len(row) <= size[0] for row in lines)
    text = "\n".join(lines)
    assert text.replace("\n", "").isprintable()
    if driven.screen.context != "menu":
        assert f"seed {source.view.state.seed}" in lines[0]
        assert f"#{source.seq}" in lines[0]
        assert "REPLAY" in lines[0]
        assert lines[-1].strip()
    return text


@pytest.mark.parametrize("size", SIZES)
async def test_every_screen_shows_what_it_is_for(size: tuple[int, int]) -> None:
    missing = {}
    async with console(ListSource(failover()), size=size) as driven:
        for context, parts in SHOWN.items():
            await open_context(driven, context)
            await driven.settle()
            text = check(driven, size)
            missing[context] = [part for part in parts if part not in text]
    assert {context: parts for context, parts in missing.items() if parts} == {}


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_screen_says_why_and_which_key_helps(size: tuple[int, int]) -> None:
    async with console(ListSource([]), size=size) as driven:
        for context, parts in EMPTY.items():
            await open_context(driven, context)
            await driven.settle()
            text = check(driven, size)
            wanted = [part for part in parts if size == LARGE or part not in HIDDEN_WHEN_SMALL]
            assert [part for part in wanted if part not in text] == [], f"{context}: {text}"


def test_every_screen_is_looked_at_here_or_in_a_test_of_its_own() -> None:
    elsewhere = {"sessions", "analysis", "lab", "explore", *LIVE_ONLY, *BESIDE}
    assert SHOWN.keys() | elsewhere == set(SCREENS)
    assert not SHOWN.keys() & elsewhere


# ---- every state of a partition


DEAD = 4


def healthy() -> PartitionState:
    leader = ReplicaState(1, "leader", 5, 5)
    return PartitionState(
        "t",
        9,
        [1, 2, 3],
        state="online",
        leader=1,
        leader_epoch=0,
        isr=[1, 2, 3],
        leader_isr=[1, 2, 3],
        replica_states={1: leader, 2: ReplicaState(2, "follower", 5, 5)},
        min_isr=2,
        changed=1,
    )


STATES: dict[str, PartitionState] = {
    "offline": structs.replace(healthy(), partition=0, state="offline", leader=-1, isr=[1, 2]),
    "leaderless": structs.replace(healthy(), partition=10, leader=DEAD, led=True),
    "waiting": structs.replace(healthy(), partition=12, isr=[1, 2, 3, DEAD]),
    "under_min_isr": structs.replace(healthy(), partition=1, isr=[1]),
    "unclean": structs.replace(healthy(), partition=2, unclean=True),
    "diverged": structs.replace(healthy(), partition=3, diverged=[(3, 7)]),
    "lost": structs.replace(healthy(), partition=11, lost=[(3, 7)]),
    "at_min_isr": structs.replace(healthy(), partition=4, isr=[1, 2]),
    "under_replicated": structs.replace(healthy(), partition=5, isr=[1, 2], min_isr=1),
    "hw_stalled": structs.replace(
        healthy(), partition=6, replica_states={1: ReplicaState(1, "leader", 5, 3)}
    ),
    "non_preferred": structs.replace(healthy(), partition=7, leader=2),
    "reassigning": structs.replace(healthy(), partition=8, adding=[4]),
    "healthy": healthy(),
}


def every_state() -> ListSource:
    """A cluster with one partition in each state, the worst last in name only."""
    source = ListSource([])
    state = ViewState(version="3.9", seed=1, time_us=60_000_000)
    state.brokers = {
        number: BrokerState(number, state="crashed" if number == DEAD else "running")
        for number in (1, 2, 3, DEAD)
    }
    state.partitions = {partition.name: partition for partition in STATES.values()}
    source.view = ClusterView(state)
    return source


@pytest.mark.parametrize(("size", "ascii"), [(LARGE, False), (SMALL, True)])
async def test_every_state_has_its_glyph_and_word_in_the_order_of_severity(
    size: tuple[int, int], *, ascii: bool
) -> None:
    async with console(every_state(), "2", size=size, ascii=ascii) as driven:
        glyphs = driven.app.stage.glyphs
        rows = [row[2:].strip() for row in driven.lines()[5:18]]
        for word, row in zip(STATE_WORDS, rows, strict=True):
            said = f"{glyph_of(word, glyphs)} {word.word}".strip()
            assert row.startswith(f"{said} ".lstrip()), f"{word.status}: {row}"
            assert f"t-{STATES[word.status].partition} " in f"{row} "
        await driven.press("f")
        assert "t-9" not in "\n".join(driven.lines()[4:18])
        assert "12/13" in driven.text()
        assert driven.text().isascii() is ascii
