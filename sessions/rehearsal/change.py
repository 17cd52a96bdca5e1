"""A change of a cluster, previewed: what happens on the way, and the cluster afterwards.

Replicas move as Kafka moves them: they are added, catch up and join the ISR, and then the others
leave. How long their bytes take to copy is not emulated; how many there are is counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.cluster_image.image import Broker, ClusterImage, Topic
from emulator.common.names import nearest_hint
from emulator.inputs.statements import (
    AnyInput,
    ConfigureBroker,
    ConfigureTopic,
    Reassign,
    Statement,
)
from emulator.releases.config import is_dynamic, resolve
from emulator.replication.assignment import AssignmentError, assign_kafka, assign_rack_aware
from emulator.scenario.runner import Runner
from sessions.own_cluster import by_hand
from sessions.rehearsal.cases import CaseError
from sessions.rehearsal.outcome import Requirements, partitions_of
from sessions.rehearsal.runs import Rehearsal
from sessions.rehearsal.steps import Step, Steps
from sessions.rehearsal.watch import Watch
from sessions.text import broker_list

LIMIT_US: Final = 600_000_000
"""How long a change is followed at most."""
TAKES_EFFECT_US: Final = 5_000_000
"""How long the cluster runs with other configurations before replicas move."""
LOOK_US: Final = 500_000
"""How often its progress is looked at."""

Plan = dict[str, tuple[int, ...]]
"""The replicas that each partition is to have."""


class Change(Struct, frozen=True):
    """The course of a change of configurations and replicas, step by step.

    ``settings`` are set first; ``needs_restart`` names those that no running process takes up.
    ``steps`` are the changes of all partitions, in order. ``moved_bytes`` is what each broker has
    to fetch, where log sizes are known. ``least_isr`` and ``unwritable`` (in seconds) are as in a
    rolling restart; ``still_unwritable`` cannot be written at the end either. ``unfinished`` lists
    the partitions that did not reach their new replicas within ten minutes of virtual time.
    """

    plan: Plan
    moved_bytes: dict[int, int]
    leaders_moved: list[str]
    least_isr: dict[str, int]
    unwritable: dict[str, float]
    still_unwritable: list[str]
    unfinished: list[str]
    seconds: float
    steps: list[Step]
    settings: dict[str, str]
    needs_restart: list[str]
    after: ClusterImage


def with_broker(image: ClusterImage, broker: int, rack: str) -> ClusterImage:
    """Return the image with one more broker, which is up and has no replicas.

    Raises:
        CaseError: there is such a broker already.
    """
    if image.broker(broker) is not None:
        raise CaseError(f"There is a broker {broker} already.")
    brokers = sorted((*image.brokers, Broker(broker, rack, up=True)), key=lambda member: member.id)
    return replace(image, brokers=tuple(brokers))


def with_settings(image: ClusterImage, settings: Iterable[tuple[str, str]]) -> ClusterImage:
    """Return the image with other configurations, named as :func:`by_hand.image_of` names them.

    Raises:
        CaseError: there is no such topic or broker.
    """
    changed = by_hand.image_of({}, settings)
    topics = {topic.name: topic for topic in image.topics}
    for topic in changed.topics:
        if topic.name not in topics:
            hint = nearest_hint(topic.name, topics)
            raise CaseError(f"There is no topic {topic.name!r}{hint}.")
        topic_now = topics[topic.name]
        configs = {**(topic_now.configs or {}), **(topic.configs or {})}
        topics[topic.name] = replace(topic_now, configs=configs)
    brokers = {broker.id: broker for broker in image.brokers}
    for broker in changed.brokers:
        if broker.id not in brokers:
            raise CaseError(f"There is no broker {broker.id}: they are {broker_list(brokers)}.")
        before = brokers[broker.id]
        configs = {**(before.configs or {}), **(broker.configs or {})}
        brokers[broker.id] = replace(before, configs=configs)
    return replace(
        image,
        configs={**(image.configs or {}), **(changed.configs or {})},
        topics=tuple(topics.values()),
        brokers=tuple(brokers.values()),
    )


def generated_plan(image: ClusterImage, leaving: Sequence[int], seed: int) -> Plan:
    """Return an assignment without some brokers, as ``kafka-reassign-partitions --generate`` does.

    It assigns all partitions of the topics that have replicas there anew, to all other brokers; the
    seed stands for the tool's random numbers. Source:
    ``ReassignPartitionsCommand.generateAssignment``.

    Raises:
        CaseError: there is no such broker, or too few are left.
    """
    for broker in leaving:
        if image.broker(broker) is None:
            ids = ", ".join(str(member.id) for member in image.brokers)
            raise CaseError(f"There is no broker {broker}; the brokers are {ids}.")
    stay = {member.id: member.rack for member in image.brokers if member.id not in leaving}
    draw = Random(seed)
    plan: Plan = {}
    for topic in image.topics:
        if any(set(leaving) & set(partition.replicas) for partition in topic.partitions):
            lists = _assigned(topic, stay, draw)
            for partition, replicas in zip(topic.partitions, lists, strict=True):
                plan[f"{topic.name}-{partition.partition}"] = tuple(replicas)
    return plan


def _assigned(topic: Topic, stay: Mapping[int, str | None], draw: Random) -> list[list[int]]:
    factor = len(topic.partitions[0].replicas)
    start, shift = draw.randrange(max(1, len(stay))), draw.randrange(max(1, len(stay)))
    racks = {broker: rack for broker, rack in stay.items() if rack}
    try:
        if len(racks) == len(stay):
            return assign_rack_aware(racks, len(topic.partitions), factor, start, shift)
        return assign_kafka(sorted(stay), len(topic.partitions), factor, start, shift)
    except AssignmentError as error:
        raise CaseError(f"Topic {topic.name}: {error}") from None


def preview(rehearsal: Rehearsal, plan: Plan, settings: Sequence[tuple[str, str]] = ()) -> Change:
    """Set configurations and move replicas in the cluster itself, and return what happens.

    It is of no use for cases afterwards.
    ``settings`` are named as :func:`by_hand.image_of` names them.

    Raises:
        CaseError: a topic, partition or broker that is named does not exist, or the cluster
            refuses a configuration.
        ConfigError: there is no such configuration of brokers, or its value is invalid.
    """
    image, runner = rehearsal.image, rehearsal.runner
    _check(runner, plan)
    changed = with_settings(image, settings)
    before = rehearsal.settled
    watch, begun_us = Watch(runner, rehearsal.requirements), runner.now_us
    steps = Steps(runner, watch.requirements)
    needs_restart = _configured(runner, settings)
    while settings and runner.now_us < begun_us + TAKES_EFFECT_US:
        runner.run_until(runner.now_us + LOOK_US)
        steps.requirements = Requirements(runner.cluster)
        watch.require(steps.requirements)
    moving = {tp: list(to) for tp, to in plan.items() if list(to) != runner.cluster.assigned(tp)}
    waiting = _refused_moves(runner, moving)
    while runner.now_us < begun_us + LIMIT_US and (unfinished := _unfinished(runner, moving)):
        runner.run_until(runner.now_us + LOOK_US)
        waiting = _refused_moves(runner, waiting)
    unfinished = _unfinished(runner, moving)
    after = partitions_of(runner.cluster)
    return Change(
        plan,
        _moved_bytes(image, moving),
        [tp for tp in moving if after[tp].leader != before[tp].leader],
        watch.least,
        watch.finish(),
        watch.still,
        unfinished,
        (runner.now_us - begun_us) / 1_000_000,
        steps.made,
        dict(settings),
        needs_restart,
        _image_after(changed, runner),
    )


def _configured(runner: Runner, settings: Iterable[tuple[str, str]]) -> list[str]:
    """Set configurations while the cluster runs; return those that no running broker takes up.

    Raises:
        CaseError: the cluster refuses one.
        ConfigError: there is no such configuration, or its value is invalid.
    """
    static, of_cluster = [], runner.cluster.settings
    for key, value in settings:
        resource, _, rest = key.partition(":")
        owner, _, name = rest.partition(":")
        config = {name or key: value}
        if resource == by_hand.TOPIC:
            configure: AnyInput = ConfigureTopic(topic=owner, config=config)
        else:
            broker = int(owner) if resource == by_hand.BROKER else None
            configure = ConfigureBroker(broker=broker, config=config)
            resolve(of_cluster.version, of_cluster.defaults | config)
            works = broker is None or runner.cluster.host_works(broker)
            if not works or not is_dynamic(name or key, of_cluster.version):
                static.append(key)
                continue
        outcome = runner.execute(Statement(configure, "configure"))
        if outcome.error != "NONE":
            raise CaseError(f"{key}={value}: {outcome.message}")
    return static


def _check(runner: Runner, plan: Plan) -> None:
    for tp, replicas in plan.items():
        if runner.cluster.assigned(tp) is None:
            raise CaseError(f"The plan moves {tp}, which does not exist.")
        for broker in replicas:
            if broker not in runner.cluster.brokers:
                raise CaseError(f"The plan moves {tp} to broker {broker}, which does not exist.")


def _refused_moves(runner: Runner, moving: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Ask for moves; return those that are refused while others are in progress (up to 2.3)."""
    refused = {}
    for tp, replicas in moving.items():
        outcome = runner.execute(Statement(Reassign(tp=tp, replicas=replicas), "reassign"))
        if outcome.error != "NONE":
            refused[tp] = replicas
    return refused


