"""The console as a guest of a terminal: exports, copies, themes, keys of one's own, signals."""

import csv
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from console.actions.lookup import ACTIONS
from console.controllers.terminal import SIGNALLED
from console.model.settings import Configuration, defaults
from console.styles.themes import THEMES
from tests.console.driving import Console, PatientApp, console, toasts
from tests.console.fakes import ListSource, failover

PATIENCE = 100
"""How often a test lets the console draw until it is told."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def registry() -> Iterator[None]:
    """The registry of actions, put back afterwards."""
    before = dict(ACTIONS)
    yield
    ACTIONS.update(before)


def having(keys: dict[str, tuple[str, ...]], *problems: str, **values: Any) -> Configuration:
    """Settings with some that are not the default."""
    found = defaults()
    settings = {
        name: type(each)(name, values.get(name, each.value), each.origin)
        for name, each in found.settings.items()
    }
    return Configuration(settings, keys, problems, found.path)


async def written(driven: Console, folder: Path) -> Path:
    """The one file that an export has written, as soon as it is said to be there."""
    said = await told(driven, "wrote")
    return folder / said.removeprefix("wrote ").partition(":")[0]


async def told(driven: Console, beginning: str) -> str:
    """The toast that begins so, as soon as it is there."""
    for _ in range(PATIENCE):
        found = [text for text in toasts(driven) if text.startswith(beginning)]
        if found:
            return found[0]
        await driven.settle()
    pytest.fail(f"never told: {beginning}")


async def test_a_table_becomes_csv_with_the_rows_that_are_shown(folder: Path) -> None:
    async with console(None, "2", "e", "enter") as driven:
        path = await written(driven, folder)
        partitions = driven.source.view.state.partitions
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert path.name.startswith("tidegauge-partitions-")
    assert {row["name"] for row in rows} == set(partitions)
    assert all(
        int(row["leader"]) == partitions[row["name"]].leader
        for row in rows
        if row["leader"].isdigit()
    )


async def test_a_table_becomes_json_with_all_that_is_known(folder: Path) -> None:
    async with console(None, "2", "e", "down", "enter") as driven:
        path = await written(driven, folder)
        partitions = driven.source.view.state.partitions
    found = {f"{each['topic']}-{each['partition']}": each for each in json.loads(path.read_text())}
    assert {name: each["isr"] for name, each in found.items()} == {
        name: list(each.isr) for name, each in partitions.items()
    }


async def test_events_become_json(folder: Path) -> None:
    async with console(None, "5", "e", "down", "enter") as driven:
        path = await written(driven, folder)
    assert len(json.loads(path.read_text())) > 10


async def test_a_screen_becomes_a_picture(folder: Path) -> None:
    async with console(None, "2", "e", "down", "down", "enter") as driven:
        path = await written(driven, folder)
    assert path.suffix == ".svg"
    assert "TOPIC-PART" in path.read_text()


async def test_a_folder_that_takes_no_file_is_named(folder: Path) -> None:
    async with console(None, "2") as driven:
        os.rmdir(folder)
        await driven.press("e", "enter")
        await driven.settle()
        assert driven.screen.context == "notice"
        assert "No such file" in driven.text()
        assert "No file was written" in driven.text()
        await driven.press("escape")
        assert driven.screen.context == "partitions"


async def test_themes_go_round() -> None:
    async with console() as driven:
        seen = [driven.app.theme]
        for _ in THEMES:
            await driven.press("T")
            seen.append(driven.app.theme)
    assert seen == [*THEMES, next(iter(THEMES))]


async def test_a_signal_ends_the_console_with_its_status() -> None:
    async with console() as driven:
        driven.app.terminal.end(signal.SIGTERM)
        await driven.pilot.pause()
        assert driven.app.return_code == SIGNALLED + signal.SIGTERM


@pytest.mark.usefixtures("registry")
async def test_keys_of_ones_own_work_and_are_shown() -> None:
    keys = {"go.partitions": ("f2",), "time.pause": ("f6", "space")}
    app = PatientApp(ListSource(failover()), paused=True, configuration=having(keys))
    async with app.run_test(size=(120, 40)) as pilot:
        driven = Console(app, pilot, app.stage.source)
        await driven.start()
        await driven.press("2")
        assert app.current_mode == "overview"
        await driven.press("f2")
        assert app.current_mode == "partitions"
        assert "f6 pause" in driven.lines()[-1]


async def test_settings_hold_from_the_start_and_problems_are_told() -> None:
    chosen = having({}, "them: unknown", theme="light", speed=4.0, ascii=True, read_only=True)
    app = PatientApp(ListSource(failover()), paused=True, configuration=chosen)
    async with app.run_test(size=(120, 40)) as pilot:
        driven = Console(app, pilot, app.stage.source)
        await driven.start()
        assert (app.theme, app.stage.pacer.speed) == ("light", 4.0)
        assert "them: unknown" in toasts(driven)
        assert "READ-ONLY" in driven.lines()[0]
        assert driven.text().isascii()
