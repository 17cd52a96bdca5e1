"""Links between hosts: TCP connections that may be cut, slow, lossy, or made to hold messages back.

Messages of one link arrive in the order in which they were sent. What is sent while a link is cut
waits and goes on when it heals, unless either end has given the connection up by then. A process
that ends closes its connections: its peers are told if they can be reached.
"""

from collections.abc import Collection

from msgspec import Struct, field

from emulator import events
from emulator.events import CLIENTS
from emulator.protocol import AnyMessage, ConnectionLost
from emulator.simulation.kernel import Kernel

LATENCY_MIN_US = 200
"""The least time that a message takes on a plain link."""
LATENCY_SPREAD_US = 200
"""What chance may add to it."""
CLIENT_LATENCY_US = 5_000
"""How much further away clients are: brokers hear the controller before they hear them."""

Waiting = tuple[int, int, AnyMessage]
"""The receiver's incarnation, the number of the event that stated the sending, the message."""


class Link(Struct, array_like=True):
    """One direction of a link that is, or was, not plain."""

    cut: bool = False
    delay_us: int = 0
    drop_percent: float = 0.0
    holding: list[str] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    cut_by: int = 0

    @property
    def plain(self) -> bool:
        """Whether nothing is wrong with it and nothing waits on it."""
        return not (self.cut or self.delay_us or self.drop_percent or self.holding or self.waiting)


class NetworkState(Struct, array_like=True):
    """Links by (source, destination): those that are not plain, and when each last delivered.

    ``latency_us`` is how long a message takes on a plain link, to clients as well; None: as long as
    the constants above say.
    """

    links: dict[tuple[int, int], Link] = field(default_factory=dict)
    arrivals: dict[tuple[int, int], int] = field(default_factory=dict)
    latency_us: int | None = None


