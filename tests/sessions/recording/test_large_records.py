"""What is recorded can be read, however large it is: records, and many other large events."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.common.limits import BATCH_TEXT_MAX
from emulator.events import ClientConnected, Event, ProduceSent
from emulator.inputs.statements import (
    AdvertiseListeners,
    AnyInput,
    CreateCluster,
    CreateTopic,
    Statement,
)
from emulator.scenario.runner import Runner
from emulator.storage import record_ledger
from emulator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from emulator.wire.records import memory_records
from emulator.wire.records.record import Record
from sessions.format import codec, limits
from sessions.format.file import SessionFile
from sessions.playback.trim import trim
from sessions.playback.verify import verify
from sessions.recording.recorder import Recorder
from tests.sessions.examples import origin
from tests.support.wire_client import WireLab

SPEC = CreateCluster(
    latency_us=20,
    config={"message.max.bytes": "104857600", "offsets.topic.num.partitions": "1"},
)


class RecordedLab(WireLab):
    """A cluster with connections that is recorded."""

    def __init__(self, recorder: Recorder) -> None:
        first = Statement(SPEC, "cluster")
        recorder.announce(first)
        super().__init__(Runner(Cluster(SPEC, (recorder,), first.text)))
        recorder.follow(self.runner)
        self.recorder = recorder

    def give(self, wanted: AnyInput, text: str = "") -> None:
        self.recorder.announce(Statement(wanted, text))
        super().give(wanted, text)


def produced(path: Path, *values: bytes) -> list[Event]:
    """Send the values as one batch to a cluster that is recorded; all events that can be read."""
    with Recorder(path, origin(spec=SPEC)) as recorder:
        lab = RecordedLab(recorder)
        ports = {broker: ("127.0.0.1", 9092 + broker) for broker in lab.cluster.brokers}
        lab.give(AdvertiseListeners(listeners=ports))
        lab.give(CreateTopic(topic="t", partitions=1, replication_factor=1))
        lab.pass_time(3_000_000)
        records = [Record(None, value, 1_700_000_000_000) for value in values]
        data = PartitionProduceData(0, memory_records.build(records, 2))
        topic = TopicProduceData("t", partition_data=[data])
        request = ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[topic])
        leader = lab.connect(lab.cluster.state.states["t-0"].leader)
        (answer,) = lab.ask(leader, request, 3).responses[0].partition_responses
        assert answer.error_code == 0
    with SessionFile(path) as session:
        assert session.damage == ""
        return list(session.all_events())


def sent(events: Iterable[Event]) -> list[str]:
    (event,) = (event for event in events if isinstance(event, ProduceSent))
    return event.values


def test_of_a_batch_that_is_very_long_as_text_the_beginning_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text_max = BATCH_TEXT_MAX >> 3  # of the least that is cut, an eighth is as good
    monkeypatch.setattr(record_ledger, "BATCH_TEXT_MAX", text_max)
    path = tmp_path / "a.tide.db"
    binary = bytes(range(256)) * (27 << 9)  # of which every second byte is no text
    whole, cut, left_out = sent(produced(path, b"whole", binary, b"\xff" * (1 << 16)))
    assert (whole, left_out) == ("whole", ".. (65,536 bytes)")
    text, mark, length = cut.partition(".. (")
    assert (mark, length) == (".. (", "3,538,944 bytes)")
    assert binary.decode("utf-8", "backslashreplace").startswith(text)
    assert text_max - (1 << 20) < len(text) <= text_max
    assert verify(path).same


@pytest.mark.parametrize("value", ["a", "é", "漢", "😀"])
def test_a_batch_of_any_script_can_be_read(tmp_path: Path, value: str) -> None:
    """Each byte of it could begin a number or a list."""
    values = [value * (BATCH_TEXT_MAX // len(value.encode()) // count // 2) for count in (1, 10)]
    events = produced(tmp_path / "a.tide.db", *(text.encode() for text in values))
    assert sent(events) == values


def test_many_short_texts_can_be_read() -> None:
    values = ["漢字"] * 500_000
    event = ProduceSent(1, 1, 0, "p", "t-0", 1, [*values], values, -1)
    assert codec.decode(codec.encode([event], codec.group([event]))) == [event]


def test_events_that_are_too_large_for_one_chunk_become_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BLOB_BYTES_MAX", 32 << 20)
    path, count = tmp_path / "a.tide.db", 24
    size = limits.BLOB_BYTES_MAX * 2 // count
    recorder = Recorder(path, origin())
    events: list[Event] = [
        ClientConnected(seq, seq, 0, seq, 0, f"{seq} ".ljust(size)) for seq in range(1, count + 1)
    ]
    for event in events[:-2]:
        recorder(event)
    recorder.flush()
    for event in events[-2:]:
        recorder(event)
        recorder.flush()
    recorder.close()
    with SessionFile(path) as session:
        assert session.damage == ""
        assert list(session.all_events()) == events


def test_texts_that_many_events_share_may_be_long(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    recorder = Recorder(path, origin())
    address = "a" * (limits.CHUNK_TEXT_MAX // 3_000)
    events: list[Event] = [ClientConnected(seq, seq, 0, seq, 0, address) for seq in range(1, 4_000)]
    for event in events:
        recorder.tail.append(event)
    recorder.close()
    with SessionFile(path) as session:
        assert session.damage == ""
        assert list(session.all_events()) == events


def test_a_piece_after_large_records_can_be_read(tmp_path: Path) -> None:
    """Earlier records are in it, as far as there is room."""
    path, piece, count = tmp_path / "a.tide.db", tmp_path / "piece.tide.db", 20
    recorder = Recorder(path, origin())
    for seq in range(1, count + 1):
        recorder(ProduceSent(seq, seq, 0, "p", "t-0", seq, [], [str(seq).ljust(8 << 20)], -1))
    recorder.close()
    with SessionFile(path) as session:
        trim(session, piece, count, count)
    with SessionFile(piece) as session:
        assert session.damage == ""
        beginning = session.beginning()
        assert beginning is not None
        assert [batch.first_record for batch in beginning.state.batches] == [count - 1]
