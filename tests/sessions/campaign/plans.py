"""Small campaigns with known outcomes, made of statements: nothing here is parsed."""

from emulator.inputs.statements import (
    Acks,
    AnyInput,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    FetchRound,
    Mark,
    Produce,
    Statement,
    Wait,
)
from sessions.campaign.plan import Around, Plan, Variant, variant_ids

SPEC = CreateCluster(
    brokers=3, stepwise=True, config={"zookeeper.session.timeout.ms": "2000"}, version="3.9"
)
LOST = 3
"""How many records the story loses with acks=1."""


def story(acks: Acks) -> list[AnyInput]:
    """The leader dies with records that nobody else has."""
    return [
        CreateTopic(topic="t", assignment=[[1, 2, 0]], config={"min.insync.replicas": "2"}),
        Wait(duration_us=10_000),
        Produce(topic="t", value="kept", acks=1),
        FetchRound(tp="t-0", broker=2, times=2),
        FetchRound(tp="t-0", broker=0, times=2),
        Produce(
            topic="t", value="m", count=LOST, in_flight=LOST, acks=acks, retries=0,
            timeout_us=300_000,
        ),
        CrashBroker(broker=1),
        Wait(duration_us=4_000_000),
    ]  # fmt: skip


def short_story() -> list[AnyInput]:
    """A run with few events."""
    return [Mark(name="here")]


def variant(values: dict[str, str], inputs: list[AnyInput]) -> Variant:
    """A variant as a script's parser would make it."""
    return Variant(
        id=variant_ids([values])[0],
        values=values,
        variables=values,
        cluster=SPEC,
        text=Around("cluster --seed "),
        line=1,
        steps=[Statement(each, type(each).__name__, line) for line, each in enumerate(inputs, 2)],
        command=Around("tidegauge console s.tide --seed "),
    )


def plan(*variants: Variant, seeds: list[tuple[int, int]] | None = None) -> Plan:
    """A campaign of these variants."""
    return Plan("s.tide", "source", seeds or [(0, 1)], list(variants), "tidegauge test")


def known_plan(last_seed: int) -> Plan:
    """acks=1 loses three records in every run, acks=all with min.insync.replicas=2 none."""
    return plan(
        variant({"acks": "1"}, story(1)),
        variant({"acks": "all"}, story(-1)),
        seeds=[(0, last_seed)],
    )


def short_plan(last_seed: int = 1) -> Plan:
    """Runs that do next to nothing."""
    return plan(variant({}, short_story()), seeds=[(0, last_seed)])
