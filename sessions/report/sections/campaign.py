"""What came of the campaign that made the dataset, if one did."""

from collections.abc import Iterator
from typing import Final

from sessions.campaign.outcome import CampaignReport, VariantReport
from sessions.report.markup import Content, Element, element
from sessions.report.parts import section
from sessions.report.units import number_text, time_text

HEADERS: Final = (
    *("runs", "failed", "raised", "hung", "lost", "duplicated", "diverged"),
    *("records lost", "unavailable", "at most"),
)


def campaign(report: CampaignReport) -> Element:
    """The matrix that the campaign printed, and the runs to look at."""
    names = list(report.variants[0].values)
    head = element("tr", *(element("th", name) for name in names))
    head.extend(element("th", name, class_="number") for name in HEADERS)
    rows = [_row(each) for each in report.variants]
    matrix = element(
        "table", element("thead", head), element("tbody", *rows), data_table="campaign"
    )
    return section(
        "campaign",
        "Campaign",
        f"{report.script}, {report.runs:,} runs. Lost, duplicated and diverged count the runs in "
        "which any record was; unavailable is the time in which a partition had no leader at work.",
        element("div", matrix, class_="table"),
        *_to_look_at(report),
    )


def _row(of: VariantReport) -> Element:
    row = element("tr", *(element("td", value) for value in of.values.values()))
    numbers = [
        of.runs,
        *(of.outcomes[outcome] for outcome in ("failed", "raised", "hung")),
        *(loss.runs for loss in (of.lost, of.duplicated, of.diverged)),
        of.lost.records,
    ]
    row.extend(
        element("td", number_text(number), class_="number", data_value=number) for number in numbers
    )
    row.extend(
        element("td", time_text(time_us), class_="number")
        for time_us in (of.unavailable_mean_us, of.unavailable_max_us)
    )
    return row


def _to_look_at(report: CampaignReport) -> Iterator[Content]:
    if not report.failing:
        return
    yield element("h3", "Runs to look at")
    head = element("tr", *(element("th", name) for name in ("run", "why", "command")))
    rows = [
        element(
            "tr",
            element("td", each.session),
            element("td", ", ".join(each.findings) + (f": {each.error}" if each.error else "")),
            element("td", element("code", each.command)),
        )
        for each in report.failing
    ]
    table = element("table", element("thead", head), element("tbody", *rows))
    shown, count = len(report.failing), report.failing_in_all
    yield element("div", table, class_="table")
    if count > shown:
        yield element("p", f"{shown} of {count:,}; all are in {report.failing_file}", class_="note")
