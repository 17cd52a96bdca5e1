"""The scenarios: what happens to a cluster under a client, and what is asked of the client."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from commands.conformance.steps import (
    Begin,
    Close,
    Commit,
    Copy,
    Do,
    End,
    Expected,
    Kill,
    OpenConsumer,
    OpenProducer,
    Read,
    Send,
    Setting,
    Share,
    Step,
    Stream,
    Work,
)


class Scenario(Struct, frozen=True, kw_only=True):
    """A scenario as data.

    ``needs`` names what a client must be able to do; ``since`` and ``until`` are the first and last
    release that it is for. ``partitions``, ``topic`` and ``config`` are the topic's partitions and
    configuration, and that of the brokers.
    """

    name: str
    title: str
    steps: Sequence[Step]
    asks: tuple[str, ...]
    needs: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    partitions: int = 1
    topic: dict[str, Setting] = {}
    config: dict[str, Setting] = {}


WRITTEN: Final = ("acknowledged", "nothing lost", "in order", "written once")
READ: Final = ("acknowledged", "read all", "read once", "read in order")
TRANSACTED: Final = ("read all", "read once", "committed only", "atomic")
IDEMPOTENCE: Final = "idempotence"
TRANSACTIONS: Final = "transactions"
SHARE_GROUPS: Final = "share groups"
SHARED: Final = ("acknowledged", "read all", "settled all", "settled once")
GROUPS: Final = "groups"
SINCE_TRANSACTIONS: Final = "0.11"

IDEMPOTENT: Final[dict[str, Setting]] = {"enable.idempotence": True}
PLAIN: Final[dict[str, Setting]] = {
    "enable.idempotence": False,
    "max.in.flight.requests.per.connection": 1,
}
SHORT: Final[dict[str, Setting]] = {**PLAIN, "delivery.timeout.ms": 2_000}
COMMITTED: Final[dict[str, Setting]] = {"isolation.level": "read_committed"}
MEMBER: Final[dict[str, Setting]] = {"group.id": "g"}
TRANSACTIONAL: Final[dict[str, Setting]] = {"transactional.id": "t"}
SHORT_TRANSACTION: Final[dict[str, Setting]] = {
    **TRANSACTIONAL,
    "transaction.timeout.ms": 1_500,
    "delivery.timeout.ms": 1_200,
}

NEW_LEADER: Final = Do("wait until orders-0.leader != {leader} and orders-0.leader != -1")
CRASH: Final = Do("broker crash {leader}")
MOVE_LEADER: Final = (
    Do("reassign orders-0 {follower},{leader},{second follower}"),
    Do("wait until orders-0.osr == []"),
    Do("election preferred orders-0"),
    NEW_LEADER,
)
STOP_FOLLOWERS: Final = (Do("broker stop {follower}"), Do("broker stop {second follower}"))
FILL: Final = (OpenProducer(settings=PLAIN), Send(count=20, expected="ok"))
FILL_AND_READ: Final = (*FILL, OpenConsumer(), Read())
FILL_AND_JOIN: Final = (*FILL, OpenConsumer(settings=MEMBER), Read(commit="after"))
READ_COMMITTED: Final = (OpenConsumer(settings=COMMITTED), Read())
A_JOINS: Final = OpenConsumer(client="a", settings=MEMBER)
B_JOINS: Final = OpenConsumer(client="b", settings=MEMBER)
A_READS: Final = Read(clients=("a",), commit="after")
B_READS: Final = Read(clients=("b",), commit="after")
BOTH_SHARE: Final = Share(clients=("a", "b"))
BOTH_READ: Final = Read(clients=("a", "b"), commit="after")


def _idempotent(
    *steps: Step,
    name: str,
    title: str,
    opening: Sequence[Step] = (OpenProducer(settings=IDEMPOTENT),),
    until: str = "",
    topic: dict[str, Setting] | None = None,
) -> Scenario:
    """Return a scenario of an idempotent producer; ``opening`` comes before the steps."""
    return Scenario(
        name=name,
        title=title,
        needs=(IDEMPOTENCE,),
        since=SINCE_TRANSACTIONS,
        until=until,
        topic=topic or {},
        asks=WRITTEN,
        steps=(*opening, *steps),
    )


def _injected(fault: str, *, name: str, title: str, count: int = 40) -> Scenario:
    """Return a scenario of an idempotent producer whose requests meet a fault."""
    steps = (Send(count=5), Do(f"inject {fault}"), Send(count=count))
    return _idempotent(*steps, name=name, title=title)


def _reading(*during: Step, name: str, title: str, since: str = "") -> Scenario:
    """Return a scenario of a consumer; ``during`` happens after its first records."""
    steps = (*FILL_AND_READ, *during, Send(), Read())
    return Scenario(name=name, title=title, since=since, asks=READ, steps=steps)


def _member_fault(fault: str, *, name: str, title: str, end: Expected = "ok") -> Scenario:
    """Return a scenario of a member of a group that meets a fault; ``end`` is its last commit."""
    return Scenario(
        name=name,
        title=title,
        needs=(GROUPS,),
        asks=("acknowledged", "read all"),
        steps=(
            *FILL_AND_JOIN,
            Do(f"inject {fault}"),
            Send(),
            Read(commit="after", expected="any"),
            Commit(expected=end),
        ),
    )


def _rebalance(
    settings: dict[str, Setting], *, name: str, title: str, since: str = "", needs: str = GROUPS
) -> Scenario:
    """Return a scenario in which a second member joins a group, and the first one leaves."""
    member = {**MEMBER, **settings}
    return Scenario(
        name=name,
        title=title,
        needs=(needs,),
        since=since,
        partitions=4,
        asks=("acknowledged", "read all"),
        steps=(
            *FILL,
            OpenConsumer(client="a", settings=member),
            A_READS,
            OpenConsumer(client="b", settings=member),
            BOTH_SHARE,
            Send(),
            BOTH_READ,
            Close(client="a"),
            Share(clients=("b",)),
            Send(),
            B_READS,
        ),
    )


def _shared(
    *steps: Step,
    name: str,
    title: str,
    partitions: int = 1,
    config: dict[str, Setting] | None = None,
) -> Scenario:
    """Return a scenario of a share group: 20 records, its first member, then the steps."""
    return Scenario(
        name=name,
        title=title,
        needs=(SHARE_GROUPS,),
        since="4.2",
        partitions=partitions,
        config=config or {},
        asks=SHARED,
        steps=(
            Do("config group g share.auto.offset.reset=earliest"),
            *FILL,
            OpenConsumer(client="a", settings=MEMBER, shares=True),
            *steps,
        ),
    )


def _open_transaction(
    client: str = "p", *, settings: dict[str, Setting] = TRANSACTIONAL, count: int = 5
) -> tuple[Step, ...]:
    """Return how a producer is opened, and sends ``count`` records in a transaction."""
    return (
        OpenProducer(client=client, settings=settings),
        Begin(client=client),
        Send(client=client, count=count, expected="ok"),
    )


def _transaction(*during: Step, name: str, title: str, commit: bool = True) -> Scenario:
    """Return a scenario of two transactions; ``during`` happens in the second."""
    return Scenario(
        name=name,
        title=title,
        needs=(TRANSACTIONS,),
        since=SINCE_TRANSACTIONS,
        partitions=2,
        asks=("nothing lost", *TRANSACTED),
        steps=(
            *_open_transaction(count=10),
            End(),
            Begin(),
            Send(count=10, expected="ok"),
            *during,
            Send(count=10, expected="ok"),
            End(commit=commit),
            *READ_COMMITTED,
        ),
    )


PRODUCERS: Final = (
    _idempotent(
        Send(count=10),
        Do("inject Produce --close-after --topic orders"),
        Send(count=40, meanwhile=(CRASH, NEW_LEADER)),
        name="leader-crash",
        title="The leader crashes while the responses to its producers are on the way",
    ),
    Scenario(
        name="leader-crash-without-idempotence",
        title="The leader crashes under a producer that does not number its batches",
        asks=("acknowledged", "nothing lost"),
        steps=(
            OpenProducer(settings=PLAIN),
            Stream(meanwhile=(CRASH, NEW_LEADER)),
        ),
    ),
    _injected(
        "Produce --close-after --topic orders --times 3",
        name="lost-response",
        title="Batches are written, and the connection breaks before each response",
    ),
    _injected(
        "Produce --drop --topic orders",
        name="half-open-connection",
        title="A broker goes silent: a request is never handled, the connection stays open",
        count=20,
    ),
    _injected(
        "Produce --delay 1500ms --topic orders",
        name="late-response",
        title="A response comes after the client's request timeout",
        count=20,
    ),
    _injected(
        "Produce --throttle 1500ms --topic orders --times 2",
        name="throttled-producer",
        title="The producer exceeds a quota, and is throttled longer than a request may take",
        count=20,
    ),
    _injected(
        "Produce NOT_ENOUGH_REPLICAS --topic orders --times 3",
        name="refused-for-a-while",
        title="The leader refuses batches for a while, as there are too few replicas in sync",
    ),
    _idempotent(
        Send(count=20),
        opening=(Do("inject Metadata --drop --client p"), OpenProducer(settings=IDEMPOTENT)),
        name="silent-bootstrap",
        title="The broker that a producer asks first for metadata goes silent",
    ),
    Scenario(
        name="stale-metadata",
        title="Leadership moves, and the producer still knows the former leader",
        asks=("acknowledged", "nothing lost", "in order"),
        steps=(
            OpenProducer(settings=PLAIN),
            Send(count=5),
            Stream(meanwhile=MOVE_LEADER),
            Send(count=20),
        ),
    ),
    _idempotent(
        Send(count=5),
        Send(
            count=20,
            meanwhile=(Do("broker freeze {leader}"), NEW_LEADER, Do("broker thaw {leader}")),
        ),
        Send(count=5),
        name="frozen-leader",
        title="The leader stops answering, another one is elected, and the first one wakes up",
    ),
    _idempotent(
        Send(count=5),
        Do("network cut {leader} clients"),
        Send(count=20, meanwhile=(Do("wait 1500ms"), Do("network heal"))),
        name="clients-cut-off",
        title="The leader cannot be reached by clients for longer than their request timeout",
    ),
    _idempotent(
        Stream(
            meanwhile=tuple(
                Do(statement)
                for broker in range(3)
                for statement in (
                    f"broker stop {broker}",
                    f"broker start {broker}",
                    "wait until under_replicated == 0",
                )
            )
        ),
        name="rolling-restart",
        title="All brokers are restarted, one after another",
    ),
    _idempotent(
        Send(count=5),
        *STOP_FOLLOWERS,
        Send(count=20, meanwhile=(Do("wait 300ms"), Do("broker start {follower}"))),
        name="too-few-replicas",
        title="Both followers are down, and then one comes back",
        topic={"min.insync.replicas": 2},
    ),
    Scenario(
        name="delivery-timeout",
        title="Both followers stay down: the producer gives up within delivery.timeout.ms",
        topic={"min.insync.replicas": 2},
        asks=("refused",),
        steps=(
            OpenProducer(settings=SHORT),
            *STOP_FOLLOWERS,
            Send(count=3),
        ),
    ),
    Scenario(
        name="record-too-large",
        title="A record is larger than the topic allows, which trying again does not change",
        topic={"max.message.bytes": 2_000},
        asks=("nothing lost",),
        steps=(
            OpenProducer(settings=PLAIN),
            Send(count=1, padding=5_000, expected="error"),
            Send(count=5, expected="ok"),
        ),
    ),
    _idempotent(
        Stream(
            meanwhile=(
                Do("broker crash {controller}"),
                Do("wait until controller.broker != {controller} and controller.broker != -1"),
                Do("wait until orders-0.leader != {controller} and orders-0.leader != -1"),
            )
        ),
        name="controller-crash",
        title="The controller crashes, and then the leader",
        until="3.9",
    ),
)

CONSUMERS: Final = (
    _reading(
        CRASH,
        NEW_LEADER,
        name="read-through-leader-crash",
        title="The leader crashes under a consumer",
    ),
    _reading(
        *MOVE_LEADER,
        name="read-through-move",
        title="Leadership moves, and the consumer still knows the former leader",
    ),
    _reading(
        Do("inject Fetch FENCED_LEADER_EPOCH --topic orders --client c --times 2"),
        name="fenced-epoch",
        title="The leader has a newer epoch than the consumer",
        since="2.1",
    ),
    _reading(
        Do("inject Fetch UNKNOWN_LEADER_EPOCH --topic orders --client c --times 2"),
        name="unknown-epoch",
        title="The consumer knows a newer epoch than the leader",
        since="2.1",
    ),
    _reading(
        Do("inject Fetch --drop --client c"),
        name="silent-fetch",
        title="A broker goes silent on a fetch, and the connection stays open",
    ),
    _reading(
        Do("inject Fetch --delay 500ms --client c --times 3"),
        name="slow-broker",
        title="A broker is slow",
    ),
    _reading(
        Do("inject Fetch --close-after --client c --times 3"),
        name="broken-fetch",
        title="Connections break before the responses to fetches",
    ),
    _reading(
        Do("inject Fetch --throttle 1500ms --client c --times 2"),
        name="throttled-consumer",
        title="The consumer exceeds a quota, and is throttled longer than a request may take",
    ),
    Scenario(
        name="out-of-range",
        title="The committed offset is beyond the log: auto.offset.reset=earliest applies",
        needs=(GROUPS,),
        asks=READ,
        steps=(
            A_JOINS,
            Share(clients=("a",)),
            Commit(client="a", offset=1_000_000),
            Close(client="a"),
            *FILL,
            B_JOINS,
            Read(clients=("b",)),
        ),
    ),
    Scenario(
        name="truncation",
        title="An unclean election removes what the consumer has read (KIP-320)",
        needs=("truncation",),
        since="2.3",  # from then on a consumer may ask for the end of an epoch
        topic={"unclean.leader.election.enable": "true", "min.insync.replicas": 1},
        asks=("read all",),
        steps=(
            *FILL_AND_READ,
            Do("broker crash {follower}"),
            Do("broker crash {second follower}"),
            Do("wait until orders-0.isr == [{leader}]"),
            Send(count=10, expected="ok"),
            Read(),
            CRASH,
            Do("broker start {follower}"),
            Do("wait until orders-0.leader == {follower}"),
            Send(count=20, expected="ok"),
            Read(expected="any"),
        ),
    ),
)

MEMBERS: Final = (
    Scenario(
        name="coordinator-stops",
        title="The group's coordinator is shut down, and another broker takes over",
        needs=(GROUPS,),
        asks=READ,
        steps=(
            *FILL_AND_JOIN,
            Do("broker stop {group g}"),
            Send(),
            Read(commit="after"),
            Commit(),
        ),
    ),
    Scenario(
        name="coordinator-crash",
        title="The group's coordinator crashes; a second member begins where the first one was",
        needs=(GROUPS,),
        asks=READ,
        steps=(
            *FILL,
            A_JOINS,
            A_READS,
            Do("broker crash {group g}"),
            Commit(client="a"),
            Close(client="a"),
            Send(),
            B_JOINS,
            B_READS,
        ),
    ),
    _member_fault(
        "OffsetCommit COORDINATOR_LOAD_IN_PROGRESS --group g --times 2",
        name="coordinator-loads",
        title="The coordinator is still loading the group",
    ),
    _member_fault(
        "OffsetCommit NOT_COORDINATOR --group g --times 2",
        name="coordinator-moved",
        title="The coordinator that the member knows has been replaced",
    ),
    _member_fault(
        "Heartbeat UNKNOWN_MEMBER_ID --group g",
        name="member-unknown",
        title="The coordinator does not know the member any more",
        end="any",
    ),
    _member_fault(
        "OffsetCommit --close-after --group g",
        name="lost-commit-response",
        title="A commit is done, and the connection breaks before the response",
    ),
    Scenario(
        name="member-crash",
        title="A member is killed, and another one takes over from what was committed",
        needs=(GROUPS,),
        partitions=4,
        asks=("acknowledged", "read all"),
        steps=(
            *FILL,
            A_JOINS,
            B_JOINS,
            BOTH_SHARE,
            BOTH_READ,
            Send(),
            Kill(client="a"),
            B_READS,
        ),
    ),
    Scenario(
        name="at-most-once",
        title="Members commit before they process, and one is killed",
        needs=(GROUPS,),
        asks=("read once",),
        steps=(
            *FILL,
            A_JOINS,
            Read(clients=("a",), commit="before"),
            Kill(client="a"),
            Send(),
            B_JOINS,
            Read(clients=("b",), commit="before"),
        ),
    ),
    _rebalance(
        {"partition.assignment.strategy": "range"},
        name="rebalance-eager",
        title="Members join and leave, with an eager assignor",
    ),
    _rebalance(
        {"partition.assignment.strategy": "cooperative-sticky"},
        name="rebalance-cooperative",
        title="Members join and leave, with a cooperative assignor (KIP-429)",
        needs="cooperative",
    ),
    _rebalance(
        {"group.protocol": "consumer"},
        name="rebalance-consumer-protocol",
        title="Members join and leave, and the coordinator assigns (KIP-848)",
        since="4.0",
        needs="consumer protocol",
    ),
    Scenario(
        name="static-member",
        title="A static member restarts within its session, and keeps its partitions (KIP-345)",
        needs=("static",),
        since="2.4",
        partitions=2,
        asks=READ,
        steps=(
            *FILL,
            OpenConsumer(client="a", settings={**MEMBER, "group.instance.id": "one"}),
            OpenConsumer(client="b", settings={**MEMBER, "group.instance.id": "two"}),
            BOTH_SHARE,
            BOTH_READ,
            Kill(client="a"),
            OpenConsumer(client="a", settings={**MEMBER, "group.instance.id": "one"}),
            BOTH_SHARE,
            Send(),
            BOTH_READ,
        ),
    ),
)

TRANSACTIONS_OF_CLIENTS: Final = (
    _transaction(
        name="transaction-commit",
        title="Transactions commit",
    ),
    _transaction(
        name="transaction-abort",
        title="A transaction is aborted, and its records are never read",
        commit=False,
    ),
    _transaction(
        CRASH,
        NEW_LEADER,
        name="transaction-leader-crash",
        title="The leader crashes within a transaction",
    ),
    _transaction(
        Do("broker crash {transaction t}"),
        name="transaction-coordinator-crash",
        title="The coordinator crashes within a transaction",
    ),
    _transaction(
        Do("inject EndTxn --close-after --transactional-id t"),
        name="lost-transaction-response",
        title="A transaction is committed, and the connection breaks before the response",
    ),
    _transaction(
        Do("inject EndTxn CONCURRENT_TRANSACTIONS --transactional-id t --times 2"),
        name="concurrent-transactions",
        title="The coordinator is still completing the previous transaction",
    ),
    Scenario(
        name="fenced-producer",
        title="A second producer with the same transactional.id fences the first one",
        needs=(TRANSACTIONS,),
        since=SINCE_TRANSACTIONS,
        asks=TRANSACTED,
        steps=(
            *_open_transaction("old"),
            *_open_transaction("new"),
            End(client="old", expected="error"),
            End(client="new"),
            *READ_COMMITTED,
        ),
    ),
    Scenario(
        name="transaction-timeout",
        title="A producer dies within a transaction, which the coordinator then aborts",
        needs=(TRANSACTIONS,),
        since=SINCE_TRANSACTIONS,
        asks=TRANSACTED,
        steps=(
            *_open_transaction(settings=SHORT_TRANSACTION),
            Kill(client="p"),
            OpenProducer(client="q", settings=PLAIN),
            Send(client="q", count=10, expected="ok"),
            *READ_COMMITTED,
        ),
    ),
    Scenario(
        name="exactly-once",
        title="Records are copied with their offsets in transactions, and the copier is killed",
        needs=(TRANSACTIONS, GROUPS),
        since=SINCE_TRANSACTIONS,
        asks=("copied once", "committed only", "atomic"),
        steps=(
            *FILL,
            OpenProducer(client="x", settings=TRANSACTIONAL),
            OpenConsumer(settings={**MEMBER, **COMMITTED}),
            Copy(client="x"),
            Send(count=10),
            Copy(client="x", most=10),
            Kill(client="x"),
            Close(client="c"),
            OpenProducer(client="y", settings=TRANSACTIONAL),
            OpenConsumer(client="d", settings={**MEMBER, **COMMITTED}),
            Copy(client="y", consumer="d"),
            OpenConsumer(client="r", topic="copies", settings=COMMITTED),
            Read(clients=("r",)),
        ),
    ),
)

B_WORKS: Final = (OpenConsumer(client="b", settings=MEMBER, shares=True), Work(clients=("b",)))

SHARE_GROUPS_OF_CLIENTS: Final = (
    _shared(
        OpenConsumer(client="b", settings=MEMBER, shares=True),
        Work(clients=("a", "b")),
        Send(),
        Work(clients=("a", "b")),
        Close(client="a"),
        Send(),
        Work(clients=("b",)),
        name="share-members",
        title="Members of a share group join and leave (KIP-932)",
        partitions=2,
    ),
    _shared(
        Work(clients=("a",), how="release", once=True),
        *B_WORKS,
        name="share-release",
        title="A member releases its records, and another one gets them",
    ),
    _shared(
        Work(clients=("a",), how="reject", once=True),
        Send(),
        *B_WORKS,
        name="share-reject",
        title="A member rejects records, which nobody gets again",
    ),
    _shared(
        Work(clients=("a",), how="", once=True),
        Kill(client="a"),
        *B_WORKS,
        name="share-member-crash",
        title="A member is killed with records in flight",
    ),
    _shared(
        Work(clients=("a",), how="", once=True),
        *B_WORKS,
        name="share-lock",
        title="A member holds its records longer than their locks last",
    ),
    _shared(
        Work(clients=("a",)),
        CRASH,
        NEW_LEADER,
        Send(),
        Work(clients=("a",)),
        name="share-leader-crash",
        title="The leader crashes under a share group",
    ),
    _shared(
        Work(clients=("a",)),
        Do("broker crash {group g}"),
        Send(),
        *B_WORKS,
        name="share-coordinator-crash",
        title="The share group's coordinator crashes, and a second member joins",
    ),
    _shared(
        Do("inject ShareAcknowledge --close-after --group g"),
        Work(clients=("a",)),
        Send(),
        Work(clients=("a",)),
        name="lost-acknowledgement",
        title="Records are settled, and the connection breaks before the response",
    ),
)

SCENARIOS: Final = (
    *PRODUCERS,
    *CONSUMERS,
    *MEMBERS,
    *SHARE_GROUPS_OF_CLIENTS,
    *TRANSACTIONS_OF_CLIENTS,
)
