"""What the other tools print of recorded clusters, and the two forms of ZooKeeper's data."""

import io
import json
import struct
from pathlib import Path

import pytest

from emulator.cluster_image.acls import in_words
from emulator.cluster_image.document import ordered
from emulator.cluster_image.image import (
    Broker,
    ClientQuota,
    ClusterImage,
    CommittedOffset,
    Controller,
    Partition,
    Quorum,
    ReplicaLog,
    ScramUser,
    Topic,
)
from sessions.own_cluster.content import Content
from sessions.own_cluster.importing import import_sources, read_source
from sessions.own_cluster.reading import Reading, SourceError
from sessions.own_cluster.recognition import read
from tests.sessions.own_cluster.recorded import (
    CASES,
    IDS,
    RECORDINGS,
    imported,
    partitions_of,
    state_of,
)

ZOOKEEPER = [case for case in CASES if (case / "zookeeper.json").exists()]
KRAFT = [case for case in CASES if (case / "quorum.txt").exists()]
PLACED = ("replicas", "leader", "isr")
cases = pytest.mark.parametrize("case", CASES, ids=IDS)
zookeeper_cases = pytest.mark.parametrize(
    "case", ZOOKEEPER, ids=lambda case: f"{case.parent.name}-{case.name}"
)


def reading_of(text: str | bytes) -> Reading:
    data = text.encode() if isinstance(text, str) else text
    return read(Content("source", io.BytesIO(data)))


def image_of(text: str | bytes) -> ClusterImage:
    return reading_of(text).image


def running(case: Path) -> dict[int, bool]:
    return {each["id"]: each["state"] == "running" for each in state_of(case)["brokers"]}


@cases
def test_kcat_tells_placement_and_who_is_alive(case: Path) -> None:
    image = read_source(str(case / "kcat.json")).image
    assert imported(image, "replicas", "leader") == partitions_of(case, "replicas", "leader")
    isrs = partitions_of(case, "isr")
    assert {key: sorted(value["isr"]) for key, value in imported(image, "isr").items()} == {
        key: sorted(value["isr"]) for key, value in isrs.items()
    }
    assert {broker.id: broker.up for broker in image.brokers} == running(case)


@cases
def test_a_reassignment_tells_placement_only(case: Path) -> None:
    image = read_source(str(case / "reassign.json")).image
    assert imported(image, "replicas") == partitions_of(case, "replicas")
    assert all(each["leader"] is None for each in imported(image, "leader").values())


@cases
def test_a_list_of_brokers_tells_racks_and_states(case: Path) -> None:
    image = read_source(str(case / "brokers.json")).image
    assert {broker.id: broker.up for broker in image.brokers} == running(case)
    assert [broker.rack for broker in image.brokers] == [
        each["rack"] for each in json.loads((case / "brokers.json").read_text())
    ]


@cases
def test_configurations_are_those_that_kafka_topics_tells(case: Path) -> None:
    configs = {t.name: t.configs for t in read_source(str(case / "configs.txt")).image.topics}
    told = {t.name: t.configs for t in read_source(str(case / "topics.txt")).image.topics}
    assert configs == told


@cases
def test_log_directories_tell_who_has_which_log(case: Path) -> None:
    image = read_source(str(case / "log-dirs.json")).image
    alive = {broker for broker, is_up in running(case).items() if is_up}
    expected = {
        key: sorted(alive & {*value["replicas"]})
        for key, value in partitions_of(case, "replicas").items()
    }
    found = {
        (topic.name, each.partition): [log.broker for log in each.logs]
        for topic in image.topics
        for each in topic.partitions
    }
    assert found == {key: brokers for key, brokers in expected.items() if brokers}
    assert any(log.size for t in image.topics for p in t.partitions for log in p.logs)


