"""Brokers and the messages between hosts."""

from collections.abc import Iterable

from emulator.events import fields
from emulator.events.base import BROKEN_STATES, CHANGE, FAULT, TRAFFIC, Attribute, Event, Row
from emulator.events.fields import Touched


class BrokerStateChanged(Event, frozen=True, label="BROKER", row=Row("faults", kind="broker")):
    """A broker process changed its state.

    ``state`` is ``starting``, ``running``, ``controlled_shutdown``, ``frozen``, ``stopped`` or
    ``crashed``; of a real cluster also ``fenced``: the controller has not heard from
    it for a session, and nobody knows why.
    """

    broker: Touched[fields.BrokerId]
    state: fields.State

    @property
    def level(self) -> int:
        """A fault if the process is no longer running."""
        return FAULT if self.state in BROKEN_STATES else CHANGE


class BrokerRegistered(Event, frozen=True, label="BROKER"):
    """A broker wrote /brokers/ids/N.

    ``broker_epoch`` is that znode's czxid (KIP-380), ``session`` its ZooKeeper session. ``rack`` is
    told where the broker was not known before (None: it has none, or was known).
    """

    broker: Touched[fields.BrokerId]
    broker_epoch: fields.BrokerEpoch
    session: fields.Session
    rack: str | None = None


class LinkChanged(
    Event,
    frozen=True,
    label="LINK",
    row=Row("faults", kind="link", broker=Attribute("source"), state=Attribute("condition")),
):
    """The link from ``source`` to ``destination`` changed.

    ``holding`` names the messages that are held back (``*``: all of them).
    """

    source: Touched[fields.HostId]
    destination: Touched[fields.Destination]
    cut: fields.Cut
    delay_us: fields.DelayUs
    drop_percent: fields.DropPercent
    holding: fields.Holding

    @property
    def condition(self) -> str:
        """The link's state in a word: ``cut``, ``impaired`` or ``whole``."""
        is_impaired = self.delay_us or self.drop_percent or self.holding
        return "cut" if self.cut else "impaired" if is_impaired else "whole"

    @property
    def level(self) -> int:
        """A fault if messages do not arrive; a delay is a change."""
        return FAULT if self.cut or self.drop_percent or self.holding else CHANGE


class MessageSent(Event, frozen=True, label="SEND", level=TRAFFIC):
    """A request, response or notification left ``source``.

    ``name`` is Kafka's (``FetchRequest``, ``LeaderAndIsrResponse``, ..). ``request`` is the ``seq``
    of the MessageSent to which this is the response, 0 in requests. ``detail`` lists the content by
    partition as ``[tp, number, ..]``: for a FetchRequest the partitions whose fetch state changed,
    with their fetch offset, for a FetchResponse each partition with HW, base offset and record
    count.
    """

    name: fields.Name
    source: fields.HostId
    destination: fields.Destination
    request: fields.Request
    detail: list[list[str | int]]

    def names(self) -> Iterable[str]:
        """Return the partitions, groups and others that its content is about."""
        return [str(item[0]) for item in self.detail if item]


class MessageLost(Event, frozen=True, label="LOST", level=TRAFFIC):
    """The message sent as event ``message`` will not arrive.

    ``reason`` says why (``cut``, ``dropped``, ``host down``, ``lost``).
    """

    message: fields.Message
    reason: fields.Reason


class MessageHeld(Event, frozen=True, label="HELD"):
    """The message sent as event ``message`` is waiting on its link, which is cut or held."""

    message: fields.Message


class MessageReleased(Event, frozen=True, label="FREED"):
    """A message that was held is on its way again."""

    message: fields.Message
