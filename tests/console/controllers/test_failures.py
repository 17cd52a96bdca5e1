"""An exception in a screen closes that screen; the cluster and the other screens go on."""

import tempfile
from pathlib import Path

import pytest

from console.screens.broker import BrokerScreen
from console.screens.overview import OverviewScreen
from console.screens.partition import PartitionScreen
from console.widgets.virtual_table import VirtualTable
from tests.console.driving import Console, console, toasts


class Broken(Exception):
    """Raised on purpose."""


def broken(*_: object) -> None:
    raise Broken("on purpose")


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def report_in(folder: Path) -> str:
    """The only report that was written."""
    (report,) = folder.glob("tidegauge-error-*.txt")
    return report.read_text()


async def survived(driven: Console, name: str) -> None:
    """The screen was closed, the user was told, and keys work."""
    await driven.settle()
    (told,) = [toast for toast in toasts(driven) if "closed because of an error" in toast]
    assert f"'{name}'" in told
    assert "Broken: on purpose" in told
    await driven.press("5")
    assert driven.screen.context == "events"
    await driven.press(".")
    assert "#" in driven.lines()[0]


async def test_a_page_that_cannot_be_painted_is_closed(
    monkeypatch: pytest.MonkeyPatch, reports: Path
) -> None:
    monkeypatch.setattr(PartitionScreen, "show_panes", broken)
    async with console(sends=True) as driven:
        driven.app.failures.are_survived = True
        await driven.press("2", "enter")
        await driven.settle()
        assert driven.screen.context == "partitions"
        await survived(driven, "partition")
    assert "show_panes" in report_in(reports)


async def test_a_page_that_cannot_be_built_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BrokerScreen, "compose_body", broken)
    async with console(sends=True) as driven:
        driven.app.failures.are_survived = True
        await driven.press("3", "enter")
        await survived(driven, "broker")


async def test_a_number_keys_screen_that_fails_is_built_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with console(None, "2", sends=True) as driven:
        driven.app.failures.are_survived = True
        first = driven.screen
        with monkeypatch.context() as patch:
            patch.setattr(VirtualTable, "draw", broken)
            driven.screen.query_one(VirtualTable).forget()
            await driven.settle()
        await survived(driven, "partitions")
        await driven.press("2")
        assert driven.screen.context == "partitions"
        assert driven.screen is not first


async def test_an_action_that_fails_closes_its_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OverviewScreen, "action_drill", broken)
    async with console(sends=True) as driven:
        driven.app.failures.are_survived = True
        await driven.press("enter")
        await survived(driven, "overview")


async def test_a_cluster_that_fails_is_paused_and_can_be_examined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with console(sends=True) as driven:
        driven.app.failures.are_survived = True
        monkeypatch.setattr(driven.app.stage.source, "advance", broken)
        driven.app.stage.pacer.seek_seq(1)
        driven.app.stage.pacer.paused = False
        driven.app.frame()
        await driven.settle()
        assert driven.app.stage.pacer.paused
        assert "Broken: on purpose" in driven.text()


async def test_a_storm_of_failures_ends_the_console(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(sends=True) as driven:
        failures = driven.app.failures
        failures.are_survived = True
        screens = [PartitionScreen(driven.app.stage, "orders-0") for _ in range(7)]
        taken = [failures.survives(Broken("on purpose"), screen) for screen in screens]
        assert taken == [True] * 5 + [False] * 2
