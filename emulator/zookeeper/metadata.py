"""What znodes mean.

Partition states, topics, assignments, stated as facts whenever ZooKeeper commits a change. Whoever
writes the tree (a leader, the controller, an outsider), what it says is read here, in one place.
"""

from sys import intern

import msgspec

from emulator import events
from emulator.broker_context import AGAIN, World
from emulator.protocol import PartitionInfo
from emulator.releases.config import ConfigError, resolve

TOPICS = "/brokers/topics/"
CONFIGS = "/config/topics/"
BROKER_CONFIGS = "/config/brokers/"
STATE = "/state"
STATE_SLASHES = 2
"""A partition's state is at ``partitions/N/state`` below its topic."""


class StateJson(msgspec.Struct):
    """What a state znode holds."""

    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: list[int]


class TopicJson(msgspec.Struct):
    """What a topic's znode holds; the lists of a reassignment came in 2.4."""

    partitions: dict[str, list[int]]
    adding_replicas: dict[str, list[int]] = {}
    removing_replicas: dict[str, list[int]] = {}


class ConfigJson(msgspec.Struct):
    """What the configuration znode of a topic or a broker holds."""

    config: dict[str, str] = {}


class HolderJson(msgspec.Struct):
    """What /controller holds that matters."""

    brokerid: int


_state = msgspec.json.Decoder(StateJson).decode
_topic = msgspec.json.Decoder(TopicJson).decode
_config = msgspec.json.Decoder(ConfigJson).decode
_holder = msgspec.json.Decoder(HolderJson).decode


def config_in(data: str | None) -> dict[str, str]:
    """The values in a configuration znode; none if it holds anything else."""
    try:
        return _config(data).config if data else {}
    except msgspec.MsgspecError:
        return {}


class ZnodeFacts:
    """Reads committed changes of the tree and states what they mean."""

    def __init__(
        self, world: World, states: dict[str, PartitionInfo], assignments: dict[str, list[int]]
    ) -> None:
        """Keep ``states`` and ``assignments`` as the tree has them."""
        self.world = world
        self.states = states
        self.assignments = assignments

    def changed(self, kind: str, path: str, data: str | None, version: int) -> None:
        """A znode was created, changed or deleted, or somebody reads it again."""
        if path.startswith(TOPICS):
            topic, _, below = path[len(TOPICS) :].partition("/")
            if not below:
                self._topic(topic, data)
            elif below.endswith(STATE) and below.count("/") == STATE_SLASHES:
                self._state(intern(f"{topic}-{below.split('/')[1]}"), data, version)
        elif path.startswith(CONFIGS):
            self._config(kind, path[len(CONFIGS) :], data)
        elif path.startswith(BROKER_CONFIGS) and self.world.profile.has("dynamic_broker_config"):
            self._broker_config(kind, path[len(BROKER_CONFIGS) :], data)

    def controller_id(self) -> int | None:
        """The broker that /controller names."""
        node = self.world.zookeeper.find("/controller")
        if node is None:
            return None
        try:
            return _holder(node.data or "").brokerid
        except msgspec.MsgspecError:
            return None

    def _state(self, tp: str, data: str | None, version: int) -> None:
        if data is None:
            if self.states.pop(tp, None) is not None:
                self.world.emit(events.PartitionStateRemoved, tp)
            return
        try:
            found = _state(data)
        except msgspec.MsgspecError:
            return
        assigned = self.assignments.get(tp, [])
        self.states[tp] = PartitionInfo(
            found.leader, found.leader_epoch, found.isr, version, assigned, found.controller_epoch
        )
        self.world.emit(
            events.PartitionStateChanged,
            tp,
            found.leader,
            found.leader_epoch,
            found.isr,
            found.controller_epoch,
            version,
        )

    # ---- topics

    def _topic(self, topic: str, data: str | None) -> None:
        known = self._partitions_of(topic)
        if data is None:
            for tp in known:
                del self.assignments[tp]
            if known:
                self.world.emit(events.TopicDeleted, topic)
            return
        try:
            found = _topic(data)
            lists = {int(n): r for n, r in found.partitions.items() if n.isdecimal() and r}
        except (msgspec.MsgspecError, ValueError):
            return
        numbers = sorted(lists)
        new = [n for n in numbers if f"{topic}-{n}" not in self.assignments]
        for number in numbers:
            self._assign(topic, number, lists[number], found)
        if new and not known:
            config = dict(self.world.settings.topics.get(topic, {}))
            self.world.emit(events.TopicCreated, topic, [lists[n] for n in new], config)
        elif new:
            self.world.emit(events.PartitionsAdded, topic, new[0], [lists[n] for n in new])

    def _partitions_of(self, topic: str) -> list[str]:
        found: list[str] = []
        while (tp := f"{topic}-{len(found)}") in self.assignments:
            found.append(tp)
        return found

    def _assign(self, topic: str, number: int, replicas: list[int], found: TopicJson) -> None:
        """Take a partition's replicas; that they changed is a fact of its own."""
        tp = intern(f"{topic}-{number}")
        before = self.assignments.get(tp)
        self.assignments[tp] = replicas
        if before is not None and before != replicas:
            adding = found.adding_replicas.get(str(number), [])
            removing = found.removing_replicas.get(str(number), [])
            self.world.emit(events.ReplicasAssigned, tp, replicas, adding, removing)

    def _config(self, kind: str, topic: str, data: str | None) -> None:
        settings = self.world.settings.topics
        try:
            found = _config(data).config if data else {}
        except msgspec.MsgspecError:
            return
        before = settings.get(topic, {})
        settings[topic] = found
        self.world.configuration_changed()
        if kind == "changed":
            self._config_changed("topic", topic, before, found)

    def _broker_config(self, kind: str, name: str, data: str | None) -> None:
        """Take one broker's own values, unless one of them is none that it can have.

        Up to 2.4 a broker goes on with a value that is there no longer until it is restarted.
        """
        if not name.isdecimal() or str(int(name)) != name:
            return
        settings = self.world.settings
        try:
            found = _config(data).config if data else {}
            resolve(settings.version, {**settings.defaults, **found})
        except (msgspec.MsgspecError, ConfigError):
            return
        before = settings.brokers.get(int(name), {})
        if kind != AGAIN and self.world.profile.has("removed_broker_config_stays"):
            found = before | found
        settings.brokers[int(name)] = found
        self.world.configuration_changed()
        self._config_changed("broker", name, before, found)

    def _config_changed(
        self, entity: str, name: str, before: dict[str, str], after: dict[str, str]
    ) -> None:
        for key in [*before, *(key for key in after if key not in before)]:
            if before.get(key) != after.get(key):
                self.world.emit(events.ConfigChanged, entity, name, key, after.get(key, ""))
