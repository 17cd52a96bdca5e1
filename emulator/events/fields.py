"""What the fields of events are: each with its meaning, its unit, and the objects that it names.

The table ``events`` of the dataset has a column for each :class:`Meaning`; a field without one is
in its ``payload``. A field of an event is called as its type here, ``first_record`` the type
``FirstRecord``, so that it means the same in every event.
"""

from re import sub
from typing import Annotated, Final, TypeVar

from msgspec import Struct

Host = TypeVar("Host")


class Meaning(Struct, frozen=True):
    """A field with a column of its own.

    ``unit`` is that of a number (empty: it has none), which has ``bits``. ``column`` is the
    column's name, if it is not the field's. ``null`` says what a value of None means.
    """

    text: str
    unit: str = ""
    bits: int = 64
    column: str = ""
    null: str = ""


class Names(Struct, frozen=True):
    """A field with the name of an object of a kind; empty text, or a negative id, names none.

    An event touches the object that it names; but a broker only where the field is
    :data:`Touched`, because a broker is not touched by every record that it writes.
    """

    kind: str

    @property
    def prefix(self) -> str:
        """What precedes the name of such an object: ``topic.`` in ``topic.orders``."""
        return "" if self.kind in ("partition", "znode") else f"{self.kind}."


HOST: Final = Names("broker")
"""A broker or controller by its id; negative: ZooKeeper, the clients, or nobody."""
TOUCHED: Final = "touched"
"""Marks a field with a host that the event touches."""
Touched = Annotated[Host, TOUCHED]
"""A host that the event touches: its process, sessions, links or roles."""

Tp = Annotated[str, Names("partition")]
Topic = Annotated[str, Names("topic")]
BrokerId = Annotated[int, HOST]
HostId = Annotated[int, HOST]