@pytest.mark.parametrize("case", KRAFT, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_the_quorum_is_what_was_so(case: Path) -> None:
    image = read_source(str(case / "quorum.txt")).image
    state = state_of(case)["quorum"]
    assert image.quorum is not None
    assert (image.quorum.leader, image.quorum.epoch) == (state["leader"], state["epoch"])
    assert [str(each.id) for each in image.quorum.controllers] == list(state["voters"])
    assert image.cluster_id == "dGlkZWdhdWdla3JhZnQwMA"


@zookeeper_cases
def test_a_dump_of_zookeeper_is_exactly_what_was_so(case: Path) -> None:
    image = read_source(str(case / "zookeeper.json")).image
    fields = (*PLACED, "leader_epoch", "controller_epoch")
    assert imported(image, *fields) == partitions_of(case, *fields)
    versions = {key: each["zk_version"] for key, each in partitions_of(case, "zk_version").items()}
    assert {
        k: e["partition_epoch"] for k, e in imported(image, "partition_epoch").items()
    } == versions
    assert {broker.id: broker.up for broker in image.brokers} == running(case)
    state = state_of(case)["controller"]
    assert image.controller is not None
    assert (image.controller.broker, image.controller.epoch, image.controller.epoch_version) == (
        state["broker"],
        state["epoch"],
        state["epoch_zk_version"],
    )


def snapshot_of(dump: dict[str, dict[str, object]]) -> bytes:
    """A snapshot file with the znodes of a dump, as FileSnap and DataTree write it."""

    def buffer(data: bytes | None) -> bytes:
        return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data

    parts = [b"ZKSN", struct.pack(">iq", 2, -1), struct.pack(">i", 1), struct.pack(">qi", 7, 6000)]
    parts += [
        struct.pack(">iqi", 1, 1, 1),
        struct.pack(">i", 31),
        buffer(b"world"),
        buffer(b"anyone"),
    ]
    for path, znode in dump.items():
        data = znode["data"]
        stat = struct.pack(">qqqqqiiiqq", 1, 99, 99, 1, 1, znode["version"], 0, 0, 0, 99)
        encoded = None if data is None else str(data).encode()
        parts += [buffer(b"" if path == "/" else path.encode()), buffer(encoded), stat]
    return b"".join([*parts, buffer(b"/"), struct.pack(">q", 1), buffer(b"/")])


@zookeeper_cases
def test_a_snapshot_file_says_the_same_as_the_dump_and_knows_broker_epochs(case: Path) -> None:
    dump = json.loads((case / "zookeeper.json").read_text())
    image = image_of(snapshot_of(dump))
    told = read_source(str(case / "zookeeper.json")).image
    assert image.topics == told.topics
    assert image.controller == told.controller
    assert {broker.epoch for broker in image.brokers if broker.up} == {99}


def test_a_snapshot_that_zookeeper_wrote_is_read() -> None:
    """ZooKeeper 3.5.9 wrote it, after the recorded dump's znodes were set up to eight times."""
    case = RECORDINGS / "zookeeper-2.8.2"
    image = ordered(read_source(str(case / "snapshot.9d")).image)
    told = ordered(read_source(str(case / "04" / "zookeeper.json")).image)
    fields = (*PLACED, "leader_epoch", "controller_epoch", "adding", "removing")
    assert imported(image, *fields) == imported(told, *fields)
    epochs = imported(told, "partition_epoch")
    assert imported(image, "partition_epoch") == {
        place: {"partition_epoch": min(8, epoch["partition_epoch"])}
        for place, epoch in epochs.items()
    }
    assert [topic.configs for topic in image.topics] == [topic.configs for topic in told.topics]
    assert image.cluster_id == told.cluster_id
    assert [broker.epoch for broker in image.brokers if broker.up] == [6, 8, 10]


def test_kafka_below_a_chroot_is_found_and_two_are_refused() -> None:
    dump = json.loads((ZOOKEEPER[0] / "zookeeper.json").read_text())
    below = {f"/kafka{path if path != '/' else ''}": znode for path, znode in dump.items()}
    assert image_of(json.dumps(below)) == image_of(json.dumps(dump))
    with pytest.raises(SourceError, match="has 2 clusters of Kafka"):
        image_of(json.dumps(dump | below))


@cases
def test_all_sources_together_agree_and_leave_little_to_assume(case: Path) -> None:
    names = ("topics.txt", "kcat.json", "reassign.json", "brokers.json", "configs.txt") + (
        ("log-dirs.json", "metadata", "quorum.txt")
        if "kraft" in str(case)
        else ("log-dirs.json", "zookeeper.json")
    )
    result = import_sources([str(case / name) for name in names])
    assert [str(each) for each in result.contradictions] == []
    assert {each.what for each in result.assumed} <= {"release"}
    assert imported(result.image, *PLACED) == partitions_of(case, *PLACED)
    racks = {each["id"]: each["rack"] for each in json.loads((case / "brokers.json").read_text())}
    assert {broker.id: broker.rack for broker in result.image.brokers} == racks


def test_an_empty_output_is_noted_beside_others_and_refused_alone(tmp_path: Path) -> None:
    empty = tmp_path / "groups.txt"
    empty.write_bytes(b"")
    result = import_sources([str(empty), str(CASES[0] / "topics.txt")])
    assert "it is empty" in result.readings[0].notes[0]
    with pytest.raises(SourceError, match="txt: empty"):
        import_sources([str(empty)])


# ---- groups, as the tools of 4.0.2 and 2.8.2 printed them of a cluster

GROUPS = Path(__file__).parent / "recordings" / "groups"


@pytest.mark.parametrize("name", ["4.0.2.txt", "2.8.2.txt", "4.0.2-verbose.txt"])
def test_offsets_and_members_of_groups_are_read(name: str) -> None:
    image = read_source(str(GROUPS / name)).image
    gone, readers = sorted(image.groups, key=lambda group: group.id)
    assert (gone.id, gone.state, gone.members) == ("gone", "Empty", ())
    offsets = {(each.topic, each.partition): each.offset for each in readers.offsets}
    assert {("orders", 0), ("orders", 1)} <= offsets.keys()
    assert (offsets["orders", 0], offsets["orders", 1]) == (20, 5)
    (member,) = readers.members
    assert member.id.startswith("my app") or member.id.startswith("my-app")
    assert all(each.member == member.id for each in readers.offsets)
    orders = image.topic("orders")
    assert orders is not None
    assert {each.partition: each.log_end for each in orders.partitions}[0] == 20


@pytest.mark.parametrize("name", ["4.0.2-state.txt", "2.8.2-state.txt"])
def test_states_of_groups_are_read(name: str) -> None:
    image = read_source(str(GROUPS / name)).image
    states = {group.id: group.state for group in image.groups}
    assert states == {"gone": "Empty", "readers": "Stable"}
    assert all(group.coordinator is not None for group in image.groups)


def test_a_group_of_an_old_tool_is_named_in_the_line_before() -> None:
    image = image_of(
        "Consumer group 'g' has no active members.\n\n"
        "TOPIC                          PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG        "
        "CONSUMER-ID               HOST                           CLIENT-ID\n"
        "t                              0          5               9               4          "
        "-                         -                              -\n"
    )
    (group,) = image.groups
    assert (group.id, group.offsets) == ("g", (CommittedOffset("t", 0, 5),))


# ---- what is not among the recordings


def test_voters_of_older_releases_are_numbers() -> None:
    image = image_of(
        "ClusterId:              abc\nLeaderId:               1\nLeaderEpoch:            4\n"
        "HighWatermark:          10\nCurrentVoters:          [1,2]\nCurrentObservers:       [3]\n"
        "NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus\n"
        "1\t11\t0\t1\t1\tLeader\n2\t9\t2\t1\t1\tFollower\n3\t9\t2\t1\t1\tObserver\n"
    )
    assert image.quorum == Quorum(
        1, 4, 9, (Controller(1, up=True, voter=True), Controller(2, voter=True))
    )


def test_features_tell_the_release() -> None:
    image = image_of(
        "Feature: eligible.leader.replicas.version\tSupportedMinVersion: 0"
        "\tSupportedMaxVersion: 1\tFinalizedVersionLevel: 1\tEpoch: 9\n"
        "Feature: group.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\t"
        "FinalizedVersionLevel: 0\tEpoch: 9\n"
        "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1\t"
        "FinalizedVersionLevel: 4.0-IV3\tEpoch: 9\n"
    )
    assert image.release == "4.1"
    assert image.features == {"eligible.leader.replicas.version": 1, "metadata.version": 25}


def test_configurations_that_zookeeper_based_tools_and_all_print() -> None:
    image = image_of(
        "Configs for topic 't' are min.insync.replicas=2,cleanup.policy=compact\n"
        "All configs for broker 1 are:\n"
        "  min.insync.replicas=2 sensitive=false synonyms="
        "{STATIC_BROKER_CONFIG:min.insync.replicas=2, DEFAULT_CONFIG:min.insync.replicas=1}\n"
        "  log.retention.ms=9 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:log.retention.ms=9}\n"
        "  num.io.threads=8 sensitive=false synonyms={DEFAULT_CONFIG:num.io.threads=8}\n"
        "  ssl.key.password=null sensitive=true synonyms={}\n"
        "Dynamic configs for brokers in the cluster are:\n"
        "  unclean.leader.election.enable=true sensitive=false "
        "synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:unclean.leader.election.enable=true}\n"
    )
    assert image.topics == (
        Topic("t", configs={"min.insync.replicas": "2", "cleanup.policy": "compact"}),
    )
    assert image.brokers == (
        Broker(1, configs={"log.retention.ms": "9"}, static_configs={"min.insync.replicas": "2"}),
    )
    assert image.configs == {"unclean.leader.election.enable": "true"}


def test_the_current_assignment_of_generate_is_read() -> None:
    reading = reading_of(
        "Current partition replica assignment\n"
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any"]}]}\n\n'
        "Proposed partition reassignment configuration\n"
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[3,4]}]}\n'
    )
    assert reading.image.topics == (Topic("t", partitions=(Partition(0, (1, 2)),)),)
    assert "current" in reading.notes[0]


