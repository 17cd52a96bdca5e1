"""A session file's metadata: validated structs for ``meta`` and ``inputs``."""

from msgspec import Struct, field

from emulator.inputs.statements import CreateCluster, Statement
from sessions.format.codec import checksum


class Origin(Struct, frozen=True):
    """Where a recording comes from; written when it begins.

    ``program`` is the name and version of the program that records; early files have only its name.
    ``began`` is the UTC time of day in ISO format, for information only. ``variables`` are those of
    a campaign. ``sources`` are the files or addresses of the real cluster whose history it is, and
    ``wall_clock_us`` is time 0 of the session, in microseconds since 1970 UTC (None: the
    session's time is virtual). Such a session has no statements.
    """

    name: str
    program: str
    version: str
    seed: int
    cluster: CreateCluster
    began: str = ""
    script: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    wall_clock_us: int | None = None


class Outcome(Struct, frozen=True):
    """How a recording ended; written when it is closed. Counts except ``events`` are of records.

    ``diverged`` counts offsets, ``failed`` and ``passed`` count expectations. ``outcome`` is a word
    chosen by the program that ran the session.
    """

    events: int
    time_us: int
    steps: int
    state_hash: str
    acked: int = 0
    lost: int = 0
    duplicated: int = 0
    diverged: int = 0
    consumed_lost: int = 0
    passed: int = 0
    failed: int = 0
    violations: int = 0
    outcome: str = ""


class Extent(Struct, frozen=True):
    """The part of the events that a file contains; a file without an extent has all of them.

    ``first_seq`` is its first event, ``before_us`` the time of the one before it. ``last_seq`` is
    the last event of the session that it was trimmed from; 0 for a recording of bounded size,
    whose beginning is dropped as it grows.
    """

    first_seq: int = 1
    before_us: int = 0
    last_seq: int = 0

    @property
    def is_trimmed(self) -> bool:
        """Whether it was trimmed from a longer recording."""
        return self.last_seq > 0


class RecordedInput(Struct, frozen=True):
    """A statement and its position in the session; ``statement`` None: only its text is known."""

    seq: int
    time_us: int
    steps: int
    line: int
    text: str
    statement: Statement | None


def meta_checksum(key: str, value: str) -> int:
    """Return the checksum of a row of ``meta``."""
    return checksum(f"{key}\0{value}".encode("utf-8", "surrogatepass"))


def stand_in(packed: bytes) -> bytes:
    """Return what a stored statement has in place of a client's request, which is stored packed.

    It is the CRC-32 of the packed bytes, so that the statement's own checksum covers them.
    """
    return checksum(packed).to_bytes(4)


def input_checksum(numbers: tuple[int, int, int, int], text: str, statement: str | None) -> int:
    """Return the checksum of a row of ``inputs``, over its numbers and its two texts."""
    return checksum(f"{text}\0{statement or ''}".encode("utf-8", "surrogatepass"), *numbers)
