"""The state of external clients' connections, as plain data."""

from msgspec import Struct, field

from emulator.common.scram import Exchange
from emulator.inputs.statements import InjectError
from emulator.protocol import AnyMessage, FetchPartition


class Connection(Struct, array_like=True):
    """An external client's connection to a broker.

    A broker handles one request of a connection at a time, like Kafka's ``SocketServer``, which
    mutes a channel until it has responded: ``frame`` is that request (empty: none), ``waiting`` are
    the requests queued behind it. ``asked`` lists the messages it was translated into, in order,
    and ``responses`` those received so far, by message. ``entered`` has the first id and the number
    of the records of each of its batches. ``client`` is the client id of its last request,
    ``received`` the event that recorded the receipt of ``frame``. ``listener`` is the name of the
    broker's listener.

    ``mechanism`` is the SASL mechanism by which the client authenticates (empty: it does not),
    ``is_raw`` whether its tokens are no requests, ``exchange`` and ``user`` what it has said before
    its last token. ``principal`` is who it is then (empty: it is not authenticated). With a
    ``refusal`` the connection is closed after the response. A fault sends the response ``delay_us``
    later, or closes the connection in its place (``is_cut_off``), or throttles the client: after
    the response, nothing is read for ``throttle_us``, and ``frame`` is still the answered request.

    ``refused`` are the responses to the parts of messages that the client is not authorized for, by
    the number of the message, ``asks_for_all`` whether it sees what it is authorized for only.
    ``unreadable`` are the partitions of its fetch session that it may not read.
    ``shares``: it has fetched in a share session, which ends with it.
    """

    broker: int
    client: str = ""
    waiting: list[bytes] = field(default_factory=list)
    frame: bytes = b""
    asked: list[int] = field(default_factory=list)
    responses: dict[int, AnyMessage] = field(default_factory=dict)
    entered: list[tuple[int, int]] = field(default_factory=list)
    received: int = 0
    listener: str = "PLAINTEXT"
    mechanism: str = ""
    is_raw: bool = False
    exchange: Exchange | None = None
    user: str = ""
    principal: str = ""
    refusal: str = ""
    host: str = ""
    delay_us: int = 0
    is_cut_off: bool = False
    refused: dict[int, AnyMessage] = field(default_factory=dict)
    asks_for_all: bool = False
    unreadable: dict[str, FetchPartition] = field(default_factory=dict)
    shares: bool = False
    throttle_us: int = 0


class Injection(Struct, array_like=True):
    """A fault for the next ``times`` of the requests that ``fault`` selects.

    ``after`` such requests pass first.
    """

    name: str
    fault: InjectError
    times: int
    after: int


class ExternalState(Struct, array_like=True):
    """All connections of external clients.

    ``requests`` maps messages to the connections waiting for their responses, ``unanswered`` maps
    the latest messages without a response (acks=0) to their connections, oldest first. ``in_doubt``
    holds, for each partition, the batches whose producer does not know that they are written, by
    identity, with their first record's id: a batch sent again consists of the same records.
    ``injected`` are the faults that are still to come, ``faults`` how often each has come.
    """

    connections: dict[int, Connection] = field(default_factory=dict)
    requests: dict[int, int] = field(default_factory=dict)
    unanswered: dict[int, int] = field(default_factory=dict)
    in_doubt: dict[str, dict[str, int]] = field(default_factory=dict)
    injected: list[Injection] = field(default_factory=list)
    topic_names: dict[str, str] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