class Network:
    """Carries messages between hosts through the kernel."""

    def __init__(self, kernel: Kernel, state: NetworkState) -> None:
        """Carry over ``kernel``, remembering in ``state``."""
        self.kernel = kernel
        self.state = state

    def send(self, source: int, destination: int, message: AnyMessage, request: int = 0) -> int:
        """Send a message; returns the ``seq`` that identifies it.

        ``request`` is what a response answers.
        """
        kernel = self.kernel
        detail = message.detail() if kernel.observed(events.MessageSent) else []
        seq = kernel.emit(
            events.MessageSent, type(message).__name__, source, destination, request, detail
        )
        if not kernel.state.hosts[destination].up:
            self._refuse(source, destination, seq)
            return seq
        link = self.state.links.get((source, destination))
        if link is None:
            self._carry(source, destination, seq, message, 0)
        else:
            self._send_impaired(source, destination, link, seq, message)
        return seq

    def _refuse(self, source: int, destination: int, seq: int) -> None:
        link = self.state.links.get((source, destination))
        kernel = self.kernel
        kernel.emit(events.MessageLost, seq, "host down")
        if link is None or not link.cut:
            at_us = kernel.state.now_us + 2 * LATENCY_MIN_US
            kernel.schedule(at_us, source, ConnectionLost(destination, seq), seq, destination)

    def _carry(
        self, source: int, destination: int, seq: int, message: AnyMessage, delay_us: int
    ) -> None:
        kernel = self.kernel
        at_us = kernel.state.now_us + delay_us
        latency_us = self.state.latency_us
        if latency_us is not None:
            at_us += latency_us
        else:
            at_us += LATENCY_MIN_US + int(kernel.random() * LATENCY_SPREAD_US)
            if CLIENTS in (source, destination):
                at_us += CLIENT_LATENCY_US
        arrivals = self.state.arrivals
        key = (source, destination)
        last_us = arrivals.get(key, 0)
        if at_us <= last_us:
            at_us = last_us + 1
        arrivals[key] = at_us
        kernel.schedule(at_us, destination, message, seq, source)

    def _send_impaired(
        self, source: int, destination: int, link: Link, seq: int, message: AnyMessage
    ) -> None:
        kernel = self.kernel
        name = type(message).__name__
        if link.drop_percent and kernel.random() * 100 < link.drop_percent:
            kernel.emit(events.MessageLost, seq, "dropped")
            self._break(source, destination, seq, message)
        elif link.cut or (link.holding and _held(link, name)):
            kernel.emit(events.MessageHeld, seq)
            incarnation = kernel.state.hosts[destination].incarnation
            link.waiting.append((incarnation, seq, message))
        else:
            self._carry(source, destination, seq, message, link.delay_us)

    def _break(self, source: int, destination: int, seq: int, message: AnyMessage) -> None:
        """Tell both ends that the connection broke under message ``seq``.

        All clients are one host here, but each has its own connections: they are told which request
        is concerned.
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
        """``host`` closes its connection to ``peer``.

        What waits on a cut link, either way, is lost.
        """
        for key in ((host, peer), (peer, host)):
            link = self.state.links.get(key)
            if link is not None and link.cut:
                self._lose_waiting(link)

    def withdraw(self, source: int, destination: int, requests: Collection[int]) -> None:
        """Lose requests that wait on a cut link, and answers to them: one of many hung up."""
        for key in ((source, destination), (destination, source)):
            link = self.state.links.get(key)
            if link is not None and link.cut:
                kept = [waiting for waiting in link.waiting if not _concerns(waiting, requests)]
                going = [waiting for waiting in link.waiting if _concerns(waiting, requests)]
                link.waiting = going
                self._lose_waiting(link)
                link.waiting = kept

    def waiting(self, source: int, destination: int) -> list[tuple[int, AnyMessage]]:
        """What waits on one direction of a link: numbers and messages."""
        link = self.state.links.get((source, destination))
        return [] if link is None else [(seq, message) for _, seq, message in link.waiting]

    def _lose_waiting(self, link: Link) -> None:
        for _, seq, _ in link.waiting:
            self.kernel.emit(events.MessageLost, seq, "connection given up")
        link.waiting = []

    def host_ended(self, number: int) -> None:
        """A process ended: what it could not send is lost, and peers see the connection close."""
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
        """Whether messages pass both ways (a conversation is possible)."""
        links = self.state.links
        if not links:
            return True
        return self.passes(source, destination) and self.passes(destination, source)

    def passes(self, source: int, destination: int) -> bool:
        """Whether messages pass in this one direction."""
        link = self.state.links.get((source, destination))
        return link is None or not link.cut

    def silenced_by(self, source: int, destination: int) -> int:
        """The event that keeps ``source`` from being heard at ``destination``; 0: none is known."""
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
        """Keep messages (of one name) from ``source`` to ``destination`` waiting."""
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
        """Deliver the first ``count`` waiting messages (of one name), or lose them.

        With ``count`` None that is all of them, and later ones are no longer held.
        """
        link = self.state.links.get((source, destination))
        if link is None:
            return
        name = api or "*"
        going = [each for each in link.waiting if _covers(name, type(each[2]).__name__)][:count]
        link.waiting = [each for each in link.waiting if each not in going]
        if count is None:
            link.holding = [each for each in link.holding if not _is_same(name, each)]
        self._let_go(source, destination, going, lose)
        self._settle_link(source, destination, link)

    def heal(self, source: int, destination: int) -> None:
        """Make one direction whole, fast and lossless; what waits because of a cut goes on."""
        link = self.state.links.get((source, destination))
        if link is None:
            return
        link.cut, link.cut_by, link.delay_us, link.drop_percent = False, 0, 0, 0.0
        held = [w for w in link.waiting if _held(link, type(w[2]).__name__)]
        going = [w for w in link.waiting if not _held(link, type(w[2]).__name__)]
        link.waiting = held
        self._let_go(source, destination, going, lose=False)
        self._settle_link(source, destination, link)

    def _let_go(self, source: int, destination: int, going: list[Waiting], lose: bool) -> None:
        kernel = self.kernel
        for incarnation, seq, message in going:
            if lose or incarnation != kernel.state.hosts[destination].incarnation:
                kernel.emit(events.MessageLost, seq, "lost")
                if lose:
                    self._break(source, destination, seq, message)
            else:
                kernel.emit(events.MessageReleased, seq)
                self._carry(source, destination, seq, message, 0)

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
    """Whether a message is one of these requests, or the answer to one."""
    _, seq, message = waiting
    return seq in requests or _request_of(message) in requests


def _request_of(message: AnyMessage) -> int:
    """The request that a response answers; 0 of a request."""
    request: int = getattr(message, "request", 0)
    return request


def _held(link: Link, name: str) -> bool:
    """Whether messages of that name are kept back.

    ``LeaderAndIsr`` stands for its request, and ``AlterIsr`` is what 2.7 called AlterPartition.
    """
    return any(_covers(each, name) for each in link.holding)


def _is_same(name: str, held: str) -> bool:
    """Whether what is released is all that is held under that name, which may be an API's."""
    return _covers(name, held) or (held != "*" and _covers(held, name))


def _covers(given: str, name: str) -> bool:
    given = given.replace("AlterIsr", "AlterPartition")
    return given in ("*", name) or name == f"{given}Request"
