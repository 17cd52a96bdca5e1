"""Runs a script's statements on a real cluster, in real time."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kazoo.exceptions import KazooException

from commands.language.parser import parse_script
from emulator.inputs import statements as inputs
from emulator.inputs.statements import Statement
from tests.golden.real import administration, clients
from tests.golden.real.links import Links
from tests.golden.real.look import first_failure, quiet
from tests.golden.real.processes import RealCluster, RealClusterError
from tests.golden.real.sessions import expire

Plain = dict[str, Any]
SECOND_US = 1_000_000
POLL_SECONDS = 0.05


class ScriptRun:
    """One script on one cluster; ``seen`` has the shape of what ``run --json`` prints."""

    def __init__(self, cluster: RealCluster, links: Links) -> None:
        self.cluster = cluster
        self.links = links
        self.producers: dict[str, clients.Producer] = {}
        self.consumers: dict[str, Plain] = {}
        self.marks: dict[str, Plain] = {}
        self.outputs: list[Plain] = []
        self.failed: list[str] = []
        self.error = "NONE"
        self.does: dict[type[inputs.Input], Callable[[Any], object]] = {
            inputs.CreateTopic: self._on(administration.create_topic),
            inputs.AddPartitions: self._on(administration.add_partitions),
            inputs.ConfigureTopic: self._on(administration.configure_topic),
            inputs.ConfigureBroker: self._on(administration.configure_broker),
            inputs.DeleteTopic: self._on(administration.delete_topic),
            inputs.Reassign: self._on(administration.reassign),
            inputs.CancelReassignment: self._on(administration.cancel),
            inputs.ElectPreferred: self._on(administration.elect_preferred),
            inputs.ElectUnclean: self._on(administration.elect_unclean),
            inputs.Produce: self._produce,
            inputs.Consume: self._consume,
            inputs.StartBroker: self._start,
            inputs.StopBroker: lambda wanted: cluster.stop(wanted.broker, wait=wanted.wait),
            inputs.CrashBroker: lambda wanted: cluster.crash(wanted.broker),
            inputs.FreezeBroker: self._freeze,
            inputs.ThawBroker: self._thaw,
            inputs.CutLink: self._cut,
            inputs.IsolateBroker: lambda wanted: links.isolate(wanted.broker),
            inputs.HealLinks: lambda wanted: links.heal(wanted.source, wanted.destination),
            inputs.ExpireSession: lambda wanted: expire(cluster, wanted.broker),
            inputs.Wait: lambda wanted: time.sleep(wanted.duration_us / SECOND_US),
            inputs.WaitUntil: self._wait_until,
            inputs.Settle: lambda wanted: quiet(cluster, wanted.quiet_us / SECOND_US),
            inputs.Expect: self._expect,
            inputs.ExpectError: self._expect_error,
            inputs.Mark: self._mark,
        }

    def _on(self, action: Callable[[RealCluster, Any], object]) -> Callable[[Any], object]:
        return lambda wanted: action(self.cluster, wanted)

    @property
    def seen(self) -> Plain:
        """What was seen so far."""
        return {
            "marks": self.marks,
            "producers": [each.seen for each in self.producers.values()],
            "consumers": list(self.consumers.values()),
            "outputs": self.outputs,
        }

    def do(self, statement: inputs.Statement) -> None:
        """One statement.

        Raises:
            RealClusterError: it cannot be asked of a real cluster, or that came to its end.
        """
        wanted = statement.input
        if isinstance(wanted, inputs.ZkCommand):
            self._zk(wanted, statement.text)
            return
        act = self.does.get(type(wanted))
        if act is None:
            raise RealClusterError(f"{statement.text!r} cannot be asked of a real cluster")
        try:
            result = act(wanted)
        except KazooException as error:  # refused, as the emulator refuses; the script goes on
            result = type(error).__name__
            self.failed.append(f"{statement.text}: {result}")
        if isinstance(result, str):
            self.error = result

    # ---- clients and processes

    def _produce(self, wanted: inputs.Produce) -> str:
        name = wanted.producer
        if name not in self.producers:
            self.producers[name] = clients.Producer(self.cluster, name)
        return self.producers[name].produce(wanted)

    def _consume(self, wanted: inputs.Consume) -> str:
        seen = clients.consume(self.cluster, wanted)
        self.consumers[wanted.consumer] = seen
        error: str = seen["error"]
        return error

    def _start(self, wanted: inputs.StartBroker) -> None:
        if wanted.clean:
            self.cluster.wipe(wanted.broker)
        self.cluster.start(wanted.broker)

    def _freeze(self, wanted: inputs.FreezeBroker) -> None:
        self.cluster.signal(wanted.broker, signal.SIGSTOP, "frozen")

    def _thaw(self, wanted: inputs.ThawBroker) -> None:
        self.cluster.signal(wanted.broker, signal.SIGCONT, "running")

    def _cut(self, wanted: inputs.CutLink) -> None:
        if wanted.one_way:
            raise RealClusterError("network cut: no --one-way on a real cluster")
        self.links.cut(wanted.source, wanted.destination)

    # ---- ZooKeeper

    def _zk(self, wanted: inputs.ZkCommand, text: str) -> None:
        try:
            result = self._znode(wanted)
        except KazooException as error:
            result = type(error).__name__
        self.outputs.append({"statement": text, "result": result})

    def _znode(self, wanted: inputs.ZkCommand) -> object:
        zk, data = self.cluster.zk, (wanted.data or "").encode()
        if wanted.command == "create":
            zk.create(wanted.path, data, wanted.ephemeral, wanted.sequential)
        elif wanted.command == "set":
            zk.set(wanted.path, data, wanted.version)
        elif wanted.command == "delete":
            zk.delete(wanted.path, wanted.version)
        elif wanted.command == "ls":
            return sorted(
                self._tree(wanted.path) if wanted.recursive else zk.get_children(wanted.path)
            )
        else:
            found, stat = zk.get(wanted.path)
            return {
                "data": None if found is None else found.decode(),
                "dataVersion": stat.version,
                "cversion": stat.cversion,
                "ephemeral": stat.ephemeralOwner != 0,
                "numChildren": stat.numChildren,
            }
        return ""

    def _tree(self, path: str) -> list[str]:
        below = self.cluster.zk.get_children(path)
        deeper = [self._tree(f"{path.rstrip('/')}/{name}") for name in below]
        return [path, *(each for part in deeper for each in part)]

    # ---- waiting and looking

    def _first_failure(self, wanted: inputs.WaitUntil | inputs.Expect) -> str | None:
        known = {
            "producer": {name: each.seen for name, each in self.producers.items()},
            "consumer": self.consumers,
        }
        clause = first_failure(self.cluster, known, wanted.clauses)
        return None if clause is None else clause.text

    def _wait_until(self, wanted: inputs.WaitUntil) -> None:
        end = time.monotonic() + wanted.within_us / SECOND_US
        while (failure := self._first_failure(wanted)) is not None:
            if time.monotonic() > end:
                self.failed.append(f"wait until {failure}")
                return
            time.sleep(POLL_SECONDS)

    def _expect(self, wanted: inputs.Expect) -> None:
        quiet(self.cluster, 1)
        if (failure := self._first_failure(wanted)) is not None:
            self.failed.append(f"expect {failure}")

    def _expect_error(self, wanted: inputs.ExpectError) -> None:
        if self.error != wanted.error:
            self.failed.append(f"expect error {wanted.error}: {self.error}")

    def _mark(self, wanted: inputs.Mark) -> None:
        self.marks[wanted.name] = quiet(self.cluster, 1)


def run(kafka: Path, script: Path, *, keep: bool = False) -> tuple[Plain, list[str]]:
    """Run a script on the release in ``kafka``: what was seen, and what did not hold.

    Raises:
        RealClusterError: the release does not run, or the script asks for what it cannot do.
    """
    parsed = parse_script(script.read_text("utf-8"), str(script))
    cluster = RealCluster(kafka, parsed.spec)
    links = Links(cluster)
    try:
        done = ScriptRun(cluster, links)
        for step in parsed.steps:
            if isinstance(step, Statement):
                done.do(step)
        return done.seen, done.failed
    finally:
        links.close()
        cluster.close(keep)
