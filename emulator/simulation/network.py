"""Links between hosts: TCP connections that may be partitioned, slow, lossy or hold messages back.

Messages on a link arrive in the order in which they were sent. Messages sent while a link is
partitioned wait and are delivered when it heals, unless either end has closed the connection by
then. A process that ends closes its connections; its peers notice if they are reachable.
"""

from collections.abc import Collection

from msgspec import Struct, field

from emulator import events
from emulator.events import CLIENTS
from emulator.protocol import AnyMessage, ConnectionLost
from emulator.simulation.kernel import Kernel

LATENCY_MIN_US = 200
"""The minimum latency of a message on a normal link."""
LATENCY_SPREAD_US = 200
"""The maximum random addition to the latency."""
CLIENT_LATENCY_US = 5_000
"""Extra latency to clients: brokers hear from the controller before clients do."""

Waiting = tuple[int, int, AnyMessage]
"""The receiver's incarnation, the number of the send event, and the message."""


class Link(Struct, array_like=True):
    """One direction of a link that is, or was, affected by a fault."""

    cut: bool = False
    delay_us: int = 0
    drop_percent: float = 0.0
    holding: list[str] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    cut_by: int = 0

    @property
    def plain(self) -> bool:
        """Whether the link has no fault and no waiting messages."""
        return not (self.cut or self.delay_us or self.drop_percent or self.holding or self.waiting)


class NetworkState(Struct, array_like=True):
    """Links affected by faults and the last delivery time of each link, by (source, destination).

    ``latency_us`` is the latency of a normal link, including links to clients; None means the
    constants above.
    """

    links: dict[tuple[int, int], Link] = field(default_factory=dict)
    arrivals: dict[tuple[int, int], int] = field(default_factory=dict)
    latency_us: int | None = None


