"""The messages between hosts, by Kafka's names.

A request is identified by the ``seq`` of its send event: the receiver reads it from the
environment's ``cause`` and returns it in the response's ``request``. All messages are plain data;
those in flight are part of the cluster's state.
"""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Final

from emulator.protocol.admin import *
from emulator.protocol.consumer_groups import *
from emulator.protocol.controller import *
from emulator.protocol.fetch import *
from emulator.protocol.groups import *
from emulator.protocol.kraft import *
from emulator.protocol.message import *
from emulator.protocol.metadata import *
from emulator.protocol.produce import *
from emulator.protocol.raft import *
from emulator.protocol.record_batch import *
from emulator.protocol.share_groups import *
from emulator.protocol.transactions import *
from emulator.protocol.zookeeper import *


def _kinds(base: type[Message]) -> list[type[Message]]:
    """The classes of messages that are sent: those from which no other derives."""
    kinds = base.__subclasses__()
    return [leaf for kind in kinds for leaf in _kinds(kind)] if kinds else [base]


KINDS: Final = tuple(_kinds(Message))
"""Every message."""

if TYPE_CHECKING:
    AnyMessage = Message
else:
    AnyMessage = reduce(or_, KINDS)
"""Every message, as the type that codecs decode."""

REQUESTS: Final = tuple(
    kind
    for kind in KINDS
    if kind.__name__.endswith("Request") and not issubclass(kind, ControllerRequest)
)
"""The requests that a broker accepts only while its sockets are open."""
