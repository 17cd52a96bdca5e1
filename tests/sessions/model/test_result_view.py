"""The view of what a result says: it leaves out what no result says, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.runs.matrix import judged
from emulator import events
from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs import statements
from emulator.scenario.runner import Runner
from sessions.model import summary
from sessions.model.cluster_view import ClusterView
from sessions.model.handlers import cached_states, clients, connections, groups, share_groups
from sessions.model.handlers.table import HANDLERS, changes_nothing
from sessions.model.result_view import UNSAID, ResultView
from tests.sessions.examples import SPEC, folded, story_events
from tests.support.random_scripts import run, script_of, spec_of


class Both:
    """The two views of one cluster, given the same events."""

    def __init__(self) -> None:
        self.whole, self.result = ClusterView(), ResultView()
        self.result.older_batches = self.whole.batch  # as a running cluster's ledger knows them
        self._by_type = self.result.by_type

    def __call__(self, event: Event) -> None:
        self.whole.apply(event)
        take = self._by_type.get(type(event))
        if take is not None:
            take(event)

    def compare(self) -> None:
        """Both say the same result, in words and in statuses."""
        whole, result = self.whole, self.result
        result.come_to(whole.seq, whole.time_us)
        assert summary.contract(result) == summary.contract(whole)
        assert summary.mark(result.copy()) == summary.mark(whole)
        assert result.counts() == whole.counts()
        assert judged(result) == judged(whole)
        for tp, partition in whole.partitions.items():
            assert list(result.statuses(result.partitions[tp])) == list(whole.statuses(partition))


@pytest.mark.parametrize("version", ["0.10.2", "2.7", "3.9"])
def test_a_story_has_the_same_result_at_every_moment(version: str) -> None:
    both = Both()
    for number, event in enumerate(story_events(version)):
        both(event)
        if number % 97 == 0:
            both.compare()
    both.compare()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 100_000))
def test_whatever_happens_has_the_same_result(seed: int) -> None:
    both = Both()
    runner = Runner(Cluster(spec_of(seed), [both]))
    for wanted in script_of(seed, 20):
        run(runner, [wanted])
        both.compare()


def test_every_type_of_event_is_taken_or_said_to_be_left_out() -> None:
    left_out = {*UNSAID, *cached_states.HANDLERS, *connections.HANDLERS, *groups.HANDLERS}
    left_out |= {*share_groups.HANDLERS, *clients.NAMING} - {events.ProduceSent}
    left_out |= {kind for kind, handler in HANDLERS.items() if handler is changes_nothing}
    assert set(ResultView().by_type) == set(HANDLERS) - left_out


def test_it_keeps_neither_beliefs_nor_a_tree() -> None:
    result = ResultView()
    for event in story_events():
        if type(event) in result.by_type:
            result.by_type[type(event)](event)
    whole = folded(story_events())
    assert not result.state.beliefs
    assert len(result.state.znodes) < 5 < len(whole.state.znodes)


def test_it_finds_values_in_the_ledger_of_a_running_cluster() -> None:
    result = ResultView()
    cluster = Cluster(SPEC, by_type=result.by_type)
    result.look_in(cluster.ledger)
    runner = Runner(cluster)
    for statement in (
        statements.CreateTopic(topic="t"),
        statements.Produce(topic="t", value="v", count=3, batch=2),
    ):
        run(runner, [statement])
    assert [result.value(record) for record in (1, 2, 3, 4)] == ["v-0", "v-1", "v-2", "#4"]
    assert not result.state.batches


def test_a_cluster_gives_it_only_what_it_takes() -> None:
    seen: list[type[Event]] = []
    kinds = (events.TopicCreated, events.BrokerRegistered)
    cluster = Cluster(SPEC, by_type=dict.fromkeys(kinds, lambda event: seen.append(type(event))))
    assert cluster.sequence > len(seen)
    assert set(seen) == {events.BrokerRegistered}
