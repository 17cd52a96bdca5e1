"""Every scenario on every release: what comes out is what the reference's table says."""

import json
from itertools import chain, product
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.cli.matrix import versions_word
from commands.language.parser import parse_script
from commands.library.index import SCENARIOS, Scenario, find
from commands.runs.live import live_source
from commands.runs.matrix import Cell, cells, grid, judged, legend, short_members
from emulator.cluster import Cluster
from emulator.inputs.statements import Statement
from emulator.releases.profiles import RECOMMENDED
from emulator.releases.versions import RELEASES
from emulator.scenario.runner import Runner
from sessions.model.cluster_view import ClusterView
from sessions.model.states import PartitionState, ReplicaState, Run

GENERATIONS = {
    "SEED": ["documents"],
    "G0": ["0.8.1", "0.8.2", "0.9", "0.10.0", "0.10.2"],
    "G1": ["0.11", "1.1"],
    "G2": ["2.0.0"],
    "G2b": ["2.0.1"],
    "G3": ["2.1", "2.2", "2.4", "2.5", "2.7", "2.8", "3.5", "3.9", "4.0"],
    "ELR": ["4.1"],
}

TABLE = """
| scenario | SEED | G0 | G1 | G2 | G2b | G3 | ELR |
| V7-stale-hw-restart | loss (+diverge) | loss (+diverge) | ok | ok | ok | ok | ok |
| V8-literal | loss | ok | ok | ok | ok | ok | ok |
| V10-power-loss-divergence | diverge | diverge | ok | ok | ok | ok | ok |
| V11-fast-failover | ok | ok | diverge | ok | ok | ok | ok |
| V12-hw-fallback | short | short | short | short | short | ok | ok |
| KAFKA-7128-early-isr-expand | loss | loss | loss | loss | ok | ok | ok |
| V14-stale-epoch-fetch | short | short | short | short | short | ok | ok |
| V16-unclean | loss (+diverge) | loss+diverge | loss | loss | loss | loss | loss |
| V24-last-replica-power-loss | loss | loss | loss | loss | loss | loss | loss |
| V24-power-loss-below-minimum | loss | loss | loss | loss | loss | loss | ok |
| V6-acks-1 | loss | loss | loss | loss | loss | loss | loss |
"""
"""Which monitors fire in which generation; what is in brackets may fire as well."""


def _table() -> dict[tuple[str, str], set[str]]:
    """What may come out of each scenario in each generation."""
    head, *rows = [
        [word.strip() for word in line.strip("|").split("|")] for line in TABLE.strip().split("\n")
    ]
    return {
        (row[0], name): _allowed(cell) for row in rows for name, cell in zip(head, row, strict=True)
    }


def cell_of(scenario: Scenario, version: str) -> Cell:
    """One scenario on one release."""
    return next(cells([scenario], [version]))


def _allowed(cell: str) -> set[str]:
    word = cell.replace("short", "ISR member short")
    return {word.split(" (")[0], word.replace(" (", "").replace(")", "")}


CASES = [
    pytest.param(scenario, generation, version, id=f"{scenario.name}-{version}")
    for scenario, (generation, versions) in product(SCENARIOS, GENERATIONS.items())
    for version in versions
]


@pytest.mark.parametrize(("scenario", "generation", "version"), CASES)
def test_the_outcome_is_the_tables(scenario: Scenario, generation: str, version: str) -> None:
    cell = cell_of(scenario, version)
    assert cell.outcome in _table()[scenario.name, generation]
    assert cell.wrong == []
    assert bool(cell.lost) == ("loss" in cell.outcome)
    assert bool(cell.diverged) == ("diverge" in cell.outcome)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_latest_release_has_the_outcomes_of_4_1(scenario: Scenario) -> None:
    cell = cell_of(scenario, RELEASES[-1])
    assert cell.outcome in _table()[scenario.name, "ELR"]
    assert cell.wrong == []


def test_the_table_speaks_of_every_scenario_and_release() -> None:
    assert {name for name, _ in _table()} == {scenario.name for scenario in SCENARIOS}
    assert sorted(chain(*GENERATIONS.values())) == sorted(RECOMMENDED)


