"""What is only told by a real cluster: lines of text logs, and what its clients are told."""

from emulator.events import fields
from emulator.events.base import CHANGE, FAULT, TRAFFIC, Event
from emulator.events.fields import Touched


class LineLogged(Event, frozen=True, label="LINE"):
    """A line of a text log of ``host``, which says something about it or about ``tp``.

    ``source`` is its file and line number, ``node1/server.log:812``, ``severity`` its level
    (``INFO``, ``WARN``, ..). ``kind`` says what the line is recognized as, ``text`` is its message.
    An empty ``tp`` names no partition. No emulated cluster emits it.
    """

    host: Touched[fields.HostId]
    tp: fields.Tp
    source: str
    severity: str
    kind: fields.Kind
    text: str

    @property
    def level(self) -> int:
        """A fault if it is an error, a change if it is a warning or concerns a partition."""
        if self.severity in ("ERROR", "FATAL"):
            return FAULT
        return CHANGE if self.severity == "WARN" or self.tp else TRAFFIC


class EligibleReplicasChanged(Event, frozen=True, label="ELR"):
    """A running cluster told its clients another ELR of a partition (KIP-966).

    ``last_known_elr`` are the replicas that were eligible once and have lost what they had. No
    emulated cluster emits it: its metadata log says so.
    """

    tp: fields.Tp
    elr: list[int]
    last_known_elr: list[int]
