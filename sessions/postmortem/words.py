"""What a report calls things in KRaft mode and with ZooKeeper.

How long a dead broker goes unnoticed is a session's timeout in both; whose session it is differs.
"""

from typing import Final

from msgspec import Struct

from emulator.releases.config import resolve
from sessions.postmortem.incident import Incident

KRAFT_MODE: Final = "kraft"


class Words(Struct, frozen=True):
    """The words of a mode.

    ``timeout`` is the configuration that says for how long a broker may be silent. ``lost`` is
    what becomes of its registration, and ``silent`` how a broker is lost that did not shut down.
    ``or_stopped`` is added where it led nothing and no text log tells: it may have shut down.
    ``records`` and ``batches`` are what the history consists of.
    """

    mode: str
    timeout: str
    timeout_attribute: str
    detection: str
    shutdown: str
    election: str
    recovery: str
    lost: str
    silent: str
    or_stopped: str
    records: str
    batches: str


KRAFT: Final = Words(
    mode="KRaft",
    timeout="broker.session.timeout.ms",
    timeout_attribute="broker_session_timeout_us",
    detection="until the active controller fences a broker that has died, the metadata names it as"
    " leader, and nobody else answers",
    shutdown="A broker that shuts down leads nothing any more before it stops.",
    election="the controller names other leaders in the batch with which it fences the broker, so"
    " this takes no time of its own; partitions without an eligible replica wait for one.",
    recovery="from the fencing until the broker is back in all ISRs that it was removed from.",
    lost="fenced",
    silent="no heartbeat",
    or_stopped=", or a shutdown while it led nothing",
    records="record",
    batches="batches",
)
ZOOKEEPER: Final = Words(
    mode="ZooKeeper",
    timeout="zookeeper.session.timeout.ms",
    timeout_attribute="zookeeper_session_timeout_us",
    detection="the ZooKeeper session of a broker that has died has to expire before its znode in"
    " /brokers/ids goes and the controller hears of it; until then the states of partitions name"
    " it as leader, and nobody else answers",
    shutdown="A broker that shuts down first asks the controller to move its leaderships.",
    election="the controller writes another leader and ISR into the state of each partition, and"
    " tells the brokers with LeaderAndIsr requests. If the controller itself has died, another"
    " broker has to create /controller first, and to read all states.",
    recovery="from the end of its registration until the broker is back in all ISRs that it was"
    " removed from.",
    lost="registration gone",
    silent="session expired",
    or_stopped="",
    records="znode change",
    batches="transactions",
)


def words_of(incident: Incident) -> Words:
    """Return the words of a history's mode."""
    return KRAFT if incident.mode == KRAFT_MODE else ZOOKEEPER


def timeout_of(incident: Incident) -> str:
    """Return the timeout after which a silent broker is lost, with its value as far as known."""
    words = words_of(incident)
    value = incident.processes.value(words.timeout, incident.controllers)
    is_known = value is not None and value.text.isdecimal()
    how = f", by {value.source}" if value is not None and is_known else " unless it was configured"
    return f"{words.timeout} ({timeout_us_of(incident) / 1e6:g} s{how})"


def timeout_us_of(incident: Incident) -> int:
    """Return that timeout in microseconds, or its default."""
    words = words_of(incident)
    value = incident.processes.value(words.timeout, incident.controllers)
    if value is not None and value.text.isdecimal():
        return int(value.text) * 1_000
    default_us: int = getattr(resolve(incident.release, {}), words.timeout_attribute)
    return default_us
