"""Producers and consumers: produce, consume, inject."""

from typing import Annotated, Literal, cast

import click

from commands.language import values
from commands.language.declaration import argument, flag, option, statement
from commands.language.statements.parameters import Partition, Topic
from emulator.inputs.statements import Acks, Consume, InjectError, Produce
from sessions.grammar.words import BadWord, duration

app = click.Group()

PARTITIONERS = ("default", "roundrobin", "sticky")
ASSIGNORS = ("range", "roundrobin", "cooperative-sticky")
ENDINGS = ("stay", "leave", "die")

Key = Annotated[str | None, option("--key", metavar="K", text="the records' key")]
Value = Annotated[
    str, option("--value", metavar="V", text="the value; V-0, V-1, .. if there are several")
]
Records = Annotated[
    int, option("--count", metavar="N", parse=values.count, text="how many records", default="1")
]
AcksWord = Annotated[
    int | None,
    option(
        "--acks",
        metavar="0|1|all",
        parse=values.acks,
        text="acknowledgements that the leader waits for",
        default="the release's",
    ),
]
Retries = Annotated[
    int | None,
    option(
        "--retries",
        metavar="N",
        parse=values.natural,
        text="number of retries",
        default="the release's",
    ),
]
Timeout = Annotated[
    int,
    option(
        "--timeout",
        metavar="D",
        parse=values.positive_duration,
        text="the timeout sent to the leader; the client gives up 2 s later",
        default="30s",
    ),
]
BatchSize = Annotated[
    int,
    option("--batch", metavar="B", parse=values.count, text="records per request", default="1"),
]
InFlight = Annotated[
    int,
    option(
        "--in-flight",
        metavar="N",
        parse=values.count,
        text="the most requests in flight at once",
        default="1",
    ),
]
Idempotent = Annotated[bool, flag("--idempotent", text="use a producer id and sequence numbers")]
ProducerName = Annotated[
    str, option("--producer", metavar="PRODUCER", text="the producer", default="p1")
]
Partitioner = Annotated[
    str,
    option(
        "--partitioner",
        metavar="|".join(PARTITIONERS),
        parse=values.choice(*PARTITIONERS),
        text="how a partition is chosen",
        default="default",
    ),
]
Every = Annotated[
    int, option("--every", metavar="D", parse=duration, text="the time between two requests")
]
StrictRetries = Annotated[
    bool,
    flag(
        "--strict-retries",
        text="count each resend as a retry, as in Kafka's producer, not only after 3 s",
    ),
]
Background = Annotated[bool, flag("--async", text="do not wait for the responses")]


@statement(app, "produce")
def produce(
    topic: Topic,
    partition: Partition = None,
    key: Key = None,
    value: Value = "",
    count: Records = 1,
    acks: AcksWord = None,
    retries: Retries = None,
    timeout: Timeout = 30_000_000,
    batch: BatchSize = 1,
    in_flight: InFlight = 1,
    idempotent: Idempotent = False,
    producer: ProducerName = "p1",
    partitioner: Partitioner = "default",
    every: Every = 0,
    background: Background = False,
    strict_retries: StrictRetries = False,
) -> Produce:
    """Send N records, one request after another, and wait for the last response or error."""
    return Produce(
        topic=topic,
        partition=partition,
        key=key,
        value=value,
        count=count,
        acks=cast(Acks | None, acks),
        retries=retries,
        timeout_us=timeout,
        batch=batch,
        in_flight=in_flight,
        idempotent=idempotent,
        producer=producer,
        partitioner=cast(Literal["default", "roundrobin", "sticky"], partitioner),
        every_us=every,
        background=background,
        strict_retries=strict_retries,
    )


FromBeginning = Annotated[
    bool,
    flag("--from-beginning", text="from offset 0; for a group: if it has no valid offset"),
]
Offset = Annotated[
    int | None, option("--offset", metavar="O", parse=values.natural, text="from this offset")
]
MaxRecords = Annotated[
    int | None, option("--max", metavar="N", parse=values.count, text="at most N records")
]
Group = Annotated[
    str | None,
    option("--group", metavar="G", text="join this group and commit its offsets (0.9+)"),
]
ConsumerName = Annotated[
    str, option("--consumer", metavar="CONSUMER", text="the consumer", default="c1")
]
Rack = Annotated[
    str,
    option("--rack", metavar="R", text="client.rack: replicas in it may serve it (2.4+)"),
]
Assignor = Annotated[
    str,
    option(
        "--assignor",
        metavar="|".join(ASSIGNORS),
        parse=values.choice(*ASSIGNORS),
        text="how the group assigns partitions",
        default="range",
    ),
]
Then = Annotated[
    str,
    option(
        "--then",
        metavar="|".join(ENDINGS),
        parse=values.choice(*ENDINGS),
        text="what the member does afterwards: stay, leave, or be killed",
        default="stay",
    ),
]


