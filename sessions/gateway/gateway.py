"""The server: sockets on one side, the cluster on the other, and time that follows the wall clock.

Client requests become inputs of the cluster at the current virtual time, and are recorded like
statements; so a recording can be replayed without any client. The loop does not poll: it advances
virtual time when data arrives and when an event in the cluster is due.

Virtual time may run slightly ahead (:data:`LOOKAHEAD_US`): the effects of a request within that
time are processed immediately, and the loop need not wake up for each message between brokers.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from types import MappingProxyType
from typing import Final

from emulator.clients.external.external_clients import Delivery
from emulator.common.limits import REQUEST_BYTES_MAX
from emulator.inputs.statements import (
    AdvertiseListeners,
    AnyInput,
    CloseConnection,
    OpenConnection,
    ReceiveRequest,
    Statement,
)
from emulator.releases.config_descriptions import written_address
from emulator.scenario.runner import Advance, Runner, Ticket
from emulator.wire.apis import API_NAMED, APIS
from emulator.wire.codec import encode_request
from emulator.wire.header import RequestHeader
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from sessions.gateway.clock import WallClock
from sessions.gateway.connection import ClientConnection
from sessions.gateway.endpoints import Address, Endpoint, UnreachableError
from sessions.gateway.listeners import Listener
from sessions.memory import MemoryWatch

LOOKAHEAD_US: Final = 1_000
"""How far virtual time may run ahead of the wall clock: about the precision of a sleep."""
SLICE_STEPS: Final = 512
"""Kernel events between two polls of the sockets: some milliseconds."""
CONNECTIONS_MAX: Final = 10_000
INCOMPLETE_BYTES_MAX: Final = 256 << 20
"""Maximum size of the incomplete requests of all connections together."""
US_PER_SECOND: Final = 1_000_000
IDLE_LOOK_SECONDS: Final = 60.0
"""How often idle connections are looked for, unless they may be idle for less than that."""
DRAIN_SECONDS: Final = 1.0
"""How long a graceful shutdown waits for pending responses."""
FIND_COORDINATOR: Final = API_NAMED["FindCoordinator"].key
LOG: Final = logging.getLogger(__name__)

Announce = Callable[[Statement], None]
"""Called with each input before it is submitted."""


class ClosedError(Exception):
    """A statement cannot end, because its cluster has been closed."""

    def __init__(self) -> None:
        super().__init__("the cluster has been closed")


class Gateway(Delivery):
    """Serves one cluster to external clients."""

    def __init__(
        self,
        runner: Runner,
        announce: Announce,
        *,
        speed: float = 1.0,
        endpoints: Sequence[Endpoint] = (Endpoint(),),
        users: Mapping[str, str] = MappingProxyType({}),
        tls: Mapping[str, ssl.SSLContext] = MappingProxyType({}),
    ) -> None:
        """Serve ``runner``'s cluster at ``endpoints``; nothing is open yet.

        ``users`` have passwords; ``tls`` is for the endpoints that are encrypted, by their
        protocols.

        ``guard`` is held while the cluster is touched; ``looked`` are called when time has passed.
        """
        self.runner = runner
        self.cluster = runner.cluster
        self.endpoints = endpoints
        self._users = dict(users)
        self._tls = tls
        self.clock = WallClock(runner.now_us, speed)
        self.listeners: list[Listener] = []
        self.advertised: dict[str, dict[int, Address]] = {}
        self.connections: dict[int, ClientConnection] = {}
        self.looked: list[Callable[[], None]] = []
        self.guard: AbstractContextManager[object] = nullcontext()
        self._announce = announce
        self._last_number = 0
        self._incomplete_bytes = 0
        self._memory = MemoryWatch()
        self._asking = 0
        self._wakes: asyncio.Handle | None = None
        self._idles: asyncio.Handle | None = None
        self._waiting: list[tuple[Ticket, asyncio.Future[Ticket]]] = []
        self._following = asyncio.Lock()
        self._opening: set[asyncio.Task[None]] = set()
        self._is_stopping = False
        self._drained = asyncio.Event()
        self._deserted = asyncio.Event()
        self._fault: asyncio.Future[None] | None = None
        self.cluster.clients.external.delivery = self

    # ---- startup and shutdown

    def bind(self, port: int = 0) -> None:
        """Bind each endpoint's ports, one per broker in order of ids.

        ``port`` is the first endpoint's first port, if it has none itself.

        Raises:
            OSError: a port cannot be taken.
            UnreachableError: clients would be told a meta-address.
        """
        try:
            for endpoint in self.endpoints:
                self._bind(endpoint, endpoint.port or port)
                port = 0
        except (OSError, UnreachableError):
            self._close_listeners()
            raise

    def _bind(self, endpoint: Endpoint, port: int) -> None:
        bound = {}
        for at, broker in enumerate(self.cluster.brokers):
            own_port = port + at if port else 0
            listener = Listener(broker, endpoint, own_port)
            self.listeners.append(listener)
            bound[broker] = listener.port
        hosts = self.cluster.state.settings.hosts
        self.advertised[endpoint.name] = endpoint.advertised(bound, hosts)

    @property
    def addresses(self) -> list[Address]:
        """Where each broker listens at the first endpoint, in the order of their ids."""
        name = self.endpoints[0].name
        return [
            (listener.host, listener.port) for listener in self.listeners if listener.name == name
        ]

    @property
    def bootstrap_servers(self) -> str:
        """The first endpoint's advertised addresses, as clients' configurations have them."""
        return self.servers_of(self.endpoints[0].name)

    def servers_of(self, listener: str) -> str:
        """Return the addresses that clients of a listener are told."""
        return ",".join(map(written_address, self.advertised[listener].values()))

    async def start(self) -> None:
        """Open the ports that were taken (any free ones if none were), and let time pass.

        Raises:
            OSError: a port cannot be opened.
        """
        if not self.listeners:
            self.bind()
        self._fault = asyncio.get_running_loop().create_future()
        self.clock = WallClock(self.runner.now_us, self.clock.speed)
        for endpoint in self.endpoints:
            name = endpoint.name
            bound = {
                listener.broker: (listener.host, listener.port)
                for listener in self.listeners
                if listener.name == name
            }
            advertisement = AdvertiseListeners(
                listeners=self.advertised[name],
                name=name,
                bound=bound,
                protocol=endpoint.protocol,
                users=self._users,
            )
            self._give(advertisement, "clients are told addresses")
        self._ask_for_coordinator()
        await self._follow_brokers()
        self._wake()

    def _ask_for_coordinator(self) -> None:
        """Create __consumer_offsets in advance, as the first consumer of a real cluster does.

        A client that finds no coordinator waits for half a second or more before it retries.
        """
        if not self.cluster.profile.has("consumer_groups"):
            return
        self._last_number += 1
        number, broker = self._last_number, next(iter(self.cluster.brokers))
        self._asking = number
        frame = encode_request(
            RequestHeader(FIND_COORDINATOR, 0, 1, "tidegauge"), FindCoordinatorRequest("tidegauge")
        )
        self._give(OpenConnection(connection=number, broker=broker), "__consumer_offsets is made")
        self._give(ReceiveRequest(connection=number, frame=frame), "__consumer_offsets is made")

    def _hang_up_asking(self) -> None:
        """Close the internal connection that looked up the coordinator; no view should show it."""
        if not self._is_ended():
            closing = CloseConnection(connection=self._asking)
            self._give(closing, "__consumer_offsets is asked for no more")

    async def wait_for_fault(self) -> None:
        """Never return; raise any error inside the emulator."""
        assert self._fault is not None
        await asyncio.shield(self._fault)

    @property
    def fault(self) -> BaseException | None:
        """The error inside the emulator that ended the cluster; None while it runs."""
        is_faulty = self._fault is not None and self._fault.done()
        return self._fault.exception() if self._fault is not None and is_faulty else None

    async def stop(self) -> None:
        """Accept no more requests, send the pending responses, and close."""
        self._is_stopping = True
        self.clock.go_on(self.runner.now_us, self.clock.speed)
        if not self.connections:
            self._deserted.set()
        for listener in self.listeners:
            listener.shut()
        for connection in self.connections.values():
            connection.stop_reading()
        if self.fault is None:
            self._wake()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._drained.wait(), DRAIN_SECONDS)
        await self._close_connections()
        self._fail_statements(ClosedError())
        for handle in (self._wakes, self._idles):
            if handle is not None:
                handle.cancel()
        for task in self._opening:
            task.cancel()
        self.cluster.clients.external.delivery = None
        self._close_listeners()

    async def _close_connections(self) -> None:
        """Close all connections; abort those that do not read what was written."""
        for connection in list(self.connections.values()):
            connection.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._deserted.wait(), DRAIN_SECONDS)
        for connection in list(self.connections.values()):
            connection.close(abort=True)
        await asyncio.sleep(0)

    def _close_listeners(self) -> None:
        for listener in self.listeners:
            listener.close()

    # ---- statements

    async def perform(self, statement: Statement) -> Ticket:
        """Give a statement, and return its ticket when it has ended.

        Raises:
            ClosedError: the server has been stopped.
        """
        if self._is_stopping:
            raise ClosedError
        ticket = self._submitted(statement)
        if not ticket.done:
            done: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
            self._waiting.append((ticket, done))
            await done
        return ticket

    # ---- callbacks of connections

    def _limit_bytes(self, broker: int) -> int:
        """socket.request.max.bytes of a broker, as far as a recording can hold a request."""
        config = self.cluster.brokers[broker].context.config
        return min(config.socket_request_max_bytes, REQUEST_BYTES_MAX)

    def opened(self, connection: ClientConnection) -> bool:
        """Handle a new connection; return False to reject it."""
        if self._is_stopping or not self._takes_requests(connection.broker):
            return False
        if len(self.connections) >= CONNECTIONS_MAX:
            LOG.warning(
                "%s is turned away: there are %s connections",
                connection.peer,
                f"{CONNECTIONS_MAX:,}",
            )
            return False
        self._last_number += 1
        number = connection.number = self._last_number
        self.connections[number] = connection
        connection.used_us = self.runner.now_us
        self._watch_idle(0)
        opening = OpenConnection(
            connection=number,
            broker=connection.broker,
            address=connection.peer,
            listener=connection.listener,
            subject=connection.subject,
        )
        self._give(opening, f"client {number} connects to broker {connection.broker}")
        return True

    def received(self, connection: ClientConnection, frame: bytes) -> bool:
        """Handle a request; return True if it will be answered later."""
        number = connection.number
        if number not in self.connections:
            return False
        if not self._memory.has_room(len(frame)):
            self.dropped(connection, f"there is no memory for a request of {len(frame):,} bytes")
            return False
        connection.used_us = self.runner.now_us
        api = APIS.get(int.from_bytes(frame[:2], signed=True))
        name = "an unknown request" if api is None else api.name
        request = ReceiveRequest(connection=number, frame=frame)
        self._give(request, f"client {number} sends {name}")
        state = self.cluster.clients.external.state.connections.get(number)
        return state is not None and bool(state.frame)

    def held(self, byte_count: int) -> None:
        """Handle a change of the bytes of incomplete requests; too many cost the largest one."""
        self._incomplete_bytes += byte_count
        if self._incomplete_bytes > INCOMPLETE_BYTES_MAX:
            largest = max(
                self.connections.values(), key=lambda connection: connection.incomplete_bytes
            )
            self.dropped(largest, "incomplete requests take too much memory, and most is its own")

    def closed(self, connection: ClientConnection, reason: str = "") -> None:
        """Handle a connection closed by the client, or (``reason``) by the server."""
        number = connection.number
        if self.connections.pop(number, None) is not None and not self._is_ended():
            text = f"client {number} is disconnected" if reason else f"client {number} hangs up"
            self._give(CloseConnection(connection=number, reason=reason), text)
        if self._is_stopping and not self.connections:
            self._deserted.set()

    def dropped(self, connection: ClientConnection, reason: str) -> None:
        """Handle invalid data from a client: close its connection."""
        LOG.warning(
            "%s is disconnected from broker %s: %s", connection.peer, connection.broker, reason
        )
        self.closed(connection, reason)
        connection.close(abort=True)

    def _close_idle(self) -> None:
        """Close connections that have been idle for connections.max.idle.ms; look again later.

        Source: ``Selector.IdleExpiryManager``.
        """
        self._idles = None
        now_us = self.runner.now_us
        limit_us = {
            broker: process.context.config.connections_max_idle_us
            for broker, process in self.cluster.brokers.items()
        }
        for connection in list(self.connections.values()):
            idle_us = now_us - connection.used_us
            if idle_us > limit_us[connection.broker] and not connection.is_waiting:
                self.closed(connection, "idle for connections.max.idle.ms")
                connection.close()
        if self.connections:
            seconds = min(limit_us.values()) / US_PER_SECOND / self.clock.speed
            self._watch_idle(min(IDLE_LOOK_SECONDS, seconds / 2))

    def _watch_idle(self, seconds: float) -> None:
        if self._idles is None and not self._is_stopping:
            self._idles = asyncio.get_running_loop().call_later(seconds, self._close_idle)

    def _is_ended(self) -> bool:
        return self.cluster.clients.external.delivery is None

    # ---- callbacks of the cluster

    def respond(self, connection: int, frame: bytes) -> None:
        """Send a response."""
        client = self.connections.get(connection)
        if client is not None:
            client.respond(frame)
        elif connection == self._asking:
            asyncio.get_running_loop().call_soon(self._hang_up_asking)

    def close(self, connection: int, reason: str) -> None:
        """Close a connection on the cluster's behalf."""
        client = self.connections.pop(connection, None)
        if client is None:
            return
        if reason:
            peer, broker = client.peer, client.broker
            LOG.warning("%s is disconnected from broker %s: %s", peer, broker, reason)
        client.close(abort=not reason)

    def fail(self, connection: int, reason: str) -> None:
        """Close a connection, once the cluster is not in the middle of processing."""
        client = self.connections.get(connection)
        if client is not None:
            asyncio.get_running_loop().call_soon(self.dropped, client, reason)

    # ---- time

    def _give(self, input_: AnyInput, text: str) -> None:
        """Submit an input at the current time; :meth:`wait_for_fault` reports an error."""
        with suppress(Exception):
            self._submitted(Statement(input_, text))

    def _submitted(self, statement: Statement) -> Ticket:
        """Submit it when time has caught up with the wall clock, or as far as one slice gets."""
        try:
            self._advance(self.clock.now_us())
            with self.guard:
                self._announce(statement)
                ticket = self.runner.submit(statement)
        except Exception as error:
            self._note_fault(error)
            raise
        self._after()
        return ticket

    def _note_fault(self, error: Exception) -> None:
        """End the cluster: an error inside the emulator leaves it in an unknown state.

        Statements fail with the error, and clients are disconnected.
        """
        if self._fault is None or self._fault.done():
            return
        self._fault.set_exception(error)
        self.cluster.clients.external.delivery = None
        self._fail_statements(error)
        for listener in self.listeners:
            listener.shut()
        for connection in list(self.connections.values()):
            connection.close(abort=True)

    def _fail_statements(self, error: Exception) -> None:
        """End the statements that have not ended: nobody waits in vain."""
        for _, future in self._waiting:
            if not future.done():
                future.set_exception(error)
        self._waiting.clear()

    def go_on(self, speed: float, seconds: float) -> None:
        """Let time pass at ``speed``, and stop in ``seconds`` unless this is called again."""
        self.clock.go_on(self.runner.now_us, speed, seconds)
        self._wake()

    def stand_still(self) -> None:
        """Stop time: client requests wait."""
        self.clock.stop()

    def _advance(self, limit_us: int) -> bool:
        """Let time pass up to ``limit_us``; return True if more work is due immediately."""
        with self.guard:
            reached = self.runner.advance(limit_us, SLICE_STEPS)
        return reached in (Advance.BUDGET, Advance.ENDED)

    def _after(self) -> None:
        """Schedule processing of what has happened in the loop's next iteration."""
        self._end_statements()
        self._wake()

    def _wake(self) -> None:
        if self._wakes is not None:
            self._wakes.cancel()
        self._wakes = asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        """Let time pass, and schedule the next wakeup."""
        self._wakes = None
        try:
            is_more = self._advance(self._limit_us())
            self._end_statements()
        except Exception as error:
            self._note_fault(error)
            return
        self._see_to_brokers()
        if self._is_stopping and not any(map(self._owes, self.connections.values())):
            self._drained.set()
        for look in self.looked:
            look()
        loop = asyncio.get_running_loop()
        if is_more:
            self.clock.slip(self.runner.now_us)
            self._wakes = loop.call_soon(self._go_on)
            return
        next_us = self.runner.next_us
        if next_us is not None and not self.clock.is_stopped:
            seconds = self.clock.seconds_until(next_us - LOOKAHEAD_US // 2)
            self._wakes = loop.call_later(seconds, self._go_on)

    def _owes(self, connection: ClientConnection) -> bool:
        """Whether a response is still to come."""
        external = self.cluster.clients.external
        return connection.is_waiting and not external.is_deaf_to(connection.number)

    def _limit_us(self) -> int:
        """Return how far time may pass now: slightly ahead, unless it is stopped."""
        return self.clock.now_us() + (0 if self.clock.is_stopped else LOOKAHEAD_US)

    def _end_statements(self) -> None:
        if not self._waiting:
            return
        ended = [waiting for waiting in self._waiting if waiting[0].done]
        for waiting in ended:
            self._waiting.remove(waiting)
            if not waiting[1].done():
                waiting[1].set_result(waiting[0])

    # ---- brokers that stop and start

    def _takes_requests(self, broker: int) -> bool:
        return self.cluster.brokers[broker].takes_requests

    def _see_to_brokers(self) -> None:
        """Open and close ports as brokers start and stop."""
        if any(
            listener.is_open != self._takes_requests(listener.broker) for listener in self.listeners
        ):
            task = asyncio.get_running_loop().create_task(self._follow_brokers())
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _follow_brokers(self) -> None:
        async with self._following:  # opening takes a while, and is to happen once
            for listener in self.listeners:
                broker = listener.broker
                takes = self._takes_requests(broker) and not self._is_stopping
                if takes and not listener.is_open:
                    limit_bytes = self._limit_bytes(broker)
                    connect = partial(ClientConnection, self, broker, listener.name, limit_bytes)
                    await listener.open(connect, self._tls.get(listener.protocol))
                elif not takes and listener.is_open:
                    listener.shut()
