"""Moving partitions: add the new replicas, wait until they are in sync, drop the old ones.

Source: KafkaController.onPartitionReassignment; from 2.4 (KIP-455) the topic's znode says which
replicas are being added and removed, and a move can be taken back.
"""

import json

import msgspec

from emulator.controller.channels import Batch
from emulator.controller.context import Move, Part
from emulator.controller.replica_state_machine import (
    REPLICA_NEW,
    REPLICA_NON_EXISTENT,
    REPLICA_ONLINE,
)
from emulator.protocol import PartitionInfo
from emulator.protocol.names import split
from emulator.replication import election as elections
from emulator.zookeeper import errors
from emulator.zookeeper.data import compact, state_path

REASSIGN = "/admin/reassign_partitions"


class MoveJson(msgspec.Struct):
    """One partition of /admin/reassign_partitions."""

    topic: str
    partition: int
    replicas: list[int]


class MovesJson(msgspec.Struct):
    """What /admin/reassign_partitions holds."""

    partitions: list[MoveJson]


class Reassignment(Part):
    """The moves of an active controller."""

    @property
    def _is_listed(self) -> bool:
        """Whether the topic's znode lists what a move adds and removes (KIP-455)."""
        return self.profile.has("cancel_reassignment")

    # ---- what is asked for

    def changed(self, kind: str) -> None:
        """The admin znode changed."""
        if self.asks_anew(kind):
            self.look()

    def look(self) -> None:
        """PartitionReassignment event: begin what /admin/reassign_partitions asks for."""
        self.world.zookeeper.watch_exists(self.context.id, REASSIGN)
        asked = {f"{each.topic}-{each.partition}": each.replicas for each in self._asked()}
        if not self._is_listed:
            asked = {tp: to for tp, to in asked.items() if tp not in self.state.reassigning}
        for tp in [tp for tp, target in asked.items() if not self._is_possible(tp, target)]:
            self._drop(tp)
            del asked[tp]
        for tp, target in asked.items():
            self._begin(tp, target)

    def look_again(self) -> None:
        """After a time without ZooKeeper: begin what is new, end what can be ended."""
        self.world.zookeeper.watch_exists(self.context.id, REASSIGN)
        for each in self._asked():
            tp = f"{each.topic}-{each.partition}"
            move = self.state.reassigning.get(tp)
            if move is not None and (move.target == each.replicas or not self._is_listed):
                self.check(tp)
            elif self._is_possible(tp, each.replicas):
                self._begin(tp, each.replicas)
        for tp in list(self.state.reassigning):
            self.check(tp)

    def take_over(self) -> None:
        """A new controller: go on with what ZooKeeper says is under way."""
        under_way = list(self.state.reassigning)
        asked = [f"{each.topic}-{each.partition}" for each in self._asked()]
        self.look()
        for tp in under_way:
            if tp not in asked:
                self._go_on(tp)

    def resume(self, brokers: list[int]) -> None:
        """Brokers started: go on with the moves to them."""
        for tp, move in list(self.state.reassigning.items()):
            if any(broker in move.target for broker in brokers):
                self._go_on(tp)

    def load(self, tp: str, adding: list[int], removing: list[int]) -> None:
        """Note a move that a topic's znode says is under way."""
        replicas = self.state.assignments[tp]
        if adding or removing:
            original = [b for b in replicas if b not in adding]
            target = [b for b in replicas if b not in removing]
            self.state.reassigning[tp] = Move(original, target)

    def _asked(self) -> list[MoveJson]:
        node = self.world.zookeeper.find(REASSIGN)
        try:
            return msgspec.json.decode((node and node.data) or "", type=MovesJson).partitions
        except msgspec.MsgspecError:
            return []

    def _is_possible(self, tp: str, target: list[int]) -> bool:
        current = self.state.assignments.get(tp)
        if current is None or self.controller.deletion.is_deleting(tp):
            return False
        if self._is_listed:
            return bool(target)
        live = all(broker in self.state.live for broker in target)
        return current != target and (
            live or not self.profile.has("reassignment_needs_live_replicas")
        )

    # ---- one move

    def _begin(self, tp: str, target: list[int]) -> None:
        """Note what is added and removed; what an earlier move added and this does not, goes."""
        state = self.state
        before, known = state.assignments[tp], state.reassigning.get(tp)
        original = before if known is None else known.original
        replicas = list(dict.fromkeys([*target, *original]))
        move = Move([b for b in replicas if b in original], target)
        state.reassigning[tp] = move
        if self._is_listed and (replicas != before or move != (known or Move(before, before))):
            self._assign(tp, replicas, move)
            self._drop_replicas(tp, [b for b in before if b not in replicas])
        self._go_on(tp)

    def _go_on(self, tp: str) -> None:
        """OnPartitionReassignment.

        If the target replicas are not all in sync, assign old and new ones together, and raise the
        epoch, so that the new ones are started; else finish.
        """
        self.world.zookeeper.watch_data(self.context.id, state_path(tp))
        info = self.controller.partitions.refresh(tp)
        if info is None:
            return
        move = self.state.reassigning[tp]
        if self._is_complete(move, info):
            self._finish(tp, move)
            return
        if not self._is_listed:
            self._assign(tp, list(dict.fromkeys([*move.target, *self.state.assignments[tp]])), move)
        bumped = self.controller.partitions.write(tp, info.leader, info.isr)
        batch = Batch()
        batch.lead([b for b in self.state.assignments[tp] if b in self.state.live], tp, bumped)
        self.controller.channels.send(batch)

    def _is_complete(self, move: Move, info: PartitionInfo) -> bool:
        """Whether all target replicas are in the ISR (from 2.4: or were there all along)."""
        if self._is_listed and sorted(move.original) == sorted(move.target):
            return True
        return all(broker in info.isr for broker in move.target)

    def _assign(self, tp: str, replicas: list[int], move: Move | None) -> None:
        """Write a partition's replica list into its topic's znode."""
        topic, number = split(tp)
        path = f"/brokers/topics/{topic}"
        found = json.loads(self.world.zookeeper.get(path).data or "{}")
        found["partitions"][str(number)] = replicas
        if "adding_replicas" in found:
            adding = [b for b in replicas if move is not None and b not in move.original]
            removing = [b for b in replicas if move is not None and b not in move.target]
            for name, brokers in (("adding_replicas", adding), ("removing_replicas", removing)):
                if brokers:
                    found[name][str(number)] = brokers
                else:
                    found[name].pop(str(number), None)
        self.controller.partitions.check_office()
        self._list(tp, replicas)
        data = compact(found)
        self.world.zookeeper.set_data(self.world, path, data)

    def _list(self, tp: str, replicas: list[int]) -> None:
        """Remember a replica list: who is new on it is a new replica, who is not stays one."""
        machines, before = self.controller.machines, self.state.assignments[tp]
        for broker in replicas:
            if machines.replica(tp, broker) == REPLICA_NON_EXISTENT:
                machines.move_replica(tp, broker, REPLICA_NEW)
        machines.keep(tp, [b for b in before if b not in replicas])
        self.state.assignments[tp] = replicas

    def check(self, tp: str) -> None:
        """Finish a move once all target replicas are in the ISR; watch the state until then."""
        move = self.state.reassigning.get(tp)
        if move is None:
            return
        self.world.zookeeper.watch_data(self.context.id, state_path(tp))
        info = self.controller.partitions.refresh(tp)
        if info is not None and self._is_complete(move, info):
            self._finish(tp, move)

    def _finish(self, tp: str, move: Move) -> None:
        """Let a target replica lead, drop the old replicas, write the final list.

        It goes on where nobody can be elected: what is then dropped may be the last of the ISR.
        """
        state, partitions = self.state, self.controller.partitions
        removing = [b for b in state.assignments[tp] if b not in move.target]
        info = state.infos[tp]
        stays = info.leader in move.target and info.leader in state.live
        choice = None if stays else elections.reassigned(move.target, info.isr, list(state.live))
        self._list(tp, list(move.target))
        for broker in move.target:
            self.controller.machines.move_replica(tp, broker, REPLICA_ONLINE)
        batch = Batch()
        if stays:
            info = partitions.write(tp, info.leader, info.isr)
            batch.lead([b for b in move.target if b in state.live], tp, info)
        elif choice is not None:
            partitions.lead(tp, choice, "Reassign", batch)
        else:
            partitions.failed(tp, "Reassign", "no target replica is alive and in sync")
        self.controller.channels.send(batch)
        self._drop_replicas(tp, removing)
        self._assign(tp, list(move.target), None)
        del state.reassigning[tp]
        self._drop(tp, move.target)
        batch = Batch()
        batch.metadata[tp] = state.infos[tp]
        self.controller.channels.send(batch)
        self.controller.deletion.resume()

    def _drop_replicas(self, tp: str, removing: list[int]) -> None:
        stop, delete = Batch(), Batch()
        for broker in removing:
            info = self.state.infos.get(tp)  # none while nobody has ever led the partition
            epoch = -1 if info is None else info.leader_epoch
            stop.stop_replica(broker, tp, epoch)
            self.controller.partitions.replica_offline(tp, broker, stop)
            self.controller.machines.drop(tp, broker)
            delete.delete_replica(broker, tp, epoch)
        self.controller.channels.send(stop)
        self.controller.channels.send(delete)

    def cancel(self, tp: str) -> None:
        """Take a move back (2.4+): the original replicas are the target again."""
        move = self.state.reassigning.get(tp)
        if move is not None:
            self._drop(tp)
            self._begin(tp, list(move.original))

    # ---- the admin znode

    def _drop(self, tp: str, target: list[int] | None = None) -> None:
        """Take a move out of /admin/reassign_partitions; the node goes with the last one.

        From 2.4 a move that has ended goes only if it was to ``target`` that it was asked to move.
        """
        of_any = target is None or not self._is_listed
        left = [
            each
            for each in self._asked()
            if f"{each.topic}-{each.partition}" != tp or not (of_any or each.replicas == target)
        ]
        if left:
            kept = [msgspec.structs.asdict(each) for each in left]
            data = compact({"version": 1, "partitions": kept})
            self.world.zookeeper.set_data(self.world, REASSIGN, data)
            return
        try:
            self.world.zookeeper.delete(self.world, REASSIGN)
        except errors.NoNodeError:
            return
        self.look()