class Network(Struct, eq=False):
    """Delivers messages between hosts through the kernel."""

    kernel: Kernel
    state: NetworkState

    def send(
        self,
        source: int,
        destination: int,
        message: AnyMessage,
        request: int = 0,
        *,
        is_prompt: bool = False,
        released: int = 0,
    ) -> int:
        """Send a message; return the ``seq`` that identifies it.

        ``request`` is the ``seq`` of the request that a response belongs to. ``is_prompt``: it
        reaches clients as soon as it would reach a broker. ``released`` is the ``seq`` of a message
        that has waited on the link, and passes now.
        """
        kernel, state = self.kernel, self.state
        seq = released or kernel.unobserved(events.MessageSent)
        if not seq:
            name, detail = type(message).__name__, message.detail()
            seq = kernel.emit(events.MessageSent, name, source, destination, request, detail)
        if not kernel.state.hosts[destination].up:
            self._refuse(source, destination, seq)
            return seq
        key, delay_us = (source, destination), 0
        if state.links and not released and (link := state.links.get(key)) is not None:
            if self._is_stopped(source, destination, link, seq, message):
                return seq
            delay_us, is_prompt = link.delay_us, False
        latency_us = state.latency_us
        if latency_us is None:
            latency_us = LATENCY_MIN_US + int(kernel.random() * LATENCY_SPREAD_US)
            if CLIENTS in key and not is_prompt:
                latency_us += CLIENT_LATENCY_US
        at_us = kernel.state.now_us + latency_us + delay_us
        last_us = state.arrivals.get(key, 0)
        if at_us <= last_us:  # TCP: a message does not overtake the one before it
            at_us = last_us + 1
        state.arrivals[key] = at_us
        kernel.schedule(at_us, destination, message, seq, source)
        return seq

    def _refuse(self, source: int, destination: int, seq: int) -> None:
        link = self.state.links.get((source, destination))
        kernel = self.kernel
        kernel.emit(events.MessageLost, seq, "host down")
        if link is None or not link.cut:
            # The host itself refuses (RST), after the way there and back. Behind a cut link nobody
            # does, and the sender has to wait for its own timeout.
            at_us = kernel.state.now_us + 2 * LATENCY_MIN_US
            kernel.schedule(at_us, source, ConnectionLost(destination, seq), seq, destination)

    def _is_stopped(
        self, source: int, destination: int, link: Link, seq: int, message: AnyMessage
    ) -> bool:
        """Whether a message does not arrive over an impaired link: it is lost, or waits."""
        kernel = self.kernel
        if link.drop_percent and kernel.random() * 100 < link.drop_percent:
            kernel.emit(events.MessageLost, seq, "dropped")
            self._break(source, destination, seq, message)
            return True
        if link.cut or (link.holding and _held(link, type(message).__name__)):
            kernel.emit(events.MessageHeld, seq)
            incarnation = kernel.state.hosts[destination].incarnation
            link.waiting.append((incarnation, seq, message))
            return True
        return False

    def _break(self, source: int, destination: int, seq: int, message: AnyMessage) -> None:
        """Notify both ends that the connection broke at message ``seq``.

        All clients share one host here, but each has its own connections: the notification names
        the request affected.
        """
        kernel = self.kernel
        at_us = kernel.state.now_us + LATENCY_MIN_US + LATENCY_SPREAD_US
        for host, peer in ((source, destination), (destination, source)):
            lost = ConnectionLost(peer)
            if host == CLIENTS:
                request = seq if source == CLIENTS else _request_of(message)
                lost = ConnectionLost(peer, request, lost=True)
            kernel.schedule(at_us, host, lost, seq, peer)

    # ---- connections

    def give_up(self, host: int, peer: int) -> None:
        """Close the connection from ``host`` to ``peer``.

        Messages waiting on a partitioned link in either direction are lost.
        """
        for key in ((host, peer), (peer, host)):
            link = self.state.links.get(key)
            if link is not None and link.cut:
                self._lose_waiting(link)

    def withdraw(self, source: int, destination: int, requests: Collection[int]) -> None:
        """Drop waiting requests and their responses: one of many clients closed its connection."""
        for key in ((source, destination), (destination, source)):
            link = self.state.links.get(key)
            if link is not None and link.cut:
                others = [waiting for waiting in link.waiting if not _concerns(waiting, requests)]
                going = [waiting for waiting in link.waiting if _concerns(waiting, requests)]
                link.waiting = going
                self._lose_waiting(link)
                link.waiting = others

    def waiting(self, source: int, destination: int) -> list[tuple[int, AnyMessage]]:
        """The messages waiting on one direction of a link, with their numbers."""
        link = self.state.links.get((source, destination))
        return [] if link is None else [(seq, message) for _, seq, message in link.waiting]

    def _lose_waiting(self, link: Link) -> None:
        for _, seq, _ in link.waiting:
            self.kernel.emit(events.MessageLost, seq, "connection given up")
        link.waiting = []

    def host_ended(self, number: int) -> None:
        """Close an ended process's connections: unsent messages are lost, peers are notified."""
        for (source, _), sending in self.state.links.items():
            if source == number and sending.cut:
                self._lose_waiting(sending)
        kernel = self.kernel
        at_us = kernel.state.now_us + LATENCY_MIN_US
        for host in kernel.state.hosts.values():
            link = self.state.links.get((number, host.number))
            if host.up and host.number != number and (link is None or not link.cut):
                lost = ConnectionLost(number)
                kernel.schedule(at_us, host.number, lost, kernel.cause, number)

    def reachable(self, source: int, destination: int) -> bool:
        """Whether messages pass in both directions."""
        links = self.state.links
        if not links:
            return True
        return self.passes(source, destination) and self.passes(destination, source)

    def passes(self, source: int, destination: int) -> bool:
        """Whether messages pass in this direction."""
        link = self.state.links.get((source, destination))
        return link is None or not link.cut

    def silenced_by(self, source: int, destination: int) -> int:
        """The event that keeps ``destination`` from hearing ``source``; 0 if unknown."""
        link = self.state.links.get((source, destination))
        by_link = 0 if link is None else link.cut_by
        return self.kernel.state.hosts[source].silenced_by or by_link

    # ---- faults

    def change(self, source: int, destination: int, **values: bool | int | float) -> None:
        """Set fields of one direction of a link (``cut``, ``delay_us``, ``drop_percent``)."""
        link = self.state.links.setdefault((source, destination), Link())
        for name, value in values.items():
            setattr(link, name, value)
        if link.cut and not link.cut_by:
            link.cut_by = self.kernel.cause
        self._settle_link(source, destination, link)

    def hold(self, source: int, destination: int, api: str | None) -> None:
        """Hold messages (of one name) from ``source`` to ``destination``."""
        link = self.state.links.setdefault((source, destination), Link())
        name = api or "*"
        if name not in link.holding:
            link.holding.append(name)
        self._settle_link(source, destination, link)

    def release(
        self,
        source: int,
        destination: int,
        count: int | None,
        lose: bool,
        api: str | None = None,
    ) -> None:
        """Deliver, or drop, the first ``count`` waiting messages (of one name).

        If ``count`` is None, all of them are delivered and later ones are no longer held.
        """
        link = self.state.links.get((source, destination))
        if link is None:
            return
        name = api or "*"
        matching = [waiting for waiting in link.waiting if _covers(name, type(waiting[2]).__name__)]
        going = matching[:count]
        link.waiting = [waiting for waiting in link.waiting if waiting not in going]
        if count is None:
            link.holding = [held for held in link.holding if not _is_same(name, held)]
        self._let_go(source, destination, going, lose)
        self._settle_link(source, destination, link)

    def heal(self, source: int, destination: int) -> None:
        """Remove the faults of one direction; messages held back by a partition are delivered."""
        link = self.state.links.get((source, destination))
        if link is None:
            return
        link.cut, link.cut_by, link.delay_us, link.drop_percent = False, 0, 0, 0.0
        remaining = [w for w in link.waiting if _held(link, type(w[2]).__name__)]
        going = [w for w in link.waiting if not _held(link, type(w[2]).__name__)]
        link.waiting = remaining
        self._let_go(source, destination, going, lose=False)
        self._settle_link(source, destination, link)

    def _let_go(self, source: int, destination: int, going: list[Waiting], lose: bool) -> None:
        kernel = self.kernel
        for incarnation, seq, message in going:
            # A process that has restarted does not have the connection on which they were sent.
            if lose or incarnation != kernel.state.hosts[destination].incarnation:
                kernel.emit(events.MessageLost, seq, "lost")
                if lose:
                    self._break(source, destination, seq, message)
            else:
                kernel.emit(events.MessageReleased, seq)
                self.send(source, destination, message, released=seq)

    def _settle_link(self, source: int, destination: int, link: Link) -> None:
        self.kernel.emit(
            events.LinkChanged,
            source,
            destination,
            link.cut,
            link.delay_us,
            link.drop_percent,
            list(link.holding),
        )
        if link.plain:
            del self.state.links[source, destination]


def _concerns(waiting: Waiting, requests: Collection[int]) -> bool:
    """Whether a message is one of these requests or the response to one."""
    _, seq, message = waiting
    return seq in requests or _request_of(message) in requests


def _request_of(message: AnyMessage) -> int:
    """The request that a response belongs to; 0 for a request."""
    request: int = getattr(message, "request", 0)
    return request


def _held(link: Link, name: str) -> bool:
    """Whether messages of that name are held.

    ``LeaderAndIsr`` matches its request, and ``AlterIsr`` is the 2.7 name of AlterPartition.
    """
    return any(_covers(held, name) for held in link.holding)


def _is_same(name: str, held_name: str) -> bool:
    """Whether the name released is the name held, which may be that of an API."""
    return _covers(name, held_name) or (held_name != "*" and _covers(held_name, name))


def _covers(api: str, name: str) -> bool:
    api = api.replace("AlterIsr", "AlterPartition")
    return api in ("*", name) or name == f"{api}Request"
