"""Run every scenario on every release and judge it by the audit and the replicas' records."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from commands.language.parser import Script, Step, parse_script
from commands.library.index import DIVERGE, LOSS, MEANINGS, OK, SHORT, Scenario
from commands.output.grids import Grid
from commands.runs.driver import Pace
from commands.runs.script_runner import ScriptRunner
from emulator.releases.profiles import PROFILES
from emulator.releases.versions import has_no_zookeeper
from sessions.model import summary
from sessions.model.cluster_view import ClusterView
from sessions.model.states import PartitionState, ReplicaState


class Cell(Struct, frozen=True):
    """One scenario on one release.

    ``lost`` and ``diverged`` are the audit's lists as in ``run --json``, ``script`` is the full
    text that was run. ``wrong`` says what invalidates the outcome, and whether the outcome differs
    from the known behaviour of Kafka.
    """

    scenario: str
    version: str
    outcome: str
    lost: list[dict[str, Any]]
    diverged: list[dict[str, Any]]
    script: str
    wrong: list[str]


def cells(scenarios: Iterable[Scenario], versions: Sequence[str]) -> Iterator[Cell]:
    """Run and judge each scenario on each release as ``tidegauge run`` does, one after another."""
    for scenario in scenarios:
        steps: dict[bool, tuple[Step, ...]] = {}
        for version in versions:
            has_none = has_no_zookeeper(PROFILES[version].numbers)
            script = _read(scenario, version, steps.get(has_none, ()))
            steps[has_none] = script.steps
            yield _run(scenario, version, script)


def _read(scenario: Scenario, version: str, steps: tuple[Step, ...]) -> Script:
    """Parse the script; everything after its cluster statement is parsed once per mode."""
    text, name = scenario.script(version), scenario.path.name
    if not steps:
        return parse_script(text, name)
    end = text.index("\n", text.index("\ncluster ") + 1)
    return replace(parse_script(text[:end], name), steps=steps)


def _run(scenario: Scenario, version: str, script: Script) -> Cell:
    runner = ScriptRunner(script, Pace())
    runner.run(lambda step, outcome: None)
    view = runner.view
    outcome, known = judged(view), scenario.known(version)
    wrong = [f"line {expectation.line}: {expectation.text}" for expectation in runner.tally.failed]
    wrong += [f"{name}: {detail}" for _, name, _, detail, mild in view.state.invariants if not mild]
    wrong += [] if outcome == known else [f"'{known}' is the known outcome in Kafka"]
    audit = summary.audit(view)
    text = scenario.script(version)
    return Cell(scenario.name, version, outcome, audit["lost"], audit["diverged"], text, wrong)


# ---- judging


def judged(view: ClusterView) -> str:
    """Return the outcome for records: one of :data:`commands.library.index.MEANINGS`, or two."""
    partitions = view.state.partitions.values()
    verdicts = {
        LOSS: any(partition.lost_count for partition in partitions),
        DIVERGE: any(partition.diverged for partition in partitions),
    }
    words = [word for word, holds in verdicts.items() if holds]
    if not words and any(short_members(partition) for partition in partitions):
        words = [SHORT]
    return "+".join(words) or OK


def short_members(partition: PartitionState) -> list[int]:
    """Return the members of the znode's ISR that lack a record below the leader's HW."""
    leader = partition.leader_replica
    if leader is None:
        return []
    committed = _records(leader, leader.high_watermark)
    short = []
    for broker in partition.isr:
        replica = partition.replica_states.get(broker)
        records = {} if replica is None else _records(replica, leader.high_watermark)
        if any(records.get(offset) != record for offset, record in committed.items()):
            short.append(broker)
    return short


def _records(replica: ReplicaState, below: int) -> dict[int, int]:
    """Return the record at each offset below a bound."""
    return {
        run.base_offset + at: run.first_record + at
        for run in replica.log
        for at in range(run.count)
        if run.base_offset + at < below
    }


# ---- output


def grid(results: Sequence[Cell], titles: dict[str, str], every_release: bool) -> Grid:
    """Return a row per scenario, a column per release.

    Adjacent columns that are equal become one, unless ``every_release``. ``titles`` by scenario
    name.
    """
    outcomes: dict[str, dict[str, str]] = {}
    for cell in results:
        outcomes.setdefault(cell.version, {})[cell.scenario] = cell.outcome
    versions = list(outcomes)
    if every_release:
        columns = [[version] for version in versions]
    else:
        columns = [list(group) for _, group in groupby(versions, key=outcomes.__getitem__)]
    heads = [group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}" for group in columns]
    names = dict.fromkeys(cell.scenario for cell in results)
    rows = [(titles[name], *(outcomes[group[0]][name] for group in columns)) for name in names]
    return Grid("matrix", ("SCENARIO", *heads), list(rows))


def legend(results: Iterable[Cell]) -> str:
    """Return what the words that occurred mean."""
    seen = {word for cell in results for word in cell.outcome.split("+")}
    lines = [f"  {word:16}  {MEANINGS[word]}\n" for word in MEANINGS if word in seen]
    return "".join(lines)