def test_zookeepers_offsets_of_old_consumers_and_reassignments_are_read() -> None:
    image = image_of(
        json.dumps(
            {
                "/brokers": {"data": None},
                "/brokers/ids/1": {"data": '{"host":"h","port":1}', "czxid": 17},
                "/brokers/topics/t": {
                    "data": '{"version":3,"partitions":{"0":[1,2,3]},"adding_replicas":{"0":[3]},'
                    '"removing_replicas":{"0":[2]}}'
                },
                "/consumers/g/offsets/t/0": {"data": "12"},
                "/admin/delete_topics/t": {"data": None},
            }
        )
    )
    (topic,) = image.topics
    assert topic.deleting
    assert topic.partitions == (Partition(0, (1, 2, 3), adding=(3,), removing=(2,)),)
    assert image.groups[0].offsets == (CommittedOffset("t", 0, 12),)
    assert image.brokers[0] == Broker(1, rack="", up=True, epoch=17, host="h", port=1, configs={})


STRIMZI = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {name: controllers}
spec: {replicas: 3, roles: [controller]}
status: {nodeIds: [10, 11, 12]}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {name: brokers}
spec: {replicas: 3, roles: [broker]}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: prod}
spec:
  kafka:
    version: 4.1.0
    metadataVersion: 4.1-IV1
    rack: {topologyKey: topology.kubernetes.io/zone}
    config:
      min.insync.replicas: 2
      auto.create.topics.enable: false
