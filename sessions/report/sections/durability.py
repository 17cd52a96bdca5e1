"""What each way to produce was worth."""

from typing import Final

from sessions.analysis.results.reading import DOWN, UP, Row
from sessions.analysis.results.truth import DURABILITY, DURABILITY_RECORDS
from sessions.report.markup import Element, element
from sessions.report.parts import ROWS_MAX, Material, section
from sessions.report.tables import ACKS, Shown, event_button, table

KEYS: Final = ("generation", "acks", "min_isr", "unclean")
FATES: Final = ("lost", "duplicated", "diverged", "consumed_lost")
SHOWN: Final = Shown(
    DURABILITY,
    {
        "generation": "generation",
        "acks": "acks",
        "min ISR": "min_isr",
        "unclean election": "unclean",
        "releases": "versions",
        "sessions": "sessions",
        "records": "records",
        "acked": "acked",
        "failed": "failed",
        "lost": "lost",
        "duplicated": "duplicated",
        "diverged": "diverged",
        "consumed, lost": "consumed_lost",
        "sessions with loss": "sessions_lost",
        "first in": "example_session",
        "sent at": "example_seq",
    },
)
RECORDS: Final = Shown(
    DURABILITY_RECORDS,
    {
        "session": "session",
        "partition": "tp",
        "fate": "fate",
        "record": "record",
        "offset": "offset",
        "producer": "producer",
        "acks": "acks",
        "sent at": "sent_seq",
        "answered at": "answered_seq",
    },
)


def durability(of: Material) -> Element:
    """The matrix of what was lost, and the records that it was."""
    ways = of.results.top(DURABILITY, tuple((key, UP) for key in KEYS), 1_000)
    order = (("fate", DOWN), ("session", UP), ("tp", UP), ("offset", UP))
    records = of.results.top(DURABILITY_RECORDS, order, ROWS_MAX)
    of.origins.look_up({way["example_session"] for way in ways if way["example_session"]})
    return section(
        "durability",
        "Durability",
        "Acknowledged records that were lost, of those acknowledged, for each way to produce "
        "and generation of the protocol; then all that became of records, and which they were.",
        _matrix(of, ways) if ways else None,
        table(SHOWN, ways, of.origins),
        table(RECORDS, records, of.origins, of.results.count(DURABILITY_RECORDS)),
    )


def _matrix(of: Material, ways: list[Row]) -> Element:
    """A row for each way to produce, a column for each generation with and without unclean."""
    across = sorted({(way["generation"], way["unclean"]) for way in ways}, key=_age)
    down = sorted({(way["acks"], way["min_isr"]) for way in ways}, key=_strength)
    by_place = {
        (way["acks"], way["min_isr"], way["generation"], way["unclean"]): way for way in ways
    }
    head = element("tr", element("th", "acks, min.insync.replicas"))
    for generation, unclean in across:
        head.append(element("th", generation + (", unclean" if unclean else "")))
    body = []
    for acks, min_isr in down:
        line = element("tr", element("th", f"acks={ACKS.get(acks, str(acks))}, {min_isr}"))
        for place in across:
            line.append(_place(of, by_place.get((acks, min_isr, *place))))
        body.append(line)
    made = element("table", element("thead", head), element("tbody", *body), class_="matrix")
    return element("div", made, class_="table")


def _age(place: tuple[str, bool]) -> tuple[int, str, bool]:
    """Generations from the oldest on: those named after a KIP follow the HW, bugs' names them."""
    generation, unclean = place
    kinds = ("HW", "KIP", "KAFKA")
    return kinds.index(generation.partition("-")[0]), generation, unclean


def _strength(way: tuple[int, int]) -> tuple[bool, int, int]:
    """acks=0, then 1, then all."""
    acks, min_isr = way
    return acks == -1, acks, min_isr


def _place(of: Material, way: Row | None) -> Element:
    """Lost of acknowledged records; what else happened; where."""
    if way is None:
        return element("td", class_="empty")
    verdict = "lost" if way["lost"] else "harmed" if way["sessions_harmed"] else "kept"
    said = f"{way['lost']:,} lost of {way['acked']:,}"
    others = [f"{way[fate]:,} {fate.replace('_', ' ')}" for fate in FATES[1:] if way[fate]]
    cell = element(
        "td", said, class_=f"verdict {verdict}", data_lost=way["lost"], data_acked=way["acked"]
    )
    if others:
        cell.append(element("small", ", ".join(others)))
    if way["example_session"] is not None and way["example_seq"] is not None:
        command = of.origins.command(way["example_session"], way["example_seq"])
        cell.append(event_button(way["example_seq"], command))
    return cell
