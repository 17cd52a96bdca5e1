"""The codec of the wire protocol: ``python -m benchmarks.codec``.

A small Produce and Fetch, as librdkafka exchanges them with a broker, read and written; and a batch
of 100 records of 100 bytes.
"""

import timeit
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from emulator.wire.codec import decode_request, encode_request, encode_response
from emulator.wire.header import RequestHeader
from emulator.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from emulator.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from emulator.wire.records import memory_records
from emulator.wire.records.record import Record
from emulator.wire.types import Message

RUNS = 5
SECONDS = 0.1
US = 1_000_000

RECORDS = [Record(None, bytes(100), 1) for _ in range(100)]
BATCH = memory_records.build(RECORDS, 2)
ONE = memory_records.build(RECORDS[:1], 2)
PARTITIONS = range(3)

PRODUCE = ProduceRequest(
    None, -1, 30_000, [TopicProduceData("orders", partition_data=[PartitionProduceData(0, ONE)])]
)
PRODUCED = ProduceResponse(
    [TopicProduceResponse("orders", partition_responses=[PartitionProduceResponse(0, 0, 17)])]
)
FETCH = FetchRequest(
    topics=[FetchTopic("orders", partitions=[FetchPartition(each, 3, 17) for each in PARTITIONS])]
)
FETCHED = FetchResponse(
    responses=[
        FetchableTopicResponse(
            "orders", partitions=[PartitionData(each, 0, 17, records=ONE) for each in PARTITIONS]
        )
    ]
)

EXCHANGES: tuple[tuple[int, int, Message, Message], ...] = (
    (0, 7, PRODUCE, PRODUCED),
    (0, 9, PRODUCE, PRODUCED),
    (1, 11, FETCH, FETCHED),
    (1, 12, FETCH, FETCHED),
)


def microseconds(work: Callable[[], Any]) -> float:
    """The shortest time that it took, of several runs; the first one makes reader and writer."""
    work()
    timer = timeit.Timer(work)
    count = max(1, int(SECONDS / max(timer.timeit(10) / 10, 1e-9)))
    return min(timer.repeat(RUNS, count)) / count * US


def codec() -> Iterator[tuple[str, float]]:
    """What was done, and how many microseconds it took."""
    for key, version, request, response in EXCHANGES:
        name = f"{type(request).__name__.removesuffix('Request')} {version}"
        frame = encode_request(RequestHeader(key, version, 1, "rdkafka"), request)
        yield f"{name}, request read", microseconds(partial(decode_request, frame))
        written = partial(encode_response, key, version, 1, response)
        yield f"{name}, response written", microseconds(written)
    yield "100 records, checked", microseconds(partial(memory_records.check_produced, BATCH))
    yield "100 records, placed", microseconds(partial(memory_records.place, BATCH, 17, 3))
    yield "100 records, decoded", microseconds(partial(memory_records.decode, BATCH))
    yield "100 records, built", microseconds(partial(memory_records.build, RECORDS, 2))


def main() -> None:
    """Print the figures."""
    for what, figure in codec():
        print(f"{what:32}{figure:8.2f} us")


if __name__ == "__main__":
    main()
