"""What stands beside a campaign's tables."""

from pathlib import Path

import msgspec
import pytest

from sessions.campaign.manifest import CampaignFolder, writing
from sessions.dataset.layout import DatasetError, DatasetUnreadable
from sessions.dataset.location import Location
from tests.sessions.campaign.plans import known_plan, short_plan
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story


def test_a_campaign_can_be_begun_again(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path / "deep" / "dataset")
    folder.begin(known_plan(3))
    folder.begin(known_plan(3))
    assert folder.plan() == known_plan(3)
    assert folder.outcome() is None


def test_a_campaign_grows_by_seeds_and_values(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path / "dataset")
    folder.begin(known_plan(3))
    whole = folder.begin(known_plan(9))
    assert whole == folder.plan() == known_plan(9)
    less = msgspec.structs.replace(known_plan(2), variants=known_plan(2).variants[:1])
    assert folder.begin(less) == whole


def test_another_campaign_is_refused(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path / "dataset")
    folder.begin(known_plan(3))
    other = msgspec.structs.replace(known_plan(3), source="other")
    with pytest.raises(DatasetError, match="contains another campaign: the script differs"):
        folder.begin(other)


def test_sessions_that_no_campaign_made_are_refused(tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path / "dataset")
    with pytest.raises(DatasetError, match="contains sessions that are not from a campaign"):
        CampaignFolder(tmp_path / "dataset").check(short_plan())


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(DatasetError, match="is not a dataset of tidegauge"):
        CampaignFolder(tmp_path).begin(short_plan())
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_damaged_plan_is_named(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    folder.begin(short_plan())
    (tmp_path / "_campaign" / "plan.json").write_text("{")
    with pytest.raises(DatasetUnreadable, match=r"plan\.json is damaged"):
        folder.begin(short_plan())


def test_two_campaigns_at_once_are_refused(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    folder.begin(short_plan())
    with (
        folder.locked(),
        pytest.raises(DatasetError, match="a campaign is writing to"),
        CampaignFolder(tmp_path).locked(),
    ):
        pass
    with CampaignFolder(tmp_path).locked():
        pass


def test_attempts_count_within_one_beginning_of_a_campaign(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    folder.begin(short_plan())
    assert [folder.attempt("s", "monday") for _ in range(3)] == [0, 1, 2]
    assert folder.attempt("s", "tuesday") == 0
    assert folder.attempt("s", "monday") == 0
    folder.attempted("s")
    assert folder.attempt("s", "monday") == 0


def test_errors_of_the_system_are_one_sentence(tmp_path: Path) -> None:
    refused = pytest.raises(DatasetError, match="could not be written to: Not a directory")
    with refused, writing(Location(tmp_path)):
        raise NotADirectoryError(20, "Not a directory")
