"""How a leader stores ISR changes through the controller (AlterPartition, KIP-497).

It does so from 2.7 on with ZooKeeper, and always in KRaft mode. Source: ``AlterPartitionManager``
(``AlterIsrManager`` up to 3.1), ``NodeToControllerRequestThread``.
"""

from collections.abc import Callable

from msgspec import Struct, field

from emulator.broker.replication.replica import LEADER, Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.broker_effects import ControllerKnown
from emulator.protocol import (
    AlterIsrItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
    PartitionInfo,
)
from emulator.replication.partition import RETRY_CHANGE, IsrRefused, IsrStored, ProposeIsr

ALTER_RETRY_US = 50_000
"""How long a leader waits before it retries an unanswered AlterPartition."""
TIMEOUT = "alter-partition-timeout"


class AlterPartitionState(Struct, array_like=True):
    """ISR changes to be stored; lost when the process ends.

    ``pending`` are partitions with a change for the controller, and the broker epochs of the
    members that were known when it was proposed (KIP-903). ``unanswered`` is the request for some
    of them, sent again as it is until it is answered; ``request`` is its number in flight (0:
    none). ``controller`` is the presumed controller (-1: unknown), kept until a connection to it
    breaks or it says that it is not the controller.
    """

    pending: dict[str, list[int]] = field(default_factory=dict)
    unanswered: AlterPartitionRequest | None = None
    request: int = 0
    controller: int = -1


