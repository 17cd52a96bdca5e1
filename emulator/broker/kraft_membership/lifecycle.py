"""A broker's lifecycle in KRaft mode: registration, heartbeats, controlled shutdown.

Source: ``kafka.server.BrokerLifecycleManager`` 3.9 to 4.1, KIP-631.
"""

from typing import Any, Final

from emulator import events
from emulator.broker.kraft_membership.controller_channel import ControllerChannel
from emulator.broker.kraft_membership.state import (
    PENDING_CONTROLLED_SHUTDOWN,
    RECOVERY,
    RUNNING,
    SHUTTING_DOWN,
    STARTING,
    KRaftMembershipState,
    Pending,
)
from emulator.broker.replication.fetcher import FetcherManager
from emulator.broker.replication.replica import Replicas
from emulator.broker_context import CLOSED, OPEN, BrokerContext
from emulator.broker_effects import MetadataPublished, PortsChanged, ProcessEnded, ProcessStarted
from emulator.common.names import random_uuid
from emulator.events import CLIENTS
from emulator.metadata_log.metadata_version import is_cordoned_log_dirs_supported
from emulator.metadata_log.registrations import BrokerRegistration
from emulator.protocol import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    ConnectionLost,
)
from emulator.raft.client import RaftClient
from emulator.simulation.network import LATENCY_MIN_US

BOOT_US: Final = 2_750_000
"""How long a process takes from its start to contacting the quorum (observed: 0.8 to 4 s)."""
SHUTDOWN_US: Final = 900_000
"""How long a process takes to end once it may shut down (observed: about a second); until then it
keeps reading the metadata log."""
BACKOFF_US: Final = 100_000
"""The initial backoff after a failed attempt (``resendExponentialBackoff``); it then doubles."""
SOON_US: Final = 10_000
"""How soon a broker that is catching up sends its next heartbeat."""
OPEN_US: Final = 5_000
"""How long a broker takes to open its ports once it knows that it is unfenced."""
READY_MAX_US: Final = 400_000
"""How long a broker takes at most from its logs' creation until it asks to be unfenced."""
SHUTDOWN_SOON_US: Final = 50_000
"""The delay before the second heartbeat of a controlled shutdown."""
TASK: Final = "heartbeat"


