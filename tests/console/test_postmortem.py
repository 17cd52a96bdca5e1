"""The session of a real cluster's history opens in every screen, with times of day."""

from collections.abc import Callable
from pathlib import Path

import pytest

from console.app import MODE_SCREENS, TidegaugeApp
from emulator.events import BrokerStateChanged
from sessions.postmortem.incident import read_paths, read_sources
from sessions.postmortem.session import record
from sessions.sources.replay import ReplaySource
from tests.console.contexts import OPENED, ready
from tests.console.driving import LARGE, Console, console
from tests.sessions.postmortem.logs import cluster, fence

RECORDED = Path(__file__).parents[1] / "sessions/postmortem/recordings/kraft-4.1.2"
INCIDENTS = RECORDED.parent / "incidents"
SHOWN: dict[str, tuple[str, ...]] = {
    "overview": ("brokers up", "4/5", "controller 100"),
    "partitions": ("partitions ── ", "t5-1"),
    "brokers": ("brokers ── 4/5 up", "fenced"),
    "metadata": ("metadata", "topics", "brokers"),
    "events": ("RECORD", "events ── "),
    "lab": ("Lab",),
    "partition": ("t5-1",),
    "broker": ("broker 3",),
    "event": ("causes, this event, effects",),
    "diagram": ("in space and time",),
    "lost": ("lost records",),
    "clients": ("No client is connected",),
    "bookmarks": ("There are no bookmarks.",),
    "difference": ("Nothing differs.",),
    "page": ("help",),
    "menu": ("sort by",),
}
OWN: dict[str, Callable[[TidegaugeApp], object]] = {
    "partition": lambda app: app.navigation.open("partition", "t5-1"),
    "broker": lambda app: app.navigation.open("broker", "3"),
    "event": lambda app: app.navigation.open("event", str(app.stage.source.seq)),
    "diagram": lambda app: app.navigation.open("diagram", str(app.stage.source.seq)),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("history") / "incident.tide.db"
    record(read_paths([str(RECORDED)]), path, [str(RECORDED)])
    return path


async def open_screen(driven: Console, context: str) -> None:
    app = driven.app
    while len(app.screen_stack) > 1:
        await app.pop_screen()
    app.navigation.go(context if context in MODE_SCREENS else "partitions")
    await ready(driven)
    opened = {**OPENED, **OWN}
    if context in opened:
        opened[context](app)
        await ready(driven)
    await driven.settle()


async def test_every_screen_opens_on_a_history(session: Path) -> None:
    source = ReplaySource(session)
    fenced = next(
        event.seq
        for event in source.events(1, source.last_seq)
        if isinstance(event, BrokerStateChanged) and (event.broker, event.state) == (3, "fenced")
    )
    source.seek_seq(fenced)
    missing = {}
    async with console(source, size=LARGE) as driven:
        for context, parts in SHOWN.items():
            await open_screen(driven, context)
            lines = driven.lines()
            text = "\n".join(lines)
            assert len(lines) == LARGE[1]
            assert all(len(row) <= LARGE[0] for row in lines), context
            if context not in ("menu", "page"):
                assert "2026-11-23 19:07:02.806" in lines[0], (context, lines[0])
            missing[context] = [part for part in parts if part not in text]
    source.close()
    assert {context: parts for context, parts in missing.items() if parts} == {}


async def test_a_history_begins_with_its_first_event_and_shows_nothing_that_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(INCIDENTS)
    path = tmp_path / "incident.tide.db"
    log, lines = read_sources(["last-in-sync"])
    record(log, path, ["last-in-sync"], lines=lines)
    source = ReplaySource(path)
    source.seek_time(0)
    assert source.time_us == source.first_time_us > 0
    assert source.seq == source.first_seq
    source.advance(1.0, 1.0, 100.0)
    assert source.time_us == source.first_time_us + 1_000_000
    source.to_tail()
    async with console(source, size=LARGE) as driven:
        await open_screen(driven, "overview")
        overview = driven.text()
        await open_screen(driven, "partitions")
        partitions = driven.text()
    source.close()
    assert "what it lost is not known" in overview
    assert "The controllers' records do not tell what" in overview
    assert "groups" not in overview
    assert "not known" in partitions
    assert "no log here" not in partitions
    assert "acts on ISR" not in partitions


async def test_after_midnight_the_clock_has_the_date_and_events_their_day(tmp_path: Path) -> None:
    log = cluster()
    log.second += 2 * 24 * 3_600
    log.add(fence(2, 4), version=1).write(tmp_path)
    session = tmp_path / "incident.tide.db"
    record(read_paths([str(tmp_path)]), session, [str(tmp_path)])
    source = ReplaySource(session)
    source.to_tail()
    async with console(source, size=(80, 24)) as driven:
        await open_screen(driven, "events")
        lines = driven.lines()
        assert "2026-09-23 14:13:30.000" in lines[0], lines[0]
        assert any("2d 14:13:30.000" in shown for shown in lines[1:])
    source.close()
