"""The way to every screen of the registry: which keys lead there from the overview."""

from collections.abc import Callable
from typing import Final, cast

from console.app import MODE_SCREENS, TidegaugeApp
from console.model.faults import faults_of
from console.model.library import Finding
from console.screens.analysis import AnalysisScreen
from console.screens.explore import ExploreScreen
from console.screens.faults import FaultsScreen
from console.screens.notice import Notice, NoticeScreen
from console.screens.page import choose_sort
from console.screens.partitions import PartitionsScreen, PartitionTable
from tests.console.driving import Console
from tests.console.libraries import SmallLibrary

KEYS_TO: Final[dict[str, tuple[str, ...]]] = {
    "overview": ("1",),
    "partitions": ("2",),
    "partition": ("2", "enter"),
    "brokers": ("3",),
    "broker": ("3", "enter"),
    "znodes": ("4",),
    "znode": ("4", "enter"),
    "events": ("5",),
    "event": ("5", "enter"),
    "diagram": ("5", "D"),
    "lost": ("1", "X"),
    "clients": ("1", "C"),
    "groups": ("1", "O"),
    "record": ("2", "down", "enter", "shift+tab", "enter"),
    "bookmarks": ("1", "B"),
    "difference": ("1", "a", "comma", "d"),
    "sessions": ("6",),
    "lab": ("7",),
    "menu": ("2", "s"),
    "page": ("2", "question_mark"),
}
"""Screens that keys lead to."""
RAISED: Final = ("notice",)
"""Screens that come by themselves."""
LIVE_ONLY: Final = ("faults",)
"""Screens that a recording has not."""
BESIDE: Final = ("compare", "metadata")
"""Screens that only some sources have: two runs side by side (``screens/test_compare.py``), and
clusters without ZooKeeper (``screens/test_metadata.py``)."""
WITH_LIBRARY: Final = ("explore", "analysis")
"""Screens that a console without a library has not (``screens/test_explore.py``,
``screens/test_sessions.py``)."""

NOTICE: Final = Notice("test", ("It is one.",), 20, "true")


def open_difference(app: TidegaugeApp) -> None:
    """The difference between here and here."""
    app.bookmarks.action_mark_a()
    app.bookmarks.action_mark_difference()


OPENED: Final[dict[str, Callable[[TidegaugeApp], object]]] = {
    "partition": lambda app: app.navigation.open("partition", "orders-1"),
    "broker": lambda app: app.navigation.open("broker", "2"),
    "znode": lambda app: app.navigation.open("znode", "/controller"),
    "event": lambda app: app.navigation.open("event", "100"),
    "lost": lambda app: app.navigation.open("lost"),
    "clients": lambda app: app.navigation.open("clients"),
    "groups": lambda app: app.navigation.open("groups"),
    "diagram": lambda app: app.navigation.open("diagram", "100"),
    "record": lambda app: app.navigation.open("record", "72004"),
    "bookmarks": lambda app: app.bookmarks.action_mark_list(),
    "difference": open_difference,
    "explore": lambda app: app.push_screen(ExploreScreen(app.stage, SmallLibrary())),
    "analysis": lambda app: app.push_screen(
        AnalysisScreen(app.stage, "analysis", [Finding("t-0  3.2 s", None, 41)])
    ),
    "faults": lambda app: app.push_screen(
        FaultsScreen(app.stage, "broker 2", faults_of(app.stage.view, ["broker.2"]))
    ),
    "menu": lambda app: choose_sort(
        cast(PartitionsScreen, app.screen), app.screen.query_one(PartitionTable)
    ),
    "page": lambda app: app.action_app_help(),
    "notice": lambda app: app.push_screen(NoticeScreen(app.stage, NOTICE)),
}
"""How a console on the recorded failover comes to each screen without keys."""


async def open_context(driven: Console, context: str) -> None:
    """Come to a screen from wherever one is."""
    app = driven.app
    while len(app.screen_stack) > 1:
        await app.pop_screen()
    app.navigation.go(context if context in MODE_SCREENS else "partitions")
    await ready(driven)
    if context in OPENED:
        OPENED[context](app)
        await ready(driven)


async def ready(driven: Console) -> None:
    """Wait until the screen takes keys."""
    await driven.pilot.pause()
    while not driven.screen.is_ready:
        await driven.pilot.pause()
