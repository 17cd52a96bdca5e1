"""What a suite's own report says about each of its tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal
from xml.etree import ElementTree

Outcome = Literal["passed", "failed", "skipped"]
Results = dict[str, Outcome]
"""The outcome of each test, by name."""
Reader = Callable[[Path], Results]

OF_GO: Final[dict[str, Outcome]] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
OF_LIBRDKAFKA: Final[dict[str, Outcome]] = {"PASSED": "passed", "SKIPPED": "skipped"}


def of_go(report: Path) -> Results:
    """Read the lines of ``go test -json``; a test with subtests counts as its subtests do.

    What had begun when the run ended early has failed.
    """
    outcomes: Results = {}
    for line in report.read_text(errors="replace").splitlines():
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        name = event.get("Test")
        if name and event["Action"] == "run":
            outcomes[name] = "failed"
        elif name and event["Action"] in OF_GO:
            outcomes[name] = OF_GO[event["Action"]]
    parents = {name.rpartition("/")[0] for name in outcomes}
    return {name: outcome for name, outcome in outcomes.items() if name not in parents}


def of_pytest(report: Path) -> Results:
    """Read JUnit's XML, as pytest writes it; an error of a fixture is a failure."""
    outcomes: Results = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            outcomes[name] = "failed"
        else:
            outcomes[name] = "passed" if case.find("skipped") is None else "skipped"
    return outcomes


def of_librdkafka(report: Path) -> Results:
    """Read the report of librdkafka's test-runner."""
    tests = json.loads(report.read_text())["tests"]
    return {
        name: OF_LIBRDKAFKA.get(test["state"], "failed")
        for name, test in tests.items()
        if name != "<MAIN>"
    }
