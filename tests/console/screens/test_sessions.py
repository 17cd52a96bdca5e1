import os
from pathlib import Path

import pytest

from commands.cli.main import run_program
from console.screens.events import EventScreen, EventsScreen
from console.screens.sessions import SessionsScreen
from tests.console.driving import LARGE, SIZES, Console, console, toasts
from tests.console.libraries import SmallLibrary


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("recordings")
    for name, version in (("E8", "2.4"), ("V16", "0.9")):
        run_program(["scenarios", "run", name, "--version", version, "--record", str(folder)])
    (folder / "junk.tide.db").write_text("junk")
    return folder


def words(driven: Console) -> str:
    """What is shown, wherever its lines are broken."""
    return " ".join(driven.text().split())


async def at(driven: Console, name: str) -> None:
    """Wait for the folder, and go to a recording."""
    for _ in range(200):
        await driven.settle()
        if name in driven.text():
            break
    await driven.press("slash")
    await driven.type(name)
    await driven.press("enter")


async def done(driven: Console) -> None:
    """Wait until the work is over."""
    for _ in range(400):
        await driven.pilot.pause(0.02)
        if not (isinstance(driven.screen, SessionsScreen) and driven.screen.job):
            await driven.settle()
            return


@pytest.mark.parametrize("size", SIZES)
async def test_a_folders_recordings_are_listed_opened_and_left(
    recordings: Path, size: tuple[int, int]
) -> None:
    async with console(None, "6", size=size, library=SmallLibrary(recordings)) as driven:
        await at(driven, "V16")
        await driven.press("escape")
        text = driven.text()
        assert "3 recordings" in text
        assert "FILE " in text
        assert "E8-broker-" in text
        assert "unreadable" in text
        assert "00:00:09.424 ok" in text
        assert ("0.9      1" in text) == (size == LARGE)
        assert ("records   4 acknowledged, 2 lost" in text) == (size == LARGE)
        await driven.press("enter")
        assert driven.app.sources.mode_here == "overview"
        assert " REPLAY ‖ " in driven.lines()[0]
        assert driven.app.stage.source.name == "V16-unclean"
        await driven.press("Q")
        assert driven.app.stage.source is driven.source
        assert driven.app.sources.mode_here == "sessions"
        assert any("closed V16-unclean" in toast for toast in toasts(driven))


async def test_v_verifies(recordings: Path) -> None:
    async with console(None, "6", library=SmallLibrary(recordings)) as driven:
        await at(driven, "E8")
        await driven.press("v")
        await done(driven)
        assert any("events and the final state are the same" in toast for toast in toasts(driven))


async def test_what_cannot_be_opened_or_verified_is_told_with_its_cause(recordings: Path) -> None:
    async with console(None, "6", library=SmallLibrary(recordings)) as driven:
        await at(driven, "junk")
        await driven.press("enter")
        assert driven.app.stage.source is driven.source
        assert driven.screen.context == "notice"
        assert "is not a session" in words(driven)
        assert "What was open before is unchanged" in driven.text()
        await driven.press("escape", "v")
        await done(driven)
        assert driven.screen.context == "notice"
        assert "is not a session" in words(driven)
        assert "The recording is unchanged." in driven.text()


async def test_a_recording_is_added_to_a_dataset_and_a_failure_is_told(recordings: Path) -> None:
    library = SmallLibrary(recordings)
    async with console(None, "6", library=library) as driven:
        await at(driven, "E8")
        await driven.press("E", "enter")
        await done(driven)
        assert library.exported == [(recordings / "E8-broker-failover.tide.db", "dataset")]
        assert "E8-broker-failover.tide.db: 9 events" in toasts(driven)
        await driven.press("E")
        driven.screen.prompt.input.value = "full"
        await driven.press("enter")
        await done(driven)
        assert "there is no room on the disk" in driven.text()


async def test_an_analysis_ends_on_a_page_of_its_own(recordings: Path) -> None:
    library = SmallLibrary(recordings)
    async with console(None, "6", "R", library=library) as driven:
        driven.screen.prompt.input.value = "dataset"
        await driven.press("enter")
        assert "two folders are needed" in driven.text()
        driven.screen.prompt.input.value = "dataset report"
        await driven.press("enter")
        await done(driven)
        assert library.analysed == [("dataset", "report")]
        assert "t-0        3.2 s" in driven.text()
        await driven.press("enter")
        assert "this line is about no event" in toasts(driven)
        await driven.press("down", "down", "down", "enter")
        assert "the recording of event 43 is gone" in toasts(driven)
        await driven.press("up", "enter")
        await driven.settle()
        assert driven.app.stage.source.seq == 41
        assert isinstance(driven.screen, EventScreen)
        await driven.press("escape")
        assert isinstance(driven.screen, EventsScreen)
        assert f"{41:>8,} " in driven.text()


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_folder_says_why_and_the_next_key(
    tmp_path: Path, recordings: Path, size: tuple[int, int]
) -> None:
    async with console(None, "6", size=size, library=SmallLibrary(tmp_path)) as driven:
        await driven.settle()
        assert "There is no recording in" in driven.text()
        assert "makes one; r looks again" in driven.text()
        await driven.press("enter")
        assert "there is no recording here; r looks again" in toasts(driven)
        os.link(recordings / "E8-broker-failover.tide.db", tmp_path / "new.tide.db")
        await driven.press("r")
        for _ in range(50):
            if "new.tide.db" in driven.text():
                break
            await driven.settle()
        assert "new.tide.db" in driven.text()


async def test_without_a_folder_or_a_library_it_says_so(tmp_path: Path) -> None:
    async with console(None, "6", library=SmallLibrary(tmp_path / "gone")) as driven:
        await driven.settle()
        assert "cannot be read" in driven.text()
        driven.app.stage.library = None
        await driven.press("R")
        assert any("there is no library" in toast for toast in toasts(driven))


async def test_a_recording_of_a_kraft_cluster_is_listed_opened_and_verified(tmp_path: Path) -> None:
    run_program(["scenarios", "run", "K1", "--version", "4.1", "--record", str(tmp_path)])
    async with console(None, "6", size=LARGE, library=SmallLibrary(tmp_path)) as driven:
        await at(driven, "K1")
        assert "4.1" in driven.text()
        await driven.press("v")
        await done(driven)
        assert any("events and the final state are the same" in toast for toast in toasts(driven))
        await driven.press("enter", "L", "4")
        assert driven.app.stage.view.state.version == "4.1"
        assert driven.screen.context == "metadata"
        assert "/brokers" in driven.text() or "brokers" in driven.text()
