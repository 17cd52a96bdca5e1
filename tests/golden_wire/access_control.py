"""Conversations about access control entries and what they refuse (KIP-11, KIP-290)."""

from functools import partial
from typing import Any, Final

from emulator.common.errors import ERROR_NAMES
from emulator.wire.records import record_batch
from emulator.wire.records.record import Record
from tests.golden_wire.conversation import NOT_YET, NOW_MS, Conversation

Plain = Any
"""A response as plain values."""
SETTINGS: Final = {
    "allow.everyone.if.no.acl.found": "true",
    "auto.create.topics.enable": "false",
}
AUTHORIZERS: Final = {
    "kraft": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "zk": "kafka.security.authorizer.AclAuthorizer",
}
TOPIC, GROUP, CLUSTER, TXN = 2, 3, 4, 5
ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS = range(2, 11)
DENY, ALLOW = 2, 3
LITERAL, PREFIXED = 3, 4
ME, OTHER = "User:ANONYMOUS", "User:x"
KEPT: Final = {
    *("name", "topic", "group_id", "key", "transactional_id"),
    *("partition_index", "index", "partition"),
    *("resource_type", "resource_name", "pattern_type", "principal", "host"),
    *("operation", "permission_type"),
    *("cluster_authorized_operations", "topic_authorized_operations", "authorized_operations"),
    "base_offset",
}
"""What is compared of a response, beside its errors."""


def brief(found: Plain) -> Plain:
    """A response's errors, and what they are about, in one order."""
    if isinstance(found, list):
        return sorted(map(brief, found), key=str)
    if not isinstance(found, dict):
        return found
    kept: dict[str, Plain] = {}
    for key, value in found.items():
        if key.endswith("error_code"):
            kept[key] = ERROR_NAMES[value]
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
            kept[key] = brief(value)
        elif key in KEPT:
            kept[key] = value
    is_acl = "principal" in kept or "resource_type" in kept
    return kept if is_acl or "host" not in kept else {k: v for k, v in kept.items() if k != "host"}


class Guard:
    """Says what a broker answers to requests, and creates entries."""

    def __init__(self, conversation: Conversation, broker: int = 0) -> None:
        """Ask one broker."""
        self.c = conversation
        self.broker = broker

    def ask(self, api: str, body: Plain, version: int) -> Plain:
        """Return the response in brief."""
        return brief(self.c.ask(self.broker, api, body, version=version))

    def say(self, step: str, api: str, body: Plain, version: int) -> None:
        """Note a response in brief."""
        self.c.say(step, self.ask(api, body, version))

    def allow(
        self, kind: int, name: str, operation: int = READ, *, principal: str = OTHER,
        pattern: int = LITERAL, permission: int = ALLOW
    ) -> None:  # fmt: skip
        """Create an entry, and wait until the broker knows it."""
        entry = creation(kind, name, operation, principal, pattern, permission)
        made = self.ask("CreateAcls", {"creations": [entry]}, 1)
        assert [each["error_code"] for each in made["results"]] == ["NONE"], made
        self.c.until(lambda: self.knows(entry))

    def knows(self, entry: Plain) -> bool:
        """Whether the broker describes an entry; true if it does not let one ask."""
        wanted = {
            "resource_type_filter": entry["resource_type"],
            "resource_name_filter": entry["resource_name"],
            "pattern_type_filter": entry["resource_pattern_type"],
            **{f"{key}_filter": entry[key] for key in ("principal", "host")},
            **{key: entry[key] for key in ("operation", "permission_type")},
        }
        found = self.ask("DescribeAcls", wanted, 1)
        return bool(found["error_code"] != "NONE" or found.get("resources"))


def creation(
    kind: int, name: str, operation: int, principal: str, pattern: int, permission: int
) -> dict[str, Plain]:
    """An entry as it is created."""
    return {"resource_type": kind, "resource_name": name, "resource_pattern_type": pattern,
            "principal": principal, "host": "*", "operation": operation,
            "permission_type": permission}  # fmt: skip


