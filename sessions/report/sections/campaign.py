"""The results of the campaign that made the dataset, if there is one."""

from collections.abc import Iterator
from typing import Final

from sessions.campaign.outcome import CampaignReport, VariantReport
from sessions.report.markup import Content, Element, element
from sessions.report.origins import Origins
from sessions.report.parts import section
from sessions.report.tables import framed
from sessions.report.units import number_text, time_text
from sessions.text import plural

HEADERS: Final = (
    *("runs", "failed", "raised", "hung", "with loss", "with duplicates", "with divergence"),
    *("records lost", "unavailable, mean", "unavailable, at most"),
)
MEANINGS: Final = {
    "failed": "runs in which an assertion or an invariant failed",
    "raised": "runs that ended with a fault of the program",
    "hung": "runs that took longer than the limit",
    "with loss, duplicates, divergence": "runs in which any record was lost, duplicated, diverged",
    "records lost": "acknowledged records that were lost, in all runs",
    "unavailable": "time of a run in which partitions had no leader at work, summed over them",
}


def campaign(report: CampaignReport, origins: Origins) -> Element:
    """The matrix that the campaign printed, and the runs to look at."""
    names = list(report.variants[0].values)
    head = element("tr", *(element("th", name, scope="col") for name in names))
    head.extend(element("th", name, class_="number", scope="col") for name in HEADERS)
    rows = [_row(variant) for variant in report.variants]
    matrix = element(
        "table", element("thead", head), element("tbody", *rows), data_table="campaign"
    )
    terms = [
        element(tag, text)
        for pair in MEANINGS.items()
        for tag, text in zip(("dt", "dd"), pair, strict=True)
    ]
    meanings = element(
        "details", element("summary", "What the columns mean"), element("dl", *terms)
    )
    return section(
        "campaign",
        "Campaign",
        f"{report.script}, {plural(report.runs, 'run')}.",
        framed("Combinations of what was varied", matrix, meanings),
        *_to_look_at(report, origins),
    )


def _row(variant: VariantReport) -> Element:
    row = element("tr", *(element("td", value) for value in variant.values.values()))
    numbers = [
        variant.runs,
        *(variant.outcomes[outcome] for outcome in ("failed", "raised", "hung")),
        *(loss.runs for loss in (variant.lost, variant.duplicated, variant.diverged)),
        variant.lost.records,
    ]
    row.extend(
        element("td", number_text(number), class_="number", data_value=number) for number in numbers
    )
    row.extend(
        element(
            "td",
            time_text(time_us),
            class_="number",
            data_value=None if time_us is None else str(time_us),
        )
        for time_us in (variant.unavailable_mean_us, variant.unavailable_max_us)
    )
    return row


def _to_look_at(report: CampaignReport, origins: Origins) -> Iterator[Content]:
    if not report.failing:
        return
    head = element("tr", *(element("th", name, scope="col") for name in ("run", "why", "command")))
    rows = [
        element(
            "tr",
            element("td", run.session),
            element("td", ", ".join(run.findings) + (f": {run.error}" if run.error else "")),
            element("td", element("code", origins.anywhere(run.command))),
            data_session=run.session,
        )
        for run in report.failing
    ]
    table = element("table", element("thead", head), element("tbody", *rows))
    shown, count = len(report.failing), report.failing_in_all
    note = None
    if count > shown:
        note = element(
            "p", f"The first {shown} of {count:,}; all are in {report.failing_file}.", class_="note"
        )
    yield framed("Runs to look at", table, note)
