"""The controller, given what happened to a real one, writes and answers what that one did."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emulator.quorum_controller.alter_partition import AlterPartitionItem
from emulator.quorum_controller.configuration_control import ConfigResource
from emulator.quorum_controller.partition_change_builder import Election
from emulator.quorum_controller.quorum_controller import QuorumController
from emulator.quorum_controller.result import ApiException, Result
from emulator.quorum_controller.topics import CreatableTopic, CreatePartitionsTopic
from tests.emulator.quorum_controller.replay import (
    Record,
    Replay,
    replay_one,
    requests,
    without_elections,
)
from tests.golden_kraft.recorded import IDS, RECORDINGS, load

STOP = re.compile(r"^broker stop (\d+)", re.MULTILINE)
NEW_DISK = re.compile(r"^broker start (\d+) --clean", re.MULTILINE)


def booted(recording: dict[str, Any]) -> Replay:
    replay = Replay(recording)
    for recorded in requests(without_elections(recording["boot_log"])):
        replay_one(replay, recorded)
    return replay


def marks(recording: dict[str, Any]) -> Iterator[tuple[str, list[Record]]]:
    """The statements up to each mark, and what was written meanwhile."""
    script = recording["script"].replace("\\\n", " ")
    for name, mark in recording["marks"].items():
        statements, _, script = script.partition(f"\nmark {name}\n")
        yield statements, without_elections(mark["metadata_log"])


@pytest.mark.parametrize("path", RECORDINGS, ids=IDS)
def test_the_controller_writes_what_was_recorded(path: Path) -> None:
    recording = load(path)
    replay = booted(recording)
    for statements, log in marks(recording):
        replay.stopped = {int(broker) for broker in STOP.findall(statements)}
        replay.replaced = {int(broker) for broker in NEW_DISK.findall(statements)}
        for recorded in requests(log):
            replay_one(replay, recorded)


@pytest.mark.parametrize("path", RECORDINGS, ids=IDS)
def test_administrators_are_answered_as_recorded(path: Path) -> None:
    recording = load(path)
    replay = booted(recording)
    outputs = [each for each in recording["outputs"] if is_for_the_controller(each)]
    for statements, log in marks(recording):
        replay.stopped = {int(broker) for broker in STOP.findall(statements)}
        replay.replaced = {int(broker) for broker in NEW_DISK.findall(statements)}
        remaining = list(requests(log))
        for line in statements.splitlines():
            if outputs and " ".join(line.split()) == outputs[0]["statement"]:
                respond_to_one(replay, line, outputs.pop(0), remaining)
        for recorded in remaining:
            replay_one(replay, recorded)
    assert outputs == []


def is_for_the_controller(output: dict[str, Any]) -> bool:
    """Whether the controller answers; a broker itself refuses what it could not apply."""
    kind, *rest = output["statement"].split()
    if kind != "config":
        return bool(kind != "describe")
    return rest[1] == "default" and output["result"] != {"default": "INVALID_REQUEST"}


# ---- what administrators say, as requests

OnResponse = tuple[Result[Any] | None, dict[str, str] | str]
"""What the controller would write, and its responses as they are recorded."""


def respond_to_one(
    replay: Replay,
    line: str,
    output: dict[str, Any],
    remaining: list[list[Record]],
) -> None:
    """Find the moment at which a statement is answered, and written, as recorded."""
    if output["result"] == "NETWORK_EXCEPTION":  # nobody waited for the response
        return
    while True:
        result, responses = administered(replay, line)
        count = 0 if result is None else len(result.records)
        # Records about several partitions are one request here, and look like several.
        recorded = [record for together in remaining[:count] for record in together][:count]
        is_written = not count or (result is not None and replay.would_write(result, recorded))
        if responses == output["result"] and is_written:
            if count and result is not None:
                replay.write(result, recorded)
                while recorded:
                    recorded = recorded[len(remaining.pop(0)) :]
            return
        assert remaining, f"{line}: {responses}, recorded {output['result']}"
        replay_one(replay, remaining.pop(0))


def administered(replay: Replay, line: str) -> OnResponse:
    words = line.split()
    controller = replay.controller
    options = [index for index, word in enumerate(words) if word.startswith("--")]
    arguments = words[: options[0]] if options else words
    given = [(words[index], words[index + 1]) for index in options]
    try:
        match arguments:
            case ["topic", verb, *rest]:
                return TOPIC[verb](controller, rest, given)
            case ["config", "broker", "default", *values]:
                return configured(controller, ConfigResource(4, ""), "default", values)
            case ["election", kind, *partitions]:
                return elected(controller, Election(kind), partitions)
            case ["reassign", "cancel", tp]:
                return reassigned(controller, tp, None)
            case ["reassign", tp, replicas]:
                return reassigned(controller, tp, numbers(replicas, ","))
            case ["alterpartition", tp, broker, isr]:
                return altered(replay, tp, int(broker), numbers(isr, ","), dict(given))
    except ApiException as refused:
        return None, refused.error
    raise AssertionError(line)


def created(
    controller: QuorumController, words: list[str], given: list[tuple[str, str]]
) -> OnResponse:
    (name,) = words
    options = dict(given)
    configs = dict(value.split("=", 1) for option, value in given if option == "--config")
    assignment = options.get("--replica-assignment")
    if assignment is None:
        wanted = CreatableTopic(
            name, int(options["--partitions"]), int(options["--replication-factor"])
        )
        response = controller.create_topics([wanted], validate_only=True).response
        return None, {name: response[name].error.error}  # where replicas go is chance
    lists = dict(enumerate(numbers(each, ":") for each in assignment.split(",")))
    result = controller.create_topics([CreatableTopic(name, assignments=lists, configs=configs)])
    return result, {name: result.response[name].error.error}


def grown(
    controller: QuorumController, words: list[str], given: list[tuple[str, str]]
) -> OnResponse:
    (name,) = words
    options = dict(given)
    assignment = options.get("--replica-assignment")
    lists = [numbers(each, ":") for each in assignment.split(",")] if assignment else None
    wanted = CreatePartitionsTopic(name, int(options["--partitions"]), lists)
    result = controller.create_partitions([wanted])
    responses = {name: result.response[name].error}
    return (None if lists is None else result), responses


def deleted(
    controller: QuorumController, words: list[str], _given: list[tuple[str, str]]
) -> OnResponse:
    (name,) = words
    result = controller.delete_topics([name])
    return result, {name: result.response[name].error}


def topic_configured(
    controller: QuorumController, words: list[str], _given: list[tuple[str, str]]
) -> OnResponse:
    name, *values = words
    return configured(controller, ConfigResource(2, name), name, values)


TOPIC = {"create": created, "alter": grown, "delete": deleted, "config": topic_configured}


def configured(
    controller: QuorumController, resource: ConfigResource, name: str, values: list[str]
) -> OnResponse:
    changes: dict[str, str | None] = {}
    for each in values:
        key, _, changes[key] = each.partition("=")
    result = controller.incremental_alter_configs({resource: changes})
    return result, {name: result.response[resource].error}


def elected(controller: QuorumController, election: Election, words: list[str]) -> OnResponse:
    partitions = [partition_in(tp) for tp in words] or None
    result = controller.elect_leaders(election, partitions)
    return result, {f"{t}-{p}": response.error for (t, p), response in result.response.items()}


def reassigned(
    controller: QuorumController, tp: str, replicas: tuple[int, ...] | None
) -> OnResponse:
    key = partition_in(tp)
    result = controller.alter_partition_reassignments({key: replicas})
    return result, {tp: result.response[key].error}


def altered(
    replay: Replay, tp: str, broker: int, isr: tuple[int, ...], given: dict[str, str]
) -> OnResponse:
    topic, number = partition_in(tp)
    image = replay.controller.image
    partition = image.partition(topic, number)
    assert partition is not None
    checked: dict[int, int] = {}
    if "--isr-epoch" in given:
        member, difference = numbers(given["--isr-epoch"], ":")
        checked[member] = difference
    item = AlterPartitionItem(
        image.topic_ids[topic],
        number,
        partition.leader_epoch + int(given.get("--leader-epoch", 0)),
        # Whoever asked counted the records about the partition, which a ClearElr is not.
        partition.partition_epoch - replay.emptied[tp] + int(given.get("--partition-epoch", 0)),
        tuple((each, epoch_of(image.brokers, each, checked)) for each in isr),
        int(given.get("--recovery", partition.leader_recovery_state)),
    )
    epoch = image.brokers[broker].epoch + int(given.get("--broker-epoch", 0))
    result = replay.controller.alter_partition(broker, epoch, [item])
    (response,) = result.response.values()
    return result, {tp: response.error}


def epoch_of(brokers: dict[int, Any], broker: int, checked: dict[int, int]) -> int:
    return brokers[broker].epoch + checked[broker] if broker in checked else -1


def numbers(text: str, separator: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(separator))


def partition_in(tp: str) -> tuple[str, int]:
    topic, _, number = tp.rpartition("-")
    return topic, int(number)
