"""The controller in ZooKeeper mode, and how brokers learn its decisions.

It decides at once, writes the state znode, and sends LeaderAndIsr requests, which arrive later and
in order for each broker. Elections follow :mod:`emulator.replication.election`. There is a single
controller; it never fails, and notices a crash at once.
"""

from typing import Any, NamedTuple

from emulator.explorer.bounds import Bounds
from emulator.explorer.brokers import (
    Applied,
    BrokerActions,
    Change,
    Outcomes,
    Process,
    Processes,
    effect_details,
    running,
    step,
    with_process,
)
from emulator.explorer.model import Action, Rule, Value
from emulator.explorer.replica import AlterResponse, Replica, Stepped
from emulator.replication import election
from emulator.replication.partition import BecomeFollower, BecomeLeader, Command, IsrStored


class Quorum(NamedTuple):
    """The partition's state znode, and the order of its assigned replicas.

    The first replica is the preferred leader.
    """

    leader: int
    epoch: int
    isr: tuple[int, ...]
    version: int
    assigned: tuple[int, ...]

    def decided(self, leader: int, isr: tuple[int, ...]) -> "Quorum":
        """Return the state with a new leader epoch."""
        return self._replace(leader=leader, epoch=self.epoch + 1, isr=isr, version=self.version + 1)

    @property
    def request(self) -> "LeaderAndIsr":
        return LeaderAndIsr(self.leader, self.epoch, self.isr, self.version)


class LeaderAndIsr(NamedTuple):
    """A LeaderAndIsr request in flight to a broker."""

    leader: int
    epoch: int
    isr: tuple[int, ...]
    version: int