def anything(**wanted: Plain) -> dict[str, Plain]:
    """A filter that matches all entries but what is said."""
    return {"resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1,
            "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1,
            **wanted}  # fmt: skip


def acl_entries(c: Conversation) -> None:
    """Create, describe and delete entries."""
    guard = Guard(c)
    guard.say("none yet", "DescribeAcls", anything(), 1)
    wrong = [
        creation(1, "t", READ, OTHER, LITERAL, ALLOW),
        creation(TOPIC, "t", READ, OTHER, 2, ALLOW),
        creation(TOPIC, "t", 1, OTHER, LITERAL, ALLOW),
        creation(TOPIC, "t", READ, OTHER, LITERAL, 1),
        creation(CLUSTER, "other", READ, OTHER, LITERAL, ALLOW),
        creation(TOPIC, "", READ, OTHER, LITERAL, ALLOW),
        creation(TOPIC, "t", READ, OTHER, LITERAL, ALLOW),
    ]
    for number, each in enumerate(wrong):
        guard.say(f"create {number}", "CreateAcls", {"creations": [each]}, 1)
    right = [
        creation(TOPIC, "t", WRITE, OTHER, LITERAL, ALLOW),
        creation(TOPIC, "t", READ, OTHER, LITERAL, ALLOW),
        creation(TOPIC, "te", READ, OTHER, PREFIXED, ALLOW),
        creation(TOPIC, "*", READ, "User:y", LITERAL, DENY),
        creation(GROUP, "g", READ, "User:y", LITERAL, ALLOW),
    ]
    guard.say("several", "CreateAcls", {"creations": right}, 1)
    c.until(lambda: guard.knows(right[-1]))
    filters = {
        "all": anything(),
        "topics": anything(resource_type_filter=TOPIC),
        "named": anything(resource_type_filter=TOPIC, resource_name_filter="t"),
        "literally": anything(resource_name_filter="t", pattern_type_filter=LITERAL),
        "match test": anything(resource_name_filter="test", pattern_type_filter=2),
        "match t": anything(resource_name_filter="t", pattern_type_filter=2),
        "prefixed": anything(pattern_type_filter=PREFIXED),
        "of y": anything(principal_filter="User:y"),
        "denials": anything(permission_type=DENY),
        "reading": anything(operation=READ),
        "another host": anything(host_filter="h"),
    }
    for name, wanted in filters.items():
        guard.say(name, "DescribeAcls", wanted, 1)
    gone = [filters["match t"], filters["of y"], filters["another host"]]
    guard.say("delete", "DeleteAcls", {"filters": gone}, 1)
    c.until(lambda: not guard.knows(right[-1]))
    guard.say("left", "DescribeAcls", anything(), 1)


def acl_refusals(c: Conversation) -> None:
    """Ask for topics, groups and transactions that are for somebody else."""
    guard = Guard(c)
    for topic in ("open", "shut"):
        row = {"name": topic, "num_partitions": 1, "replication_factor": 1}
        guard.say(f"create {topic}", "CreateTopics", {"topics": [row], "timeout_ms": 9_000}, 2)
        c.until(partial(_leader, guard, topic))
    guard.allow(TOPIC, "shut")
    _of_topics(guard)
    guard.allow(TOPIC, "half", READ, principal=ME)
    _of_half(c, guard)
    guard.allow(TOPIC, "new-", READ, pattern=PREFIXED)
    rows = [{"name": name, "num_partitions": 1, "replication_factor": 1} for name in ("new-1", "n")]
    guard.say("create two", "CreateTopics", {"topics": rows, "timeout_ms": 9_000}, 2)
    guard.allow(GROUP, "closed")
    _of_groups(guard)
    guard.allow(TXN, "tx")
    _of_transactions(guard)


