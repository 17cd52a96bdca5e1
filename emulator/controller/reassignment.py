"""Partition reassignment: add the new replicas, wait until they are in sync, drop the old ones.

Source: KafkaController.onPartitionReassignment; from 2.4 (KIP-455) the topic's znode lists the
replicas being added and removed, and a reassignment can be cancelled.
"""

from contextlib import suppress

from msgspec import Struct

from emulator.common.names import split
from emulator.controller.channels import Batch, Channels
from emulator.controller.context import ControllerContext, Move, UnreadableError
from emulator.controller.hash_order import set_order
from emulator.controller.partition_state_machine import PartitionStateMachine
from emulator.controller.replica_state_machine import (
    REPLICA_NEW,
    REPLICA_NON_EXISTENT,
    REPLICA_ONLINE,
    ReplicaStateMachine,
)
from emulator.controller.topic_deletion import TopicDeletion
from emulator.protocol import PartitionInfo
from emulator.replication import election as elections
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors


class Reassignment(Struct, eq=False):
    """The reassignments of an active controller."""

    context: ControllerContext
    channels: Channels
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    deletion: TopicDeletion

    @property
    def _is_listed(self) -> bool:
        """Whether the topic's znode lists added and removed replicas (KIP-455)."""
        return self.context.profile.has("cancel_reassignment")

    def _move(self, tp: str) -> Move | None:
        """A partition's reassignment.

        One of a topic that was deleted remains. From 2.4 on it is to what a topic of the same name
        has by now: so it is complete.
        """
        move = self.context.state.reassigning.get(tp)
        if move is None or move.target:
            return move
        replicas = self.context.state.assignments.get(tp, [])
        return Move(replicas, replicas)

    # ---- requests

    def changed(self, kind: str) -> None:
        """Handle a change to the admin znode."""
        if self.context.asks_anew(kind):
            self.look()

    def look(self) -> list[str]:
        """PartitionReassignment event: start what /admin/reassign_partitions requests.

        Return the partitions whose reassignment has started.
        """
        self.context.zk.watch(znodes.REASSIGN_PARTITIONS)
        requested = dict(self._requested_moves())
        state = self.context.state
        if self._is_listed:
            started = [tp for tp, target in requested.items() if self._start(tp, target)]
            failed = [tp for tp in requested if tp not in started]
            if failed:
                self._drop(failed)
            return started
        if not self.context.profile.has("reassignments_remembered"):
            requested = {tp: to for tp, to in requested.items() if tp not in state.reassigning}
            for tp in [tp for tp in requested if self.context.is_deleting(tp)]:
                self._drop([tp])
                del requested[tp]
        elif self.context.zk.find(znodes.REASSIGN_PARTITIONS) is None:
            return []
        for tp, target in requested.items():
            state.reassigning[tp] = Move(state.assignments.get(tp, []), target)
        self._trigger(list(requested))
        return list(requested)

    def look_again(self) -> None:
        """Start new reassignments and finish complete ones, after a loss of ZooKeeper."""
        self.context.zk.watch(znodes.REASSIGN_PARTITIONS)
        for tp, target in self._requested_moves():
            move = self._move(tp)
            if move is None or (move.target != target and self._is_listed):
                self.look()
                break
        for tp in list(self.context.state.reassigning):
            self.check(tp)

    def load_requests(self) -> None:
        """Read the reassignments in progress as a new controller (``initializeControllerContext``).

        From 2.4 on the topics' znodes list them.
        """
        state = self.context.state
        if self._is_listed:
            return
        for tp, target in self._requested_moves():
            current = state.assignments.get(tp)
            is_over = current is None or current == target
            if is_over and not self.context.profile.has("reassignments_remembered"):
                self._drop([tp])
            else:
                state.reassigning[tp] = Move(current or [], target)

    def take_over(self) -> None:
        """Resume the reassignments in ZooKeeper as a new controller."""
        under_way = list(self.context.state.reassigning)
        if not self._is_listed:
            self.context.zk.watch(znodes.REASSIGN_PARTITIONS)
            self._trigger(under_way)
            return
        started = self.look()
        for tp in under_way:
            if tp not in started and tp in self.context.state.reassigning:
                self._go_on(tp)

    def resume(self, brokers: list[int]) -> None:
        """Resume reassignments to brokers that have started."""
        for tp in list(self.context.state.reassigning):
            move = self._move(tp)
            if move is not None and any(b in move.target for b in brokers):
                self._go_on(tp)

    def load(self, tp: str, adding: list[int], removing: list[int]) -> None:
        """Record a reassignment that a topic's znode lists as in progress."""
        replicas = self.context.state.assignments[tp]
        original = [b for b in replicas if b not in adding]
        target = [b for b in replicas if b not in removing]
        if (adding or removing) and original and target:  # else the content is malformed
            self.context.state.reassigning[tp] = Move(original, target)

    def _requested_moves(self) -> list[tuple[str, list[int]]]:
        """The reassignments requested in /admin/reassign_partitions; none if it cannot be read.

        Kafka treats invalid JSON as empty, and ends in an exception at an unexpected structure
        (``ReassignPartitionsZNode.decode``); either way the znode stays.
        """
        return znodes.moves_in(self.context.zk.data(znodes.REASSIGN_PARTITIONS)) or []

    def _start(self, tp: str, target: list[int]) -> bool:
        """Start a reassignment, unless the partition is unknown or being deleted (2.4+)."""
        current = self.context.state.assignments.get(tp)
        if current is None or not target or self.context.is_deleting(tp):
            return False
        try:
            self._begin(tp, target)
        except UnreadableError:
            return False
        return True

    def _trigger(self, tps: list[str]) -> None:
        """Go on with recorded reassignments, and drop those that are impossible (up to 2.3).

        From 2.0 on they are dropped together at the end, which rewrites the znode in any case.
        """
        at_once = not self.context.profile.has("reassignments_dropped_together")
        dropped: list[str] = []
        for tp in tps:
            if not self._triggered(tp):
                dropped.append(tp)
                if at_once:
                    self._drop([tp])
        if not at_once:
            self._drop(dropped)

    def _triggered(self, tp: str) -> bool:
        state, has = self.context.state, self.context.profile.has
        if has("reassignments_remembered") and self.context.is_deleting(tp):
            return False
        current, target = state.assignments.get(tp), state.reassigning[tp].target
        if current is None or current == target:
            return False
        if has("reassignment_needs_live_replicas") and any(b not in state.live for b in target):
            return False
        self.deletion.halt(split(tp)[0])
        try:
            self._go_on(tp)
        except UnreadableError:
            return False
        return True

    # ---- one reassignment

    def _begin(self, tp: str, target: list[int]) -> None:
        """Record the replicas to add and remove; drop those only an earlier target included."""
        state = self.context.state
        before, earlier = state.assignments[tp], self._move(tp)
        original = before if earlier is None else earlier.original
        replicas = list(dict.fromkeys([*target, *original]))
        move = Move([b for b in replicas if b in original], target)
        state.reassigning[tp] = move
        if self._is_listed and (replicas != before or move != (earlier or Move(before, before))):
            self._assign(tp, replicas, move)
            self._drop_replicas(tp, [b for b in before if b not in replicas])
        self._go_on(tp)

    def _go_on(self, tp: str) -> None:
        """OnPartitionReassignment.

        If the target replicas are not all in sync, assign the union of old and new ones, and bump
        the epoch, so that the new ones are started; else finish.

        Raises:
            UnreadableError: the topic, or the partition's state, does not exist.
        """
        if self._is_listed:
            self.deletion.halt(split(tp)[0])
        move = self._move(tp)
        if move is None or tp not in self.context.state.assignments:
            raise UnreadableError(f"Topic {split(tp)[0]} does not exist.")
        self.context.metadata.watch(tp)
        info = self.context.refresh(tp)
        if info is not None and self._is_complete(move, info):
            self._finish(tp, move)
            return
        if not self._is_listed:
            # Scala's toSet keeps the order of up to four elements.
            union = dict.fromkeys([*move.target, *self.context.state.assignments[tp]])
            self._assign(tp, set_order(union, lambda broker: broker), move)
        if info is None:
            raise UnreadableError(f"{znodes.state_path(tp)} cannot be read.")
        bumped = self.context.write(tp, info.leader, info.isr)
        batch = Batch()
        state = self.context.state
        batch.lead([b for b in state.assignments[tp] if b in state.live], tp, bumped)
        self.channels.send(batch)

    def _is_complete(self, move: Move, info: PartitionInfo) -> bool:
        """Whether all target replicas are in the ISR (from 2.4: or were replicas all along)."""
        if self._is_listed and sorted(move.original) == sorted(move.target):
            return True
        return all(broker in info.isr for broker in move.target)

    def _assign(self, tp: str, replicas: list[int], move: Move | None) -> None:
        """Write a partition's replica list to its topic's znode.

        Raises:
            UnreadableError: its content is malformed and cannot be updated.
        """
        topic, number = split(tp)
        path = znodes.topic_path(topic)
        assignment = self.context.metadata.assignment(topic)
        if assignment is None:
            raise UnreadableError(f"{path} holds no assignment.")
        self.context.check_epoch()
        self._list(tp, replicas)
        if self._is_listed:
            adding = [b for b in replicas if move is not None and b not in move.original]
            removing = [b for b in replicas if move is not None and b not in move.target]
            lists = ({number: adding}, {number: removing})
            text = znodes.changed_topic_json(assignment, {number: replicas}, *lists)
        else:
            text = znodes.changed_topic_json(assignment, {number: replicas})
        self.context.zk.set_data(path, text)

    def _list(self, tp: str, replicas: list[int]) -> None:
        """Update the cached replica list: added replicas become new, removed ones keep state."""
        before = self.context.state.assignments[tp]
        for broker in replicas:
            if self.replicas.state_of(tp, broker) == REPLICA_NON_EXISTENT:
                self.replicas.move(tp, broker, REPLICA_NEW)
        self.replicas.keep(tp, [b for b in before if b not in replicas])
        self.context.state.assignments[tp] = replicas

    def state_changed(self, tp: str, kind: str) -> None:
        """PartitionReassignmentIsrChange; up to 1.0 a state znode that is created counts, too."""
        if kind == "NodeDataChanged" or self.context.profile.has("admin_requests_data_watched"):
            self.check(tp)

    def check(self, tp: str) -> None:
        """Finish a reassignment once all targets are in the ISR; watch the state until then."""
        move = self._move(tp)
        if move is None:
            return
        self.context.metadata.watch(tp)
        info = self.context.refresh(tp)
        if info is not None and self._is_complete(move, info):
            self._finish(tp, move)

    def _finish(self, tp: str, move: Move) -> None:
        """Elect a target replica as leader, drop the old replicas, write the final list.

        It continues even if no leader can be elected: the last ISR member may be dropped then.
        """
        state = self.context.state
        removing = [b for b in state.assignments[tp] if b not in move.target]
        info = state.infos[tp]
        stays = info.leader in move.target and info.leader in state.live
        choice = None if stays else elections.reassigned(move.target, info.isr, list(state.live))
        self._list(tp, list(move.target))
        for broker in move.target:
            self.replicas.move(tp, broker, REPLICA_ONLINE)
        batch = Batch()
        if stays:
            info = self.context.write(tp, info.leader, info.isr)
            batch.lead([b for b in move.target if b in state.live], tp, info)
        elif not self.partitions.elect(tp, "Reassign", choice, move.target, batch):
            self.context.failed(tp, "Reassign", "no target replica is alive and in sync")
        self.channels.send(batch)
        self._drop_replicas(tp, removing)
        self._assign(tp, list(move.target), None)
        self._drop([tp], move.target)
        batch = Batch()
        batch.metadata[tp] = state.infos[tp]
        self.channels.send(batch)
        self.deletion.resume_for((split(tp)[0],))

    def _drop_replicas(self, tp: str, removing: list[int]) -> None:
        stop, delete = Batch(), Batch()
        for broker in removing:
            info = self.context.state.infos.get(tp)  # None if the partition has never had a leader
            epoch = -1 if info is None else info.leader_epoch
            stop.stop_replica(broker, tp, epoch)
            self.replicas.go_offline(tp, broker, stop)
            self.replicas.drop(tp, broker)
            delete.delete_replica(broker, tp, epoch)
        self.channels.send(stop)
        self.channels.send(delete)

    def alter(self, tp: str, target: list[int] | None) -> str:
        """Process one AlterPartitionReassignments entry (2.4+, KIP-455); return the error's name.

        Without a target the reassignment is cancelled: the original replicas become the target.
        Only replicas that are added must be alive, and the partition is looked for last. Source:
        ``KafkaController.validateReplicas``, ``maybeTriggerPartitionReassignment``.
        """
        state = self.context.state
        move = state.reassigning.get(tp)
        if target is None:
            if move is None or not move.target:
                return "NO_REASSIGNMENT_IN_PROGRESS"
            target = list(move.original)
        else:
            before = state.assignments.get(tp, ()) if move is None else move.original
            added = {*target} - {*before}
            if not target or len({*target}) < len(target) or not added <= {*state.live}:
                return "INVALID_REPLICA_ASSIGNMENT"
        if tp not in state.assignments or self.context.is_deleting(tp):
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if self.context.zk.find(znodes.REASSIGN_PARTITIONS) is not None:
            self._drop([tp])
        self._begin(tp, target)
        return "NONE"

    # ---- the admin znode

    def _drop(self, tps: list[str], target: list[int] | None = None) -> None:
        """Remove entries from /admin/reassign_partitions; delete the znode with its last entry.

        From 1.1 to 2.3 it is written from memory. From 2.4 on an entry of a finished reassignment
        is only removed if its target was ``target``.
        """
        state = self.context.state
        remembered = self.context.profile.has("reassignments_remembered")
        of_any = target is None or not self._is_listed
        there = [(tp, move.target) for tp, move in state.reassigning.items()]
        remaining = [
            (tp, replicas)
            for tp, replicas in (there if remembered else self._requested_moves())
            if tp not in tps or not (of_any or replicas == target)
        ]
        self._write(remaining)
        if target is not None or not self._is_listed:
            for tp in tps:
                state.reassigning.pop(tp, None)
        if not remaining:
            self.look()

    def _write(self, moves: list[tuple[str, list[int]]]) -> None:
        self.context.check_epoch()
        is_there = self.context.zk.find(znodes.REASSIGN_PARTITIONS) is not None
        text = znodes.moves_json(moves)
        if moves and is_there:
            self.context.zk.set_data(znodes.REASSIGN_PARTITIONS, text)
        elif moves:
            self.context.zk.create(znodes.REASSIGN_PARTITIONS, text)
        elif is_there:
            with suppress(errors.NotEmptyError):
                self.context.zk.delete(znodes.REASSIGN_PARTITIONS)