class ZooKeeperMode(BrokerActions):
    """A partition whose state is a znode."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(bounds)
        self.isr_order = self.rules.profile.has("offline_election_in_isr_order")

    def initial(self) -> tuple[Value, ...]:
        """The initial state: all replicas are in sync, with the first LeaderAndIsr handled."""
        brokers = self.parts.brokers
        quorum = Quorum(brokers[0], 0, brokers, 0, brokers[::-1])
        empty = Replica(epochs=() if self.rules.leader_epochs else None)
        replicas = []
        for broker in brokers:
            restarted = self.restarted(broker, empty)
            replicas.append(self._apply_request(broker, restarted, quorum.request, brokers).replica)
        queues = [() for _ in brokers]
        return (*replicas, *queues, quorum, tuple(Process() for _ in brokers), (), 0, 0, 0, 0)

    def around(self, broker: int) -> tuple[int, ...]:
        """The processes: it is known at once which brokers are alive."""
        return (self.parts.processes,)

    def alive(self, *around: Any) -> tuple[int, ...]:
        """The brokers whose processes are running."""
        (processes,) = around
        return running(processes)

    # ---- LeaderAndIsr

    def receive(self, broker: int, queue: tuple[LeaderAndIsr, ...]) -> Outcomes:
        """A broker receives the oldest LeaderAndIsr request in flight."""
        if queue:
            reads = (self.parts.replica(broker), self.parts.processes)
            yield Rule(reads, self._received, (broker, queue))

    def _received(
        self,
        broker: int,
        queue: tuple[LeaderAndIsr, ...],
        replica: Replica,
        processes: Processes,
    ) -> Outcomes:
        request, live = queue[0], running(processes)
        received: Change = (self.parts.channel(broker), queue, queue[1:])
        details: tuple[tuple[str, object], ...] = (
            ("broker", broker),
            ("leader", request.leader),
            ("epoch", request.epoch),
        )
        stepped = Stepped(replica, [])
        if not replica.is_known or request.epoch > replica.leader_epoch:
            stepped = self._apply_request(broker, replica, request, live)
            details += tuple(effect_details(stepped))
        action = Action("LeaderAndIsr", details)
        yield from self.settle(action, broker, replica, stepped, (received,), live)

    def _apply_request(
        self, broker: int, replica: Replica, request: LeaderAndIsr, live: tuple[int, ...]
    ) -> Stepped:
        assigned = list(self.parts.brokers)
        command: Command
        if request.leader == broker:
            isr = list(request.isr)
            command = BecomeLeader(request.epoch, 1, isr, assigned, request.version)
        else:
            command = BecomeFollower(
                request.leader, request.epoch, 1, assigned, request.version, leader_is_alive=True
            )
        return self.rules_of[broker].do(replica, command, live)

    # ---- AlterPartition (2.7+), and znode writes

    def propose(self, applied: Applied, isr: tuple[int, ...]) -> Outcomes:
        """Up to 2.6 the leader writes the ISR to ZooKeeper."""
        if self.rules.isr_by_controller:
            yield from self.finish(applied)
        else:
            yield Rule((self.parts.decided,), self._store_isr, (applied, isr))

    def _store_isr(self, applied: Applied, isr: tuple[int, ...], quorum: Quorum) -> Outcomes:
        """A conditional write with the znode version known to the leader; a mismatch is skipped."""
        if applied.after.zk_version == quorum.version:
            stored = quorum._replace(isr=isr, version=quorum.version + 1)
            command = IsrStored(list(isr), stored.version, applied.after.leader_epoch)
            applied = self.apply_next(applied, command)
            change: Change = (self.parts.decided, quorum, stored)
            applied = applied._replace(others=(*applied.others, change))
        yield from self.finish(applied)

    def alter(
        self, broker: int, replica: Replica, quorum: Quorum, processes: Processes
    ) -> Outcomes:
        """The controller stores a pending ISR; from 3.3 on only of live brokers (KIP-841)."""
        assert replica.pending is not None
        isr, change = replica.pending
        decided = (quorum.leader, quorum.epoch, quorum.version)
        if decided != (broker, replica.leader_epoch, replica.zk_version):
            return
        if self.rules.only_live_members and not set(isr) <= set(running(processes)):
            return
        stored = quorum._replace(isr=isr, version=quorum.version + 1)
        response = AlterResponse(isr, stored.version, quorum.epoch)
        action = Action("AlterPartition", (("leader", broker), ("isr", list(isr)), (change, True)))
        changes: tuple[Change, ...] = (
            (self.parts.replica(broker), replica, replica._replace(alter_response=response)),
            (self.parts.decided, quorum, stored),
        )
        yield step(action, changes)

    # ---- the controller

    def move_leadership(self, quorum: Quorum, processes: Processes, used: int) -> Outcomes:
        """Leadership moves to another ISR member through a preferred leader election.

        If that member is not the preferred leader, the replicas are first reassigned in a new
        order. This completes at once if all of them are in sync, and bumps the leader epoch.
        """
        if used == self.bounds.elections or quorum.leader < 0:
            return
        live = running(processes)
        all_in_sync = len(live) == len(quorum.isr) == len(quorum.assigned)
        for broker in quorum.isr:
            preferred = broker == quorum.assigned[0]
            if broker == quorum.leader or broker not in live or not (preferred or all_in_sync):
                continue
            requests: tuple[LeaderAndIsr, ...] = ()
            decided = quorum
            if not preferred:
                others = tuple(replica for replica in quorum.assigned if replica != broker)
                decided = quorum.decided(quorum.leader, quorum.isr)
                decided = decided._replace(assigned=(broker, *others))
                requests = (decided.request,)
            decided = decided.decided(broker, quorum.isr)
            action = Action("MoveLeadership", (("to", broker), ("epoch", decided.epoch)))
            changes: tuple[Change, ...] = (
                (self.parts.decided, quorum, decided),
                (self.parts.elections, used, used + 1),
            )
            yield self._send(action, changes, (*requests, decided.request), live)

    def _send(
        self,
        action: Action,
        changes: tuple[Change, ...],
        requests: tuple[LeaderAndIsr, ...],
        to: tuple[int, ...],
    ) -> Rule:
        """Send the state to some brokers as LeaderAndIsr requests."""
        reads = tuple(self.parts.channel(broker) for broker in to)
        return Rule(reads, self._sent, (action, changes, requests, reads))

    def _sent(
        self,
        action: Action,
        changes: tuple[Change, ...],
        requests: tuple[LeaderAndIsr, ...],
        reads: tuple[int, ...],
        *queues: tuple[LeaderAndIsr, ...],
    ) -> Outcomes:
        added = (
            (part, queue, (*queue, *requests)) for part, queue in zip(reads, queues, strict=True)
        )
        yield step(action, (*changes, *added))

    # ---- processes

    def broker_stopped(
        self,
        action: Action,
        broker: int,
        changes: tuple[Change, ...],
        live: tuple[int, ...],
        quorum: Quorum,
        queue: tuple[LeaderAndIsr, ...],
    ) -> Outcomes:
        """The controller elects a new leader and removes the broker from the ISR."""
        changes = (*changes, (self.parts.channel(broker), queue, ()))
        decided = quorum
        if quorum.leader == broker:
            choice = self._elect(quorum, live)
            if choice is None:
                isr = tuple(member for member in quorum.isr if member != broker)
                decided = quorum.decided(-1, isr or quorum.isr)
            else:
                decided = quorum.decided(choice.leader, tuple(choice.isr))
        elif broker in quorum.isr and len(quorum.isr) > 1:
            isr = tuple(member for member in quorum.isr if member != broker)
            decided = quorum.decided(quorum.leader, isr)
        yield from self._store_and_send(action, changes, quorum, decided, live)

    def _store_and_send(
        self,
        action: Action,
        changes: tuple[Change, ...],
        before: Quorum,
        decided: Quorum,
        to: tuple[int, ...],
    ) -> Outcomes:
        if decided != before:
            changes = (*changes, (self.parts.decided, before, decided))
        if to and decided.leader >= 0:
            yield self._send(action, changes, (decided.request,), to)
        else:
            yield step(action, changes)

    def _elect(self, quorum: Quorum, live: tuple[int, ...]) -> election.Choice | None:
        return election.offline(
            quorum.assigned,
            quorum.isr,
            live,
            unclean=self.bounds.unclean,
            isr_order=self.isr_order,
        )

    def started(
        self, broker: int, processes: Processes, replica: Replica, quorum: Quorum
    ) -> Outcomes:
        restarted = self.restarted(broker, replica)
        process = processes[broker - 1]
        process = process._replace(starts=process.starts + 1, is_up=True)
        after = with_process(processes, broker, process)
        live = running(after)
        changes: tuple[Change, ...] = (
            (self.parts.replica(broker), replica, restarted),
            (self.parts.processes, processes, after),
        )
        decided = quorum
        to: tuple[int, ...] = (broker,)
        choice = self._elect(quorum, live) if quorum.leader < 0 else None
        if choice is not None:
            decided, to = quorum.decided(choice.leader, tuple(choice.isr)), live
        action = Action("Start", (("broker", broker),))
        yield from self._store_and_send(action, changes, quorum, decided, to)
