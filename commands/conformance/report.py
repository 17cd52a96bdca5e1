"""What a conformance run found: tables, JSON and JUnit's XML."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from xml.etree import ElementTree as xml

from commands.conformance.case import Result
from commands.output.grids import Grid
from sessions.text import clean, plural

WORDS: Final = {"passed": "ok", "failed": "FAILED", "skipped": "-", "error": "ERROR"}
US_PER_SECOND: Final = 1_000_000


def opening(result: Result) -> str:
    """Return the command that opens the session of a case that failed, where it failed."""
    moment = f"{result.at_us / US_PER_SECOND:.6f}s"
    return f"tidegauge replay {shlex.quote(result.session)} --paused --at {moment}"


def grids(results: Sequence[Result]) -> list[Grid]:
    """Return a table for each client: a row per scenario, a column per release."""
    grids = []
    for client in dict.fromkeys(result.client for result in results):
        own = [result for result in results if result.client == client]
        versions = list(dict.fromkeys(result.version for result in own))
        verdicts = {(result.scenario, result.version): WORDS[result.verdict] for result in own}
        rows = [
            (scenario, *(verdicts.get((scenario, version), "") for version in versions))
            for scenario in dict.fromkeys(result.scenario for result in own)
        ]
        grids.append(Grid(client, ("SCENARIO", *versions), list(rows)))
    return grids


def failures(results: Iterable[Result]) -> Iterator[str]:
    """Yield the lines that explain the cases that failed; cases that failed alike share theirs."""
    alike: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        if result.verdict == "error":
            yield f"{result.client} on {result.version}, {result.scenario}: {result.reason}"
        if result.verdict == "failed":
            alike.setdefault((result.client, *result.violations), []).append(result)
    for cases in alike.values():
        first, *others = cases
        yield f"{first.client} on {first.version}, {first.scenario}:"
        yield from (f"  {violation}" for violation in first.violations)
        if first.session:
            yield f"  {opening(first)}"
        if others:
            names = ", ".join(f"{case.scenario} on {case.version}" for case in others)
            yield f"  {plural(len(others), 'other case')} failed in the same way: {names}"


def summary(results: Sequence[Result], seconds: float) -> str:
    """Return how many cases ended how, in one sentence."""
    counts = {verdict: sum(r.verdict == verdict for r in results) for verdict in WORDS}
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{len(results)} cases in {seconds:.0f} s: {listed}"


def plain(results: Sequence[Result], seed: int) -> dict[str, Any]:
    """Return the results as plain data."""
    return {
        "seed": seed,
        "cases": [
            {
                "client": result.client,
                "version": result.version,
                "scenario": result.scenario,
                "verdict": result.verdict,
                "seconds": round(result.seconds, 3),
                "reason": result.reason,
                "violations": result.violations,
                "session": result.session,
                "open": opening(result) if result.session else "",
            }
            for result in results
        ],
    }


def junit(results: Sequence[Result]) -> bytes:
    """Return the results as JUnit's XML: a suite for each client and release."""
    root = xml.Element("testsuites", name="tidegauge conform")
    for client, version in dict.fromkeys((result.client, result.version) for result in results):
        own = [result for result in results if (result.client, result.version) == (client, version)]
        suite = xml.SubElement(
            root,
            "testsuite",
            name=f"{client} on {version}",
            tests=str(len(own)),
            failures=str(sum(result.verdict == "failed" for result in own)),
            errors=str(sum(result.verdict == "error" for result in own)),
            skipped=str(sum(result.verdict == "skipped" for result in own)),
            time=f"{sum(result.seconds for result in own):.3f}",
        )
        for result in own:
            _test_case(suite, result)
    xml.indent(root)
    return b"%b\n" % xml.tostring(root, encoding="utf-8", xml_declaration=True)


def _test_case(suite: xml.Element, result: Result) -> None:
    case = xml.SubElement(
        suite,
        "testcase",
        classname=f"{result.client}.{result.version}",
        name=result.scenario,
        time=f"{result.seconds:.3f}",
    )
    if result.verdict == "skipped":
        xml.SubElement(case, "skipped", message=clean(result.reason))
    elif result.verdict == "error":
        xml.SubElement(case, "error", message=clean(result.reason))
    elif result.verdict == "failed":
        violations = [clean(violation) for violation in result.violations]
        failure = xml.SubElement(case, "failure", message=violations[0])
        failure.text = "\n".join([*violations, *([opening(result)] if result.session else [])])
