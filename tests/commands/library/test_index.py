"""The scenarios that come with the program: named, found, and whole scripts on every release."""

from pathlib import Path

import pytest

from commands.language.parser import parse_script
from commands.library.index import (
    FOLDER,
    GROUPS,
    MEANINGS,
    SCENARIOS,
    Scenario,
    find,
    library,
    read,
)
from emulator.releases.profiles import VERSIONS
from sessions.grammar.words import BadWord


def test_the_library_is_the_folder() -> None:
    assert sorted(scenario.path for scenario in library()) == sorted(FOLDER.glob("*.tide"))
    assert set(SCENARIOS) == {scenario for scenario in library() if scenario.outcomes}


def test_flows_come_first_in_order_then_failures() -> None:
    names = [scenario.name for scenario in library()]
    groups = list(dict.fromkeys(scenario.group for scenario in library()))
    assert groups == list(GROUPS.values())
    assert names.index("A2-five-rules") < names.index("A10-leader-epochs-decide")
    failures = [scenario.name for scenario in library() if scenario.group == GROUPS[""]]
    assert failures[: len(SCENARIOS)] == [scenario.name for scenario in SCENARIOS]


@pytest.mark.parametrize("scenario", library(), ids=lambda scenario: scenario.name)
def test_a_scenario_has_a_title_what_to_watch_and_questions(scenario: Scenario) -> None:
    assert 0 < len(scenario.title) <= 44
    assert scenario.watch.endswith((".", ")"))
    assert len(scenario.questions) >= 2
    assert all("?" in question for question in scenario.questions)
    assert scenario.version in scenario.versions
    assert scenario.outcomes or "\nexpect " in scenario.text()


def test_a_scenario_is_shown_on_the_newest_release_that_it_is_written_for() -> None:
    assert find("A1", library()).version == "3.9"
    assert find("E1-isr-lag-messages", library()).version == "0.8.2"
    assert find("K5", library()).version == "4.1"


def test_headings_go_on_in_indented_comments(tmp_path: Path) -> None:
    path = tmp_path / "X.tide"
    path.write_text(
        "# X: about\n# title: a\n# watch: b\n#   c\n# not a heading\n# ask: d?\n"
        "# versions: 0.11 1.1\n# outcomes: seed loss, 0.11 ok\ncluster\n# title: e\n"
    )
    found = read(path)
    assert (found.title, found.watch, found.questions) == ("a", "b c", ("d?",))
    assert found.versions == ("0.11", "1.1")
    assert (found.known("0.9"), found.known("3.9")) == ("loss", "ok")


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


def test_a_beginning_of_several_names_is_told_which() -> None:
    with pytest.raises(BadWord, match="A8-loss-1-acks-0, A8-loss-2-acks-1"):
        find("A8", library())


@pytest.mark.parametrize(
    ("name", "release", "found"),
    [
        ("A5", "seed", "A5-leader-dies-surplus"),
        ("A5", "documents", "A5-leader-dies-surplus"),
        ("A5", "2.4", "A5-leader-dies-epochs"),
        ("A6", "0.10.2", "A6-follower-dies-high-watermark"),
        ("C5", "documents", "C5-write-consistency-documents"),
        ("E5-tree", "documents", "E5-tree-of-the-documents"),
        ("K2", "3.9", "K2-stopped-broker-returns"),
        ("K2", "4.0.1", "K2-stopped-broker-waits"),
        ("K6-last", "4.1", "K6-last-leader-waited-for"),
    ],
)
def test_a_name_that_several_begin_with_means_the_one_for_the_release(
    name: str, release: str, found: str
) -> None:
    assert find(name, library(), release).name == found