---
apiVersion: v1
kind: List
items:
- apiVersion: kafka.strimzi.io/v1beta2
  kind: KafkaTopic
  metadata: {name: orders}
  spec: {partitions: 2, replicas: 3, config: {retention.ms: 1000}}
"""


def test_strimzis_resources_tell_what_is_intended() -> None:
    reading = reading_of(STRIMZI)
    image = reading.image
    assert (image.release, image.mode, image.features) == (
        "4.1.0",
        "kraft",
        {"metadata.version": 27},
    )
    assert image.static_configs == {
        "min.insync.replicas": "2",
        "auto.create.topics.enable": "false",
    }
    assert [broker.id for broker in image.brokers] == [0, 1, 2]
    assert image.quorum is not None
    assert [controller.id for controller in image.quorum.controllers] == [10, 11, 12]
    (topic,) = image.topics
    assert (topic.replication_factor, len(topic.partitions)) == (3, 2)
    assert reading.notes == (
        "its brokers have racks, but the resources do not say which",
        "3 nodes numbered from 0: the pools have no status.nodeIds",
    )


STRIMZI_USERS = """\
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: prod}
spec:
  kafka:
    version: 4.1.0
    replicas: 1
    authorization: {type: simple, superUsers: [CN=admin, root]}
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata: {name: alice}
spec:
  authentication: {type: scram-sha-512}
  quotas: {producerByteRate: 1048576, requestPercentage: 55, controllerMutationRate: 0.5}
  authorization:
    type: simple
    acls:
    - resource: {type: topic, name: orders, patternType: prefix}
      operations: [Read, DescribeConfigs]
    - resource: {type: transactionalId, name: t}
      operation: Write
      host: 10.0.0.1
      type: deny
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata: {name: bob}
spec:
  authentication: {type: tls}
  quotas: {consumerByteRate: 7}
  authorization:
    type: simple
    acls: [{resource: {type: cluster}, operations: [IdempotentWrite]}]
