"""The statements of the seed documents, each with the scenarios that show it.

The five documents are those that Kafka's replication is taught from. What they state stands in the
scenarios' leading comments, so that a page of it cannot differ from what is run:

- ``# states: A7.2 the sentence``: the script shows the second statement of row A7. A further
  script that shows it too has the number only.
- ``# value: t-0.leo == 2``: the document's own value, as an expectation of the script has it.
- ``# kafka: 0.8.2 to 3.9: what it does instead (recording 07-min-isr)``: where releases of Kafka
  do otherwise.

A value and a difference belong to the statement above them.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from commands.library.index import Scenario, headings, library
from emulator.releases.versions import DOCUMENTS as PROFILE

DOCUMENTS: Final = {
    "A": "High watermark and log end offset",
    "B": "Consistency and leader epochs",
    "C": "The write path",
    "D": "When HW and LEO move",
    "E": "High availability",
}
"""The documents' subjects, by the letter with which their rows begin."""

_STATED: Final = re.compile(r"(([A-E])(\d+)(b?)\.(\d+))(?: (.+))?")


class Shown(Struct, frozen=True):
    """One scenario that shows a statement; ``values`` are among what it expects."""

    scenario: Scenario
    values: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def is_literal(self) -> bool:
        """Whether it runs by the documents' own rules."""
        return PROFILE in self.scenario.versions


class Stated(Struct, frozen=True):
    """One statement of the documents: ``A7.2`` is the second one of row A7."""

    number: str
    text: str
    shown: tuple[Shown, ...]

    @property
    def document(self) -> str:
        return self.number[0]

    @property
    def row(self) -> str:
        """The row of the document to which it belongs."""
        return self.number.partition(".")[0]

    @property
    def differences(self) -> tuple[str, ...]:
        """Where releases of Kafka do otherwise."""
        return tuple(difference for shown in self.shown for difference in shown.differences)


@cache
def statements() -> tuple[Stated, ...]:
    """Return every statement that a scenario of the library shows, in the documents' order.

    Raises:
        ValueError: a scenario's comments are not in this form.
    """
    texts: dict[str, str] = {}
    shown: dict[str, list[Shown]] = {}
    for scenario in library():
        for number, text, example in _shown_in(scenario):
            if text and texts.setdefault(number, text) != text:
                raise ValueError(f"{scenario.name}: {number} is stated elsewhere in other words")
            shown.setdefault(number, []).append(example)
    missing = sorted(set(shown) - set(texts))
    if missing:
        raise ValueError(f"no scenario has the words of {', '.join(missing)}")
    return tuple(
        Stated(number, texts[number], tuple(sorted(shown[number], key=lambda s: not s.is_literal)))
        for number in sorted(shown, key=_sort_key)
    )


def _shown_in(scenario: Scenario) -> Iterator[tuple[str, str, Shown]]:
    """Yield number, text (empty if elsewhere) and what is shown of each statement."""
    current: tuple[str, str] | None = None
    notes: dict[str, list[str]] = {"value": [], "kafka": []}

    def ended() -> Iterator[tuple[str, str, Shown]]:
        if current is not None:
            values, differences = (tuple(notes[name]) for name in ("value", "kafka"))
            yield *current, Shown(scenario, values, differences)

    for name, text in headings(scenario.text()):
        if name == "states":
            yield from ended()
            match = _STATED.fullmatch(text)
            if match is None:
                raise ValueError(f"{scenario.name}: '# states: {text}' does not begin as A7.2 does")
            current, notes = (match[1], match[6] or ""), {"value": [], "kafka": []}
        elif name in notes:
            if current is None:
                raise ValueError(f"{scenario.name}: '# {name}: {text}' is above all statements")
            notes[name].append(text)
    yield from ended()


def _sort_key(number: str) -> tuple[str, int, str, int]:
    match = _STATED.fullmatch(number)
    assert match is not None
    return match[2], int(match[3]), match[4], int(match[5])


# ---- as text


def page() -> str:
    """Render docs/documents.md as Markdown."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield HEAD
    for letter, subject in DOCUMENTS.items():
        yield f"## {letter}. {subject}"
        yield ""
        yield "| row | the document says | scenario | with the value | real Kafka |"
        yield "|--|--|--|--|--|"
        for stated in statements():
            if stated.document == letter:
                yield _row(stated)
        yield ""


def _row(stated: Stated) -> str:
    scenarios, values = [], []
    for shown in stated.shown:
        scenarios.append(f"`{shown.scenario.name}`{_where(shown)}")
        values += [f"`{value}`" for value in shown.values]
    cells = (
        stated.number,
        stated.text,
        "<br>".join(scenarios),
        "<br>".join(dict.fromkeys(values)),
        "<br>".join(stated.differences) or "the same",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _where(shown: Shown) -> str:
    """Return the releases of a scenario that does not run by the documents' rules."""
    if shown.is_literal:
        return ""
    versions = shown.scenario.versions
    return f" ({versions[0]})" if len(versions) == 1 else f" ({versions[0]} to {versions[-1]})"


def listed() -> str:
    """Return the statements as plain text, each with its scenarios, values and differences."""
    return "\n".join(_listed())


def _listed() -> Iterator[str]:
    for letter, subject in DOCUMENTS.items():
        yield f"{letter}. {subject}"
        yield ""
        for stated in statements():
            if stated.document != letter:
                continue
            yield f"{stated.number:7}{stated.text}"
            for shown in stated.shown:
                yield f"{'':7}{shown.scenario.name}{_where(shown)}"
                yield from (f"{'':9}{value}" for value in shown.values)
            yield from (f"{'':7}Kafka {difference}" for difference in stated.differences)
            yield ""


HEAD: Final = """\
# The documents

Kafka's replication is often taught from a few documents, whose rules are those of an old Kafka, or
simpler than any. The profile `documents` does what they say: their wording, their values, their
order. Each statement of theirs is here, with the scenario that shows it. Run one by its name, and
then on a release of Kafka to see what is different there:

```sh
tidegauge scenarios list --documents
tidegauge scenarios run A7-accepted-is-written --version documents
tidegauge scenarios open B4 --version documents --against 3.9
```

A scenario is for the profile `documents` unless its releases stand behind it. Two profiles differ
from it in one thing: `documents-leader-epochs` truncates by leader epochs, the documents' remedy,
and in `documents-without-hw` consumers read past the HW, which shows what it is for. A value is
one of the scenario's expectations, which the tests run. A recording is one of real brokers
([how they are made](real-kafka.md)).
"""
