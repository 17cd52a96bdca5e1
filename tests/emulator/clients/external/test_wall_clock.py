"""The time of day of a cluster that begins at a given time: in records, offsets and recordings."""

from emulator.inputs.statements import CreateTopic
from emulator.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from emulator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.support.wire_client import WireLab, batch_of

STARTED_MS = 1_795_000_000_000


def test_records_are_appended_and_found_at_the_time_of_day() -> None:
    lab = WireLab.made(brokers=1, started_ms=STARTED_MS)
    lab.run(CreateTopic(topic="t", config={"message.timestamp.type": "LogAppendTime"}))
    lab.pass_time(60_000_000)
    client = lab.connect()
    rows = [PartitionProduceData(0, batch_of("a"))]
    produce = ProduceRequest(None, 1, 30_000, [TopicProduceData("t", partition_data=rows)])
    (topic,) = lab.ask(client, produce, 9).responses
    appended_ms = topic.partition_responses[0].log_append_time_ms
    assert STARTED_MS + 60_000 <= appended_ms < STARTED_MS + 70_000

    def offset_at(timestamp: int) -> int:
        partition = ListOffsetsPartition(0, timestamp=timestamp)
        request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic("t", [partition])])
        (found,) = lab.ask(client, request, 7).topics
        return int(found.partitions[0].offset)

    assert offset_at(STARTED_MS) == 0
    assert offset_at(appended_ms + 1) == -1
