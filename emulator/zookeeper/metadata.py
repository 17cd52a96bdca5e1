"""The metadata of partitions, and the events derived from its committed changes.

:class:`PartitionMetadata` is the only way by which brokers and the controller read a partition's
state, write it conditionally, and watch it for changes. Its interface does not expose the tree of
znodes, so that a metadata log can replace it.

:class:`ZnodeFacts` observes the tree from outside. Whichever client writes (a leader, the
controller, an external one), the meaning of a committed change is derived here once and emitted as
events. Nothing in the cluster's behaviour depends on it.
"""

from collections.abc import Iterable, Sequence
from sys import intern

from msgspec import Struct

from emulator import events
from emulator.protocol import PartitionInfo
from emulator.simulation.kernel import Emit
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.client import ZkClient
from emulator.zookeeper.data import PartitionState, TopicAssignment


class VersionedState(Struct, frozen=True, array_like=True):
    """A partition's state, and its version for conditional writes."""

    state: PartitionState
    version: int


class PartitionMetadata:
    """The states of partitions, as one broker reads and writes them."""

    def __init__(self, zk: ZkClient) -> None:
        self._zk = zk

    def read(self, tp: str) -> VersionedState | None:
        """A partition's state; None if it is missing or malformed.

        Raises:
            ConnectionLoss: it cannot be read now.
        """
        node = self._zk.find(znodes.state_path(tp))
        state = None if node is None else znodes.state_in(node.data)
        return None if node is None or state is None else VersionedState(state, node.version)

    def create(self, tp: str, state: PartitionState) -> int:
        """Write the initial state of a partition; return its version.

        Raises:
            NodeExistsError: it already has one.
            NoNodeError: its topic is gone.
            ConnectionLoss: no response arrived; it may or may not have been written.
        """
        topic, _, number = tp.rpartition("-")
        above = znodes.partitions_path(topic)
        path = f"{above}/{number}"
        self._zk.create_below((above, path), f"{path}/state", _json(state))
        return 0

    def write(self, tp: str, state: PartitionState, version: int) -> int:
        """Replace a partition's state if its version is ``version``; return the new version.

        Raises:
            BadVersionError: another client has replaced it.
            NoNodeError: it is gone.
            ConnectionLoss: no response arrived; it may or may not have been written.
        """
        return self._zk.set_data(znodes.state_path(tp), _json(state), version)

    def write_isr(self, tp: str, state: PartitionState, version: int) -> int:
        """Replace a state as the partition's leader does (up to 2.6); return the new version.

        An earlier attempt may have succeeded although its response was lost. So a version mismatch
        is no error if the state is exactly the one to be written
        (``ReplicationUtils.checkLeaderAndIsrZkData``).

        Raises:
            BadVersionError: another client has replaced it.
            NoNodeError: it is gone.
            ConnectionLoss: no response arrived; retry once ZooKeeper is reachable.
        """
        try:
            return self.write(tp, state, version)
        except errors.BadVersionError:
            stored = self.read(tp)
            if stored is not None and stored.state == state:
                return stored.version
            raise

    def watch(self, tp: str) -> None:
        """Watch once for a change to a partition's state."""
        self._zk.watch(znodes.state_path(tp))

    # ---- topics

    def assignment(self, topic: str) -> TopicAssignment | None:
        """A topic's assignment; None if it is missing or malformed.

        Raises:
            ConnectionLoss: it cannot be read now.
        """
        return znodes.topic_in(self._zk.data(znodes.topic_path(topic)))

    def watch_assignment(self, topic: str) -> None:
        """Watch once for a change to a topic's assignment."""
        self._zk.watch(znodes.topic_path(topic))

    # ---- ISRs written by leaders

    def announced(self) -> dict[str, list[str]]:
        """The existing notifications: the partitions in each, by its path.

        A malformed one contains none.

        Raises:
            ConnectionLoss: they cannot be read now.
        """
        paths = [f"{znodes.ISR_CHANGES}/{name}" for name in self._zk.children(znodes.ISR_CHANGES)]
        return {path: znodes.partitions_in(self._zk.data(path)) or [] for path in paths}

    def watch_announcements(self) -> None:
        """Watch once for added or deleted notifications."""
        self._zk.watch_children(znodes.ISR_CHANGES)

    def announce(self, tps: Iterable[str]) -> None:
        """Notify the controller of the partitions whose ISRs this broker has written (0.9 to 2.6).

        Raises:
            ZooKeeperError: the notification could not be written.
        """
        data = znodes.partitions_json(tps)
        self._zk.create(znodes.ISR_CHANGE, data, sequential=True)


