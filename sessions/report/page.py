"""The whole page: the analysed data, a section for each question, and no external resources."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

import msgspec
from msgspec import Struct

from sessions.analysis.results.reading import Results
from sessions.campaign.manifest import CampaignFolder
from sessions.dataset.location import Location
from sessions.report import sections
from sessions.report.charts import json_text
from sessions.report.markup import Content, Element, document, element
from sessions.report.origins import Origins
from sessions.report.parts import Material, Section
from sessions.report.sections.campaign import campaign
from sessions.report.single_file import head, script_elements
from sessions.text import plural

NAME: Final = "report.html"
FOLDER: Final = Path(__file__).parent
STYLES: Final = (FOLDER / "vendor" / "uplot" / "uPlot.min.css", FOLDER / "report.css")
SCRIPTS: Final = (
    FOLDER / "vendor" / "uplot" / "uPlot.iife.min.js",
    *(
        FOLDER / "scripts" / f"{name}.js"
        for name in ("units", "commands", "view", "tables", "charts")
    ),
)
"""In the order in which they are run."""
SECTIONS: Final[list[Section]] = sorted(
    (
        import_module(module.name).SECTION
        for module in iter_modules(sections.__path__, f"{sections.__name__}.")
        if module.name != campaign.__module__
    ),
    key=lambda section: section.place,
)
"""All that are in the folder of sections, in their order on the page."""


class Analysed(Struct, frozen=True):
    """The subject of the report; ``left_out`` is a sentence about missing data."""

    dataset: Location
    sessions: int
    events: int
    left_out: str = ""

    @property
    def name(self) -> str:
        """The dataset's name, whatever its path or URI looks like."""
        return self.dataset.name


def write_report(results: "Location | Path", analysed: Analysed) -> Location:
    """Write the report of the results in a folder into it; returns the file."""
    file = Location(results) / NAME
    file.write(report_page(results, analysed).encode())
    return file


def report_page(results: "Location | Path", analysed: Analysed) -> str:
    """The report as HTML."""
    material = Material(Results(results), Origins(analysed.dataset))
    outcome = CampaignFolder(analysed.dataset).outcome()
    sections = [] if outcome is None else [campaign(outcome, material.origins)]
    sections += [
        section.make(material)
        for section in SECTIONS
        if all(map(material.results.has, section.needs))
    ]
    main = element("main", *sections, id="main", tabindex=-1)
    commands = material.origins.openings(_sessions_of_events(main))
    return document(
        element(
            "html",
            head(f"tidegauge: {analysed.name}", STYLES, SCRIPTS),
            element(
                "body",
                element("a", "Skip to the content", href="#main", class_="skip"),
                _header(analysed),
                _navigation(sections),
                main,
                element("script", json_text(commands), type="application/json", id="commands"),
                *script_elements(SCRIPTS),
            ),
            lang="en",
        )
    )


def _header(analysed: Analysed) -> Element:
    counted = f"{plural(analysed.sessions, 'session')}, {plural(analysed.events, 'event')} in "
    source: Content = element("code", str(analysed.dataset))
    how = (
        " Times are virtual. The number of an event, #1,289, gives the command that opens its "
        "session there; all rows are in the Parquet files beside this page."
    )
    return element(
        "header",
        element("h1", f"Analysis of {analysed.name}"),
        element("p", counted, source, ".", how),
        *([element("p", f"Left out: {analysed.left_out}.")] if analysed.left_out else []),
        element("noscript", element("p", "Charts, filters and commands need JavaScript.")),
    )


def _navigation(sections: list[Element]) -> Element:
    links = [
        element("a", str(section[0].text), href=f"#{section.get('id')}") for section in sections
    ]
    return element("nav", element("div", *links), aria_label="sections")


def _sessions_of_events(main: Element) -> set[str]:
    """The sessions that something on the page opens at an event."""
    return {session for session in _named_sessions(main) if session is not None}


def _named_sessions(main: Element) -> Iterator[str | None]:
    yield from (node.get("data-session") for node in main.iter())
    for script in main.iter("script"):
        yield from msgspec.json.decode(script.text or "")["sessions"]
