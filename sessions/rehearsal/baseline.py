"""What became worse since an earlier report of a rehearsal."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from sessions.rehearsal.report import SCHEMA, Report
from sessions.rehearsal.risks import Risks

NOTHING_LOST: Final = "nothing lost"
"""The case that shows what does not work although nothing is lost."""


class _Case(Struct):
    name: str
    risks: dict[str, list[str]]


class _Baseline(Struct):
    schema: int
    cases: list[_Case]


class BaselineError(ValueError):
    """The file is not the JSON of an earlier rehearsal; the text says why."""


def risks_in(data: bytes) -> dict[str, dict[str, list[str]]]:
    """Return the risks of each case in a report's JSON, by the case's name.

    Raises:
        BaselineError: it is not such a report.
    """
    try:
        baseline = msgspec.json.decode(data, type=_Baseline)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        message = f"is not the output of 'tidegauge rehearse --json': {error}"
        raise BaselineError(message) from None
    if baseline.schema != SCHEMA:
        raise BaselineError(f"has schema {baseline.schema}; this program reads schema {SCHEMA}")
    return {case.name: case.risks for case in baseline.cases}


def risks_of_cases(report: Report) -> dict[str, dict[str, list[str]]]:
    """Return the risks of each case of a report, by the case's name, and if nothing is lost."""
    cases = {case.case.name: asdict(case.risks) for case in report.cases}
    return {NOTHING_LOST: asdict(_without_loss(report)), **cases}


def worse(report: Report, before: Mapping[str, Mapping[str, list[str]]]) -> list[dict[str, Any]]:
    """Return the partitions that are at risk now and were not before, by case and kind of risk.

    A case that was not rehearsed before counts as one without risks. What may be lost with acks=1
    is left out: it makes no case unsafe.
    """
    cases = [(case.case.name, case.case.lose, case.risks) for case in report.cases]
    if NOTHING_LOST in before:
        cases.insert(0, (NOTHING_LOST, (), _without_loss(report)))
    differing = []
    for name, lose, risks in cases:
        earlier = before.get(name, {})
        more = {
            kind: sorted(set(tps) - set(earlier.get(kind, ())))
            for kind, tps in (
                ("rf1_offline", risks.rf1_offline),
                ("unavailable", risks.unavailable),
                ("full_acks_produce_unavailable", risks.full_acks_produce_unavailable),
            )
        }
        if any(more.values()):
            differing.append({"name": name, "lose": list(lose), "risks": more})
    return differing


def _without_loss(report: Report) -> Risks:
    return Risks([], report.broken.offline, report.broken.under_min_isr, [])
