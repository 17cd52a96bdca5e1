"""All events of a cluster, as frozen values.

Everything outside the emulator (screens, JSON, recordings, Parquet, analysis) is derived from these
events alone. Each event has

- ``seq``: its sequence number, 1, 2, 3, .. without gaps;
- ``time_us``: virtual time in microseconds since the cluster was created;
- ``cause``: the ``seq`` of the event that led to it (an input, a message, a task), 0 for a root.
Following ``cause`` leads from any event back to a user action.

Fields: ``tp`` is a topic-partition written ``orders-0``; ``broker`` a broker id; ``leader`` -1
means none; a host is a broker id, :data:`ZOOKEEPER` or :data:`CLIENTS`; offsets are Kafka's (LEO is
the next offset to be written, HW the first one not committed); record ids number every
record ever produced, so two copies of one produced record have the same id.
"""

from typing import Final

from emulator.events.base import *
from emulator.events.clients import *
from emulator.events.connections import *
from emulator.events.controller import *
from emulator.events.groups import *
from emulator.events.history import *
from emulator.events.inputs import *
from emulator.events.network import *
from emulator.events.quorum import *
from emulator.events.replicas import *
from emulator.events.share_groups import *
from emulator.events.topics import *
from emulator.events.transactions import *
from emulator.events.znodes import *

TYPES: Final = {kind.__name__: kind for kind in Event.__subclasses__()}
"""Every class of events by its name."""