def _unfinished(runner: Runner, moving: Mapping[str, list[int]]) -> list[str]:
    states = runner.cluster.state.states
    return [
        tp
        for tp, replicas in moving.items()
        if runner.cluster.assigned(tp) != replicas or not set(states[tp].isr) <= set(replicas)
    ]


def _moved_bytes(image: ClusterImage, moving: Mapping[str, list[int]]) -> dict[int, int]:
    moved: Counter[int] = Counter()
    for topic in image.topics:
        for partition in topic.partitions:
            to = moving.get(f"{topic.name}-{partition.partition}", ())
            sizes = [log.size for log in partition.logs if log.size is not None]
            for broker in to:
                if broker not in partition.replicas and sizes:
                    moved[broker] += max(sizes)
    return dict(sorted(moved.items()))


def _image_after(image: ClusterImage, runner: Runner) -> ClusterImage:
    """The image of the cluster after the change, with what the image knew of each partition."""
    partitions = partitions_of(runner.cluster)
    topics = []
    for topic in image.topics:
        moved = []
        for partition in topic.partitions:
            tp = f"{topic.name}-{partition.partition}"
            now = partitions[tp]
            moved.append(
                replace(
                    partition,
                    replicas=tuple(runner.cluster.assigned(tp) or partition.replicas),
                    leader=now.leader,
                    isr=now.isr,
                    elr=now.elr,
                    leader_epoch=now.leader_epoch,
                    partition_epoch=now.partition_epoch,
                    adding=(),
                    removing=(),
                )
            )
        topics.append(replace(topic, partitions=tuple(moved)))
    return replace(image, topics=tuple(topics))
