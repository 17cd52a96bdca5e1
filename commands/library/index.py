"""The library of scenarios shipped with the program: flows of replication, and known failures.

Each is one script in ``commands/library/scenarios/``, whose leading comments describe it: a
``title``, what to ``watch``, questions to ``ask`` before stepping on, the ``source`` in Kafka's
code if one is named, and the ``versions`` for which its expectations are written (all if left
out). Some are run on every release: these have ``outcomes``, the known behaviour of real Kafka,
so that a run with a different outcome is reported, and the ``change`` that fixed the problem. A
statement that ends in ``# answers 1`` answers the first question once it has been checked or
run. Which statements of the seed documents a script shows is in ``commands/library/documents.py``.
Outcomes are never printed from this file: ``tidegauge matrix`` runs the scenarios to find
them.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from commands.language.values import version
from emulator.releases.profiles import DEFAULT_VERSION, PROFILES, VERSIONS, neighbours
from emulator.releases.versions import has_no_zookeeper, is_since
from sessions.grammar.words import BadWord, nearest

FOLDER: Final = Path(__file__).parent / "scenarios"

OK: Final = "ok"
LOSS: Final = "loss"
DIVERGE: Final = "diverge"
BOTH: Final = f"{LOSS}+{DIVERGE}"
SHORT: Final = "ISR member short"

MEANINGS: Final = {
    OK: "no acknowledged record is missing, logs agree, ISR members have all committed records",
    LOSS: "an acknowledged record is not in the leader's log",
    DIVERGE: "two replicas have different records at the same offset",
    SHORT: "a member of the ISR lacks a committed record, which is lost if it is elected",
}
"""What the words of an outcome mean; ``loss+diverge`` is both."""

GROUPS: Final = {
    "A": "HW and LEO",
    "B": "consistency and epochs",
    "C": "the write path",
    "D": "when HW and LEO move",
    "E": "high availability",
    "G": "consumer groups",
    "K": "KRaft",
    "": "known failures",
}
"""The parts of the library by name prefix: flows by a letter, failures by their kind."""

_FLOW = re.compile(r"([A-EGK])\d")
_HEAD = re.compile(r"# (title|watch|ask|source|versions|change|outcomes|states|value|kafka): (.*)")
_KRAFT = re.compile(r"^.*\S  # kraft: (.*)$", re.MULTILINE)
_FURTHER = re.compile(r"#   +(.*)")
_ANSWERS = re.compile(r"[^#].*  # answers (\d+(?:,\d+)*)\b")


class Scenario(Struct, frozen=True):
    """One script. ``watch`` says what to watch while it runs, ``change`` what fixed the problem.

    ``questions`` are to be answered before stepping on; ``source`` refers to Kafka's code.
    ``outcomes`` are (since release, outcome), oldest first, as known from real Kafka; empty if the
    scenario is not judged.
    """

    path: Path
    title: str
    watch: str
    questions: tuple[str, ...]
    versions: tuple[str, ...] = VERSIONS
    change: str = ""
    source: str = ""
    outcomes: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The file's name without its extension."""
        return self.path.stem

    @property
    def group(self) -> str:
        """The part of the library that it belongs to."""
        match = _FLOW.match(self.name)
        return GROUPS[match[1] if match else ""]

    @property
    def version(self) -> str:
        """The default release to show it on."""
        return DEFAULT_VERSION if DEFAULT_VERSION in self.versions else self.versions[-1]

    def answers(self) -> dict[int, tuple[int, ...]]:
        """The questions (from 1) that each statement answers, by line."""
        by_line = {}
        for number, line in enumerate(self.text().splitlines(), start=1):
            if match := _ANSWERS.match(line):
                by_line[number] = tuple(map(int, match[1].split(",")))
        return by_line

    def known(self, version: str) -> str:
        """Return the known outcome on a release."""
        numbers = PROFILES[version].numbers
        return [outcome for since, outcome in self.outcomes if is_since(numbers, since)][-1]

    def is_written_for(self, version: str) -> bool:
        """Return whether the expectations should hold on a release, judging by its neighbours."""
        return set(neighbours(version)) <= set(self.versions)

    def text(self) -> str:
        """The script as it is in its file."""
        return self.path.read_text(encoding="utf-8")

    def script(self, version: str) -> str:
        """Return the whole script for one release, as ``tidegauge run -`` takes it.

        Without ZooKeeper, a statement is replaced by the one in its comment.
        """
        text = self.text()
        if has_no_zookeeper(PROFILES[version].numbers):
            text = _KRAFT.sub(r"\1", text)
        return text.replace("\ncluster ", f"\ncluster --version {version} ", 1)


