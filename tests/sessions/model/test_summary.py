"""The object of ``--json``: from the view, in the contract's shape."""

import json

import pytest

from sessions.model import summary
from sessions.model.cluster_view import ClusterView
from tests.sessions.examples import folded, story_events

KEYS = {
    "schema": int,
    "seed": int,
    "time_ms": int,
    "events": int,
    "state_hash": str,
    "version": str,
    "controller": dict,
    "brokers": list,
    "partitions": list,
    "producers": list,
    "consumers": list,
    "audit": dict,
    "expectations": dict,
    "marks": dict,
    "outputs": list,
}


@pytest.fixture(scope="module")
def view() -> ClusterView:
    return folded(story_events())


def test_the_object_has_the_contracts_keys_and_is_json(view: ClusterView) -> None:
    made = summary.contract(view, {"state_hash": "ab", "outputs": [1]})
    assert {key: type(made[key]) for key in KEYS} == KEYS
    assert (made["schema"], made["state_hash"], made["outputs"]) == (1, "ab", [1])
    assert json.loads(json.dumps(made))["events"] == len(story_events())


def test_a_partition_says_all_of_its_replicas_wherever_they_lie(view: ClusterView) -> None:
    made = {(p["topic"], p["partition"]): p for p in summary.contract(view)["partitions"]}
    partition = made["orders", 0]
    state = view.partitions["orders-0"]
    assert {each["broker"] for each in partition["replica_states"]} == set(state.replica_states)
    for each in partition["replica_states"]:
        assert len(each["values"]) == len(each["record_epochs"]) == each["leo"] - each["log_start"]
    leader = next(r for r in partition["replica_states"] if r["broker"] == partition["leader"])
    assert (leader["remote_leo"], leader["role"]) == (None, "leader")
    assert (partition["hw"], partition["leo"]) == (leader["hw"], leader["leo"])


def test_partitions_are_in_the_order_of_their_numbers() -> None:
    view = ClusterView()
    for number in (10, 9, 2):
        view.partition(f"t-{number}", 1)
    made = summary.contract(view)["partitions"]
    assert [each["partition"] for each in made] == [2, 9, 10]
    assert made[0]["state"] == "nonexistent"
    assert (made[0]["leader"], made[0]["leader_epoch"], made[0]["isr"]) == (None, None, [])


def test_a_release_without_leader_epochs_has_none() -> None:
    made = summary.contract(folded(story_events("0.10.2")))
    replica = made["partitions"][0]["replica_states"][0]
    assert replica["epochs"] is None
    assert set(replica["record_epochs"]) == {None}


def test_the_audit_names_records_by_value() -> None:
    view = folded(story_events("0.10.2"))
    audit = summary.contract(view)["audit"]
    found = {name: len(audit[name]) for name in summary.AUDITS}
    assert found == {
        name: sum(len(getattr(p, name)) for p in view.partitions.values())
        for name in summary.AUDITS
    }
    assert found["lost"] > 0
    assert set(audit["lost"][0]) == {"topic", "partition", "offset", "value"}
    assert not audit["lost"][0]["value"].startswith("#")


def test_clients_have_values_and_errors(view: ClusterView) -> None:
    made = summary.contract(view)
    producers = {each["name"]: each for each in made["producers"]}
    consumers = {each["name"]: each for each in made["consumers"]}
    assert producers["p2"]["acked"] == 40
    assert len(producers["p1"]["errors"]) == producers["p1"]["failed"]
    assert consumers["c1"]["values"][:2] == ["a-0", "a-1"]


def test_failed_expectations_have_their_values_as_data(view: ClusterView) -> None:
    found = summary.contract(view)["expectations"]
    assert (found["passed"], len(found["failed"])) == (1, 1)
    assert isinstance(found["failed"][0]["actual"], int)


def test_a_mark_holds_controller_brokers_and_partitions(view: ClusterView) -> None:
    mark, whole = summary.mark(view), summary.contract(view)
    assert set(mark) == {"time_ms", "controller", "brokers", "partitions"}
    assert mark == {key: whole[key] for key in mark}
