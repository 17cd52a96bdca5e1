"""What stands beside a campaign's tables."""

from pathlib import Path

import pytest

from sessions.campaign.manifest import Failure, Ledger, writing
from sessions.dataset.layout import DatasetError, DatasetUnreadable
from tests.sessions.campaign.plans import known_plan, short_plan
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story


def test_a_campaign_can_be_begun_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "deep" / "dataset")
    ledger.begin(known_plan(3))
    ledger.begin(known_plan(3))
    assert ledger.plan() == known_plan(3)
    assert not ledger.complete


def test_another_campaign_is_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "dataset")
    ledger.begin(known_plan(3))
    with pytest.raises(DatasetError, match="holds another campaign: the seeds differ;"):
        ledger.begin(known_plan(4))


def test_sessions_that_no_campaign_made_are_refused(tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path / "dataset")
    with pytest.raises(DatasetError, match="holds sessions that no campaign put there"):
        Ledger(tmp_path / "dataset").check(short_plan())


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(DatasetError, match="is no dataset of tidegauge"):
        Ledger(tmp_path).begin(short_plan())
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_damaged_plan_is_named(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin(short_plan())
    (ledger.path / "plan.json").write_text("{")
    with pytest.raises(DatasetUnreadable, match=r"plan\.json is damaged"):
        ledger.begin(short_plan())


def test_two_campaigns_at_once_are_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin(short_plan())
    with (
        ledger.locked(),
        pytest.raises(DatasetError, match="a campaign is writing to"),
        Ledger(tmp_path).locked(),
    ):
        pass
    with Ledger(tmp_path).locked():
        pass


def test_how_a_run_ended_is_kept_until_there_is_a_session_of_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin(short_plan())
    assert ledger.failure("s") is None
    ledger.keep("s", Failure("hung", "too long", 2.5))
    assert ledger.failure("s") == Failure("hung", "too long", 2.5)
    assert ledger.failures() == 1
    ledger.keep("s", None)
    assert ledger.failures() == 0


def test_attempts_count_within_one_beginning_of_a_campaign(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin(short_plan())
    assert [ledger.attempt("s", "monday") for _ in range(3)] == [0, 1, 2]
    assert ledger.attempt("s", "tuesday") == 0
    assert ledger.attempt("s", "monday") == 0
    ledger.attempted("s")
    assert ledger.attempt("s", "monday") == 0


def test_errors_of_the_system_are_one_sentence(tmp_path: Path) -> None:
    refused = pytest.raises(DatasetError, match="could not be written to: Not a directory")
    with refused, writing(tmp_path):
        raise NotADirectoryError(20, "Not a directory")