FromTimestamp = Annotated[
    int | None,
    option(
        "--from-timestamp",
        metavar="TIME",
        parse=duration,
        text="from the first record that is not older than this virtual time (0.10.1+)",
    ),
]
ConsumerTimeout = Annotated[
    int | None,
    option(
        "--timeout",
        metavar="D",
        parse=values.positive_duration,
        text="wait for more records until none has come for this time",
    ),
]
MinBytes = Annotated[
    int | None,
    option(
        "--min-bytes",
        metavar="N",
        parse=values.natural,
        text="fetch.min.bytes: the amount of data that a broker waits for",
        default="1",
    ),
]
MaxWait = Annotated[
    int | None,
    option(
        "--max-wait",
        metavar="D",
        parse=duration,
        text="fetch.max.wait.ms: the longest time that a broker waits",
        default="500ms",
    ),
]


@statement(app, "consume")
def consume(
    topic: Topic,
    partition: Partition = None,
    from_beginning: FromBeginning = False,
    offset: Offset = None,
    max_records: MaxRecords = None,
    group: Group = None,
    consumer: ConsumerName = "c1",
    rack: Rack = "",
    assignor: Assignor = "range",
    then: Then = "stay",
    from_timestamp: FromTimestamp = None,
    timeout: ConsumerTimeout = None,
    min_bytes: MinBytes = None,
    max_wait: MaxWait = None,
) -> Consume:
    """Read records up to the HW, never past it.

    With --timeout the consumer then waits for more, as kafka-console-consumer --timeout-ms does,
    until it has --max records or none has arrived for that time. Its fetches wait at the brokers.
    With --group the consumer joins the group, reads its assigned partitions from the committed
    offsets (from 0 where there are none), and commits. It then remains a member and takes part in
    rebalances until a later statement says --then leave or --then die. The partitions of a dead
    member are reassigned to the others when its session times out. With --partition the consumer
    does not join the group; it only reads and commits the group's offset. When its group
    rebalances, a member stops waiting, so that it commits its offsets before it rejoins.
    """
    if from_beginning and offset is not None:
        raise BadWord("takes --from-beginning or --offset, not both")
    if from_timestamp is not None and (from_beginning or offset is not None):
        raise BadWord("takes --from-timestamp, --from-beginning or --offset, only one of them")
    if timeout is None and (min_bytes is not None or max_wait is not None):
        raise BadWord("takes --min-bytes and --max-wait only with --timeout")
    if group is None and (assignor != "range" or then != "stay"):
        raise BadWord("takes --assignor and --then only with --group")
    return Consume(
        topic=topic,
        partition=partition,
        offset=0 if from_beginning and group is None else offset,
        max_records=max_records,
        group=group,
        consumer=consumer,
        rack=rack,
        assignor=cast(Literal["range", "roundrobin", "cooperative-sticky"], assignor),
        from_beginning=from_beginning and group is not None,
        then=cast(Literal["stay", "leave", "die"], then),
        timeout_us=timeout,
        min_bytes=min_bytes,
        max_wait_us=max_wait,
        from_timestamp_us=from_timestamp,
    )


@statement(app, "inject")
def inject(
    api: Annotated[str, argument("API", values.refusable_api, "Produce, Fetch, JoinGroup, ..")],
    error: Annotated[str, argument("ERROR", values.kafka_error, "NOT_ENOUGH_REPLICAS, ..")],
    times: Annotated[
        int,
        option("--times", metavar="N", parse=values.count, text="number of requests", default="1"),
    ] = 1,
) -> InjectError:
    """Fail the next requests of external clients (`tidegauge serve`) without executing them."""
    return InjectError(api=api, error=error, times=times)