def test_a_cells_script_is_one_that_run_takes_and_that_ends_the_same() -> None:
    cell = cell_of(find("V7"), "0.10.2")
    script = parse_script(cell.script, "-")
    view = ClusterView()
    cluster = Cluster(script.spec, [view.apply])
    runner = Runner(cluster)
    for step in script.steps:
        assert isinstance(step, Statement)
        runner.execute(step)
    assert script.spec.version == "0.10.2"
    assert judged(view) == cell.outcome == "loss+diverge"


@pytest.mark.parametrize("version", ["0.10.2", "2.0.0", "3.9"])
def test_a_cell_is_the_same_alone_and_among_others(version: str) -> None:
    found = {
        cell.version: cell for cell in cells([find("V7")], ["documents", "0.10.2", "2.0.0", "3.9"])
    }
    assert found[version] == cell_of(find("V7"), version)


def test_a_cells_script_opens_in_the_console(tmp_path: Path) -> None:
    path = tmp_path / "cell.tide"
    path.write_text(find("V16").script("0.10.2"))
    source, recorder = live_source(path, None, {}, [])
    try:
        assert source.view.state.version == "0.10.2"
        assert judged(source.view) == "loss+diverge"
    finally:
        source.close()
        recorder.close()


def test_cells_come_scenario_by_scenario() -> None:
    found = list(cells([find("V8"), find("V6")], ["documents", "3.9"]))
    assert [(cell.scenario, cell.version) for cell in found] == [
        ("V8-literal", "documents"),
        ("V8-literal", "3.9"),
        ("V6-acks-1", "documents"),
        ("V6-acks-1", "3.9"),
    ]


# ---- members of the ISR that lack what is committed


def _partition(*logs: list[int], isr: list[int], high_watermark: int = 2) -> PartitionState:
    """Broker 0 leads; each log by its record ids."""
    found = PartitionState("t", 0, list(range(len(logs))), "online", leader=0, isr=isr)
    for broker, records in enumerate(logs):
        runs = [Run(offset, 1, 0, record) for offset, record in enumerate(records)]
        found.replica_states[broker] = ReplicaState(broker, "follower", len(runs), log=runs)
    found.replica_states[0].high_watermark = high_watermark
    return found


def test_a_member_with_all_that_is_committed_is_not_short() -> None:
    assert short_members(_partition([7, 8, 9], [7, 8], isr=[0, 1])) == []


def test_a_member_whose_log_ends_below_the_high_watermark_is_short() -> None:
    assert short_members(_partition([7, 8, 9], [7], isr=[0, 1])) == [1]


def test_a_member_with_another_record_below_the_high_watermark_is_short() -> None:
    assert short_members(_partition([7, 8], [7, 6], isr=[0, 1])) == [1]


def test_who_is_not_in_the_isr_may_lack_anything() -> None:
    assert short_members(_partition([7, 8], [], isr=[0])) == []


def test_a_member_without_a_log_is_short() -> None:
    assert short_members(_partition([7, 8], isr=[0, 5])) == [5]


def test_without_a_leader_nobody_is_short() -> None:
    partition = _partition([7, 8], [], isr=[0, 1])
    partition.leader = -1
    assert short_members(partition) == []


# ---- as printed


def _cell(scenario: str, version: str, outcome: str) -> Cell:
    return Cell(scenario, version, outcome, [], [], "", [])


FOUND = [
    _cell("a", "1.1", "ok"),
    _cell("a", "2.0.0", "ok"),
    _cell("a", "2.1", "ok"),
    _cell("b", "1.1", "loss+diverge"),
    _cell("b", "2.0.0", "loss+diverge"),
    _cell("b", "2.1", "ok"),
]


def test_releases_that_agree_in_everything_share_a_column() -> None:
    found = grid(FOUND, {"a": "A", "b": "B"}, every_release=False)
    assert found.columns == ("SCENARIO", "1.1 to 2.0.0", "2.1")
    assert found.rows == [("A", "ok", "ok"), ("B", "loss+diverge", "ok")]


