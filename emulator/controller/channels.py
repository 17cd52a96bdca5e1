"""How the controller's requests reach the brokers.

Each broker has a queue; its requests are sent in order, one in flight at a time.
"""

from collections import defaultdict

from msgspec.structs import replace

from emulator.controller.context import Channel, ControllerContext, ControlRequest
from emulator.protocol import (
    ControlResponse,
    LeaderAndIsrRequest,
    PartitionInfo,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from emulator.protocol.controller import DURING_DELETE

RESEND_US = 100_000
"""How long the controller waits before it resends a request lost with its connection."""
TIMEOUT = "control-timeout"


class Batch:
    """The requests of one controller step, collected before they are sent."""

    def __init__(self) -> None:
        self.leader_and_isr: dict[int, dict[str, PartitionInfo]] = defaultdict(dict)
        self.metadata: dict[str, PartitionInfo] = {}
        self.stop: dict[int, dict[str, int]] = {}
        self.delete: dict[int, dict[str, int]] = {}

    def lead(self, brokers: list[int], tp: str, info: PartitionInfo) -> None:
        """Send ``info`` by LeaderAndIsr; all brokers get it by UpdateMetadata too."""
        for broker in brokers:
            self.leader_and_isr[broker][tp] = info
        self.metadata[tp] = info

    def stop_replica(self, broker: int, tp: str, leader_epoch: int) -> None:
        """Have a broker stop a replica and keep its log."""
        self.stop.setdefault(broker, {})[tp] = leader_epoch

    def delete_replica(self, broker: int, tp: str, leader_epoch: int) -> None:
        """Have a broker stop a replica and delete its log."""
        self.delete.setdefault(broker, {})[tp] = leader_epoch


class Channels:
    """Sends batches through the per-broker queues."""

    def __init__(self, context: ControllerContext) -> None:
        """Send for the broker of ``context``, while it is the controller."""
        self.context = context
        self.controllership = context.controllership
        self.timers = context.broker.timers
        self.awaits_last_response = context.profile.has("controller_awaits_send_threads")

    def send(self, batch: Batch, metadata_to: list[int] | None = None) -> None:
        """Queue a batch.

        LeaderAndIsr, then UpdateMetadata to all live brokers (or to some), then StopReplica.
        """
        state = self.controllership.state
        if state is None:
            return
        me = self.context.id
        live = sorted(state.live)
        reachable = [*live, *(b for b in state.shutting_down if b not in state.live)]
        for target, infos in batch.leader_and_isr.items():
            if target in reachable:
                epoch = state.live.get(target, 0)
                request = LeaderAndIsrRequest(me, state.epoch, epoch, infos, live)
                self._queue(target, request)
        if batch.metadata or metadata_to is not None:
            metadata = self._as_sent(batch.metadata)
            targets = reachable if metadata_to is None else metadata_to
            for target in targets:
                epoch = state.live.get(target, 0)
                self._queue(
                    target,
                    UpdateMetadataRequest(
                        me,
                        state.epoch,
                        epoch,
                        live,
                        metadata,
                        names_deleted=metadata is not batch.metadata,
                    ),
                )
        for delete, stopping in ((False, batch.stop), (True, batch.delete)):
            for target, partitions in stopping.items():
                if target in reachable:
                    epoch = state.live.get(target, 0)
                    self._queue(
                        target,
                        StopReplicaRequest(me, state.epoch, epoch, partitions, delete=delete),
                    )

    def _as_sent(self, metadata: dict[str, PartitionInfo]) -> dict[str, PartitionInfo]:
        """The metadata as sent to brokers: partitions of topics being deleted are marked so."""
        if not self.context.state.deleting:
            return metadata
        is_deleting = self.context.is_deleting
        return {
            tp: replace(info, leader=DURING_DELETE) if is_deleting(tp) else info
            for tp, info in metadata.items()
        }

    def _queue(self, target: int, request: ControlRequest) -> None:
        state = self.controllership.state
        if state is not None:
            channel = state.channels.setdefault(target, Channel())
            channel.queue.append(request)
            self._pump(target, channel)

    def _pump(self, target: int, channel: Channel) -> None:
        if not channel.request and channel.queue:
            channel.request = self.context.network.send(self.context.id, target, channel.queue[0])
            timeout_us = self.context.broker.config.controller_socket_timeout_us
            at_us = self.context.kernel.now + timeout_us
            self.timers.set_deadline(TIMEOUT, target, at_us)

    def check_timeouts(self) -> None:
        """Close the connections of requests that have timed out."""
        for target in self.timers.overdue(TIMEOUT):
            channel = self._channel(int(target))
            if channel is not None and channel.request:
                self.context.network.give_up(self.context.id, int(target))
                self.connection_lost(int(target))

    def _channel(self, target: int) -> Channel | None:
        """The channel to a broker, including one that is being shut down."""
        closing = self.controllership.thread.closing
        if target in closing:
            return closing[target]
        state = self.controllership.state
        return None if state is None else state.channels.get(target)

    def on_response(self, message: ControlResponse) -> ControlRequest | None:
        """Handle a response and send the next request; return the request answered, or None."""
        channel = self._channel(message.broker)
        if channel is None or channel.request != message.request:
            return None
        channel.request = 0
        done = channel.queue.pop(0)
        if self.controllership.thread.closing.pop(message.broker, None) is None:
            self._pump(message.broker, channel)
        return done

    def connection_lost(self, peer: int) -> None:
        """Handle a broken connection.

        The request in flight is resent until the broker is known to be gone.
        """
        channel = self._channel(peer)
        if channel is not None and channel.request:
            channel.request = 0
            if self.controllership.thread.closing.pop(peer, None) is None:
                self.timers.later("control-retry", RESEND_US)

    def retry(self) -> None:
        """Resend the requests lost with their connections."""
        state = self.controllership.state
        if state is not None:
            for target, channel in state.channels.items():
                self._pump(target, channel)

    def remove(self, target: int) -> None:
        """Close the channel of a failed broker: nothing more is sent to it.

        From 0.10.2.1 to 2.1.0 the controller's thread waits for the response to the request in
        flight (RequestSendThread.shutdown).
        """
        state = self.controllership.state
        if state is not None:
            self._close(target, state.channels.pop(target, None))

    def remove_all(self, channels: dict[int, Channel]) -> None:
        """Close the channels of a controller that has resigned."""
        for target, channel in channels.items():
            self._close(target, channel)

    def _close(self, target: int, channel: Channel | None) -> None:
        if channel is not None and channel.request and self.awaits_last_response:
            del channel.queue[1:]
            self.controllership.thread.closing[target] = channel