class BrokerLifecycle:
    """Starts, registers and ends a broker."""

    def __init__(
        self,
        context: BrokerContext,
        state: KRaftMembershipState,
        *,
        replicas: Replicas,
        fetchers: FetcherManager,
        raft: RaftClient,
    ) -> None:
        self.context = context
        self.own = state
        self.replicas = replicas
        self.fetchers = fetchers
        self.raft = raft
        self.channel = ControllerChannel(
            context, state.heartbeats, TASK, self._try_us, self._on_response
        )

    def _try_us(self) -> int:
        """The timeout of one request: half the session timeout (KAFKA-14392)."""
        return self.context.config.broker_session_timeout_us // 2

    # ---- startup

    def start(self) -> None:
        """Start the process; logs are read once it has reached the quorum and knows the topics."""
        self.context.kernel.start_host(self.context.id)
        self.context.set_status("starting")
        self.context.later("boot", BOOT_US)

    def resume(self, registration: BrokerRegistration, leader: int, epoch: int) -> None:
        """Continue as a running process that is registered and knows the quorum's leader."""
        context, life = self.context, self.own.lifecycle
        context.kernel.start_host(context.id)
        life.state, life.incarnation = RUNNING, registration.incarnation_id
        life.ready = True
        context.process.ports = OPEN
        context.carry_out(PortsChanged())
        context.process.broker_epoch = life.epoch = registration.epoch
        context.set_status("running")
        context.emit(events.BrokerRegistered, context.id, registration.epoch, 0)
        context.carry_out(ProcessStarted())
        self.raft.resume(leader, epoch)
        self.communicate()

    def boot(self) -> None:
        """Join the quorum as an observer, and register."""
        own = self.own
        own.lifecycle.incarnation = random_uuid(self.context.kernel.random_below)
        own.lifecycle.previous_epoch, own.clean_shutdown_epoch = own.clean_shutdown_epoch, -1
        self.raft.start()
        self.communicate()

    def communicate(self) -> None:
        """Send the request that is due: a registration or a heartbeat."""
        own, context = self.own, self.context
        if own.heartbeats.queue or own.lifecycle.state == SHUTTING_DOWN:
            return
        if not own.lifecycle.epoch:
            rack = context.settings.racks.get(context.id)
            previous = own.lifecycle.previous_epoch
            incarnation = own.lifecycle.incarnation
            request: Any = BrokerRegistrationRequest(
                context.id, incarnation, previous, rack, own.directory
            )
        else:
            life = own.lifecycle
            names_cordoned = life.state != STARTING and self._names_cordoned()
            request = BrokerHeartbeatRequest(
                context.id,
                life.epoch,
                own.image.offset,
                want_fence=not life.ready,
                want_shut_down=life.state == PENDING_CONTROLLED_SHUTDOWN,
                cordoned_log_dirs=() if names_cordoned else None,
            )
        self.channel.ask(request, self._try_us())

    def metadata_published(self, _effect: MetadataPublished) -> None:
        """Note that the first metadata has been published: the broker may be unfenced now.

        On real brokers the rest of the start takes some time. It matters only where replicas are to
        be assigned to a new directory meanwhile: which comes first, that or the unfencing, is
        chance. With KIP-1066 the metadata log shows that a real broker sends one more heartbeat,
        once it has caught up and before it is ready.
        """
        life = self.own.lifecycle
        if self.own.unassigned:
            now_us, random_below = self.context.kernel.now, self.context.kernel.random_below
            life.ready_us = now_us + random_below(READY_MAX_US)
        if life.state != RUNNING:
            life.ready = not (self.own.unassigned or self._names_cordoned())
        if life.epoch:
            self.context.later(TASK, 0)

    def _names_cordoned(self) -> bool:
        return is_cordoned_log_dirs_supported(self.own.image.metadata_version)

    def _on_response(self, _pending: Pending, response: object) -> None:
        match response:
            case BrokerRegistrationResponse(error="NONE"):
                self._registered(response.broker_epoch)
            case BrokerHeartbeatResponse(error="NONE"):
                self.own.lifecycle.failures = 0
                self._heard(response)
            case _:
                self._failed()

    def _failed(self) -> None:
        life = self.own.lifecycle
        limit_us = self.context.config.broker_session_timeout_us
        pause_us = min(limit_us, BACKOFF_US << min(life.failures, 20))
        life.failures += 1
        self.context.later(TASK, pause_us)

    def _registered(self, broker_epoch: int) -> None:
        context, own = self.context, self.own
        own.lifecycle.failures = 0
        context.process.broker_epoch = own.lifecycle.epoch = broker_epoch
        context.emit(events.BrokerRegistered, context.id, broker_epoch, 0)
        context.set_status("running")
        context.carry_out(ProcessStarted())
        self.communicate()

    def _heard(self, response: BrokerHeartbeatResponse) -> None:
        """Act on the state that the controller reports for the broker."""
        life = self.own.lifecycle
        interval_us = self.context.config.broker_heartbeat_interval_us
        next_us = interval_us
        if life.state == STARTING:
            if response.is_caught_up:
                life.state = RECOVERY
            next_us = SOON_US
        elif life.state == RECOVERY:
            if not life.ready:
                next_us = min(interval_us, max(0, life.ready_us - self.context.kernel.now))
                life.ready = next_us == 0
            elif not response.is_fenced:
                life.state = RUNNING
                self.context.later("open", OPEN_US)
        elif life.state == PENDING_CONTROLLED_SHUTDOWN:
            if response.should_shut_down:
                self.close()
                return
            if not life.shutdown_answered:
                life.shutdown_answered = True
                next_us = SHUTDOWN_SOON_US
        self.context.later(TASK, next_us)

    def open_ports(self) -> None:
        """Accept requests from here on (``BrokerServer.startup``: the last step)."""
        self.context.process.ports = OPEN
        self.context.carry_out(PortsChanged())

    # ---- shutdown

    def stop(self) -> None:
        """Ask the controller to move the leaderships away; end when it agrees."""
        context, life = self.context, self.own.lifecycle
        context.set_status("controlled_shutdown")
        if not context.config.controlled_shutdown_enable or life.state != RUNNING:
            self.close()
            return
        life.state = PENDING_CONTROLLED_SHUTDOWN
        self.communicate()

    def close(self) -> None:
        """Stop accepting requests and fetching; the process ends a little later."""
        context, kernel = self.context, self.context.kernel
        self.own.lifecycle.state = SHUTTING_DOWN
        context.process.ports = CLOSED
        context.carry_out(PortsChanged())
        for tp in list(self.replicas.by_name):
            self.fetchers.remove(tp)
        at_us = kernel.now + LATENCY_MIN_US
        for peer in (*self._peers(), CLIENTS):
            lost = ConnectionLost(context.id)
            kernel.schedule(at_us, peer, lost, kernel.cause, context.id)
        context.later("end", SHUTDOWN_US)

    def _peers(self) -> list[int]:
        """The other brokers that are running and reachable."""
        me, network, hosts = self.context.id, self.context.network, self.context.kernel.state.hosts
        return [
            broker
            for broker in sorted(self.own.image.brokers)
            if broker != me and hosts[broker].up and network.reachable(me, broker)
        ]

    def end(self) -> None:
        """Flush logs, checkpoint HWs, write the clean-shutdown file with the broker epoch."""
        context, replicas = self.context, self.replicas
        replicas.store_all()
        self.own.clean_shutdown_epoch = context.process.broker_epoch or -1
        context.carry_out(ProcessEnded("stopped"))
