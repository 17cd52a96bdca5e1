import pytest

from sessions.decoding import DecodingError
from sessions.model.cluster_view import ClusterView
from sessions.model.metadata_image import Metadata, MetadataLog, MetadataReader
from sessions.model.states import CommittedRecord, PartitionState
from tests.support.kraft_states import ELIGIBLE
from tests.support.script_events import events_of


def record(offset: int, kind: str, data: str) -> CommittedRecord:
    return CommittedRecord(offset, 1, offset, kind, 0, data)


def partition(offset: int, topic: str) -> CommittedRecord:
    data = (
        f'{{"partitionId":0,"topicId":"{topic}","replicas":[1,2],"isr":[1,2],"leader":1,'
        '"removingReplicas":[],"addingReplicas":[],"leaderRecoveryState":0,"leaderEpoch":0,'
        '"partitionEpoch":0}'
    )
    return record(offset, "Partition", data)


LOG = [
    record(0, "Topic", '{"name":"t","topicId":"t"}'),
    record(1, "Config", '{"resourceType":2,"resourceName":"t","name":"a","value":"1"}'),
    partition(2, "t"),
    record(3, "PartitionChange", '{"partitionId":0,"topicId":"t","isr":[1],"leader":1}'),
]


def read(*records: CommittedRecord) -> Metadata:
    return Metadata(MetadataLog().read(records), len(records))


def test_records_become_nodes_by_path() -> None:
    metadata = read(*LOG)
    node = metadata.nodes["/topics/t/0"]
    assert (node.changed, node.records) == (3, 2)
    assert node.data is not None
    assert '"isr":[1],"leader":1,"leaderEpoch":1,"partitionEpoch":1' in node.data
    assert metadata.nodes["/configs/TOPIC:t/a"].data == '"1"'
    assert list(metadata.nodes["/topics"].children) == ["t"]


def test_a_deleted_topic_takes_all_of_it_away() -> None:
    metadata = read(*LOG, record(4, "RemoveTopic", '{"topicId":"t"}'))
    assert [path for path in metadata.nodes if path.count("/") > 1] == []
    assert not metadata.nodes["/topics"].children
    assert not metadata.nodes["/configs"].children


def test_the_second_topic_of_a_name_has_that_name() -> None:
    metadata = read(
        *LOG,
        record(4, "RemoveTopic", '{"topicId":"t"}'),
        record(5, "Topic", '{"name":"t","topicId":"t#2"}'),
        partition(6, "t#2"),
    )
    assert metadata.nodes["/topics/t/0"].changed == 6
    assert metadata.partition(PartitionState("t", 0, [1, 2]))["isr"] == [1, 2]


def test_a_configuration_that_is_taken_away_is_gone() -> None:
    metadata = read(*LOG, record(4, "Config", '{"resourceType":2,"resourceName":"t","name":"a"}'))
    assert "/configs/TOPIC:t" not in metadata.nodes


def test_records_are_decoded_for_what_is_looked_at() -> None:
    log = [
        *LOG,
        record(4, "Partition", '{"partitionId":1,"topicId":"t","broken":'),
        record(5, "ClearElr", '{"topicName":"t"}'),
    ]
    with pytest.raises(DecodingError):
        MetadataLog().read(log)
    log[4] = record(4, "Partition", '{"partitionId":1,"topicId":"t"}')
    metadata = read(*log)
    assert list(metadata.nodes["/topics/t"].children) == ["0", "1"]
    assert metadata.nodes["/topics/t/0"].changed == 5
    with pytest.raises(DecodingError, match="Partition at offset 4"):
        metadata.nodes["/topics/t/1"]


def test_every_moment_of_a_log_is_what_reading_up_to_it_gives() -> None:
    log = [
        *LOG,
        partition(4, "u"),
        record(5, "Topic", '{"name":"u","topicId":"u"}'),
        record(
            6, "PartitionChange", '{"partitionId":0,"topicId":"t","eligibleLeaderReplicas":[2]}'
        ),
        record(7, "ClearElr", '{"topicName":"t"}'),
        record(8, "RemoveTopic", '{"topicId":"t"}'),
    ]
    whole = read(*log)
    for taken in (3, 9, 4, 8, 7, 1, 0, 6):
        whole.go_to(taken)
        fresh = read(*log[:taken])
        assert dict(whole.nodes) == dict(fresh.nodes)
        assert (whole.taken, whole.image) == (fresh.taken, fresh.image)
    whole.go_to(7)
    assert whole.elr(PartitionState("t", 0, [1, 2])) == [2]
    whole.go_to(8)
    assert whole.elr(PartitionState("t", 0, [1, 2])) == []


def test_it_is_read_on_and_back_in_time_anew() -> None:
    view, reader = ClusterView(), MetadataReader()
    seen: list[int] = []
    early = None
    for event in events_of(*ELIGIBLE):
        view.apply(event)
        metadata = reader.at(view.state)
        if metadata is not None and metadata.taken != (seen[-1] if seen else -1):
            seen.append(metadata.taken)
            if metadata.taken and early is None:
                early = view.copy()
    assert early is not None
    assert seen == sorted(seen)
    last = reader.at(view.state)
    assert last is not None
    assert last.elr(view.partitions["orders-0"]) == [1]
    assert (last.is_fenced(0), last.is_fenced(1), last.is_fenced(7)) == (False, True, None)
    taken = last.taken
    back = reader.at(early.state)
    assert back is not None
    assert back.taken < taken
