"""What each way to produce was worth."""

import re
from typing import Final

from sessions.analysis.results.reading import DOWN, UP, Row
from sessions.analysis.results.truth import DURABILITY, DURABILITY_RECORDS, LOST_OFFSETS
from sessions.report.bars import event_button
from sessions.report.markup import Element, element
from sessions.report.parts import ROWS_MAX, Material, Section, section
from sessions.report.tables import ACKS, At, TableColumns, framed, table
from sessions.text import plural

WAYS_MAX: Final = 400
"""How many ways to produce the matrix has room for: far more than releases and settings make."""
KEYS: Final = ("generation", "acks", "min_isr", "unclean")
FATES: Final = ("lost", "duplicated", "diverged", "consumed_lost")
SHOWN: Final = TableColumns(
    DURABILITY,
    "Ways to produce, over all sessions",
    {
        "releases": "versions",
        "protocol": "generation",
        "acks": "acks",
        "min.insync.replicas": "min_isr",
        "unclean election": "unclean",
        "sessions": "sessions",
        "records": "records",
        "acknowledged": "acked",
        "failed": "failed",
        "lost": "lost",
        "duplicated": "duplicated",
        "diverged": "diverged",
        "consumed and lost": "consumed_lost",
        "sessions with loss": "sessions_lost",
        "first case": At("example_session", "example_seq"),
    },
)
RECORDS: Final = TableColumns(
    DURABILITY_RECORDS,
    "Records that something happened to",
    {
        "session": "session",
        "partition": "tp",
        "fate": "fate",
        "record": At("record", "sent_seq"),
        "offset": "offset",
        "producer": "producer",
        "acks": "acks",
        "answered": "answered_seq",
    },
)
OFFSETS: Final = TableColumns(
    LOST_OFFSETS,
    "Committed offsets that are lost, whose records are not known",
    {
        "session": "session",
        "partition": "tp",
        "first": "first_offset",
        "end": "end_offset",
        "told": "audit_seq",
    },
)


def durability(material: Material) -> Element:
    """The matrix of lost records, and these records."""
    rows = material.results.top(DURABILITY, tuple((key, UP) for key in KEYS), WAYS_MAX)
    order = (("fate", DOWN), ("session", UP), ("tp", UP), ("offset", UP))
    records = material.results.top(DURABILITY_RECORDS, order, ROWS_MAX)
    return section(
        "durability",
        "Durability",
        "Acknowledged records that were lost, of those acknowledged, for each way to produce and "
        "the releases that treat it alike; then what else became of records, and of which.",
        _matrix(rows) if rows else None,
        table(SHOWN, rows, material.results.count(DURABILITY)),
        table(RECORDS, records, material.results.count(DURABILITY_RECORDS)),
        _lost_offsets(material),
    )


def _lost_offsets(material: Material) -> Element | None:
    """Lost offsets of clusters that started from an image, if there are any."""
    if not material.results.has(LOST_OFFSETS) or not material.results.count(LOST_OFFSETS):
        return None
    order = (("session", UP), ("tp", UP), ("first_offset", UP))
    offsets = material.results.top(LOST_OFFSETS, order, ROWS_MAX)
    return table(OFFSETS, offsets, material.results.count(LOST_OFFSETS))


def _matrix(rows: list[Row]) -> Element:
    """A row for each way to produce, a column for each group of releases.

    A group has two columns if there are ways with and without unclean leader election.
    """
    releases = _releases(rows)
    across = sorted(
        {(way["generation"], way["unclean"]) for way in rows},
        key=lambda group: (_age(releases[group[0]]), group),
    )
    down = sorted({(way["acks"], way["min_isr"]) for way in rows}, key=_strength)
    by_place = {
        (way["acks"], way["min_isr"], way["generation"], way["unclean"]): way for way in rows
    }
    head = element("tr", element("td"))
    for generation, unclean in across:
        small = element("small", f"{generation}{', unclean election' if unclean else ''}")
        head.append(element("th", ", ".join(releases[generation]), small, scope="col"))
    body = element("tbody")
    for acks, min_isr in down:
        small = element("small", f"min.insync.replicas={min_isr}")
        line = element("tr", element("th", f"acks={ACKS.get(acks, str(acks))}", small, scope="row"))
        for group in across:
            line.append(_cell(by_place.get((acks, min_isr, *group))))
        body.append(line)
    matrix = element("table", element("thead", head), body, class_="matrix")
    return framed("Lost of acknowledged records, by release and way to produce", matrix)


def _releases(rows: list[Row]) -> dict[str, list[str]]:
    """By generation of the protocol the releases that ran by it, oldest first."""
    by_generation: dict[str, set[str]] = {}
    for row in rows:
        names = {name for name in row["versions"].split(", ") if name}
        by_generation.setdefault(row["generation"], set()).update(names or {row["generation"]})
    return {name: sorted(versions, key=_version) for name, versions in by_generation.items()}


def _version(name: str) -> tuple[list[int], str]:
    return [int(number) for number in re.findall(r"\d+", name)], name


def _age(releases: list[str]) -> tuple[list[int], str]:
    """Groups of releases from the oldest on."""
    return _version(releases[0])


def _strength(setting: tuple[int, int]) -> tuple[bool, int, int]:
    """acks=0, then 1, then all."""
    acks, min_isr = setting
    return acks == -1, acks, min_isr


def _cell(row: Row | None) -> Element:
    """A cell: lost of acknowledged records, other outcomes, and sessions."""
    if row is None:
        return element("td", "not run", class_="empty")
    verdict = "lost" if row["lost"] else "harmed" if row["sessions_harmed"] else "kept"
    cell = element(
        "td",
        f"{row['lost']:,} lost of {row['acked']:,}",
        class_=f"verdict {verdict}",
        data_lost=row["lost"],
        data_acked=row["acked"],
    )
    others = [f"{row[fate]:,} {fate.replace('_', ' and ')}" for fate in FATES[1:] if row[fate]]
    where = f"loss in {row['sessions_lost']:,} of {plural(row['sessions'], 'session')}"
    for note in (*others, where):
        cell.append(element("small", note))
    if row["example_session"] is not None and row["example_seq"] is not None:
        cell.append(event_button(row["example_seq"], row["example_session"]))
    return cell


SECTION: Final = Section(durability, (DURABILITY, DURABILITY_RECORDS), place=10)
