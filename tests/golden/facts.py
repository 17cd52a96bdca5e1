"""What a run and a recording of real Kafka must agree on, fact by fact.

What cannot be equal is left out: hosts, ports, the clock, identities, which broker won a race, the
order in an ISR, and what is in the memory of a frozen process.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

Plain = dict[str, Any]
Facts = dict[str, Plain]
"""By place (a mark, ``end``, ``output``), what was seen there by name."""

VOLATILE = {
    *("timestamp", "host", "port", "endpoints", "id", "jmx_port", "topic_id", "features", "rack"),
    "listener_security_protocol_map",
}
OF_PARTITION = (
    *("state", "leader", "leader_epoch", "controller_epoch", "zk_version", "hw", "leo"),
    "replicas",
)
OF_REPLICA = ("role", "leo", "hw", "values", "epochs", "record_epochs")
IN_MEMORY = ("role", "hw")
"""What of a frozen broker's replicas cannot be seen from outside."""
WRITES = ("zk delete", "zk set", "zk create")


def facts(run: Plain) -> Facts:
    """Everything that must agree of the object that ``run --json`` prints."""
    found: Facts = {name: dict(_of_mark(mark)) for name, mark in run["marks"].items()}
    found["end"] = {**found.get("end", {}), **dict(_of_clients(run))}
    found["output"] = dict(_of_outputs(run["outputs"]))
    return found


def _of_mark(mark: Plain) -> Iterator[tuple[str, Any]]:
    for what in ("epoch", "epoch_zk_version"):
        yield f"controller.{what}", mark["controller"].get(what)
    frozen = [each["id"] for each in mark["brokers"] if each["state"] == "frozen"]
    for partition in mark["partitions"]:
        tp = f"{partition['topic']}-{partition['partition']}"
        for what in OF_PARTITION:
            yield f"{tp}.{what}", partition.get(what)
        yield f"{tp}.isr", sorted(partition["isr"])
        for replica in partition["replica_states"]:
            for what in OF_REPLICA:
                if replica["broker"] not in frozen or what not in IN_MEMORY:
                    yield f"{tp}@{replica['broker']}.{what}", _seen(what, replica.get(what))


def _seen(what: str, value: object) -> object:
    """From outside only this much of a role is sure: whether the process is there."""
    if what != "role":
        return value
    return value if value == "offline" else "serving"


def _of_clients(run: Plain) -> Iterator[tuple[str, Any]]:
    for kind, names in (("producer", ("acked", "failed", "errors")), ("consumer", None)):
        for client in run[f"{kind}s"]:
            for what in names or ("values", "error"):
                yield f"{kind}.{client['name']}.{what}", client.get(what)


def _of_outputs(outputs: Iterable[Plain]) -> Iterator[tuple[str, Any]]:
    asked = [
        each
        for each in outputs
        if each["statement"].startswith("zk ") and not each["statement"].startswith(WRITES)
    ]
    for number, each in enumerate(asked):
        yield f"{number}: {each['statement']}", _znode(each.get("result"))


def _znode(result: object) -> object:
    if isinstance(result, list):
        return sorted(name for name in result if not name.startswith("/zookeeper"))
    if not isinstance(result, dict):
        return result
    kept = {what: result.get(what) for what in ("dataVersion", "cversion", "ephemeral")}
    return {"data": _data(result["data"]), **kept, "numChildren": result.get("numChildren")}


def _data(text: str | None) -> object:
    try:
        parsed = json.loads(text or "null")
    except ValueError:
        return text
    if not isinstance(parsed, dict):
        return parsed
    return {key: value for key, value in parsed.items() if key not in VOLATILE}


def differences(recorded: Facts, emulated: Facts) -> list[str]:
    """Where a run differs from a recording, one line a fact."""
    found: list[str] = []
    for place, seen in recorded.items():
        there = emulated.get(place, {})
        for what, value in seen.items():
            if what not in there:
                found.append(f"{place}: {what}: real {value!r}, emulated nothing")
            elif there[what] != value:
                found.append(f"{place}: {what}: real {value!r}, emulated {there[what]!r}")
    return found
