"""The page: a section a question, values as they are in the results, nothing from outside."""

import html
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from sessions.analysis.results.availability import AVAILABILITY, AVAILABILITY_TIMELINE
from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.outcome import CampaignReport, Failing, Loss, VariantReport
from sessions.dataset.location import Location
from sessions.report.page import SECTIONS, report_page, write_report
from tests.sessions.campaign.plans import short_plan
from tests.sessions.report.made_results import (
    HOSTILE,
    OUTAGE_SEQ,
    OUTAGE_US,
    analysed,
    big_results,
    results,
    write,
)

NONE = Loss(0, 0)
PAGE_BYTES_MAX = 1_500_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return results(tmp_path_factory.mktemp("report") / "out")


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return report_page(folder, analysed(folder / "dataset"))


class Attributes(HTMLParser):
    """The names of all attributes in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.update(name for name, _ in attrs)


def ids(page: str) -> list[str]:
    return re.findall(r'<section id="(\w+)"', page)


def test_the_header_says_what_is_left_out(folder: Path, page: str) -> None:
    what = replace(analysed(folder / "dataset"), left_out="a is of a real cluster: <latency> is")
    assert "Left out" not in page
    assert "Left out: a is of a real cluster: &lt;latency&gt; is." in report_page(folder, what)


def test_there_is_a_section_for_each_question(page: str) -> None:
    assert ids(page) == [
        "durability", "availability", "failover", "latency", "lag", "churn", "anomalies",
        "leaders", "controllers", "quorum", "replay",
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


def test_a_browser_runs_and_applies_what_is_in_the_page_and_nothing_else(page: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy).split("; "))
    assert "unsafe" not in policy
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert (rules["require-trusted-types-for"], rules["trusted-types"]) == ("'script'", "'none'")
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        found = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        sums = [b64encode(sha256(text.encode()).digest()).decode() for text in found]
        assert rules[rule].split() == [f"'sha256-{each}'" for each in sums]
    reader = Attributes()
    reader.feed(page)
    assert [name for name in reader.names if name == "style" or name.startswith("on")] == []


def test_what_stands_in_results_never_becomes_markup(page: str) -> None:
    assert HOSTILE not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_numbers_are_those_of_the_results(page: str, folder: Path) -> None:
    rows = pq.read_table(folder / "commit_latency").sort_by([("commit_p99_us", "descending")])
    slowest = rows.slice(0, 1).to_pylist()[0]
    section = page.partition('<section id="latency"')[2].partition("</section>")[0]
    names = re.findall(r'data-column="(\w+)"', section)
    first = section.partition("<tbody>")[2].partition("</tr>")[0]
    shown = dict(zip(names, re.findall(r'<td[^>]*?data-value="([^"]*)"', first), strict=False))
    assert shown["commit_p99_us"] == str(slowest["commit_p99_us"])
    assert f'data-seq="{slowest["slowest_seq"]}"' in first
    assert len(re.findall("<tr data-session", section)) == 100
    assert "The first 100 of 130 rows; all are in <code>commit_latency/</code>." in section


def test_an_event_gives_the_command_that_opens_it(page: str) -> None:
    commands = page.partition('id="commands">')[2].partition("</script>")[0]
    assert json.loads(commands) == {
        "calm": "tidegauge replay calm.tide.db --paused",
        "failover": "tidegauge replay failover.tide.db --paused",
    }
    assert re.search(r'data-seq="1129"[^>]*>#1,129</button>', page)


def test_the_matrix_says_what_each_way_to_produce_lost(page: str) -> None:
    matrix = page.partition('class="matrix"')[2].partition("</table>")[0]
    assert re.findall(r"<th [^>]*>([^<]*)<small>([^<]*)</small></th>", matrix) == [
        ("0.9, 0.10.2", "HW"),
        ("0.11", "KIP-101"),
        ("0.11", "KIP-101, unclean election"),
        ("acks=1", "min.insync.replicas=2"),
        ("acks=all", "min.insync.replicas=2"),
    ]
    assert matrix.count("<small>loss in 1 of 3 sessions</small>") == 2
    cells = re.findall(r'class="verdict (\w+)" data-lost="(\d+)"', matrix)
    assert cells == [("lost", "12"), ("kept", "0"), ("harmed", "0"), ("lost", "3")]
    assert matrix.count('class="empty"') == 2


def test_a_failover_without_an_end_is_in_the_table_and_not_in_the_plot(page: str) -> None:
    section = page.partition('<section id="failover"')[2].partition("</section>")[0]
    plot, _, table = section.partition("</figure>")
    assert plot.count('class="area detection"') == 2
    assert table.count('data-tp="orders-0"') == 1


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
    assert re.findall(r'data-value="([\d.]+)">([^<]*)<', section) == [
        *((number, number) for number in ("7", "1", "0", "0", "4", "0", "0", "9")),
        ("1500000.0", "1.5 s"), ("2000000", "2 s"),
    ]  # fmt: skip
    assert "<code>tidegauge console x</code>" in section
    assert "The first 1 of 4; all are in " in section


def test_the_page_is_called_after_the_dataset(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lossy").mkdir()
    monkeypatch.chdir(tmp_path / "lossy")
    assert "<h1>Analysis of lossy</h1>" in report_page(folder, analysed(Path()))


def test_the_page_is_small_whatever_the_data(tmp_path: Path) -> None:
    """A session with 200,000 changes once made a page of 17.8 MB."""
    folder = big_results(tmp_path / "out")
    page = report_page(folder, analysed(tmp_path))
    assert len(page.encode()) < PAGE_BYTES_MAX
    section = page.partition('<section id="availability"')[2].partition("</section>")[0]
    (first, *_) = re.findall('<script type="application/json">(.*?)</script>', section)
    chart = json.loads(first)
    offline = next(each for each in chart["series"] if each["kind"] == "offline")["values"]
    assert offline.count(1) == 1
    at = offline.index(1)
    assert chart["begins"][at] <= OUTAGE_US < chart["begins"][at + 1]
    assert chart["events"][at] == OUTAGE_SEQ
    assert "Drawn from 200,000 changes" in section


def test_the_report_is_a_file_beside_the_results(tmp_path: Path) -> None:
    folder = results(tmp_path / "out")
    place = write_report(Location(folder), analysed(tmp_path))
    assert place.name == "report.html"
    assert place.read().decode() == report_page(folder, analysed(tmp_path))
