"""The glossary has each word that names a number."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from emulator.cluster import Cluster
from emulator.inputs import statements as inputs
from emulator.inputs.statements import CreateCluster
from emulator.scenario.runner import Runner
from sessions.analysis.glossary import JSON, glossary_page, sources
from sessions.model.cluster_view import ClusterView
from sessions.model.health import STATES
from sessions.model.summary import AUDITS, contract
from tests.support.kraft_faults import give, wait

PAGE = Path(__file__).parents[3] / "docs" / "glossary.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == glossary_page()


def test_every_column_state_and_count_of_the_audit_has_an_entry() -> None:
    page = glossary_page()
    columns = {column.name for table, _ in sources() for column in table.columns}
    assert [name for name in sorted(columns) if f"\n| `{name}` | " not in page] == []
    assert [state.name for state in STATES if f"\n| `{state.name}` | " not in page] == []
    assert [name for name in AUDITS if f"**{name}**" not in page] == []


def test_the_pages_that_it_refers_to_describe_the_tables() -> None:
    texts = {page: (PAGE.parent / page).read_text(encoding="utf-8") for _, page in sources()}
    assert [
        table.name for table, page in sources() if f"\n## {table.name}\n" not in texts[page]
    ] == []


LISTS = {
    *("audit", "brokers", "consumers", "controller", "controllers", "expectations", "invariants"),
    *("partitions", "producers", "quorum", "replica_states"),
}
"""Names of lists and objects, which are no values themselves."""
BY_NAME = ("configs", "data", "features", "metadata", "not_in_metadata", "observers", "voters")
"""Objects whose keys are names of what they describe."""


def words(value: object) -> Iterator[str]:
    """The words of some JSON."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from words(inner) if name not in BY_NAME else ()
    elif isinstance(value, list):
        for inner in value:
            yield from words(inner)


@pytest.mark.parametrize(("mode", "version"), [("zk", "3.9"), ("kraft", "4.1")])
def test_every_word_of_the_json_has_an_entry(mode: Literal["zk", "kraft"], version: str) -> None:
    view = ClusterView()
    runner = Runner(Cluster(CreateCluster(version=version, mode=mode), [view.apply]))
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1]]))
    give(runner, inputs.Produce(topic="t", value="v"))
    give(runner, inputs.Consume(topic="t", consumer="c"))
    wait(runner, 3_000)
    known = {name for entry in JSON for name in entry.split(", ")}
    assert set(words(contract(view))) - known - LISTS - set(AUDITS) == set()
