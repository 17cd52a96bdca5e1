"""The variants of the documents: in what they differ from these, and what they lead to."""

import pytest

from emulator.cluster import Cluster
from emulator.inputs.statements import Consume, CreateCluster, CreateTopic, Produce
from emulator.releases.profiles import PROFILES, neighbours
from emulator.releases.variants import COUNTERFACTUAL, VARIANTS
from emulator.releases.versions import DOCUMENTS, nearest, order
from tests.support.running import do


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_differs_from_the_documents_in_what_it_lists_alone(name: str) -> None:
    documents, variant = PROFILES[DOCUMENTS].features, PROFILES[name].features
    differing = {each for each in documents if documents[each] != variant[each]}
    assert differing == set(VARIANTS[name])
    assert neighbours(name) == (DOCUMENTS,)
    assert order(name)[0] == order(DOCUMENTS)[0]


@pytest.mark.parametrize("feature", COUNTERFACTUAL)
def test_what_no_release_does_no_release_does(feature: str) -> None:
    assert [name for name, each in PROFILES.items() if each.has(feature)] == [
        name for name, changes in VARIANTS.items() if feature in changes
    ]


def test_a_misspelt_variant_is_told_the_nearest() -> None:
    assert nearest("documents-leader-epoch") == "documents-leader-epochs"


@pytest.mark.parametrize(("version", "read"), [("documents", 0), ("documents-without-hw", 2)])
def test_without_a_hw_consumers_read_what_is_not_committed(version: str, read: int) -> None:
    cluster = Cluster(CreateCluster(version=version, stepwise=True))
    do(
        cluster,
        CreateTopic(topic="t", assignment=[[0, 1]]),
        Produce(topic="t", value="a", count=2, acks=1),
        Consume(topic="t"),
    )
    assert cluster.clients.state.consumers["c1"].position == read