def test_each_release_can_have_its_own_column() -> None:
    found = grid(FOUND, {"a": "A", "b": "B"}, every_release=True)
    assert found.columns == ("SCENARIO", "1.1", "2.0.0", "2.1")


def test_only_words_that_came_up_are_explained() -> None:
    assert [line.split()[0] for line in legend(FOUND).splitlines()] == ["ok", "loss", "diverge"]


def test_the_program_prints_the_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["matrix", "--scenario", "V8", "--versions", "seed,0.8.1,3.9"]
    assert run_program(words) == 0
    out = capsys.readouterr().out
    assert "SCENARIO                    seed  0.8.1 to 3.9\n" in out
    assert "V8 restarted replica leads  loss  ok\n" in out
    assert "watch: broker 2 has m1" in out


def test_the_program_prints_the_matrix_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["matrix", "--json", "--scenario", "V16", "--versions", "0.10.2"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)
    lost = [
        {"topic": "t", "partition": 0, "offset": offset, "value": v}
        for offset, v in [(1, "b"), (2, "c")]
    ]
    assert cell["scenario"] == "V16-unclean"
    assert cell["version"] == "0.10.2"
    assert cell["outcome"] == "loss+diverge"
    assert cell["lost"] == lost
    assert [each["offset"] for each in cell["diverged"]] == [1]
    assert "\ncluster --version 0.10.2 " in cell["script"]


def test_the_program_prints_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["matrix", "--script", "V11", "--versions", "0.11"]) == 0
    assert capsys.readouterr().out == find("V11").script("0.11")


def test_what_is_not_as_known_fails_the_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(type(find("V8")), "known", lambda self, version: "diverge")
    assert run_program(["matrix", "--scenario", "V8", "--versions", "3.9"]) == 1
    assert (
        "V8-literal on 3.9: ok: 'diverge' is the known outcome in Kafka" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "words", [["--scenario", "V99"], ["--script", "V99"], ["--versions", "1.2"]]
)
def test_an_unknown_name_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["matrix", *words]) == 2
    assert words[1] in capsys.readouterr().err


def test_versions_are_written_with_commas() -> None:
    assert versions_word("0.11,2.0.0") == ["0.11", "2.0.0"]


def test_any_release_can_stand_in_the_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    named = "3.6.1,1.0,2.0.0,1.0,0.10.1.1"
    assert run_program(["matrix", "--json", "--scenario", "V11", "--versions", named]) == 0
    rows = json.loads(capsys.readouterr().out)
    outcomes = {row["version"]: row["outcome"] for row in rows}
    assert list(outcomes.items()) == [
        ("0.10.1.1", "ok"),
        ("1.0", "diverge"),
        ("2.0.0", "ok"),
        ("3.6.1", "ok"),
    ]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("version", ["0.10.1.0", "1.0.2", "2.3.0", "2.6.3", "3.0.0", "3.6.2"])
def test_what_is_known_of_kafka_holds_between_the_recommended_releases(
    scenario: Scenario, version: str
) -> None:
    assert cell_of(scenario, version).wrong == []


def test_without_zookeeper_a_statement_gives_way_to_the_one_beside_it() -> None:
    scenario = find("V14")
    assert "network hold 0 3 --only LeaderAndIsr  # kraft:" in scenario.script("3.9")
    without = scenario.script("4.1")
    assert "LeaderAndIsr" not in without
    assert "\nnetwork hold 100 3 --only MetadataFetchResponse\n" in without
    assert without.count("\ncluster --version 4.1 --brokers 4 ") == 1


def test_both_modes_stand_in_one_row() -> None:
    found = list(cells([find("V12")], ["2.0.1", "3.9", "4.0", "4.1"]))
    assert [cell.outcome for cell in found] == ["ISR member short", "ok", "ok", "ok"]
    assert [cell.wrong for cell in found] == [[], [], [], []]
    assert found[2].script == found[3].script.replace("--version 4.1", "--version 4.0")