Name = Annotated[str, Meaning("name of a message, step, bookmark, invariant or fault")]
Destination = Annotated[
    int, Meaning("the host that a message or link goes to", "host", bits=32), HOST
]
Request = Annotated[int, Meaning("the request of a response; 0: none", "event")]
Error = Annotated[str, Meaning("Kafka's or ZooKeeper's error name, or `NONE`")]
Revoking = Annotated[list[str], Meaning("topic-partitions that a member has to revoke")]
Role = Annotated[str, Meaning("a replica's role")]
Leader = Annotated[int, Meaning("leader; -1: none", "broker id", bits=32), HOST]
LeaderEpoch = Annotated[int, Meaning("leader epoch", bits=32)]
ControllerEpoch = Annotated[int, Meaning("controller epoch", bits=32)]
ZkVersion = Annotated[int, Meaning("dataVersion of the `state` znode", bits=32)]
Isr = Annotated[list[int], Meaning("in-sync replicas", "broker id", bits=32)]
Replicas = Annotated[list[int], Meaning("assigned replicas", "broker id", bits=32)]
Count = Annotated[int, Meaning("number of records", "records")]
FirstRecord = Annotated[int, Meaning("the first record", "record id")]
BaseOffset = Annotated[int, Meaning("offset of the first record", "offset")]
Offset = Annotated[int, Meaning("an offset read or committed", "offset")]
HighWatermark = Annotated[int, Meaning("HW after it", "offset")]
LogEndOffset = Annotated[int, Meaning("LEO after it; -1: unknown", "offset")]
LogStart = Annotated[int, Meaning("first offset after it", "offset")]
Previous = Annotated[int, Meaning("HW or LEO before it", "offset")]
Path = Annotated[str, Meaning("path of a znode"), Names("znode")]
Data = Annotated[str | None, Meaning("data of a znode", null="ZooKeeper's null")]
RecordData = Annotated[str, Meaning("data of a znode", null="ZooKeeper's null", column="data")]
Version = Annotated[int, Meaning("dataVersion of a znode", bits=32)]
Acks = Annotated[int, Meaning("0, 1 or -1 (all)", bits=32)]
Adding = Annotated[list[int], Meaning("replicas being added", "broker id", bits=32)]
Api = Annotated[str, Meaning("Kafka's name of a client's request")]
ApiVersion = Annotated[int, Meaning("version of a client's request", bits=32)]
Assignment = Annotated[list[list[int]], Meaning("replicas of each partition", "broker id", bits=32)]
Batch = Annotated[int, Meaning("offset of the first record of its metadata batch", "offset")]
BrokerEpoch = Annotated[int, Meaning("broker epoch")]
Change = Annotated[str, Meaning("`shrink` or `expand`")]
Client = Annotated[str, Meaning("client id")]
Config = Annotated[dict[str, str], Meaning("configuration, by Kafka's names")]
Acknowledgement = Annotated[
    str, Meaning("how records were acknowledged: accept, release, reject, renew, gap")
]
Connection = Annotated[int, Meaning("number of a client's connection"), Names("client")]
Deliveries = Annotated[int, Meaning("how often records were delivered to a share group", bits=32)]
Consumer = Annotated[str, Meaning("a consumer's name"), Names("consumer")]
Controller = Annotated[int, Meaning("the controller that a broker knows", "host", bits=32), HOST]
Counted = Annotated[bool, Meaning("whether a retry was counted")]
Cut = Annotated[bool, Meaning("whether a link is cut")]
DelayUs = Annotated[int, Meaning("delay added to each message", "us")]
Detail = Annotated[str, Meaning("what a step or an invariant concerned")]
DropPercent = Annotated[float, Meaning("share of messages lost", "percent")]
EndOffset = Annotated[int, Meaning("offset after the last one", "offset")]
Entity = Annotated[str, Meaning("what is configured, `topic`, `broker`, ..")]
Entries = Annotated[list[tuple[int, int]], Meaning("leader epochs with their start offsets")]
Epoch = Annotated[int, Meaning("epoch of a controller, a quorum or a leader", bits=32)]
EpochZkVersion = Annotated[int, Meaning("dataVersion of /controller_epoch", bits=32)]
Epochs = Annotated[list[tuple[int, int]] | None, Meaning("leader epochs with their start offsets")]
Errors = Annotated[list[str], Meaning("names of the errors in a response")]
Exists = Annotated[bool, Meaning("whether a replica's folder exists")]
First = Annotated[int, Meaning("number of the first partition that was added", bits=32)]
Follower = Annotated[int, Meaning("a follower", "broker id", bits=32), HOST]
Generation = Annotated[int, Meaning("generation of a consumer group", bits=32)]
FirstOffset = Annotated[int, Meaning("offset of the first of several records", "offset")]
LastOffset = Annotated[int, Meaning("offset of the last of several records", "offset")]
LockedUntil = Annotated[int, Meaning("when an acquisition lock ends", "us")]
ShareStart = Annotated[int, Meaning("share-partition start offset (SPSO)", "offset")]
Group = Annotated[str, Meaning("a consumer group"), Names("group")]
Groups = Annotated[list[str], Meaning("consumer groups")]
HighWatermarks = Annotated[dict[str, int], Meaning("HW by topic-partition", "offset")]
Holding = Annotated[list[str], Meaning("names of messages held back; `*`: all")]
Key = Annotated[str, Meaning("name of a configuration")]
Keys = Annotated[list[str | None], Meaning("keys of records; null: none", "text")]
Kind = Annotated[str, Meaning("kind of a watch, or type of a metadata record")]
LastStableOffset = Annotated[int, Meaning("last stable offset", "offset")]
Line = Annotated[int, Meaning("line in the script")]
LiveBrokers = Annotated[list[int], Meaning("brokers that are alive", "broker id", bits=32)]
Member = Annotated[str, Meaning("id of a group's member")]
Awaited = Annotated[list[str], Meaning("members whose partitions a member waits for")]
MemberEpoch = Annotated[int, Meaning("epoch of a member of a consumer group", bits=32)]
Message = Annotated[int, Meaning("MessageSent of the message", "event")]
Note = Annotated[str, Meaning("note of a bookmark", "text")]
Occasion = Annotated[str, Meaning("why the HW advanced")]
Operation = Annotated[str, Meaning("ZooKeeper's operation")]
Partitions = Annotated[list[str], Meaning("topic-partitions")]
Passed = Annotated[bool, Meaning("whether an assertion passed")]
Paused = Annotated[bool, Meaning("whether a follower is paused")]
Position = Annotated[int, Meaning("position of a consumer", "offset")]
Procedure = Annotated[str, Meaning("procedure of the controller")]
Producer = Annotated[str, Meaning("a producer's name"), Names("producer")]
ProducerEpoch = Annotated[int, Meaning("producer epoch", bits=32)]
ProducerId = Annotated[int, Meaning("producer id")]
Protocol = Annotated[str, Meaning("protocol of a group's members")]
Reason = Annotated[str, Meaning("why it happened")]
Removing = Annotated[list[int], Meaning("replicas being removed", "broker id", bits=32)]
Replica = Annotated[int, Meaning("a replica, a voter or an observer", "host", bits=32), HOST]
Runs = Annotated[
    list[tuple[int, int]], Meaning("runs of records: the first one and their number", "record id")
]
StartOffset = Annotated[int, Meaning("first offset of the metadata log", "offset")]
State = Annotated[str, Meaning("state after it")]
Step = Annotated[int, Meaning("number of a step")]
Steps = Annotated[int, Meaning("kernel events dispatched before the statement")]
Strategy = Annotated[str, Meaning("strategy of an election")]
Task = Annotated[str, Meaning("task of a timer")]
Text = Annotated[str, Meaning("statement or expectation", "text")]
TimeoutMs = Annotated[int, Meaning("timeout of a ZooKeeper session", "ms")]
TransactionalId = Annotated[str, Meaning("transactional id"), Names("transaction")]
TransactionalIds = Annotated[list[str], Meaning("transactional ids")]
Value = Annotated[str, Meaning("value of a configuration", "text")]
Values = Annotated[list[str], Meaning("values of records", "text")]
Writer = Annotated[int | None, Meaning("who wrote a znode", "host", bits=32), HOST]
Session = Annotated[int, Meaning("ZooKeeper session (the field `session`)", column="zk_session")]
Zxid = Annotated[int, Meaning("ZooKeeper's transaction id")]


