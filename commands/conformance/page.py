"""The scenarios as a section of the documentation, and as a list."""

from collections.abc import Iterator
from typing import Any

from commands.conformance.guarantees import GUARANTEES
from commands.conformance.scenarios import SCENARIOS, Scenario
from commands.conformance.settings import CONSUMER, PRODUCER
from commands.conformance.steps import word
from commands.output.grids import Grid


def releases(scenario: Scenario) -> str:
    """Return for which releases a scenario is."""
    if scenario.since and scenario.until:
        return f"{scenario.since} to {scenario.until}"
    if scenario.until:
        return f"until {scenario.until}"
    return f"since {scenario.since}" if scenario.since else "all"


def grid() -> Grid:
    """Return the list of scenarios as a table."""
    rows = [
        (scenario.name, releases(scenario), ", ".join(scenario.needs) or None, scenario.title)
        for scenario in SCENARIOS
    ]
    return Grid("scenarios", ("SCENARIO", "RELEASES", "NEEDS", "WHAT HAPPENS"), list(rows))


def plain() -> list[dict[str, Any]]:
    """Return the scenarios as plain data."""
    return [
        {
            "name": scenario.name,
            "title": scenario.title,
            "since": scenario.since,
            "until": scenario.until,
            "needs": list(scenario.needs),
            "asks": list(scenario.asks),
            "partitions": scenario.partitions,
            "topic": scenario.topic,
            "config": scenario.config,
            "steps": [str(step) for step in scenario.steps],
        }
        for scenario in SCENARIOS
    ]


def markdown() -> str:
    """Return the section of docs/conform.md that lists guarantees and scenarios."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "## Guarantees"
    yield ""
    yield "| guarantee | what it means |"
    yield "|--|--|"
    for guarantee in GUARANTEES.values():
        yield f"| {guarantee.name} | {guarantee.meaning} |"
    yield ""
    yield "## Settings"
    yield ""
    yield "What every client is given, apart from `bootstrap.servers` and what a step names:"
    yield ""
    for client, settings in (("producer", PRODUCER), ("consumer", CONSUMER)):
        pairs = ", ".join(f"`{name}={word(value)}`" for name, value in settings.items())
        yield f"- a {client}: {pairs}"
    yield ""
    yield "## Scenarios"
    for scenario in SCENARIOS:
        yield ""
        yield f"### {scenario.name}"
        yield ""
        yield f"{scenario.title}."
        yield ""
        yield f"- asks: {', '.join(scenario.asks)}"
        yield f"- releases: {releases(scenario)}"
        if scenario.needs:
            yield f"- needs: {', '.join(scenario.needs)}"
        settings = {**scenario.topic, **scenario.config}
        if settings:
            pairs = ", ".join(f"`{key}={value}`" for key, value in settings.items())
            yield f"- configuration: {pairs}"
        yield ""
        for number, step in enumerate(scenario.steps, start=1):
            yield f"{number}. {step}"
    yield ""
