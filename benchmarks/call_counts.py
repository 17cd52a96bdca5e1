"""How far a reader has to follow the code: calls, files, and returns to files already visited.

``python -m benchmarks.call_counts``. It profiles what the emulator does between a statement and its
outcome: a record, from `produce` to its acknowledgement by three replicas, and the creation of a
topic in either mode. Followers' idle fetches expire twice a second: the record is sent between two
of these moments, so that they do not count. A *return* is a call into another file that has been
visited before. It also counts callbacks that are assigned to parts after these are made, and
classes that inherit from another concrete broker, membership or controller. The counts are the same
on every machine.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import emulator
from emulator.cluster import Cluster
from emulator.inputs.statements import (
    AnyInput,
    CreateCluster,
    CreateTopic,
    Produce,
    Statement,
    Wait,
)
from emulator.scenario.runner import Runner

ROOT = Path(emulator.__file__).parent
SETTLED_US = 5_000_000
BETWEEN_FETCHES_US = 100_000


class Counts(NamedTuple):
    """What was called between a statement and its outcome."""

    calls: int
    files: int
    returns: int


def counted(work: Callable[[], object]) -> Counts:
    """Run ``work`` under a profiler, and count calls of the emulator's functions."""
    visited: list[str] = []
    inside = str(ROOT)

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        code: CodeType = frame.f_code
        if event == "call" and code.co_filename.startswith(inside):
            visited.append(code.co_filename)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    seen: set[str] = set()
    returns, previous = 0, ""
    for file in visited:
        returns += file != previous and file in seen
        seen.add(file)
        previous = file
    return Counts(len(visited), len(seen), returns)


def run(runner: Runner, wanted: AnyInput) -> None:
    """Execute a statement."""
    runner.execute(Statement(wanted, type(wanted).__name__))


def quiet(mode: str) -> Runner:
    """Return a runner of a cluster of three brokers that has come to rest."""
    runner = Runner(Cluster(CreateCluster(brokers=3, mode="kraft" if mode == "kraft" else "zk")))
    run(runner, Wait(duration_us=SETTLED_US))
    return runner


def of_a_record() -> Counts:
    """Count what happens between `produce` and the acknowledgement by three replicas."""
    runner = quiet("zk")
    run(runner, CreateTopic(topic="t", partitions=1, replication_factor=3))
    run(runner, Produce(topic="t", value="first", acks=-1))  # then the producer knows the leader
    run(runner, Wait(duration_us=SETTLED_US + BETWEEN_FETCHES_US))
    record = Produce(topic="t", value="v", acks=-1)
    return counted(lambda: run(runner, record))


def of_a_topic(mode: str) -> Counts:
    """Count what happens between `topic create` and its end."""
    runner = quiet(mode)
    run(runner, CreateTopic(topic="first", partitions=1, replication_factor=3))
    run(runner, Wait(duration_us=SETTLED_US))
    topic = CreateTopic(topic="t", partitions=1, replication_factor=3)
    return counted(lambda: run(runner, topic))


def callbacks() -> Iterator[str]:
    """The places where a method or function is assigned to an attribute of another object."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
                continue
            target = node.targets[0]
            is_of_another = isinstance(target.value, ast.Attribute) or (
                isinstance(target.value, ast.Name) and target.value.id != "self"
            )
            is_callback = target.attr.startswith("on_") or isinstance(node.value, ast.Lambda)
            if is_of_another and is_callback:
                yield f"{path.relative_to(ROOT.parent)}:{node.lineno} {ast.unparse(target)}"


def overlaid() -> Iterator[str]:
    """The classes of brokers, memberships and controllers that inherit from another one."""
    concrete: dict[str, list[str]] = {}
    for folder in ("broker", "controller", "kraft"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    concrete[node.name] = [ast.unparse(base) for base in node.bases]
    for name, bases in concrete.items():
        if any(base in concrete and "Struct" not in concrete[base] for base in bases):
            yield f"{name}({', '.join(bases)})"


def main() -> int:
    """Print the counts."""
    rows = {
        "a record, produce to acknowledgement (ZooKeeper)": of_a_record(),
        "topic create (ZooKeeper)": of_a_topic("zk"),
        "topic create (KRaft)": of_a_topic("kraft"),
    }
    print(f"{'':<50}{'calls':>8}{'files':>8}{'returns':>9}")
    for what, counts in rows.items():
        print(f"{what:<50}{counts.calls:>8}{counts.files:>8}{counts.returns:>9}")
    for what, places in (
        ("callbacks assigned after construction", list(callbacks())),
        ("classes that inherit from another concrete one", list(overlaid())),
    ):
        print(f"{what}: {len(places)}")
        for place in places:
            print(f"  {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
