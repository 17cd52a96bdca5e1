"""The library of scenarios that comes with the program: flows of replication, and known failures.

Each is one script in ``commands/library/scenarios/``, whose first comments say what it is: a
``title``, what to ``watch``, what to ``ask`` oneself before stepping on, the ``source`` in Kafka's
code where one is named, and the ``versions`` for which its expectations are written (all if left
out). Some put every release to test: these have
``outcomes``, which is what is known of real Kafka, so that a run which says something else can be
told, and the ``change`` that made it end. A statement that ends in ``# answers 1`` answers the
first question once it has been checked or done. What comes out of them is never written down for
printing: ``tidegauge matrix`` runs them and looks.
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
    OK: "no acknowledged record is missing, all logs agree, each ISR member has what is committed",
    LOSS: "a record that was acknowledged is not in the leader's log",
    DIVERGE: "two replicas hold different records at one offset",
    SHORT: "a member of the ISR lacks a committed record, which is lost if it is elected",
}
"""What the words of an outcome say; ``loss+diverge`` is both."""

GROUPS: Final = {
    "A": "HW and LEO",
    "B": "consistency and epochs",
    "C": "the write path",
    "D": "when HW and LEO move",
    "E": "high availability",
    "K": "KRaft",
    "": "known failures",
}
"""The parts of the library by how names begin: flows by a letter, failures by what they are."""

_FLOW = re.compile(r"([A-EK])\d")
_HEAD = re.compile(r"# (title|watch|ask|source|versions|change|outcomes): (.*)")
_KRAFT = re.compile(r"^.*\S  # kraft: (.*)$", re.MULTILINE)
_FURTHER = re.compile(r"#   +(.*)")
_ANSWERS = re.compile(r"[^#].*  # answers (\d+(?:,\d+)*)\b")


class Scenario(Struct, frozen=True):
    """One script. ``watch`` says what to look at while it runs, ``change`` what made it end.

    ``questions`` are to be answered before one steps on; ``source`` names Kafka's code.
    ``outcomes`` are (since release, outcome), oldest first, as known of real Kafka; empty where
    none is judged.
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
        """The file's name without its ending."""
        return self.path.stem

    @property
    def group(self) -> str:
        """The part of the library that it belongs to."""
        match = _FLOW.match(self.name)
        return GROUPS[match[1] if match else ""]

    @property
    def version(self) -> str:
        """The release that it is shown on unless another is asked for."""
        return DEFAULT_VERSION if DEFAULT_VERSION in self.versions else self.versions[-1]

    def answers(self) -> dict[int, tuple[int, ...]]:
        """Which of the questions (from 1) the statements answer, by their lines."""
        found = {}
        for number, line in enumerate(self.text().splitlines(), start=1):
            if match := _ANSWERS.match(line):
                found[number] = tuple(map(int, match[1].split(",")))
        return found

    def known(self, version: str) -> str:
        """What is known to come out on a release."""
        numbers = PROFILES[version].numbers
        return [what for since, what in self.outcomes if is_since(numbers, since)][-1]

    def is_written_for(self, version: str) -> bool:
        """Whether the expectations hold on a release, as far as its neighbours tell."""
        return set(neighbours(version)) <= set(self.versions)

    def text(self) -> str:
        """The script as it stands in its file."""
        return self.path.read_text(encoding="utf-8")

    def script(self, version: str) -> str:
        """The whole script for one release, as ``tidegauge run -`` takes it.

        Where there is no ZooKeeper, a statement gives way to the one that its comment has.
        """
        text = self.text()
        if has_no_zookeeper(PROFILES[version].numbers):
            text = _KRAFT.sub(r"\1", text)
        return text.replace("\ncluster ", f"\ncluster --version {version} ", 1)


def named_versions(text: str) -> tuple[str, ...]:
    """The releases that a script's first comments say it is written for; empty if they say none.

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


def read(path: Path) -> Scenario:
    """The scenario in a file."""
    heads: dict[str, list[str]] = {}
    last: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        if head := _HEAD.match(line):
            last = heads.setdefault(head[1], [])
            last.append(head[2])
        elif last and (further := _FURTHER.match(line)):
            last[-1] += f" {further[1]}"
    outcomes = (each.partition(" ") for each in "".join(heads.get("outcomes", ())).split(", "))
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
    "V6-acks-1",
)
"""The scenarios that ``tidegauge matrix`` runs on every release, in the order of its rows."""

SCENARIOS: Final = tuple(read(FOLDER / f"{name}.tide") for name in JUDGED)


@cache
def library() -> tuple[Scenario, ...]:
    """Every scenario: flows in order, then failures, those first that every release is put to."""
    return tuple(sorted(map(read, FOLDER.glob("*.tide")), key=_place))


def _place(scenario: Scenario) -> tuple[int, int, list[tuple[int, str]]]:
    numbers = re.findall(r"(\d*)(\D*)", scenario.name)
    natural = [(int(digits or 0), rest) for digits, rest in numbers]
    judged = JUDGED.index(scenario.name) if scenario.name in JUDGED else len(JUDGED)
    return list(GROUPS.values()).index(scenario.group), judged, natural


def find(name: str, among: Sequence[Scenario] = SCENARIOS, release: str | None = None) -> Scenario:
    """The scenario of that name, or the one whose name begins so.

    If several names begin so, the one that is written for the ``release`` is meant.

    Raises:
        BadWord: there is none, or more than one.
    """
    wanted = name.lower()
    exact = [each for each in among if each.name.lower() == wanted]
    found = exact or [each for each in among if f"{each.name.lower()}-".startswith(f"{wanted}-")]
    if len(found) > 1 and release is not None:
        found = [each for each in found if each.is_written_for(release)] or found
    if len(found) > 1:
        several = ", ".join(each.name for each in found)
        raise BadWord(f"'{name}' may be any of {several}")
    if not found:
        names = [each.name for each in among]
        listed = f" ({', '.join(names)})" if among is SCENARIOS else _listed_by()
        raise BadWord(f"there is no scenario '{name}'{nearest(name, names) or listed}")
    return found[0]


def _listed_by() -> str:
    return " ('tidegauge scenarios list' lists them)"
