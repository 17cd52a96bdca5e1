"""Moving partitions: add the new replicas, wait until they are in sync, drop the old ones.

Source: KafkaController.onPartitionReassignment; from 2.4 (KIP-455) the topic's znode says which
replicas are being added and removed, and a move can be taken back.
"""

import json

import msgspec

from emulator.controller import elections
from emulator.controller.channels import Batch
from emulator.controller.part import Part
from emulator.controller.state import Move
from emulator.isr import state_path
from emulator.world import split
from emulator.znode_json import compact
from emulator.zookeeper import errors

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

    def look(self) -> None:
        """PartitionReassignment event: begin what /admin/reassign_partitions asks for."""
        zookeeper = self.world.zookeeper
        zookeeper.watch_exists(self.broker.id, REASSIGN)
        asked = self._asked()
        if not asked and zookeeper.find(REASSIGN) is not None:
            self._delete_node()
        for wanted in asked:
            tp = f"{wanted.topic}-{wanted.partition}"
            if (
                tp in self.state.reassigning
                and self.state.reassigning[tp].target == wanted.replicas
            ):
                self.check(tp)
            elif self._possible(tp, wanted.replicas):
                self._begin(tp, wanted.replicas)
            else:
                self._drop(tp)

    def _asked(self) -> list[MoveJson]:
        node = self.world.zookeeper.find(REASSIGN)
        if node is None:
            return []
        try:
            return msgspec.json.decode(node.data or "", type=MovesJson).partitions
        except msgspec.MsgspecError:
            self._delete_node()
            return []

    def _possible(self, tp: str, target: list[int]) -> bool:
        state = self.state
        current = state.assignments.get(tp)
        deleting = tp.rpartition("-")[0] in state.deleting
        return (
            current is not None
            and current != target
            and bool(target)
            and not deleting
            and all(broker in state.live for broker in target)
        )

    # ---- one move

    def _begin(self, tp: str, target: list[int]) -> None:
        """Assign old and new replicas together, raise the epoch, start the new ones."""
        state = self.state
        before = state.reassigning.get(tp)
        original = state.assignments[tp] if before is None else before.original
        adding = [b for b in target if b not in original]
        removing = [b for b in original if b not in target]
        state.reassigning[tp] = Move(original, target)
        self._assign(tp, [*target, *removing], adding, removing)
        if self.controller.partitions.refresh(tp) is None:
            return
        info = state.infos[tp]
        bumped = self.controller.partitions.write(tp, info.leader, info.isr)
        batch = Batch()
        batch.lead([b for b in state.assignments[tp] if b in state.live], tp, bumped)
        self.controller.channels.send(batch)
        self.check(tp)

    def _assign(self, tp: str, replicas: list[int], adding: list[int], removing: list[int]) -> None:
        """Write a partition's replica list into its topic's znode."""
        topic, number = split(tp)
        path = f"/brokers/topics/{topic}"
        found = json.loads(self.world.zookeeper.get(path).data or "{}")
        found["partitions"][str(number)] = replicas
        if "adding_replicas" in found:
            for name, brokers in (("adding_replicas", adding), ("removing_replicas", removing)):
                if brokers:
                    found[name][str(number)] = brokers
                else:
                    found[name].pop(str(number), None)
        self.controller.partitions.check_office()
        self.state.assignments[tp] = replicas
        data = compact(found)
        self.world.zookeeper.set_data(self.world, path, data)

    def check(self, tp: str) -> None:
        """Finish a move once all target replicas are in the ISR; watch the state until then."""
        move = self.state.reassigning.get(tp)
        if move is None:
            return
        self.world.zookeeper.watch_data(self.broker.id, state_path(tp))
        info = self.controller.partitions.refresh(tp)
        if info is not None and all(broker in info.isr for broker in move.target):
            self._finish(tp, move)

    def check_all(self) -> None:
        """Look at every move again."""
        for tp in list(self.state.reassigning):
            self.check(tp)

    def _finish(self, tp: str, move: Move) -> None:
        """Let a target replica lead, drop the old replicas, write the final list."""
        state, partitions = self.state, self.controller.partitions
        removing = [b for b in state.assignments[tp] if b not in move.target]
        state.assignments[tp] = list(move.target)
        info = state.infos[tp]
        batch = Batch()
        if info.leader in move.target and info.leader in state.live:
            info = partitions.write(tp, info.leader, info.isr)
            batch.lead([b for b in move.target if b in state.live], tp, info)
        else:
            choice = elections.reassigned(move.target, info.isr, list(state.live))
            if choice is None:
                return
            partitions.lead(tp, choice, "Reassign", batch)
        self.controller.channels.send(batch)
        self._drop_replicas(tp, removing)
        self._assign(tp, list(move.target), [], [])
        del state.reassigning[tp]
        self._drop(tp)
        batch = Batch()
        batch.metadata[tp] = state.infos[tp]
        self.controller.channels.send(batch)
        self.controller.deletion.resume()

    def _drop_replicas(self, tp: str, removing: list[int]) -> None:
        stop, delete = Batch(), Batch()
        for broker in removing:
            epoch = self.state.infos[tp].leader_epoch
            stop.stop_replica(broker, tp, epoch)
            self.controller.partitions.replica_offline(tp, broker, stop)
            delete.delete_replica(broker, tp, epoch)
        self.controller.channels.send(stop)
        self.controller.channels.send(delete)

    def cancel(self, tp: str) -> None:
        """Take a move back (2.4+): the original replicas are the target again."""
        move = self.state.reassigning.get(tp)
        if move is not None:
            self._begin(tp, list(move.original))

    # ---- the admin znode

    def _drop(self, tp: str) -> None:
        """Take one partition out of /admin/reassign_partitions; the node goes with the last one."""
        left = [m for m in self._asked() if f"{m.topic}-{m.partition}" != tp]
        if left:
            kept = [
                {"topic": m.topic, "partition": m.partition, "replicas": m.replicas} for m in left
            ]
            data = compact({"version": 1, "partitions": kept})
            self.world.zookeeper.set_data(self.world, REASSIGN, data)
        else:
            self._delete_node()

    def _delete_node(self) -> None:
        try:
            self.world.zookeeper.delete(self.world, REASSIGN)
        except errors.NoNodeError:
            return
        self.world.zookeeper.watch_exists(self.broker.id, REASSIGN)
