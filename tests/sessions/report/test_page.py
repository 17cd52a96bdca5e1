"""The page: a section a question, values as they are in the results, nothing from outside."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sessions.analysis.results.availability import AVAILABILITY, AVAILABILITY_TIMELINE
from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.outcome import CampaignReport, Failing, Loss, VariantReport
from sessions.dataset.location import Location
from sessions.report.page import SECTIONS, report_page, write_report
from tests.sessions.campaign.plans import short_plan
from tests.sessions.report.made_results import HOSTILE, analysed, results, write

NONE = Loss(0, 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return results(tmp_path_factory.mktemp("report") / "out")


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return report_page(folder, analysed(folder / "dataset"))


def ids(page: str) -> list[str]:
    return re.findall(r'<section id="(\w+)"', page)


def test_there_is_a_section_for_each_question(page: str) -> None:
    assert ids(page) == [
        "durability", "availability", "failover", "latency", "lag", "churn", "anomalies",
        "leaders", "replay",
    ]  # fmt: skip
    assert len(ids(page)) == len(SECTIONS)
    assert [f'href="#{name}"' in page for name in ids(page)] == [True] * len(SECTIONS)


def test_a_job_that_was_not_run_has_no_section(tmp_path: Path) -> None:
    write(tmp_path, AVAILABILITY, [])
    write(tmp_path, AVAILABILITY_TIMELINE, [])
    page = report_page(tmp_path, analysed(tmp_path))
    assert ids(page) == ["availability"]
    assert '<p class="none">None.</p>' in page


def test_nothing_is_loaded_from_outside(page: str) -> None:
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page) == []
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_what_stands_in_results_never_becomes_markup(page: str) -> None:
    assert HOSTILE not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_numbers_are_those_of_the_results(page: str, folder: Path) -> None:
    rows = pq.read_table(folder / "commit_latency").sort_by([("commit_p99_us", "descending")])
    slowest = rows.slice(0, 1).to_pylist()[0]
    section = page.partition('<section id="latency"')[2].partition("</section>")[0]
    first = section.partition("<tbody><tr>")[2].partition("</tr>")[0]
    shown = dict(re.findall(r'data-column="(\w+)" data-value="([^"]*)"', first))
    assert shown["commit_p99_us"] == str(slowest["commit_p99_us"])
    assert shown["slowest_seq"] == str(slowest["slowest_seq"])
    assert len(re.findall("<tr>", section)) == 1 + 20
    assert "20 of 30 rows; all are in " in section


def test_an_event_gives_the_command_that_opens_it(page: str) -> None:
    command = "tidegauge replay failover.tide.db --paused --at &#39;#501&#39;"
    assert command.replace("&#39;", "'") in page
    assert ">#1,029</button>" in page


def test_the_matrix_says_what_each_way_to_produce_lost(page: str) -> None:
    matrix = page.partition('class="matrix"')[2].partition("</table>")[0]
    assert re.findall(r"<th>([^<]*)</th>", matrix) == [
        "acks, min.insync.replicas", "HW", "KIP-101", "KIP-101, unclean", "acks=1, 2",
        "acks=all, 2",
    ]  # fmt: skip
    cells = re.findall(r'class="verdict (\w+)" data-lost="(\d+)"', matrix)
    assert cells == [("lost", "12"), ("kept", "0"), ("harmed", "0"), ("lost", "3")]
    assert matrix.count('class="empty"') == 2


def test_a_failover_without_an_end_is_in_the_table_and_not_in_the_plot(page: str) -> None:
    section = page.partition('<section id="failover"')[2].partition("</section>")[0]
    plot, _, table = section.partition("</figure>")
    assert plot.count('class="area detection"') == 2
    assert table.count('data-value="orders-0"') == 1


def outcome(dataset: Path) -> CampaignReport:
    variant = VariantReport(
        {"acks": "1"}, 7, {"passed": 6, "failed": 1, "raised": 0, "hung": 0}, Loss(4, 9), NONE,
        NONE, NONE, 1_500_000.0, 2_000_000,
    )  # fmt: skip
    failing = Failing("acks-1_seed-3", {"acks": "1"}, 3, ["lost"], None, "tidegauge console x")
    return CampaignReport(
        str(dataset), "x.tide", 7, (variant,), (failing,), 4, "/d/failing.txt", "/d/runs"
    )


def test_a_campaigns_matrix_and_commands_are_in_the_report(folder: Path, tmp_path: Path) -> None:
    kept = CampaignFolder(tmp_path)
    kept.begin(short_plan())
    kept.sum_up(outcome(tmp_path), b"")
    assert kept.outcome() == outcome(tmp_path)
    page = report_page(folder, analysed(tmp_path))
    section = page.partition('<section id="campaign"')[2].partition("</section>")[0]
    assert "x.tide, 7 runs." in section
    assert re.findall(r'data-value="(\d+)"', section) == ["7", "1", "0", "0", "4", "0", "0", "9"]
    assert "<td>1.5 s</td>" in section.replace(' class="number"', "")
    assert "<code>tidegauge console x</code>" in section
    assert "1 of 4; all are in " in section


def test_the_page_is_called_after_the_dataset(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lossy").mkdir()
    monkeypatch.chdir(tmp_path / "lossy")
    assert "<h1>What lossy tells</h1>" in report_page(folder, analysed(Path()))


def test_the_report_is_a_file_beside_the_results(tmp_path: Path) -> None:
    folder = results(tmp_path / "out")
    place = write_report(Location(folder), analysed(tmp_path))
    assert place.name == "report.html"
    assert place.read().decode() == report_page(folder, analysed(tmp_path))