def named_versions(text: str) -> tuple[str, ...]:
    """Return the releases that a script's leading comments list; empty if they list none.

    Raises:
        BadWord: one of them is not a release.
    """
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        head = _HEAD.match(line)
        if head and head[1] == "versions":
            return tuple(version(name) for name in head[2].replace(",", " ").split())
    return ()


def headings(text: str) -> list[tuple[str, str]]:
    """Return a script's leading ``# NAME: TEXT`` comments, which indented comments continue."""
    pairs: list[tuple[str, str]] = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if head := _HEAD.match(line):
            pairs.append((head[1], head[2]))
        elif pairs and (further := _FURTHER.match(line)):
            name, before = pairs[-1]
            pairs[-1] = (name, f"{before} {further[1]}")
    return pairs


def read(path: Path) -> Scenario:
    """Read the scenario in a file."""
    heads: dict[str, list[str]] = {}
    for name, value in headings(path.read_text(encoding="utf-8")):
        heads.setdefault(name, []).append(value)
    outcomes = (
        outcome.partition(" ") for outcome in "".join(heads.get("outcomes", ())).split(", ")
    )
    return Scenario(
        path,
        heads["title"][0],
        heads["watch"][0],
        tuple(heads["ask"]),
        tuple(heads["versions"][0].split()) if "versions" in heads else VERSIONS,
        "".join(heads.get("change", ())),
        " ".join(heads.get("source", ())),
        tuple((since, outcome) for since, _, outcome in outcomes if since),
    )


JUDGED: Final = (
    "V7-stale-hw-restart",
    "V8-literal",
    "V10-power-loss-divergence",
    "V11-fast-failover",
    "V12-hw-fallback",
    "KAFKA-7128-early-isr-expand",
    "V14-stale-epoch-fetch",
    "V16-unclean",
    "V24-last-replica-power-loss",
    "V24-power-loss-below-minimum",
    "V6-acks-1",
)
"""The scenarios that ``tidegauge matrix`` runs on every release, in the order of its rows."""

SCENARIOS: Final = tuple(read(FOLDER / f"{name}.tide") for name in JUDGED)


@cache
def library() -> tuple[Scenario, ...]:
    """Return every scenario: flows in order, then failures, those run on every release first."""
    return tuple(sorted(map(read, FOLDER.glob("*.tide")), key=_sort_key))


def _sort_key(scenario: Scenario) -> tuple[int, int, list[tuple[int, str]]]:
    numbers = re.findall(r"(\d*)(\D*)", scenario.name)
    natural = [(int(digits or 0), rest) for digits, rest in numbers]
    judged = JUDGED.index(scenario.name) if scenario.name in JUDGED else len(JUDGED)
    return list(GROUPS.values()).index(scenario.group), judged, natural


def find(name: str, among: Sequence[Scenario] = SCENARIOS, release: str | None = None) -> Scenario:
    """Return the scenario with that name, or the only one whose name starts with it.

    If several names do, return the one that is written for ``release``.

    Raises:
        BadWord: there is none, or more than one.
    """
    lowered = name.lower()
    exact = [scenario for scenario in among if scenario.name.lower() == lowered]
    matching = exact or [
        scenario for scenario in among if f"{scenario.name.lower()}-".startswith(f"{lowered}-")
    ]
    if len(matching) > 1 and release is not None:
        matching = [
            scenario for scenario in matching if scenario.is_written_for(release)
        ] or matching
    if len(matching) > 1:
        several = ", ".join(scenario.name for scenario in matching)
        raise BadWord(f"'{name}' matches several scenarios: {several}")
    if not matching:
        names = [scenario.name for scenario in among]
        listed = f" ({', '.join(names)})" if among is SCENARIOS else _listed_by()
        raise BadWord(f"there is no scenario '{name}'{nearest(name, names) or listed}")
    return matching[0]


def _listed_by() -> str:
    return " ('tidegauge scenarios list' lists them)"