def _leader(guard: Guard, topic: str) -> bool:
    found = guard.c.ask(guard.broker, "Metadata", {"topics": [{"name": topic}]}, version=5)
    rows = found["topics"][0]["partitions"]
    if rows and rows[0]["leader_id"] >= 0 and not rows[0]["error_code"]:
        guard.broker = rows[0]["leader_id"] if topic == "shut" else guard.broker
        return True
    return False


def _of_topics(guard: Guard) -> None:
    both = [{"name": "open"}, {"name": "shut"}]
    guard.say("metadata", "Metadata", {"topics": both, "allow_auto_topic_creation": False}, 5)
    guard.say("metadata of all", "Metadata", {"topics": None}, 5)
    rows = [{"index": 0, "records": record_batch.build([Record(None, b"v", NOW_MS)])}]
    shut = [{"name": "shut", "partition_data": rows}]
    body = {"acks": -1, "timeout_ms": 3_000, "topic_data": shut}
    guard.say("produce", "Produce", body, 3)
    row = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    fetched = [{"topic": "shut", "partitions": [row]}]
    body = {"replica_id": -1, "max_wait_ms": 100, "min_bytes": 0, "max_bytes": 1 << 20,
            "isolation_level": 0, "topics": fetched}  # fmt: skip
    guard.say("fetch", "Fetch", body, 4)
    row = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}
    listed = [{"name": "shut", "partitions": [row]}]
    body = {"replica_id": -1, "isolation_level": 0, "topics": listed}
    guard.say("list offsets", "ListOffsets", body, 5)
    row = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}
    ends = [{"topic": "shut", "partitions": [row]}]
    guard.say("epochs", "OffsetForLeaderEpoch", {"replica_id": -1, "topics": ends}, 3)
    deleted = [{"name": "shut", "partitions": [{"partition_index": 0, "offset": 0}]}]
    guard.say("delete records", "DeleteRecords", {"topics": deleted, "timeout_ms": 3_000}, 1)
    more = [{"name": "shut", "count": 2, "assignments": None}]
    guard.say("partitions", "CreatePartitions", {"topics": more, "timeout_ms": 3_000}, 1)
    named = [{"resource_type": 2, "resource_name": "shut", "configuration_keys": ["retention.ms"]}]
    guard.say("describe configs", "DescribeConfigs", {"resources": named}, 1)
    change = [{"name": "retention.ms", "config_operation": 0, "value": "1000"}]
    altered = [{"resource_type": 2, "resource_name": "shut", "configs": change}]
    guard.say("alter incrementally", "IncrementalAlterConfigs", {"resources": altered}, 0)
    change = [{"name": "retention.ms", "value": "1000"}]
    altered = [{"resource_type": 2, "resource_name": "shut", "configs": change}]
    guard.say("alter", "AlterConfigs", {"resources": altered}, 1)
    guard.say("delete", "DeleteTopics", {"topic_names": ["shut"], "timeout_ms": 3_000}, 3)


def _of_half(c: Conversation, guard: Guard) -> None:
    row = {"name": "half", "num_partitions": 1, "replication_factor": 1}
    guard.say("create half", "CreateTopics", {"topics": [row], "timeout_ms": 9_000}, 2)
    guard.allow(TOPIC, "half", CREATE, principal=ME)
    guard.say("create half again", "CreateTopics", {"topics": [row], "timeout_ms": 9_000}, 5)
    c.until(lambda: _leader(guard, "half"))
    body = {"topics": [{"name": "half"}, {"name": "open"}, {"name": "shut"}],
            "include_topic_authorized_operations": True,
            "include_cluster_authorized_operations": True}  # fmt: skip
    guard.say("operations", "Metadata", body, 8)
    named = [{"resource_type": 2, "resource_name": "half", "configuration_keys": ["retention.ms"]}]
    guard.say("configs of half", "DescribeConfigs", {"resources": named}, 1)
    guard.say("delete half", "DeleteTopics", {"topic_names": ["half"], "timeout_ms": 3_000}, 3)


