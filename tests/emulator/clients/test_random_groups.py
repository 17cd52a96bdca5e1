"""Whatever happens to brokers, links and members: when all is well again, groups are whole."""

from collections import defaultdict
from random import Random
from typing import Literal

import pytest

from emulator.clients.group_state import Membership
from emulator.inputs.statements import (
    AnyInput,
    Consume,
    CrashBroker,
    CreateTopic,
    CutLink,
    DropOnLink,
    FreezeBroker,
    HealLinks,
    Produce,
    StartBroker,
    ThawBroker,
)
from emulator.releases.profiles import VERSIONS
from tests.support.lab import Lab

CLIENTS = -2
BROKERS = 3
TOPICS = {"t": 4, "u": 3}
WITH_GROUPS = VERSIONS[VERSIONS.index("0.9") :]
LONGEST_WAIT_MS = 400_000
"""Longer than a member waits for a response that was lost on the way."""

Assignor = Literal["range", "roundrobin", "cooperative-sticky"]


def statement(chance: Random, assignor: Assignor) -> AnyInput:
    """Something that people do; often a read of one of two groups."""
    kind, broker = chance.random(), chance.randrange(BROKERS)
    if kind < 0.5:
        return Consume(
            topic=chance.choice("ttu"),
            group=chance.choice("ggh"),
            consumer=chance.choice(("c1", "c2", "c3")),
            assignor=assignor,
            max_records=chance.choice((None, 2)),
            partition=chance.choice((None, None, None, 0)),
            then=chance.choice(("stay", "stay", "leave", "die")),
        )
    if kind < 0.7:
        return Produce(topic=chance.choice("tu"), count=3, value="v")
    faults: list[AnyInput] = [
        CrashBroker(broker=broker),
        StartBroker(broker=broker),
        FreezeBroker(broker=broker),
        ThawBroker(broker=broker),
        CutLink(source=CLIENTS, destination=broker),
        CutLink(source=broker, destination=(broker + 1) % BROKERS),
        DropOnLink(source=CLIENTS, destination=broker, percent=30),
        HealLinks(),
    ]
    return chance.choice(faults)


def run(seed: int, version: str) -> Lab:
    """A cluster after some random statements, and then made whole."""
    chance = Random(seed)
    config = {"offsets.topic.num.partitions": str(chance.choice((1, 3)))}
    lab = Lab(version, brokers=BROKERS, seed=seed, config=config)
    for topic, partitions in TOPICS.items():
        lab.do(
            CreateTopic(
                topic=topic,
                assignment=[[n % BROKERS, (n + 1) % BROKERS] for n in range(partitions)],
            )
        )
    names: list[Assignor] = ["range", "roundrobin"]
    if version in VERSIONS[VERSIONS.index("2.4") :]:
        names.append("cooperative-sticky")
    assignor = chance.choice(names)
    for _ in range(12):
        lab.do(statement(chance, assignor))
        lab.wait(chance.choice((10, 5_000)))
    lab.do(HealLinks())
    for broker in range(BROKERS):
        lab.do(ThawBroker(broker=broker))
        lab.do(StartBroker(broker=broker))
    lab.wait(LONGEST_WAIT_MS)
    return lab


def memberships(lab: Lab) -> dict[str, list[Membership]]:
    """The members of each group, as the consumers see it."""
    found: dict[str, list[Membership]] = defaultdict(list)
    for consumer in lab.cluster.clients.state.consumers.values():
        membership = consumer.membership
        if membership is not None and membership.subscribes:
            found[membership.group].append(membership)
    return found


@pytest.mark.parametrize("seed", range(24))
def test_each_partition_that_a_group_wants_has_one_reader_in_the_end(seed: int) -> None:
    lab = run(seed, WITH_GROUPS[seed % len(WITH_GROUPS)])
    for name, members in memberships(lab).items():
        wanted = [f"{t}-{n}" for t in sorted({m.topic for m in members}) for n in range(TOPICS[t])]
        assert sorted(tp for member in members for tp in member.partitions) == wanted
        groups = [b.core.coordinator.group(name) for b in lab.cluster.brokers.values()]
        (group,) = [each for each in groups if each is not None]
        assert group.state == "Stable"
        assert sorted(group.members) == sorted(member.member_id for member in members)
    assert lab.cluster.state.invariants.unexpected == 0


def test_the_same_seed_gives_the_same_groups() -> None:
    hashes = {run(7, "2.8").cluster.state_hash for _ in range(2)}
    assert len(hashes) == 1
