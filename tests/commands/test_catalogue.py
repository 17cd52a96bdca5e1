"""The scenarios that come with the program: named, found, and whole scripts on every release."""

import pytest

from commands.catalogue import FOLDER, MEANINGS, SCENARIOS, Scenario, find
from commands.parser import parse_script
from commands.words import BadWord
from emulator.profiles import VERSIONS


def test_each_scenario_has_its_script_and_each_script_its_scenario() -> None:
    assert sorted(scenario.path for scenario in SCENARIOS) == sorted(FOLDER.glob("*.tide"))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_script_says_what_it_shows_and_names_its_release(scenario: Scenario) -> None:
    text = scenario.script("2.0.0")
    assert text.startswith(f"# {scenario.title.split()[0]}")
    assert parse_script(text, "-").spec.version == "2.0.0"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_scenario_tells_what_to_watch_and_what_ended_it(scenario: Scenario) -> None:
    assert scenario.watch.endswith((".", ")"))
    assert scenario.change.endswith((".", ")"))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_known_of_each_release_is_said_in_the_same_words(version: str) -> None:
    for scenario in SCENARIOS:
        assert set(scenario.known(version).split("+")) <= set(MEANINGS)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("V7-stale-hw-restart", "V7-stale-hw-restart"),
        ("v11", "V11-fast-failover"),
        ("kafka-7128", "KAFKA-7128-early-isr-expand"),
    ],
)
def test_a_scenario_is_found_by_its_name_or_how_that_begins(word: str, name: str) -> None:
    assert find(word).name == name


def test_a_name_that_nearly_is_one_is_told_the_nearest() -> None:
    with pytest.raises(BadWord, match="did you mean 'V16-unclean'"):
        find("V16-uncleen")


def test_a_name_that_is_nothing_like_one_is_told_them_all() -> None:
    with pytest.raises(BadWord, match="V8-literal, "):
        find("zzz")


def test_a_part_of_a_number_is_no_beginning() -> None:
    with pytest.raises(BadWord):
        find("V1")
