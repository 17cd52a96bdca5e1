"""The page as a whole: what was analysed, a section for each question, and nothing from outside."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from sessions.analysis.results.availability import AVAILABILITY, AVAILABILITY_TIMELINE
from sessions.analysis.results.cluster import CONTROLLER_WORK, ISR_CHURN, LEADER_BALANCE
from sessions.analysis.results.failover import FAILOVER, FAILOVERS
from sessions.analysis.results.latency import (
    COMMIT_LATENCY,
    HW_LAG,
    HW_LAG_TIMELINE,
    LATENCY_HISTOGRAM,
)
from sessions.analysis.results.reading import Results
from sessions.analysis.results.truth import (
    ANOMALIES,
    ANOMALY_COUNTS,
    DURABILITY,
    DURABILITY_RECORDS,
    REPLAY,
)
from sessions.campaign.manifest import CampaignFolder
from sessions.dataset.location import Location
from sessions.dataset.schema import Table
from sessions.report.markup import Content, Element, document, element
from sessions.report.origins import Origins
from sessions.report.parts import Material
from sessions.report.sections.availability import availability
from sessions.report.sections.campaign import campaign
from sessions.report.sections.churn import churn
from sessions.report.sections.durability import durability
from sessions.report.sections.failover import failover
from sessions.report.sections.lag import lag
from sessions.report.sections.latency import latency
from sessions.report.sections.others import anomalies, leaders, replay

NAME: Final = "report.html"
FOLDER: Final = Path(__file__).parent
POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)
"""What a browser may load for it: nothing that is not in it."""
SECTIONS: Final[tuple[tuple[Callable[[Material], Element], tuple[Table, ...]], ...]] = (
    (durability, (DURABILITY, DURABILITY_RECORDS)),
    (availability, (AVAILABILITY, AVAILABILITY_TIMELINE)),
    (failover, (FAILOVERS, FAILOVER)),
    (latency, (COMMIT_LATENCY, LATENCY_HISTOGRAM)),
    (lag, (HW_LAG, HW_LAG_TIMELINE)),
    (churn, (ISR_CHURN,)),
    (anomalies, (ANOMALIES, ANOMALY_COUNTS)),
    (leaders, (LEADER_BALANCE, CONTROLLER_WORK)),
    (replay, (REPLAY,)),
)
"""Each with the results that it needs; without one of them the section is left out."""


class Analysed(Struct, frozen=True):
    """What the report is about."""

    dataset: Location
    sessions: int
    events: int

    @property
    def name(self) -> str:
        """What the dataset is called, however it was named."""
        return self.dataset.name


def write_report(results: "Location | Path", analysed: Analysed) -> Location:
    """Write the report of the results in a folder into it; returns the file."""
    place = Location(results) / NAME
    place.write(report_page(results, analysed).encode())
    return place


def report_page(results: "Location | Path", analysed: Analysed) -> str:
    """The report as HTML."""
    material = Material(Results(results), Origins(analysed.dataset))
    outcome = CampaignFolder(analysed.dataset).outcome()
    sections = [] if outcome is None else [campaign(outcome)]
    sections += [
        make(material) for make, needed in SECTIONS if all(map(material.results.has, needed))
    ]
    return document(
        element(
            "html",
            _head(analysed),
            element(
                "body",
                _header(analysed),
                _navigation(sections),
                element("main", *sections),
                _command_bar(),
                element("script", _asset("report.js")),
            ),
            lang="en",
        )
    )


def _head(analysed: Analysed) -> Element:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("link", rel="icon", href="data:,"),
        element("title", f"tidegauge: {analysed.name}"),
        element("style", _asset("report.css")),
    )


def _header(analysed: Analysed) -> Element:
    counted = f"{analysed.sessions:,} sessions, {analysed.events:,} events in "
    said: Content = element("code", str(analysed.dataset))
    how = (
        " Times are virtual. The number of an event, #1,289, gives the command that opens its "
        "session there; all rows are in the Parquet files beside this one."
    )
    return element(
        "header",
        element("h1", f"What {analysed.name} tells"),
        element("p", counted, said, ".", how),
    )


def _navigation(sections: list[Element]) -> Element:
    links = [element("a", str(each[0].text), href=f"#{each.get('id')}") for each in sections]
    return element("nav", element("div", *links))


def _command_bar() -> Element:
    bar = element("div", element("code"), element("span"), id="command")
    bar.set("hidden", "hidden")
    return bar


def _asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
