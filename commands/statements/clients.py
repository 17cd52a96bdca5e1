"""Producers and consumers: produce, consume."""

from typing import Annotated, Literal, cast

import typer

from commands import words
from commands.statements.kinds import Partition, Topic, flag, option
from emulator.inputs import Acks, Consume, Produce

app = typer.Typer()

PARTITIONERS = ("default", "roundrobin", "sticky")

Key = Annotated[str | None, option("--key", metavar="K", text="the records' key")]
Value = Annotated[
    str, option("--value", metavar="V", text="the value; V-0, V-1, .. if there are several")
]
Records = Annotated[
    int, option("--count", metavar="N", parse=words.count, text="records", default="1")
]
AcksWord = Annotated[
    int | None,
    option(
        "--acks",
        metavar="0|1|all",
        parse=words.acks,
        text="acknowledgements",
        default="the release's",
    ),
]
Retries = Annotated[
    int | None,
    option(
        "--retries",
        metavar="N",
        parse=words.natural,
        text="attempts more",
        default="the release's",
    ),
]
Timeout = Annotated[
    int,
    option(
        "--timeout",
        metavar="D",
        parse=words.positive_duration,
        text="what the leader is told; the client gives up 2 s later",
        default="30s",
    ),
]
BatchSize = Annotated[
    int, option("--batch", metavar="B", parse=words.count, text="records a request", default="1")
]
InFlight = Annotated[
    int,
    option(
        "--in-flight",
        metavar="N",
        parse=words.count,
        text="requests under way at once",
        default="1",
    ),
]
Idempotent = Annotated[bool, flag("--idempotent", text="with a producer id and sequence numbers")]
ProducerName = Annotated[
    str, option("--producer", metavar="PRODUCER", text="the producer", default="p1")
]
Partitioner = Annotated[
    str,
    option(
        "--partitioner",
        metavar="|".join(PARTITIONERS),
        parse=words.choice(*PARTITIONERS),
        text="how records find a partition",
        default="default",
    ),
]
Every = Annotated[
    int, option("--every", metavar="D", parse=words.duration, text="pause between requests")
]
Background = Annotated[bool, flag("--async", text="go on at once")]


@app.command("produce")
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
) -> Produce:
    """Send N records, one request after another, and wait for the last answer or final error."""
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
    )


@app.command("consume")
def consume(
    topic: Topic,
    partition: Partition = None,
    from_beginning: Annotated[bool, flag("--from-beginning", text="from offset 0")] = False,
    offset: Annotated[
        int | None, option("--offset", metavar="O", parse=words.natural, text="from this offset")
    ] = None,
    max_records: Annotated[
        int | None, option("--max", metavar="N", parse=words.count, text="at most N records")
    ] = None,
    group: Annotated[
        str | None, option("--group", metavar="G", text="commit positions as this group")
    ] = None,
    consumer: Annotated[
        str, option("--consumer", metavar="CONSUMER", text="the consumer", default="c1")
    ] = "c1",
    rack: Annotated[
        str, option("--rack", metavar="R", text="where it is: replicas there may serve it (2.4+)")
    ] = "",
) -> Consume:
    """Read up to the HW, never past it."""
    if from_beginning and offset is not None:
        raise typer.BadParameter("takes --from-beginning or --offset, not both")
    return Consume(
        topic=topic,
        partition=partition,
        offset=0 if from_beginning else offset,
        max_records=max_records,
        group=group,
        consumer=consumer,
        rack=rack,
    )