def _json(state: PartitionState) -> str:
    return znodes.state_json(
        state.leader,
        state.leader_epoch,
        state.isr,
        state.controller_epoch,
        state.leader_recovery_state,
    )


class ZnodeFacts:
    """Observes committed changes of the tree and emits the events that they imply."""

    def __init__(
        self,
        emit: Emit,
        states: dict[str, PartitionInfo],
        assignments: dict[str, list[int]],
        topic_configs: dict[str, dict[str, str]],
    ) -> None:
        """Keep ``states``, ``assignments`` and ``topic_configs`` in sync with the tree."""
        self.emit = emit
        self.states = states
        self.assignments = assignments
        self.topic_configs = topic_configs
        self._numbers: dict[str, dict[int, None]] | None = None

    def changed(self, kind: str, path: str, data: str | None, version: int) -> None:
        """Handle the creation, change or deletion of a znode."""
        if path.startswith("/brokers/topics/"):
            if path.endswith("/state"):
                if (tp := znodes.partition_of(path)) is not None:
                    self._state(intern(tp), data, version)
            elif (topic := znodes.topic_of(path)) is not None:
                self._topic(topic, data)
        elif path.startswith("/config/topics/"):
            self._config(kind, path.rpartition("/")[2], data)

    def _state(self, tp: str, data: str | None, version: int) -> None:
        if data is None:
            if self.states.pop(tp, None) is not None:
                self.emit(events.PartitionStateRemoved, tp)
            return
        state = znodes.state_in(data)
        if state is None:
            return
        assigned = self.assignments.get(tp, [])
        self.states[tp] = PartitionInfo(
            state.leader, state.leader_epoch, state.isr, version, assigned, state.controller_epoch
        )
        self.emit(
            events.PartitionStateChanged,
            tp,
            state.leader,
            state.leader_epoch,
            state.isr,
            state.controller_epoch,
            version,
        )

    # ---- topics

    def _topic(self, topic: str, data: str | None) -> None:
        numbers = self._numbers_of(topic)
        if data is None:
            for number in numbers:
                self.assignments.pop(f"{topic}-{number}", None)
            if numbers:
                numbers.clear()
                self.emit(events.TopicDeleted, topic)
            return
        assignment = znodes.topic_in(data)
        if assignment is None:
            return
        is_new = not numbers
        added = [number for number in assignment.replicas if number not in numbers]
        for number, replicas in assignment.replicas.items():
            self._assign(topic, number, replicas, assignment)
        numbers.update(dict.fromkeys(added))
        runs = _runs(added)
        if is_new and added:
            first = runs.pop(0) if added[0] == 0 else []
            config = dict(self.topic_configs.get(topic, {}))
            self.emit(events.TopicCreated, topic, [assignment.replicas[n] for n in first], config)
        for run in runs:
            lists = [assignment.replicas[number] for number in run]
            self.emit(events.PartitionsAdded, topic, run[0], lists)

    def _numbers_of(self, topic: str) -> dict[int, None]:
        """A topic's partition numbers; they may have gaps if an external client wrote them."""
        if self._numbers is None:
            self._numbers = {}
            for tp in self.assignments:
                name, _, number = tp.rpartition("-")
                self._numbers.setdefault(name, {})[int(number)] = None
        return self._numbers.setdefault(topic, {})

    def _assign(
        self, topic: str, number: int, replicas: list[int], assignment: TopicAssignment
    ) -> None:
        """Store a partition's replicas; emit an event if they changed."""
        tp = intern(f"{topic}-{number}")
        before = self.assignments.get(tp)
        self.assignments[tp] = replicas
        if before is not None and before != replicas:
            adding, removing = (
                assignment.adding.get(number, []),
                assignment.removing.get(number, []),
            )
            self.emit(events.ReplicasAssigned, tp, replicas, adding, removing)

    def _config(self, kind: str, topic: str, data: str | None) -> None:
        config = znodes.config_in(data) if data else {}
        if config is None:
            return
        before = self.topic_configs.get(topic, {})
        if config:
            self.topic_configs[topic] = config
        else:
            self.topic_configs.pop(topic, None)
        if kind == "changed":
            state_changes(self.emit, "topic", topic, before, config)


def state_changes(
    emit: Emit, entity: str, name: str, before: dict[str, str], after: dict[str, str]
) -> None:
    """Emit the configuration values of a topic or broker that differ from before."""
    for key in [*before, *(key for key in after if key not in before)]:
        if before.get(key) != after.get(key):
            emit(events.ConfigChanged, entity, name, key, after.get(key, ""))


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Ascending numbers, split at each gap."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs
