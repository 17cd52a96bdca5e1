"""What is known of the connections of clients outside the emulator: plain data."""

from msgspec import Struct, field

from emulator.protocol import AnyMessage


class Connection(Struct, array_like=True):
    """A connection of a client outside to one broker.

    A broker works on one request of a connection at a time, as Kafka's ``SocketServer`` does, which
    mutes a channel until it has answered: ``frame`` is that request (empty: there is none),
    ``waiting`` are those behind it. ``asked`` are the messages that it became, in order, and
    ``answers`` what has come back so far, by message. ``entered`` are first id and number of the
    records of each batch that it brought. ``client`` is the client id of its last request,
    ``received`` the event that says that ``frame`` was received.
    """

    broker: int
    client: str = ""
    waiting: list[bytes] = field(default_factory=list)
    frame: bytes = b""
    asked: list[int] = field(default_factory=list)
    answers: dict[int, AnyMessage] = field(default_factory=dict)
    entered: list[tuple[int, int]] = field(default_factory=list)
    received: int = 0


class Injection(Struct, array_like=True):
    """The next ``times`` requests of an API that brokers do not carry out but refuse."""

    api: str
    error: str
    times: int


class ExternalState(Struct, array_like=True):
    """All connections of clients outside.

    ``listeners`` are the addresses that brokers tell clients. ``requests`` tells which connection
    waits for the answer to a message, ``unanswered`` which one sent the last messages that nobody
    answers (acks=0), oldest first. ``in_doubt`` has, for each partition, batches whose producer was
    not told that they are written, by what tells them from others, with their first record's id: if
    one comes again, it is the same records.
    """

    listeners: dict[int, tuple[str, int]] = field(default_factory=dict)
    connections: dict[int, Connection] = field(default_factory=dict)
    requests: dict[int, int] = field(default_factory=dict)
    unanswered: dict[int, int] = field(default_factory=dict)
    in_doubt: dict[str, dict[str, int]] = field(default_factory=dict)
    injected: list[Injection] = field(default_factory=list)
    topic_names: dict[str, str] = field(default_factory=dict)