def _snake_case(name: str) -> str:
    return sub("(?<!^)(?=[A-Z])", "_", name).lower()


COLUMNS: Final = tuple(
    {
        meaning.column or _snake_case(name): None
        for name, alias in list(globals().items())
        for meaning in getattr(alias, "__metadata__", ())
        if isinstance(meaning, Meaning)
    }
)
"""The names of the columns, in order."""


def meaning_of(kind: type[Struct], field: str) -> Meaning | None:
    """Return the meaning of a field of a class of events; None if it has no own column."""
    return next(
        (declared for declared in _declared(kind, field) if isinstance(declared, Meaning)), None
    )


def names_in(kind: type[Struct], field: str) -> Names | None:
    """Return which objects a field names; None if it names none."""
    return next(
        (declared for declared in _declared(kind, field) if isinstance(declared, Names)), None
    )


def is_touched(kind: type[Struct], field: str) -> bool:
    """Whether an event of the class touches the objects that the field names."""
    names = names_in(kind, field)
    return names is not None and (names != HOST or TOUCHED in _declared(kind, field))


def type_of(kind: type[Struct], field: str) -> object:
    """Return the type of a field's values."""
    declared = kind.__annotations__.get(field)
    return getattr(declared, "__origin__", declared) if _declared(kind, field) else declared


def _declared(kind: type[Struct], field: str) -> tuple[object, ...]:
    declared: tuple[object, ...] = getattr(kind.__annotations__.get(field), "__metadata__", ())
    return declared
