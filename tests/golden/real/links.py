"""Cuts the links between the processes of a real cluster, by the kernel's packet filter.

Every broker listens on loopback, so a packet does not tell which broker sent it. Its socket's owner
does: each broker runs in a group of its own, whose number is the broker's port. Packets are
dropped silently, as in a network that has split: connections stay open, and nothing arrives.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from emulator.events.base import ZOOKEEPER
from tests.golden.real.processes import RealCluster, RealClusterError

Rule = tuple[str, ...]
Link = frozenset[int]


class Links:
    """The links of one cluster, in a chain of rules of its own."""

    def __init__(self, cluster: RealCluster) -> None:
        self.cluster = cluster
        self.chain = f"REAL{cluster.zookeeper_port}"
        self.rules: dict[Link, list[Rule]] = {}
        self._there = False

    def cut(self, a: int, b: int) -> None:
        """Drop what two hosts send each other, on open connections too.

        Raises:
            RealClusterError: this needs root and iptables.
        """
        if os.geteuid() or not shutil.which("iptables"):
            raise RealClusterError("network statements need root and iptables")
        if not self._there:
            _iptables("-N", self.chain)
            _iptables("-A", "OUTPUT", "-o", "lo", "-j", self.chain)
            self._there = True
        rules = self.rules.setdefault(frozenset((a, b)), [])
        rules += [*self._towards(a, b), *self._towards(b, a)]
        self._apply()

    def isolate(self, broker: int) -> None:
        """Cut a broker off from all others and from ZooKeeper."""
        for other in (*self.cluster.ids, ZOOKEEPER):
            if other != broker:
                self.cut(broker, other)

    def heal(self, a: int | None, b: int | None) -> None:
        """Restore one link, or (both None) all."""
        if a is None or b is None:
            self.rules.clear()
        else:
            self.rules.pop(frozenset((a, b)), None)
        self._apply()

    def close(self) -> None:
        """Remove every rule."""
        if self._there:
            _iptables("-D", "OUTPUT", "-o", "lo", "-j", self.chain)
            _iptables("-F", self.chain)
            _iptables("-X", self.chain)
            self._there = False

    def _apply(self) -> None:
        if self._there:
            _iptables("-F", self.chain)
            for rule in (each for rules in self.rules.values() for each in rules):
                _iptables("-A", self.chain, "-p", "tcp", *rule, "-j", "DROP")

    def _towards(self, client: int, server: int) -> Iterator[Rule]:
        """What drops the packets of connections that one host opens to another."""
        if client == ZOOKEEPER:  # it opens none
            return
        ports = self.cluster.ports
        listens = self.cluster.zookeeper_port if server == ZOOKEEPER else ports[server]
        owner = ("-m", "owner", "--gid-owner", str(ports[client]))
        yield (*owner, "--dport", str(listens))
        for port in self._connections(client, listens):
            yield ("--sport", str(listens), "--dport", str(port))

    def _connections(self, broker: int, port: int) -> Iterator[int]:
        """The local ports of a broker's open connections to ``port``."""
        process = self.cluster.processes[broker]
        if process.poll() is not None:
            return
        opened = {_target(each) for each in Path(f"/proc/{process.pid}/fd").iterdir()}
        for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]:
            words = line.split()
            if int(words[2].split(":")[1], 16) == port and f"socket:[{words[9]}]" in opened:
                yield int(words[1].split(":")[1], 16)


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:  # closed meanwhile
        return ""


def _iptables(*words: str) -> None:
    subprocess.run(("iptables", "-w", *words), check=True, capture_output=True)
