"""The report of a rehearsal as one HTML page that needs no network and prints well."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from sessions.rehearsal.change import Change
from sessions.rehearsal.report import CaseReport, Report
from sessions.rehearsal.risks import in_order
from sessions.report.markup import Element, document, element
from sessions.report.single_file import head
from sessions.text import plural

STYLE: Final = Path(__file__).parent / "rehearsal.css"
ROWS_SHOWN: Final = 1_000
"""How many steps or partitions are listed; JSON has all."""
RISKS: Final = (
    ("rf1_offline", "Offline: their only replica is lost"),
    ("unavailable", "Unavailable: no remaining replica may lead"),
    ("full_acks_produce_unavailable", "Unwritable with acks=all: too few replicas in sync"),
    ("acks1_data_loss", "Led by another replica: what was written with acks=1 may be lost"),
)


def page(
    report: Report, title: str, verdict: str, made_on: str, differences: Sequence[str] = ()
) -> str:
    """Return the whole page; ``made_on`` says when the report was made.

    ``differences`` are lines that say what a change makes worse and better.
    """
    body = element(
        "body",
        element("h1", f"Rehearsal of {title}"),
        element("p", verdict, class_=f"verdict {'safe' if report.safe else 'unsafe'}"),
        element(
            "p",
            f"Kafka {report.release} in {'KRaft' if report.mode == 'kraft' else 'ZooKeeper'} mode;"
            f" {made_on}.",
            class_="note",
        ),
        *_facts(report),
        *(() if report.change is None else _change(report.change, differences)),
        *((element("h2", "Cases"), _overview(report.cases)) if report.cases else ()),
        *(_case(case) for case in report.cases if not case.risks.is_safe or case.races),
        lang="en",
    )
    return document(element("html", head(f"Rehearsal of {title}", [STYLE]), body, lang="en"))


def _facts(report: Report) -> Iterable[Element]:
    order = ", ".join(map(str, report.restart_order))
    yield element("p", "Restart the nodes in this order: ", element("b", order), ".")
    if report.assumed:
        yield element("h2", "Assumed")
        yield element("ul", *(element("li", line) for line in report.assumed))
    for tps, title in (
        (report.broken.offline, "Already offline"),
        (report.broken.under_min_isr, "Already under min.insync.replicas"),
    ):
        if tps:
            yield element("h2", title)
            yield element("p", *_named(tps))
    if report.unsafe_topics:
        yield element("h2", "Unsafe topics")
        rows = [(topic.topic, topic.why) for topic in report.unsafe_topics]
        yield _table(("Topic", "Why"), rows)
    if report.roll is not None:
        yield element("h2", "Rolling restart")
        yield _table(
            ("Node", "Seconds", "Back in all ISRs"),
            [
                (restart.node, round(restart.seconds, 1), "yes" if restart.caught_up else "no")
                for restart in report.roll.restarts
            ],
        )
        if report.roll.unwritable:
            least_isr, unwritable = report.roll.least_isr, report.roll.unwritable
            yield _table(
                (f"Unwritable ({len(unwritable):,})", "Least ISR", "Seconds"),
                [
                    (tp, least_isr.get(tp, ""), round(unwritable[tp], 1))
                    for tp in in_order(unwritable)[:ROWS_SHOWN]
                ],
            )


def _change(change: Change, differences: Sequence[str]) -> Iterable[Element]:
    yield element("h2", "The change")
    if differences:
        yield element("ul", *(element("li", line) for line in differences))
    else:
        yield element("p", "No case becomes worse or better by it.")
    if change.settings:
        yield _table(
            ("Configuration", "Value", "Takes effect"),
            [
                (key, value, "after a restart" if key in change.needs_restart else "at once")
                for key, value in change.settings.items()
            ],
        )
    if change.moved_bytes:
        yield _table(("Broker", "Bytes to fetch"), list(change.moved_bytes.items()))
    if change.unwritable:
        rows = [
            (
                tp,
                change.least_isr.get(tp, ""),
                round(change.unwritable[tp], 1),
                "no" if tp in change.still_unwritable else "yes",
            )
            for tp in in_order(change.unwritable)
        ]
        yield _table(("Unwritable meanwhile", "Least ISR", "Seconds", "Writable again"), rows)
    if change.unfinished:
        yield element("p", element("b", "Not finished: "), ", ".join(change.unfinished))
    if change.steps:
        yield element("h2", "Step by step")
        yield _table(
            ("Seconds", "Partition", "Replicas", "Leader", "ISR", "Writable"),
            [
                (
                    round(step.seconds, 1),
                    step.tp,
                    ", ".join(map(str, step.replicas)),
                    step.leader if step.leader >= 0 else "none",
                    ", ".join(map(str, step.isr)),
                    "yes" if step.writable else "no",
                )
                for step in change.steps[:ROWS_SHOWN]
            ],
        )
    if (more := len(change.steps) - ROWS_SHOWN) > 0:
        yield element("p", f"{plural(more, 'more step')}: --json has all.")


def _overview(cases: Sequence[CaseReport]) -> Element:
    headers = ("Case", "Verdict", "RF 1 offline", "Unavailable", "acks=all", "acks=1", "Seconds")
    return _table(
        headers,
        [
            (
                case.case.name,
                case.verdict,
                len(case.risks.rf1_offline),
                len(case.risks.unavailable),
                len(case.risks.full_acks_produce_unavailable),
                len(case.risks.acks1_data_loss),
                round(case.seconds, 1),
            )
            for case in cases
        ],
    )


def _case(case: CaseReport) -> Element:
    content = element("section", element("h2", f"Losing {case.case.name}"))
    for kind, meaning in RISKS:
        tps: list[str] = getattr(case.risks, kind)
        if tps:
            content.append(element("p", element("b", f"{meaning} ({len(tps):,}): "), *_named(tps)))
    if case.races:
        text = "Chance, because it depends on which broker the cluster misses first: "
        content.append(element("p", element("b", text), *_named(list(case.races))))
    leaders = ", ".join(f"broker {broker}: {count:,}" for broker, count in case.leaders.items())
    content.append(element("p", "Leaders afterwards: ", leaders or "none", "."))
    if case.leading_bytes:
        sizes = (f"broker {broker}: {size:,}" for broker, size in case.leading_bytes.items())
        content.append(element("p", "Bytes that they lead: ", ", ".join(sizes), "."))
    content.append(element("p", element("code", case.script)))
    return content


def _named(tps: Sequence[str]) -> Iterator[Element | str]:
    """The names of partitions, each on one line; of very many only the first."""
    for count, tp in enumerate(tps[:ROWS_SHOWN], 1):
        yield element("span", tp if count == len(tps) else f"{tp},")
        yield " "
    if (more := len(tps) - ROWS_SHOWN) > 0:
        yield f"and {more:,} more"


def _table(headers: Sequence[str], rows: Sequence[Sequence[str | float]]) -> Element:
    def cell(tag: str, value: str | float, *, is_number: bool | None = None) -> Element:
        in_line = isinstance(value, int | float) if is_number is None else is_number
        return element(tag, str(value), class_="n" if in_line else None)

    first = rows[0] if rows else headers
    numbers = [isinstance(value, int | float) for value in first]
    head = zip(headers, numbers, strict=True)
    return element(
        "table",
        element(
            "thead", element("tr", *(cell("th", name, is_number=number) for name, number in head))
        ),
        element("tbody", *(element("tr", *(cell("td", value) for value in row)) for row in rows)),
        class_="wide",
    )