class AlterPartitionManager:
    """Asks the controller to store the ISR changes of the partitions that a broker leads."""

    def __init__(
        self,
        context: BrokerContext,
        state: AlterPartitionState,
        replicas: Replicas,
        replica_epochs: Callable[[Replica, list[int]], list[int]],
    ) -> None:
        """Act in ``context`` on ``replicas``.

        ``replica_epochs`` returns the broker epochs with which the members of an ISR last fetched.
        """
        self.context = context
        self.kernel = context.kernel
        self.profile = context.profile
        self.state = state
        self.replicas = replicas
        self.names_epochs = context.metadata.has_broker_epochs and self.profile.has(
            "fetch_carries_broker_epoch"
        )
        self.replica_epochs = replica_epochs
        self.fails_to_retry = self.profile.has("unexpected_alter_isr_error_is_final")

    def tasks(self) -> dict[str, Callable[[], None]]:
        return {"alter-partition": self.send_pending, TIMEOUT: self.check_timeout}

    def propose(self, replica: Replica, effect: ProposeIsr) -> None:
        """Send a change with the next request."""
        epochs = self.replica_epochs(replica, effect.isr) if self.names_epochs else []
        self.state.pending[replica.tp] = epochs
        self.send_pending()

    def controller_known(self, _effect: ControllerKnown) -> None:
        """Remember the new controller, unless another broker is still presumed to be it.

        Source: ``BrokerToControllerRequestThread.doWork``. A leader may therefore keep asking a
        controller that was replaced long ago, until a request to it fails.
        """
        self._look_up_controller()
        self.send_pending()

    def _look_up_controller(self) -> None:
        """Look up the controller if none is presumed: a live broker, or the quorum's leader."""
        if self.state.controller < 0:
            self.state.controller = self.context.metadata.controller

    def send_pending(self) -> None:
        """Send the pending changes to the controller; one request is in flight at a time."""
        state = self.state
        self._look_up_controller()
        if state.request or not (state.pending or state.unanswered):
            return
        if state.controller < 0:
            self.context.later("alter-partition", ALTER_RETRY_US)
            return
        if state.unanswered is None:
            state.unanswered = self._next_request()
        if state.unanswered is not None:
            network, config = self.context.network, self.context.config
            state.request = network.send(self.context.id, state.controller, state.unanswered)
            at_us = self.kernel.now + config.controller_socket_timeout_us
            self.context.timers.set_deadline(TIMEOUT, "", at_us)

    def _next_request(self) -> AlterPartitionRequest | None:
        """The request for all pending changes; None if none of them is still wanted."""
        state = self.state
        items: dict[str, AlterIsrItem] = {}
        for tp, epochs in list(state.pending.items()):
            replica = self.replicas.get(tp)
            if replica is None or replica.pending is None or replica.role != LEADER:
                del state.pending[tp]
                continue
            isr = replica.pending.isr
            topic_id = self.context.metadata.topic_ids.get(tp, "")
            items[tp] = AlterIsrItem(
                replica.leader_epoch, isr, replica.zk_version, epochs, topic_id
            )
        if not items:
            return None
        return AlterPartitionRequest(self.context.id, self.context.process.broker_epoch, items)

    def on_response(self, _source: int, _request: int, message: AlterPartitionResponse) -> None:
        """Handle the controller's response (Partition.handleAlterPartitionResponse)."""
        state = self.state
        if message.request != state.request:
            return
        state.request = 0
        errors = {message.error, *(error for error, _ in message.partitions.values())}
        if "NOT_CONTROLLER" in errors:
            # It is sent again unchanged (``NodeToControllerRequestThread`` keeps the request), so
            # what was proposed in the meantime waits for the response to it.
            self.look_again()
            return
        sent, state.unanswered = state.unanswered, None
        if message.error != "NONE":
            self.context.later("alter-partition", ALTER_RETRY_US)
            return
        for tp, (error, info) in message.partitions.items():
            replica = self.replicas.get(tp)
            # The response is to an older proposal: the newer one stays pending, and is sent next.
            if replica is not None and sent is not None and _is_another(replica, sent):
                continue
            epochs = state.pending.pop(tp, [])
            if replica is None or replica.pending is None or replica.role != LEADER:
                continue
            if self._must_retry(replica, error, info):
                if self.fails_to_retry and self.profile.has("failed_isr_retry_ends_response"):
                    self._end_response()
                    return
                if not self.fails_to_retry:
                    state.pending[tp] = epochs
        self.send_pending()

    def _must_retry(self, replica: Replica, error: str, info: PartitionInfo | None) -> bool:
        """Let a partition know the controller's response; return whether it wants to try again."""
        if error == "NONE" and info is not None:
            stored = IsrStored(list(info.isr), info.zk_version, info.leader_epoch)
            self.replicas.do(replica, stored)
            return False
        return RETRY_CHANGE in self.replicas.do(replica, IsrRefused(error))

    def _end_response(self) -> None:
        """Stop processing: 2.7 and 2.8 throw "Failed to enqueue ISR change state" here.

        The other partitions of the request are sent again: in 2.7 soon, in 2.8 with the next
        change.
        """
        if self.profile.has("alter_isr_sent_periodically"):
            self.context.later("alter-partition", ALTER_RETRY_US)

    def connection_lost(self, peer: int) -> None:
        """Retry after a backoff when the connection to the controller breaks."""
        if self.state.request and peer == self.state.controller:
            self.look_again()

    def check_timeout(self) -> None:
        """Retry the pending changes if the request in flight has timed out."""
        if self.context.timers.overdue(TIMEOUT) and self.state.request:
            self.context.network.give_up(self.context.id, self.state.controller)
            self.look_again()

    def look_again(self) -> None:
        """Send the request again, to the controller that is known now.

        If that is the node which failed, wait for 50 ms (``NodeToControllerRequestThread``).
        """
        state = self.state
        failed, state.request, state.controller = state.controller, 0, -1
        if self.context.process.known_controller in (-1, failed):
            self.context.later("alter-partition", ALTER_RETRY_US)
        else:
            self.send_pending()


def _is_another(replica: Replica, sent: AlterPartitionRequest) -> bool:
    """Whether a change is pending that was proposed for a newer state than the one sent."""
    change = sent.partitions.get(replica.tp)
    if change is None or replica.pending is None:
        return False
    return (replica.leader_epoch, replica.zk_version) != (change.leader_epoch, change.zk_version)
