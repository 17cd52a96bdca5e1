"""Each section by itself: what it draws, and what it leaves out."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from sessions.analysis.results.reading import Results
from sessions.dataset.location import Location
from sessions.report.markup import Element
from sessions.report.origins import Origins
from sessions.report.parts import DRAWN_MAX, ROWS_MAX, Material, distinct
from sessions.report.sections.availability import availability
from sessions.report.sections.campaign import campaign
from sessions.report.sections.churn import churn
from sessions.report.sections.durability import durability
from sessions.report.sections.failover import failover
from sessions.report.sections.lag import lag
from sessions.report.sections.latency import latency
from sessions.report.sections.others import anomalies, leaders, replay
from tests.sessions.report.made_results import TABLES, results, write
from tests.sessions.report.test_page import outcome

ALL = (availability, churn, durability, failover, lag, latency, anomalies, leaders, replay)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    folder = results(tmp_path_factory.mktemp("sections") / "out")
    return Material(Results(folder), Origins(Location(folder / "dataset")))


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Material:
    folder = tmp_path_factory.mktemp("nothing")
    for table in TABLES:
        write(folder, table, [])
    return Material(Results(folder), Origins(Location(folder)))


def shapes(section: Element, kind: str) -> int:
    return len([each for each in section.iter("rect") if each.get("class") == f"area {kind}"])


def test_where_nothing_happened_there_is_nothing_drawn(nothing: Material) -> None:
    for section in ALL:
        made = section(nothing)
        assert shapes(made, "") == len(list(made.iter("rect"))) == 0
        assert [each.text for each in made.iter("p")].count("None.") >= 1


def test_availability_is_drawn_for_each_stretch(material: Material) -> None:
    made = availability(material)
    assert shapes(made, "leaderless") == 1
    assert shapes(made, "under_replicated") == 1
    assert shapes(made, "offline") == 0


def test_lag_is_drawn_for_partitions_that_lagged(material: Material) -> None:
    assert shapes(lag(material), "most") == 29


def test_latency_has_a_column_for_each_time_of_each_way(material: Material) -> None:
    made = latency(material)
    assert (shapes(made, "commit"), shapes(made, "ack")) == (3, 3)
    assert [each.text for each in made.iter("strong")] == [
        "acks=all: from sending to commit, 186 records",
        "acks=all: from sending to acknowledgement, 186 records",
    ]


def test_times_that_no_record_took_have_their_room(material: Material) -> None:
    (first, *_) = latency(material).iter("svg")
    columns = [each for each in first.iter("rect") if each.get("class") == "area commit"]
    near, beside, far = (float(each.get("x") or 0) for each in columns)
    # 1,048,576 us is eight doublings of 4,096 us, of four columns each
    assert (far - near) / (beside - near) == pytest.approx(4 * 8, rel=0.01)


def test_failovers_are_drawn_phase_by_phase(material: Material) -> None:
    made = failover(material)
    assert [shapes(made, kind) for kind in ("detection", "election", "takeover")] == [2, 2, 2]


def test_churn_is_shrinks_and_expands(material: Material) -> None:
    assert [shapes(churn(material), kind) for kind in ("shrinks", "expands")] == [1, 1]


def test_the_replay_says_how_many_sessions_agree(material: Material) -> None:
    assert "in 1 of 1 sessions" in str(replay(material).findtext("p"))


def test_a_campaign_without_findings_has_no_list_of_them(tmp_path: Path) -> None:
    made = outcome(tmp_path)
    assert len(campaign(made).findall("h3")) == 1
    assert campaign(replace(made, failing=())).findall("h3") == []


def test_only_the_first_few_are_drawn() -> None:
    rows = [{"session": f"s{number // 2}"} for number in range(ROWS_MAX)]
    assert [session for (session,) in distinct(rows, "session")] == ["s0", "s1", "s2", "s3"]
    assert DRAWN_MAX == 4
