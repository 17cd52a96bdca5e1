"""Help on the high watermark: five wordings, which is real, and who counts in which release."""

import pytest

from console.model.workspace import Stage
from console.render.high_watermark_help import RULE, WORDINGS, counted, high_watermark_lines
from console.render.lines import text_of, width_of
from console.screens.page import help_lines
from emulator.releases.profiles import PROFILES, VERSIONS
from tests.console.fakes import ListSource, failover


def text(version: str) -> str:
    return "\n".join(text_of(row) for row in high_watermark_lines(version))


@pytest.mark.parametrize("version", VERSIONS)
def test_all_five_wordings_stand_there_and_the_real_rule(version: str) -> None:
    said = text(version)
    assert len(WORDINGS) == 5
    assert all(wording.says in said and wording.why in said for wording in WORDINGS)
    assert RULE in said
    assert f"In {version} the leader and the ISR count" in said


def test_the_isr_only_and_never_falling_are_real_and_the_three_of_all_replicas_are_not() -> None:
    assert [wording.is_real for wording in WORDINGS] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("version", "says", "since"),
    [
        ("0.10.0", "caught up", "0.10.2"),
        ("2.5", "pending", "2.7"),
        ("3.5", "below min.insync.replicas", "3.9"),
    ],
)
def test_who_counts_is_said_for_the_release_at_hand(version: str, says: str, since: str) -> None:
    assert says not in " ".join(counted(PROFILES[version]))
    assert says in " ".join(counted(PROFILES[since]))
    assert counted(PROFILES[version])[-1].endswith(".")


def test_a_recording_of_an_unknown_release_says_nothing_of_who_counts() -> None:
    assert counted(None) == []
    assert RULE in text("9.9")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_lines_fit_a_screen_of_80_columns(version: str) -> None:
    assert max(width_of(row) for row in high_watermark_lines(version)) <= 76


def test_it_is_part_of_help() -> None:
    shown = help_lines(Stage(ListSource(failover())), "partitions")
    assert RULE in "\n".join(text_of(row) for row in shown)
