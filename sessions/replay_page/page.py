"""The page itself: one file that a browser opens from anywhere and that loads nothing else."""

import zlib
from base64 import b64encode
from pathlib import Path
from typing import Final

import msgspec

from sessions.replay_page.story import Story
from sessions.report.markup import Element, document, element
from sessions.report.single_file import head, script_elements
from sessions.text import plural

HERE: Final = Path(__file__).parent
REPORT: Final = HERE.parent / "report"
STYLES: Final = (REPORT / "report.css", HERE / "replay.css")
SCRIPTS: Final = (REPORT / "scripts" / "units.js", HERE / "replay.js")
"""In the order in which they are run."""


def replay_page(story: Story) -> str:
    """Return the story as HTML; its texts are data that is packed, and never markup."""
    packed = b64encode(zlib.compress(msgspec.json.encode(story), 9)).decode("ascii")
    return document(
        element(
            "html",
            head(f"tidegauge: {story.title}", STYLES, SCRIPTS),
            element(
                "body",
                _header(story),
                _controls(),
                _main(),
                element("script", packed, type="text/plain", id="recording"),
                *script_elements(SCRIPTS),
            ),
            lang="en",
        )
    )


def _header(story: Story) -> Element:
    return element(
        "header",
        element("h1", story.title),
        element("p", "; ".join((*story.facts, plural(len(story.events.times), "event"))), "."),
        *(element("p", note, class_="note") for note in story.notes),
        element("noscript", element("p", "Stepping through a recording needs JavaScript.")),
        element("p", role="alert", id="trouble", hidden=""),
    )


def _controls() -> Element:
    buttons = [
        element("button", sign, type="button", id=name, title=title, aria_label=title)
        for name, sign, title in (
            ("previous-stop", "<<", "previous statement or change of a state (Page Up)"),
            ("previous-event", "<", "previous event (left arrow)"),
            ("next-event", ">", "next event (right arrow)"),
            ("next-stop", ">>", "next statement or change of a state (Page Down)"),
        )
    ]
    return element(
        "nav",
        element(
            "div",
            element("div", *buttons, element("output", id="clock"), class_="tools"),
            element("div", element("div", id="ticks"), _slider(), class_="time"),
            element("p", id="now"),
            element("p", id="verdict"),
            element("p", id="brokers"),
        ),
        aria_label="time",
        id="controls",
        hidden="",
    )


def _slider() -> Element:
    return element(
        "input", type="range", id="slider", min="0", max="1", step="1", aria_label="time"
    )


def _main() -> Element:
    return element(
        "main",
        element(
            "section",
            element("h2", "Partitions"),
            _filter("partition-filter", "partition"),
            element(
                "div",
                element("table", element("thead"), element("tbody"), id="partitions"),
                class_="scrolled",
            ),
            element("p", id="legend", class_="note"),
        ),
        element(
            "section",
            element("h2", id="selected"),
            element("p", id="why"),
            element("ol", id="why-chain", class_="chain"),
            element("div", element("table", id="tapes"), class_="scrolled"),
            element("p", id="tape-legend", class_="note"),
        ),
        element(
            "section",
            element("h2", "Events"),
            element(
                "div",
                _filter("event-filter", "words of an event"),
                element(
                    "label",
                    element("input", type="checkbox", id="traffic"),
                    " with messages, timers and other traffic",
                ),
                class_="tools",
            ),
            element("div", element("div", id="rows"), id="events", tabindex="0", role="group"),
            element("h3", "What led to this event"),
            element("ol", id="causes", class_="chain"),
            element("p", "In the console: ", element("code", id="replay-command")),
        ),
        id="main",
        hidden="",
    )


def _filter(name: str, placeholder: str) -> Element:
    return element(
        "label",
        "Filter ",
        element("input", type="search", id=name, placeholder=placeholder, autocomplete="off"),
        class_="filter",
    )