"""


def test_strimzis_users_have_credentials_quotas_and_access_control_entries() -> None:
    image = image_of(STRIMZI_USERS)
    assert image.static_configs == {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:CN=admin;User:root",
    }
    assert image.users == (ScramUser("alice", {"SCRAM-SHA-512": 4096}),)
    assert image.quotas == (
        ClientQuota(
            "alice",
            values={
                "producer_byte_rate": 1048576,
                "request_percentage": 55,
                "controller_mutation_rate": 0.5,
            },
        ),
        ClientQuota("CN=bob", values={"consumer_byte_rate": 7}),
    )
    assert [in_words(entry) for entry in image.acls] == [
        "ALLOW User:alice READ TOPIC orders PREFIXED *",
        "ALLOW User:alice DESCRIBE_CONFIGS TOPIC orders PREFIXED *",
        "DENY User:alice WRITE TRANSACTIONAL_ID t LITERAL 10.0.0.1",
        "ALLOW User:CN=bob IDEMPOTENT_WRITE CLUSTER kafka-cluster LITERAL *",
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("Write", "Wrte", r"no operation 'WRTE'; the nearest is 'WRITE'"),
        ("prefix", "regex", "the pattern 'regex'"),
        ("{consumerByteRate: 7}", "7", "a field 'quotas' that is no mapping"),
        ("[IdempotentWrite]", "Read", "a field 'operations' that is no list"),
        ("{name: bob}", "{}", "a KafkaUser without a name"),
    ],
)
def test_a_bad_field_of_a_user_is_one_sentence(right: str, wrong: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        reading_of(STRIMZI_USERS.replace(right, wrong, 1))


def test_cruise_controls_state_and_loads_are_read() -> None:
    state = image_of(
        json.dumps(
            {
                "KafkaBrokerState": {
                    "ReplicaCountByBrokerId": {"1": 1, "2": 1, "3": 1},
                    "OnlineLogDirsByBrokerId": {"1": ["/a"], "2": ["/a"]},
                },
                "KafkaPartitionState": {
                    "urp": [
                        {
                            "topic": "t",
                            "partition": 0,
                            "leader": 1,
                            "replicas": [1, 2, 3],
                            "in-sync": [1, 2],
                            "out-of-sync": [3],
                        }
                    ]
                },
            }
        )
    )
    assert state.topics == (Topic("t", partitions=(Partition(0, (1, 2, 3), 1, (1, 2)),)),)
    assert {broker.id: broker.up for broker in state.brokers} == {1: True, 2: True, 3: False}
    loads = image_of(
        '{"records":[{"topic":"t","partition":0,"leader":1,"followers":[2],"disk":1.5}],"version":1}'
    )
    (partition,) = loads.topics[0].partitions
    assert (partition.replicas, partition.leader) == ((1, 2), 1)
    assert partition.logs == (ReplicaLog(1, size=1572864), ReplicaLog(2, size=1572864))
