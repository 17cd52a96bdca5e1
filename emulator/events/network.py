"""Brokers and the messages between hosts."""

from emulator.events.base import Event


class BrokerStateChanged(Event, frozen=True, gc=False):
    """A broker process changed its state.

    ``state`` is ``starting``, ``running``, ``controlled_shutdown``, ``frozen``, ``stopped`` or
    ``crashed``.
    """

    broker: int
    state: str


class BrokerRegistered(Event, frozen=True, gc=False):
    """A broker wrote /brokers/ids/N.

    ``broker_epoch`` is that znode's czxid (KIP-380), ``session`` its ZooKeeper session.
    """

    broker: int
    broker_epoch: int
    session: int


class LinkChanged(Event, frozen=True, gc=False):
    """The link from ``source`` to ``destination`` changed.

    ``holding`` names the messages that are held back (``*``: all of them).
    """

    source: int
    destination: int
    cut: bool
    delay_us: int
    drop_percent: float
    holding: list[str]


class MessageSent(Event, frozen=True, gc=False):
    """A request, response or notification left ``source``.

    ``name`` is Kafka's (``FetchRequest``, ``LeaderAndIsrResponse``, ..). ``request`` is the ``seq``
    of the MessageSent to which this is the response, 0 in requests. ``detail`` lists the content by
    partition as ``[tp, number, ..]``: for a FetchRequest the partitions whose fetch state changed,
    with their fetch offset, for a FetchResponse each partition with HW, base offset and record
    count.
    """

    name: str
    source: int
    destination: int
    request: int
    detail: list[list[str | int]]


class MessageLost(Event, frozen=True, gc=False):
    """The message sent as event ``message`` will not arrive.

    ``reason`` says why (``cut``, ``dropped``, ``host down``, ``lost``).
    """

    message: int
    reason: str


class MessageHeld(Event, frozen=True, gc=False):
    """The message sent as event ``message`` is waiting on its link, which is cut or held."""

    message: int


class MessageReleased(Event, frozen=True, gc=False):
    """A message that was held is on its way again."""

    message: int
