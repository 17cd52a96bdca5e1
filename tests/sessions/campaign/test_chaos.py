"""Random faults: the same for the same seed, within their budgets, and never refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.language.parser import parse_script
from emulator.cluster import Cluster
from emulator.events import BrokerStateChanged, Event, InputFinished, LinkChanged
from emulator.inputs.statements import (
    CrashBroker,
    CreateTopic,
    CutLink,
    DelayLink,
    FreezeBroker,
    HealLinks,
    Produce,
    StartBroker,
    Statement,
    StopBroker,
    ThawBroker,
    Wait,
)
from emulator.scenario.runner import Runner
from sessions.campaign.chaos import Chaos, Kind, with_faults
from sessions.campaign.shrink import script_text
from tests.sessions.campaign.plans import SPEC, variant

HARM: dict[type, Kind] = {
    CrashBroker: "crash",
    StopBroker: "stop",
    FreezeBroker: "freeze",
    CutLink: "cut",
    DelayLink: "delay",
}
REPAIR = (StartBroker, ThawBroker, HealLinks)
CHAOS = Chaos({"crash": 2, "freeze": 1, "cut": 2, "delay": 1, "stop": 1})


def steps(*inputs: object) -> list[Statement]:
    story = inputs or (
        CreateTopic(topic="t", partitions=2, replication_factor=3),
        Wait(duration_us=5_000_000),
        Produce(topic="t", value="m"),
        Wait(duration_us=30_000_000),
    )
    return variant({}, list(story)).steps  # type: ignore[arg-type]


@given(st.integers(), st.dictionaries(st.sampled_from([*HARM.values()]), st.integers(0, 4)))
def test_faults_keep_to_their_budgets_and_all_end(seed: int, budgets: dict[Kind, int]) -> None:
    made = with_faults(steps(), Chaos(budgets), SPEC, seed)
    kinds = [HARM[type(each.input)] for each in made if type(each.input) in HARM]
    assert all(kinds.count(kind) <= budgets.get(kind, 0) for kind in HARM.values())
    assert sum(isinstance(each.input, REPAIR) for each in made) == len(kinds)
    waited = [each.input.duration_us for each in made if isinstance(each.input, Wait)]
    assert sum(waited) == 35_000_000
    assert [each.line for each in made] == list(range(2, len(made) + 2))
    assert with_faults(steps(), Chaos(budgets), SPEC, seed) == made


def test_seeds_draw_different_faults() -> None:
    drawn = {tuple(each.text for each in with_faults(steps(), CHAOS, SPEC, n)) for n in range(20)}
    assert len(drawn) == 20


def test_brokers_that_the_script_handles_are_left_alone() -> None:
    story = (CreateTopic(topic="t"), CrashBroker(broker=1), Wait(duration_us=10_000_000))
    for seed in range(20):
        made = with_faults(steps(*story), Chaos({"crash": 3}), SPEC, seed)
        crashed = [each.input.broker for each in made if isinstance(each.input, CrashBroker)]
        assert crashed.count(1) == 1


@pytest.mark.parametrize("seed", range(6))
def test_no_fault_is_refused_and_each_one_happens(seed: int) -> None:
    events: list[Event] = []
    runner = Runner(Cluster(SPEC, [events.append]))
    made = with_faults(steps(), CHAOS, SPEC, seed)
    for each in made:
        runner.execute(each)
    faults = [each for each in made if type(each.input) in (*HARM, *REPAIR)]
    ended = {(event.text, event.error) for event in events if isinstance(event, InputFinished)}
    assert {(each.text, "NONE") for each in faults} <= ended
    assert any(isinstance(event, BrokerStateChanged | LinkChanged) for event in events)


def test_a_run_with_faults_is_a_script() -> None:
    seed = 3
    of_chaos = with_faults(steps(), CHAOS, SPEC, seed)
    faults = [each for each in of_chaos if type(each.input) in (*HARM, *REPAIR, Wait)]
    text = script_text(variant({}, []), seed, faults, "found")
    assert text.startswith("# found\ncluster --seed 3\n")
    read = parse_script(text, "found.tide", {}, [])
    assert [each.input for each in read.steps if isinstance(each, Statement)] == [
        each.input for each in faults
    ]
