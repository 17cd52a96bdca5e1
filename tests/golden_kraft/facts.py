"""What a run and a recording of a real cluster in KRaft mode must agree on, fact by fact.

What cannot be equal is left out: who of several controllers leads and after how many elections, the
order in an ISR or ELR, records about different things against each other inside a batch, what is in
the memory of a frozen process, and what did not repeat when it was recorded twice.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

Plain = dict[str, Any]
Fact = tuple[str, str]
"""A mark, ``output`` or ``end``, and the name of what was seen there."""

UNORDERED = ("isr", "eligibleLeaderReplicas", "lastKnownElr")
OF_BROKER = ("fenced", "in_controlled_shutdown", "registrations")
OF_PARTITION = (
    *("state", "leader", "leader_epoch", "partition_epoch", "recovery", "hw", "leo", "replicas"),
)
LISTS = ("isr", "elr", "last_known_elr", "adding", "removing")
OF_REPLICA = ("role", "leo", "hw", "values", "epochs", "record_epochs")
IN_MEMORY = ("role", "hw")
OF_CLIENT = {"producer": ("acked", "failed", "errors"), "consumer": ("values", "error")}
OF_CHANCE = ("leaderId", "controllerId")


def differences(recorded: Plain, run: Plain) -> list[str]:
    """Where a run differs from a recording, one line a fact."""
    replaced = re.findall(r"^broker start (\d+) --clean", recorded["script"], flags=re.M)
    real, ours = (_without_observers(facts(each), replaced) for each in (recorded, run))
    skipped = {tuple(each) for each in recorded.get("not_repeating", [])}
    found = []
    for fact, value in real.items():
        unknown = value is None and not fact[1].endswith(".leader")
        if fact not in skipped and not unknown and ours.get(fact, "nothing") != value:
            found.append(f"{fact[0]}: {fact[1]}: real {value}, emulated {ours.get(fact)}")
    marks = {mark for mark, _ in real}
    for fact in ours.keys() - real.keys() - skipped:
        if fact[0] in marks and fact[1].startswith("log of"):
            found.append(f"{fact[0]}: {fact[1]}: real nothing, emulated {ours[fact]}")
    return found


def _without_observers(found: dict[Fact, Any], brokers: list[str]) -> dict[Fact, Any]:
    """Leave out the progress in the quorum of brokers that get a new disk.

    From 3.9 on the leader keeps that of each log directory; the recorder has either one's.
    """
    for (mark, what), value in found.items():
        if what == "quorum.observers":
            found[mark, what] = {each: seen for each, seen in value.items() if each not in brokers}
    return found


def facts(run: Plain) -> dict[Fact, Any]:
    """Everything that must agree."""
    found: dict[Fact, Any] = {}
    epochs: list[int] = []
    for name, mark in run["marks"].items():
        if not mark.get("unsettled"):
            found |= {(name, what): value for what, value in _of_mark(mark, epochs)}
    for kind, fields in OF_CLIENT.items():
        for name, client in _clients(run[f"{kind}s"]):
            for what in fields:
                found["end", f"{kind}.{name}.{what}"] = client.get(what)
    for number, output in enumerate(run["outputs"]):
        found["output", f"{number}: {output['statement']}"] = output.get("result")
    failed = run["expectations"]["failed"]
    found["end", "failed expectations"] = [each["text"] for each in failed]
    return found


def _clients(them: Plain | list[Plain]) -> Iterator[tuple[str, Plain]]:
    if isinstance(them, dict):
        yield from them.items()
    else:
        yield from ((each["name"], each) for each in them)


def _of_mark(mark: Plain, epochs: list[int]) -> Iterator[tuple[str, Any]]:
    has_several = len(mark["controllers"]) > 1
    yield from _of_quorum(mark["quorum"], has_several, epochs)
    for broker in mark["brokers"]:
        for what in OF_BROKER:
            yield f"broker.{broker['id']}.{what}", broker.get(what)
    frozen = [each["id"] for each in mark["brokers"] if each["state"] == "frozen"]
    for partition in mark["partitions"]:
        yield from _of_partition(partition, frozen)
    for broker_id, topics in mark["metadata"].items():
        for topic, partitions in topics.items():
            for number, told in partitions.items():
                yield f"told.{broker_id}.{topic}-{number}", told
    folders = mark["not_in_metadata"]
    yield "folders", {broker_id: sorted(names) for broker_id, names in folders.items()}
    yield "configs", mark["configs"]
    yield from _of_log(mark["metadata_log"], has_several)


def _of_quorum(quorum: Plain, has_several: bool, epochs: list[int]) -> Iterator[tuple[str, Any]]:
    if has_several:
        epoch = quorum["epoch"]
        if epoch is not None:
            yield "quorum.epoch_rises", bool(epochs) and epoch > epochs[-1]
            epochs.append(epoch)
        yield "quorum.has_leader", quorum["leader"] is not None
        yield "quorum.voters", sorted(quorum["voters"].values())
    else:
        for what in ("leader", "epoch", "voters"):
            yield f"quorum.{what}", quorum[what]
    yield "quorum.observers", quorum["observers"]


def _of_partition(partition: Plain, frozen: list[int]) -> Iterator[tuple[str, Any]]:
    tp = f"{partition['topic']}-{partition['partition']}"
    for what in OF_PARTITION:
        yield f"{tp}.{what}", partition.get(what)
    for what in LISTS:
        yield f"{tp}.{what}", sorted(partition.get(what) or [])
    for replica in partition["replica_states"]:
        for what in OF_REPLICA:
            if replica["broker"] not in frozen or what not in IN_MEMORY:
                value = replica.get(what)
                if what == "role" and value != "offline":
                    value = "serving"
                yield f"{tp}@{replica['broker']}.{what}", value


def _of_log(log: list[Plain], has_several: bool) -> Iterator[tuple[str, Any]]:
    """What was written about each thing, and the order of all of it by batch."""
    counted = [r for r in log if not (has_several and r["type"] == "RegisterController")]
    about: defaultdict[str, list[Any]] = defaultdict(list)
    batches: dict[int, list[str]] = {}
    for record in counted:
        subject = _subject(record)
        about[subject].append([record["type"], _data(record, has_several)])
        if not (has_several and subject == "controllers"):
            batches.setdefault(record["batch"], []).append(f"{record['type']} {subject}")
    for subject, records in about.items():
        is_chance = has_several and subject == "controllers"
        yield f"log of {subject}", sorted({each[0] for each in records}) if is_chance else records
    yield "log order", [each for batch in batches.values() for each in sorted(batch)]


def _subject(record: Plain) -> str:
    """What a record is about: records about different things may race."""
    data, kind = record["data"], record["type"]
    if kind in ("Partition", "PartitionChange"):
        return f"{data['topicId']}-{data['partitionId']}"
    if kind in ("Topic", "RemoveTopic"):
        return f"topic {data['topicId']}"
    if kind == "Config":
        return f"config {data['resourceType']} {data['resourceName']}"
    if "controllerId" in data or kind == "LeaderChange":
        return "controllers"
    broker = data.get("brokerId", data.get("id"))
    return str(kind) if broker is None else f"broker {broker}"


def _data(record: Plain, has_several: bool) -> Plain:
    data = {k: sorted(v) if k in UNORDERED and v else v for k, v in record["data"].items()}
    if has_several and record["type"] in ("LeaderChange", "RegisterController"):
        return {key: value for key, value in data.items() if key not in OF_CHANCE}
    return data
