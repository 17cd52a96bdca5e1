"""What scenarios consist of: requests to clients, and statements to the cluster.

A step is plain data, so a list of scenarios and the documentation say what is run. ``meanwhile``
steps are run between a request and its response.
"""

from collections.abc import Sequence
from typing import Final, Literal, Union

from msgspec import Struct

from sessions.text import natural_list

Setting = str | int | bool
Expected = Literal["ok", "error", "any"]
"""Whether a client must do what is requested, must refuse it, or may do either."""
TOPIC: Final = "orders"
COPIES: Final = "copies"
"""The topics of every scenario."""


class OpenProducer(Struct, frozen=True, kw_only=True):
    """Open a producer: ``settings`` are Kafka's configuration of producers."""

    client: str = "p"
    settings: dict[str, Setting] = {}

    def __str__(self) -> str:
        return f"{self.client} opens a producer{_with(self.settings)}"


class OpenConsumer(Struct, frozen=True, kw_only=True):
    """Open a consumer of all partitions of ``topic``, or as a member of a group.

    ``settings`` are Kafka's configuration of consumers; with a ``group.id`` it subscribes.
    ``shares``: the group is a share group (KIP-932).
    """

    client: str = "c"
    topic: str = TOPIC
    settings: dict[str, Setting] = {}
    shares: bool = False

    @property
    def group(self) -> str:
        """The group's name; empty: it reads alone."""
        return str(self.settings.get("group.id", ""))

    def __str__(self) -> str:
        kind = "share group" if self.shares else "group"
        action = f"joins {kind} {self.group}" if self.group else "opens a consumer"
        action += "" if self.topic == TOPIC else f" of {self.topic}"
        settings = {key: value for key, value in self.settings.items() if key != "group.id"}
        return f"{self.client} {action}{_with(settings)}"


class Send(Struct, frozen=True, kw_only=True):
    """Send ``count`` records to the partitions in turn, and wait for all responses.

    ``padding`` is the number of bytes that follow the text of each value.
    """

    client: str = "p"
    count: int = 20
    padding: int = 0
    meanwhile: "Sequence[Step]" = ()
    expected: Expected = "any"

    def __str__(self) -> str:
        size = f" of {self.padding} bytes" if self.padding else ""
        return f"{self.client} sends {self.count} records{size}{_while(self.meanwhile)}"


class Stream(Struct, frozen=True, kw_only=True):
    """Send ``batch`` records at a time, again and again, until the steps meanwhile have ended."""

    client: str = "p"
    batch: int = 5
    meanwhile: "Sequence[Step]" = ()

    def __str__(self) -> str:
        return f"{self.client} goes on sending{_while(self.meanwhile)}"


class Read(Struct, frozen=True, kw_only=True):
    """Read with these consumers until they have everything that they may see.

    ``commit``: commit the positions after each poll, or before what it returned counts as read.
    """

    clients: Sequence[str] = ("c",)
    commit: Literal["", "after", "before"] = ""
    expected: Expected = "ok"

    def __str__(self) -> str:
        names = natural_list(self.clients)
        verb = "reads" if len(self.clients) == 1 else "read"
        commit = f", and commit {self.commit} processing" if self.commit else ""
        return f"{names} {verb} everything{commit}"


class Share(Struct, frozen=True, kw_only=True):
    """Read and commit until these members of a group own all partitions, each of them once."""

    clients: Sequence[str]

    def __str__(self) -> str:
        return f"{natural_list(self.clients)} own all partitions, none of them twice"


class Work(Struct, frozen=True, kw_only=True):
    """Poll as members of a share group, and acknowledge what each poll returned.

    They go on until every record is accepted or rejected, or with ``once`` until each of them has
    been given records one time. ``how`` empty: nothing is acknowledged.
    """

    clients: Sequence[str]
    how: Literal["", "accept", "release", "reject"] = "accept"
    once: bool = False

    def __str__(self) -> str:
        names = natural_list(self.clients)
        s = "s" if len(self.clients) == 1 else ""
        action = f"{self.how}{s}" if self.how else f"acknowledge{s} nothing of"
        return f"{names} {action} what {'one poll' if self.once else 'each poll'} gives"


class Commit(Struct, frozen=True, kw_only=True):
    """Commit an offset of partition 0, or by default the positions after what was read."""

    client: str = "c"
    offset: int | None = None
    expected: Expected = "ok"

    def __str__(self) -> str:
        position = "its positions" if self.offset is None else f"offset {self.offset}"
        return f"{self.client} commits {position}"


class Begin(Struct, frozen=True, kw_only=True):
    """Begin a transaction."""

    client: str = "p"

    def __str__(self) -> str:
        return f"{self.client} begins a transaction"


class End(Struct, frozen=True, kw_only=True):
    """Commit or abort a transaction."""

    client: str = "p"
    commit: bool = True
    expected: Expected = "ok"

    def __str__(self) -> str:
        verb = "commits" if self.commit else "aborts"
        refused = ", which must fail" if self.expected == "error" else ""
        return f"{self.client} {verb} its transaction{refused}"


class Copy(Struct, frozen=True, kw_only=True):
    """Read everything with a consumer, and write each poll in one transaction with its positions.

    ``most``: stop within a transaction, as soon as so many records have been read.
    """

    client: str = "p"
    consumer: str = "c"
    most: int | None = None

    def __str__(self) -> str:
        until = "everything" if self.most is None else f"{self.most} records or more"
        end = "" if self.most is None else ", and leaves the last transaction open"
        return f"{self.client} copies {until} that {self.consumer} reads, in transactions{end}"


class Close(Struct, frozen=True, kw_only=True):
    """Close a client in an orderly way."""

    client: str

    def __str__(self) -> str:
        return f"{self.client} closes"


class Kill(Struct, frozen=True, kw_only=True):
    """Kill a client's process."""

    client: str

    def __str__(self) -> str:
        return f"{self.client} is killed"


class Do(Struct, frozen=True):
    """Give the cluster a statement.

    ``{leader}`` and ``{follower}`` are brokers of the topic's partition 0, ``{controller}`` is the
    active controller, ``{group NAME}`` the coordinator of a group and ``{transaction ID}`` that of
    a transactional id; the values are those of the moment at which a name was used first
    in a scenario.
    """

    statement: str

    def __str__(self) -> str:
        return f"`{self.statement}`"


Step = Union[  # noqa: UP007 - steps name it in quotes
    OpenProducer,
    OpenConsumer,
    Send,
    Stream,
    Read,
    Share,
    Work,
    Commit,
    Begin,
    End,
    Copy,
    Close,
    Kill,
    Do,
]


def _with(settings: dict[str, Setting]) -> str:
    pairs = ", ".join(f"{key}={word(value)}" for key, value in settings.items())
    return f" with {pairs}" if pairs else ""


def word(value: Setting) -> str:
    """Return the value of a setting as it stands in a configuration."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _while(steps: Sequence[Step]) -> str:
    return f", meanwhile: {'; '.join(map(str, steps))}" if steps else ""
