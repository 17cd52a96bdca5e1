"""What the console is handed: the library, recordings, scripts."""

from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.library.index import find, library
from commands.runs.console_library import ConsoleLibrary, apart, start_of
from console.model.library import LibraryError
from emulator.releases.profiles import RECOMMENDED
from sessions.sources.twin import TwinSource


def test_every_scenario_has_a_card() -> None:
    cards = ConsoleLibrary().cards()
    assert [card.name for card in cards] == [scenario.name for scenario in library()]
    assert all(card.title and card.watch and card.questions for card in cards)
    assert tuple(ConsoleLibrary().versions()) == RECOMMENDED


@pytest.mark.parametrize(
    ("name", "releases"),
    [
        ("V7", ("0.10.2", "0.11")),
        ("K1", ("3.9", "4.0")),
        ("K2-stopped-broker-returns", ("3.9", "4.0")),
        ("K6-dead", ("4.0", "4.1")),
        ("K6-last", ("4.0", "4.1")),
    ],
)
def test_the_releases_to_compare_first_are_neighbours(name: str, releases: tuple[str, str]) -> None:
    assert apart(find(name, library())) == releases


def test_two_releases_in_kraft_mode_are_opened_side_by_side() -> None:
    opened = ConsoleLibrary().open_scenario("K6-dead-leader-elected", "4.0", "4.1")
    assert isinstance(opened.source, TwinSource)
    opened.source.to_tail()
    assert opened.source.view.partitions["t-0"].leader == 2
    assert opened.source.behind.view.state.version == "4.1"
    opened.close()


def test_a_scenario_is_opened_at_its_start_on_a_release() -> None:
    opened = ConsoleLibrary().open_scenario("A3-normal-flow-read-first", "0.9")
    source = opened.source
    try:
        assert opened.card is not None
        assert opened.card.title == "Normal flow: the HW lags one round"
        assert source.view.state.version == "0.9"
        assert source.view.state.partitions == {}
        assert source.seq == start_of(source) < source.last_seq
        assert opened.complete is not None
        assert "broker crash 1" in opened.complete("broker crash ")
        source.to_tail()
        assert source.view.partitions["t-0"].leader == 0
    finally:
        opened.close()


def test_two_releases_are_opened_side_by_side() -> None:
    opened = ConsoleLibrary().open_scenario("V11-fast-failover", "0.11", "2.0.0")
    assert isinstance(opened.source, TwinSource)
    assert opened.source.behind.view.state.version == "2.0.0"
    opened.close()


def test_a_scenario_that_is_none_is_one_sentence() -> None:
    with pytest.raises(LibraryError, match="there is no scenario"):
        ConsoleLibrary().open_scenario("nothing", "3.9")


def test_a_recording_is_opened_at_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "s.tide.db"
    run_program(["run", "-c", "cluster", "--record", str(path)])
    opened = ConsoleLibrary(tmp_path).open_session(path)
    assert (opened.source.kind, opened.source.seq) == ("REPLAY", 0)
    opened.close()


def test_what_is_no_recording_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "s.tide.db"
    path.write_text("nothing")
    with pytest.raises(LibraryError, match="is not a session"):
        ConsoleLibrary().open_session(path)


def test_a_scenario_is_saved_as_a_script(tmp_path: Path) -> None:
    library = ConsoleLibrary(tmp_path)
    opened = library.open_scenario("V8-literal", "seed")
    try:
        said = library.save_script(opened.source, "mine")
        assert f"saved as {tmp_path / 'mine.tide'}" in said
        assert "broker crash 1" in (tmp_path / "mine.tide").read_text()
        with pytest.raises(LibraryError, match=r"'mine-2\.tide' is free"):
            library.save_script(opened.source, "mine")
    finally:
        opened.close()


def test_a_recording_is_exported_and_says_how_much(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "s.tide.db"
    run_program(["run", "-c", "cluster", "--record", str(path)])
    said = ConsoleLibrary(tmp_path).export(path, "dataset", lambda text: None)
    assert said.startswith(f"{path}: ")
    assert (tmp_path / "dataset").is_dir()


def test_what_cannot_be_analysed_says_why(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    with pytest.raises(LibraryError, match="nothing"):
        ConsoleLibrary(tmp_path).analyse("nothing", "out", lambda text: None)
