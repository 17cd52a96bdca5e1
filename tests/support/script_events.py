"""All that happens in a script, as events."""

from functools import cache

from commands.language.parser import Script, parse_script
from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.scenario.runner import Runner
from sessions.model.cluster_view import ClusterView


def events_in(script: Script) -> list[Event]:
    """Run a parsed script of statements alone; return all events."""
    seen: list[Event] = []
    runner = Runner(Cluster(script.spec, [seen.append]))
    for step in script.steps:
        assert isinstance(step, Statement)
        runner.execute(step)
    return seen


@cache
def events_of(*statements: str) -> list[Event]:
    """Run statements, of which the first creates the cluster; return all events."""
    return events_in(parse_script("\n".join(statements), "script.tide"))


def viewed(script: str) -> ClusterView:
    """Run a script of statements; return the read model at its end."""
    view = ClusterView()
    view.apply_all(events_of(*script.strip().splitlines()))
    return view
