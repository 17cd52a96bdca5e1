"""Names of brokers in the statements of scenarios, such as ``{leader}``."""

from typing import Final

from commands.conformance.steps import TOPIC
from commands.runs.served_cluster import ServedCluster
from emulator.coordinator.internal_topics import OFFSETS, TRANSACTIONS, InternalTopic

PARTITIONS_OF_INTERNAL_TOPICS: Final = 5


class ScenarioError(Exception):
    """A statement of a scenario failed: the scenario is wrong, not the client."""


class BrokerNames:
    """Resolves names to ids; a name keeps the broker that it was first used for."""

    def __init__(self, cluster: ServedCluster) -> None:
        self._cluster = cluster
        self._numbers: dict[str, int] = {}

    def resolved(self, statement: str) -> str:
        """Replace the names in braces by ids.

        Raises:
            ScenarioError: a name means no broker.
        """
        text = ""
        while "{" in statement:
            before, _, rest = statement.partition("{")
            name, _, statement = rest.partition("}")
            text += f"{before}{self._broker(name)}"
        return text + statement

    def _broker(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = self._now(name)
        return self._numbers[name]

    def _now(self, name: str) -> int:
        kind, _, key = name.partition(" ")
        if kind == "group":
            return self._coordinator(OFFSETS, key)
        if kind == "transaction":
            return self._coordinator(TRANSACTIONS, key)
        if kind == "controller":
            return int(self._cluster.controller()["controller"])
        replicas, leader = self._replicas(f"{TOPIC}-0")
        followers = [broker for broker in replicas if broker != leader]
        brokers = {
            "leader": leader,
            "follower": followers[0],
            "second follower": followers[-1],
        }
        if name not in brokers:
            raise ScenarioError(f"'{{{name}}}' is no name of a broker")
        return brokers[name]

    def _coordinator(self, topic: InternalTopic, key: str) -> int:
        return self._replicas(topic.partition_of(key, PARTITIONS_OF_INTERNAL_TOPICS))[1]

    def _replicas(self, tp: str) -> tuple[list[int], int]:
        """Return a partition's replicas and its leader."""
        answer = self._cluster.partition(tp)
        if not answer["ok"]:
            raise ScenarioError(answer["error"])
        return list(answer["partition"]["replicas"]), int(answer["partition"]["leader"])