def _of_groups(guard: Guard) -> None:
    group = {"group_id": "closed"}
    guard.say("find closed", "FindCoordinator", {"key": "closed", "key_type": 0}, 2)
    offsets = [{"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}]
    topics = [{"name": name, "partitions": offsets} for name in ("open", "shut", "none")]
    found = guard.c.until(lambda: _coordinator(guard, "mine"))
    assert found is not None
    guard.broker = found[0]
    body: Plain = {"group_id": "mine", "generation_id_or_member_epoch": -1, "member_id": "",
            "topics": topics}  # fmt: skip

    def commit() -> Plain:
        found = guard.ask("OffsetCommit", body, 5)
        return None if any(each in str(found) for each in NOT_YET) else found

    guard.c.say("commit", guard.c.until(commit))
    guard.say("commit closed", "OffsetCommit", {**body, **group}, 5)
    named = [{"name": name, "partition_indexes": [0]} for name in ("open", "shut")]
    guard.say("offsets", "OffsetFetch", {"group_id": "mine", "topics": named}, 5)
    guard.say("offsets of closed", "OffsetFetch", {**group, "topics": named}, 5)
    member = {**group, "session_timeout_ms": 10_000, "rebalance_timeout_ms": 4_000, "member_id": "",
              "protocol_type": "consumer",
              "protocols": [{"name": "range", "metadata": b"x"}]}  # fmt: skip
    guard.say("join", "JoinGroup", member, 5)
    guard.say("sync", "SyncGroup", {**group, "generation_id": 1, "member_id": "m"}, 3)
    guard.say("beat", "Heartbeat", {**group, "generation_id": 1, "member_id": "m"}, 3)
    guard.say("leave", "LeaveGroup", {**group, "members": [{"member_id": "m"}]}, 3)
    body = {"groups": ["closed", "mine"], "include_authorized_operations": True}
    guard.say("describe groups", "DescribeGroups", body, 4)
    guard.say("list groups", "ListGroups", {}, 3)
    rows = [{"name": name, "partitions": [{"partition_index": 0}]} for name in ("open", "shut")]
    guard.say("forget offsets", "OffsetDelete", {"group_id": "mine", "topics": rows}, 0)
    guard.say("forget closed", "OffsetDelete", {**group, "topics": rows}, 0)
    guard.say("delete groups", "DeleteGroups", {"groups_names": ["closed"]}, 1)


def _coordinator(guard: Guard, group: str) -> list[int] | None:
    found = guard.c.ask(guard.broker, "FindCoordinator", {"key": group, "key_type": 0}, version=2)
    return None if found["error_code"] else [found["node_id"]]


def _of_transactions(guard: Guard) -> None:
    guard.say("find tx", "FindCoordinator", {"key": "tx", "key_type": 1}, 2)
    guard.say("init", "InitProducerId", {"transactional_id": "tx",
                                         "transaction_timeout_ms": 60_000}, 1)  # fmt: skip
    topics = [{"name": "open", "partitions": [0]}]
    body = {"v3_and_below_transactional_id": "tx", "v3_and_below_producer_id": 1,
            "v3_and_below_producer_epoch": 0, "v3_and_below_topics": topics}  # fmt: skip
    guard.say("add", "AddPartitionsToTxn", body, 1)
    topics = [{"name": name, "partitions": [0]} for name in ("open", "shut")]
    mine = {**body, "v3_and_below_transactional_id": "mine", "v3_and_below_topics": topics}
    guard.say("add shut", "AddPartitionsToTxn", mine, 1)
    producer = {"transactional_id": "tx", "producer_id": 1, "producer_epoch": 0}
    guard.say("add offsets", "AddOffsetsToTxn", {**producer, "group_id": "mine"}, 1)
    offsets = {**producer, "transactional_id": "mine", "group_id": "closed"}
    guard.say("add offsets of closed", "AddOffsetsToTxn", offsets, 1)
    guard.say("end", "EndTxn", {**producer, "committed": True}, 1)
    rows = [{"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}]
    body = {**producer, "group_id": "mine", "topics": [{"name": "open", "partitions": rows}]}
    guard.say("commit in it", "TxnOffsetCommit", body, 2)


def acl_cluster(c: Conversation) -> None:
    """Ask for what is for those who may describe or alter the cluster."""
    guard = Guard(c)
    mine = [
        creation(CLUSTER, "kafka-cluster", operation, ME, LITERAL, ALLOW)
        for operation in (CLUSTER_ACTION, CREATE, ALTER)
    ]
    guard.ask("CreateAcls", {"creations": mine}, 1)
    c.until(lambda: guard.knows(mine[-1]))
    guard.say("implied", "DescribeAcls", anything(resource_type_filter=CLUSTER), 1)
    named = [{"resource_type": 4, "resource_name": "0", "configuration_keys": ["log.dirs"]}]
    guard.say("without configs", "DescribeConfigs", {"resources": named}, 1)
    change = [{"name": "log.cleaner.threads", "config_operation": 0, "value": "2"}]
    altered = [{"resource_type": 4, "resource_name": "", "configs": change}]
    guard.say("alter brokers", "IncrementalAlterConfigs", {"resources": altered}, 0)
    guard.say("quotas", "DescribeClientQuotas", {"components": [], "strict": False}, 0)
    guard.allow(CLUSTER, "kafka-cluster", DESCRIBE, principal=ME, permission=DENY)
    guard.say("denied", "DescribeAcls", anything(), 1)
    guard.say("moves", "ListPartitionReassignments", {"timeout_ms": 3_000, "topics": None}, 0)
    guard.say("operations", "Metadata", {
        "topics": [], "include_cluster_authorized_operations": True}, 8)  # fmt: skip
    guard.allow(CLUSTER, "kafka-cluster", ALTER, principal=ME, permission=DENY)
    c.wait(1)
    entry = creation(TOPIC, "t", READ, OTHER, LITERAL, ALLOW)
    guard.say("create", "CreateAcls", {"creations": [entry, entry]}, 1)
    guard.say("delete", "DeleteAcls", {"filters": [anything()]}, 1)
    body = {"election_type": 0, "topic_partitions": None, "timeout_ms": 3_000}
    guard.say("elect", "ElectLeaders", body, 1)
    moves = [{"name": "t", "partitions": [{"partition_index": 0, "replicas": [0]}]}]
    guard.say("move", "AlterPartitionReassignments", {"timeout_ms": 3_000, "topics": moves}, 0)


def acl_words(c: Conversation) -> None:
    """Words of entries and filters that are unknown, or that only filters have."""
    guard = Guard(c)
    good: Plain = creation(TOPIC, "t", READ, OTHER, LITERAL, ALLOW)
    for name in ("resource_type", "resource_pattern_type", "operation", "permission_type"):
        for word in (0, 1, 2, 99):
            if word == 2 and name != "resource_pattern_type":
                continue
            wrong = {**good, name: word}
            guard.say(f"create with {name} {word}", "CreateAcls", {"creations": [good, wrong]}, 1)
    for principal in ("nobody", "", "User:"):
        wrong = {**good, "principal": principal}
        guard.say(f"create for {principal!r}", "CreateAcls", {"creations": [wrong]}, 1)
    user = creation(7, "x", READ, OTHER, LITERAL, ALLOW)
    guard.say("create for a user", "CreateAcls", {"creations": [user]}, 1)
    c.wait(1)
    words = ("resource_type_filter", "pattern_type_filter", "operation", "permission_type")
    for name in words:
        for word in (0, 99):
            wanted = anything(**{name: word, "resource_name_filter": "t"})
            guard.say(f"describe {name} {word}", "DescribeAcls", wanted, 1)
            guard.say(f"delete {name} {word}", "DeleteAcls", {"filters": [wanted]}, 1)
    c.wait(1)
    guard.say("left", "DescribeAcls", anything(), 1)


ACCESS_CONTROL: Final = (acl_entries, acl_refusals, acl_cluster, acl_words)
