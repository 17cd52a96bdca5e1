"""Each section by itself: what it draws, and what it leaves out."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sessions.analysis.results.reading import Results
from sessions.dataset.location import Location
from sessions.report.markup import Element
from sessions.report.origins import Origins
from sessions.report.parts import DRAWN_MAX, ROWS_MAX, Material, distinct
from sessions.report.sections.anomalies import anomalies
from sessions.report.sections.availability import availability
from sessions.report.sections.campaign import campaign
from sessions.report.sections.churn import churn
from sessions.report.sections.controllers import controllers
from sessions.report.sections.durability import durability
from sessions.report.sections.failover import failover
from sessions.report.sections.lag import lag
from sessions.report.sections.latency import latency
from sessions.report.sections.leaders import leaders
from sessions.report.sections.quorum import quorum
from sessions.report.sections.replay import replay
from tests.sessions.report.made_results import SECOND, TABLES, results, write
from tests.sessions.report.test_page import outcome

ALL = (
    *(availability, churn, durability, failover, lag, latency, anomalies, leaders),
    *(controllers, quorum, replay),
)


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


def drawn(section: Element) -> list[dict[str, Any]]:
    """The data of a section's charts."""
    return [json.loads(script.text or "") for script in section.iter("script")]


def values(chart: dict[str, Any], kind: str) -> list[float]:
    (found,) = (each["values"] for each in chart["series"] if each["kind"] == kind)
    return list(found)


def titles(section: Element) -> list[str | None]:
    return [each.findtext("figcaption/strong") for each in section.iter("figure")]


def test_where_nothing_happened_there_is_nothing_drawn(nothing: Material) -> None:
    for section in ALL:
        made = section(nothing)
        assert list(made.iter("figure")) == []
        assert [each.text for each in made.iter("p")].count("None.") >= 1


def test_availability_is_drawn_for_each_stretch(material: Material) -> None:
    made = availability(material)
    (chart,) = drawn(made)
    assert titles(made) == ["failover: partitions with something wrong, of 4"]
    assert (chart["begins"], chart["end"]) == ([0, SECOND, 19 * SECOND], 144 * SECOND)
    assert values(chart, "leaderless") == [0, 1, 0]
    assert values(chart, "under_replicated") == [0, 2, 0]
    assert values(chart, "offline") == [0, 0, 0]
    assert (chart["sessions"], chart["events"]) == (["failover"], [500, 501, 519])


def test_a_chart_is_told_in_a_sentence(material: Material) -> None:
    assert availability(material).findtext("figure/figcaption/span") == (
        "Leaderless: at most 1, first at 00:01; under-replicated: at most 2, first at 00:01, "
        "in 2.4 min."
    )
    assert (
        lag(material).findtext("figure/figcaption/span") == "At most 29, first at 00:01, in 30 s."
    )


def test_lag_is_drawn_for_partitions_that_lagged(material: Material) -> None:
    (chart,) = drawn(lag(material))
    assert values(chart, "most") == list(range(30))
    assert chart["events"] == list(range(3_000, 3_030))


def test_latency_has_a_step_for_each_group_and_its_example(material: Material) -> None:
    made = latency(material)
    assert titles(made) == [
        "acks=all: time from sending to commit",
        "acks=all: time from sending to acknowledgement",
    ]
    commit, ack = drawn(made)
    assert commit["begins"] == [4_096, 5_120, 6_144, 1_048_576]
    assert values(commit, "commit") == values(ack, "ack") == [80, 100, 0, 6]
    assert commit["sessions"] == ["calm", "calm", None, "calm"]
    assert commit["events"] == [9, 9, None, 9]
    assert made.findtext("div/figure/figcaption/span") == (
        "186 records took 4.1 ms to 1.31 s, most of them 5.12 ms to 6.14 ms."
    )


def test_failovers_are_drawn_phase_by_phase(material: Material) -> None:
    made = failover(material)
    assert [shapes(made, kind) for kind in ("detection", "election", "takeover")] == [2, 2, 2]


def test_a_leader_that_returned_is_in_the_table_alone(material: Material) -> None:
    made = failover(material)
    drawn = [each.get("data-tp") for each in made.iter("li")]
    assert [tp for tp in drawn if tp] == ["orders-2", "orders-1"]
    assert [cell.text for cell in made.iter("td") if cell.text == "returned"] == ["returned"]


def test_latency_is_told_by_release_and_way_to_produce(material: Material) -> None:
    ways = next(
        each for each in latency(material).iter("table") if each.get("data-table") == "latency"
    )
    assert [row[0].text for row in ways.iter("tr")][1:] == ["0.10.2", "3.9"]
    heads = [head.text or "" for head in ways.iter("th")]
    assert heads.index("commit p50") == heads.index("commits") + 1
    assert heads.index("ack p50") == heads.index("acks received") + 1


def test_churn_is_shrinks_and_expands(material: Material) -> None:
    assert [shapes(churn(material), kind) for kind in ("shrinks", "expands")] == [1, 1]


def test_the_replay_says_how_many_sessions_agree(material: Material) -> None:
    assert "in 1 of 1 session." in str(replay(material).findtext("p"))


def test_a_campaign_without_findings_has_no_list_of_them(tmp_path: Path) -> None:
    made, origins = outcome(tmp_path), Origins(Location(tmp_path))
    assert len(list(campaign(made, origins).iter("h3"))) == 2
    assert len(list(campaign(replace(made, failing=()), origins).iter("h3"))) == 1


def test_only_the_first_few_are_drawn() -> None:
    rows = [{"session": f"s{number // 2}"} for number in range(ROWS_MAX)]
    assert [session for (session,) in distinct(rows, "session")] == ["s0", "s1", "s2", "s3"]
    assert DRAWN_MAX == 4


def test_how_many_values_a_percentile_is_of_stands_beside_it(material: Material) -> None:
    heads = [head.text or "" for head in failover(material).iter("th")]
    for phase in ("detection", "election", "takeover", "total"):
        assert heads.index(f"{phase} p50") == heads.index(f"{phase}s") + 1
