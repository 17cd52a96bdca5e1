"""Writes the tables of ``real-kafka.md``: what was compared with real brokers, on which releases.

``python -m docs.make_recordings_table`` counts what lies in ``tests/golden`` and writes it between
the marks of the page.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.golden.comparing import HERE, recordings

PAGE: Final = Path(__file__).with_name("real-kafka.md")
BEGIN: Final = "<!-- made by docs/make_recordings_table.py: begin -->\n"
END: Final = "<!-- made by docs/make_recordings_table.py: end -->\n"

FAULTS: Final = {
    "a broker crashes": ("broker crash",),
    "a broker shuts down cleanly": ("broker stop",),
    "a broker freezes": ("broker freeze",),
    "a broker is isolated from all others and from ZooKeeper": ("network isolate",),
    "two brokers are cut off from each other": ("network cut",),
    "a broker is cut off from ZooKeeper only": ("network cut zk",),
    "leaders are elected on request, or uncleanly": (
        "election ",
        "unclean.leader.election.enable=true",
    ),
    "partitions are reassigned": ("reassign ",),
    "topics are deleted": ("topic delete",),
    "topic or broker configurations change": ("topic config", "config broker"),
    "znodes are written by hand": ("zk set", "zk create", "zk delete"),
    "no fault": (),
}
"""Kinds of faults, each with how statements begin that bring it about, or what they contain."""


def scripts() -> list[Path]:
    """The scripts that were recorded."""
    return sorted(HERE.glob("scripts/*.tide"))


def statements(script: Path) -> list[str]:
    """The statements of a script, without comments."""
    lines = script.read_text("utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


@cache
def faults(script: Path) -> list[str]:
    """The kinds of faults in a script."""
    given = statements(script)
    found = [kind for kind, words in FAULTS.items() if _has(given, kind, words)]
    return found or ["no fault"]


def _has(given: list[str], kind: str, words: tuple[str, ...]) -> bool:
    if kind.endswith("ZooKeeper only"):
        return any(each.startswith("network cut") and each.endswith(" zk") for each in given)
    if kind.startswith("two brokers"):
        return any(each.startswith("network cut") and not each.endswith(" zk") for each in given)
    return any(
        each.startswith(word) or ("=" in word and word in each) for each in given for word in words
    )


def facts(script: Path, release: str) -> int:
    """How many facts of a recording have to be equal."""
    return sum(len(found) for found in recordings(script.stem)[release].values())


def _number(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


def by_fault() -> Iterator[str]:
    """A row for each kind of fault."""
    yield "| fault | scripts | recordings | releases | facts |"
    yield "|--|--:|--:|--:|--:|"
    for kind in FAULTS:
        concerned = [each for each in scripts() if kind in faults(each)]
        pairs = [(each, release) for each in concerned for release in recordings(each.stem)]
        releases = {release for _, release in pairs}
        counted = sum(facts(*pair) for pair in pairs)
        yield f"| {kind} | {len(concerned)} | {len(pairs)} | {len(releases)} | {counted:,} |"


def by_release() -> Iterator[str]:
    """A row for each release, with how many scripts have each kind of fault."""
    kinds = list(FAULTS)
    yield (
        "| release | scripts | facts | "
        + " | ".join(f"({n})" for n in range(1, len(kinds) + 1))
        + " |"
    )
    yield "|--|" + "--:|" * (len(kinds) + 2)
    pairs = [(each, release) for each in scripts() for release in recordings(each.stem)]
    for release in sorted({release for _, release in pairs}, key=_number):
        concerned = [each for each, other in pairs if other == release]
        counts = [sum(kind in faults(each) for each in concerned) for kind in kinds]
        counted = sum(facts(each, release) for each in concerned)
        row = " | ".join(str(count) if count else "" for count in counts)
        yield f"| {release} | {len(concerned)} | {counted:,} | {row} |"


def tables() -> str:
    """Both tables, with the sentence between them."""
    numbered = "; ".join(f"({number}) {kind}" for number, kind in enumerate(FAULTS, start=1))
    between = f"By release, with the number of scripts in which {numbered}:"
    return "\n".join([*by_fault(), "", between, "", *by_release(), ""])


def page() -> str:
    """The page with the tables as they are now."""
    text = PAGE.read_text("utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{tables()}\n{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
