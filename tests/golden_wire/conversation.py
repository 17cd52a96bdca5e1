"""A conversation in single requests with an emulated cluster, in virtual time.

What was said is noted step by step, as it was when the same conversation was held with real
brokers: chance (producer ids, member ids) is numbered by first appearance.
"""

from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from commands.language.parser import parse_line
from emulator.common.errors import ERROR_NAMES
from emulator.inputs.statements import CloseConnection, Statement
from emulator.wire.apis import API_NAMED
from emulator.wire.codec import decode_response
from emulator.wire.records import memory_records, record_batch
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import Producer
from tests.support.wire_client import WireLab

T = TypeVar("T")
Plain = Any
"""What a response has, as plain values."""

US: Final = 1_000_000
STEP_US: Final = 5_000
VERSIONS: Final = {
    "FindCoordinator": 2, "InitProducerId": 3, "AddPartitionsToTxn": 1, "EndTxn": 1, "Produce": 3,
    "Fetch": 4, "JoinGroup": 5, "SyncGroup": 3, "Heartbeat": 3, "LeaveGroup": 3, "OffsetCommit": 7,
    "OffsetFetch": 5, "DescribeGroups": 4, "ListGroups": 3, "DescribeTransactions": 0,
    "ListTransactions": 0, "DescribeProducers": 0, "AddOffsetsToTxn": 1, "TxnOffsetCommit": 3,
    "ListOffsets": 5, "OffsetForLeaderEpoch": 3, "DeleteRecords": 1, "DeleteGroups": 1,
}  # fmt: skip
NOT_YET: Final = (
    "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE",
    "CONCURRENT_TRANSACTIONS", "NO CONNECTION",
)  # fmt: skip
NOW_MS: Final = 1_700_000_000_000


class Conversation:
    """Asks brokers of a cluster one request at a time, each on a connection of its own."""

    def __init__(
        self, config: dict[str, str], version: str, mode: str, features: dict[str, int]
    ) -> None:
        """Have a cluster of three brokers."""
        self.lab = WireLab.made(version=version, mode=mode, config=config, features=features)
        self.is_preview = version.startswith("3.")
        self.is_early_access = version.startswith("4.0.")
        self.said: list[list[Plain]] = []
        self.kept: dict[str, int] = {}
        self._producers: dict[int, str] = {}
        self.wait(2)

    def say(self, step: str, what: Plain) -> None:
        """Note what the cluster said; tuples become lists, as in a recording."""
        self.said.append(msgspec.json.decode(msgspec.json.encode([step, what])))

    def do(self, text: str) -> None:
        """Run a statement to its end."""
        (statement,) = parse_line(text)
        assert isinstance(statement, Statement)
        self.lab.runner.execute(statement)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.lab.pass_time(int(seconds * US))

    def until(self, attempt: Callable[[], T | None], seconds: float = 40) -> T | None:
        """Try again and again, until there is a result."""
        end_us = self.lab.runner.now_us + seconds * US
        while self.lab.runner.now_us < end_us:
            found = attempt()
            if found:
                return found
            self.wait(0.1)
        return None

    def newest(self, api: str) -> int:
        """The newest version of an API that the brokers have."""
        return self.lab.external.versions[API_NAMED[api].key][-1]

    def controller(self) -> int:
        """The broker that creates and deletes topics."""
        body: Plain = {"topics": [], "allow_auto_topic_creation": False}
        controller = self.ask(0, "Metadata", body, version=4)["controller_id"]
        assert isinstance(controller, int)
        return controller

    def leader(self, tp: str) -> int:
        """The leader of a partition."""
        topic, _, number = tp.rpartition("-")
        body: Plain = {"topics": [{"name": topic}], "allow_auto_topic_creation": False}
        (found,) = self.ask(0, "Metadata", body, version=4)["topics"]
        rows = {row["partition_index"]: row["leader_id"] for row in found["partitions"]}
        leader = rows[int(number)]
        assert isinstance(leader, int)
        return leader

    # ---- requests

    def send(self, broker: int, api: str, body: Plain, version: int | None = None) -> int:
        """Send a request on a connection of its own, whose number it returns."""
        connection = self.lab.connect(broker)
        request = msgspec.convert(body, API_NAMED[api].request)
        if connection not in self.lab.closed:
            self.lab.send(connection, request, VERSIONS[api] if version is None else version)
        return connection

    def ask_again(self, kept: str, broker: int, api: str, body: Plain, version: int) -> Plain:
        """Send a request on a connection that is kept under a name, and return its response."""
        connection = self.kept.get(kept)
        if connection is None or connection in self.lab.closed:
            connection = self.kept[kept] = self.lab.connect(broker)
        if connection not in self.lab.closed:
            self.lab.send(connection, msgspec.convert(body, API_NAMED[api].request), version)
        return self.response(connection, keep=True)

    def hang_up(self, kept: str) -> None:
        """Close a connection that was kept."""
        self.lab.give(CloseConnection(connection=self.kept.pop(kept)))

    def response(self, connection: int, seconds: float = 8, *, keep: bool = False) -> Plain:
        """Return the response, or how the connection ended."""
        lab = self.lab
        end_us = lab.runner.now_us + seconds * US
        while not lab.responses[connection]:
            if connection in lab.closed:
                return "NO CONNECTION"
            if lab.runner.now_us >= end_us:
                lab.give(CloseConnection(connection=connection))
                return "TIMEOUT"
            lab.pass_time(STEP_US)
        key, version = lab._asked[connection].pop(0)
        _, message = decode_response(key, version, lab.responses[connection].pop(0))
        if not keep:
            lab.give(CloseConnection(connection=connection))
        return msgspec.to_builtins(message, builtin_types=(bytes,))

    def ask(
        self, broker: int, api: str, body: Plain, seconds: float = 8, version: int | None = None
    ) -> Plain:
        """Send a request and return its response."""
        return self.response(self.send(broker, api, body, version), seconds)

    def producer(self, producer_id: int) -> Plain:
        """A producer id by the order in which they came."""
        if producer_id < 0:
            return producer_id
        return self._producers.setdefault(producer_id, f"P{len(self._producers) + 1}")

    # ---- producers and transactions

    def init(self, broker: int, txn: str | None = None, timeout_ms: int = 60_000, pid: int = -1,
             epoch: int = -1) -> Plain:  # fmt: skip
        """Ask for a producer id."""
        body = {"transactional_id": txn, "transaction_timeout_ms": timeout_ms, "producer_id": pid,
                "producer_epoch": epoch}  # fmt: skip
        found = self.ask(broker, "InitProducerId", body)
        if isinstance(found, str):
            return found
        return error(found), found["producer_id"], found["producer_epoch"]

    def first_id(self, broker: int) -> tuple[int, int]:
        """Ask until there is a producer id; return it with its epoch."""
        found = self.until(lambda: only_good(self.init(broker)))
        assert found is not None
        return found[1:]

    def init_until(self, broker: int, *args: Plain) -> Plain:
        """Ask for a transactional producer's id until its coordinator is there."""
        found = self.until(lambda: settled(self.init(broker, *args)))
        return found or ("GAVE UP", -1, -1)

    def produce(  # noqa: PLR0917 - as the protocol has them
        self, broker: int, tp: str, values: Sequence[str], pid: int = -1, epoch: int = -1,
        sequence: int = -1, txn: str | None = None, at_ms: int = NOW_MS
    ) -> Plain:  # fmt: skip
        """Write a batch; return the error and the offset."""
        topic, _, number = tp.rpartition("-")
        records = record_batch.build(
            [Record(None, value.encode(), at_ms) for value in values],
            producer=Producer(pid, epoch, sequence),
            is_transactional=txn is not None,
        )
        rows = [{"index": int(number), "records": records}]
        body = {"transactional_id": txn, "acks": -1, "timeout_ms": 3_000,
                "topic_data": [{"name": topic, "partition_data": rows}]}  # fmt: skip
        found = self.ask(broker, "Produce", body)
        if isinstance(found, str):
            return found
        row = found["responses"][0]["partition_responses"][0]
        return [error(row), row["base_offset"]]

    def fetch(self, broker: int, tp: str, offset: int = 0, isolation: int = 1) -> Plain:
        """Read records."""
        topic, _, number = tp.rpartition("-")
        row = {"partition": int(number), "fetch_offset": offset, "partition_max_bytes": 1 << 20}
        body = {"replica_id": -1, "max_wait_ms": 100, "min_bytes": 0, "max_bytes": 1 << 20,
                "isolation_level": isolation,
                "topics": [{"topic": topic, "partitions": [row]}]}  # fmt: skip
        found = self.ask(broker, "Fetch", body)
        if isinstance(found, str):
            return found
        row = found["responses"][0]["partitions"][0]
        return {
            "error": error(row),
            "hw": row["high_watermark"],
            "lso": row["last_stable_offset"],
            "values": values_of(row["records"] or b"", offset),
            "aborted": [
                [self.producer(each["producer_id"]), each["first_offset"]]
                for each in row["aborted_transactions"] or []
            ],
        }

    def producers(self, broker: int, tp: str) -> Plain:
        """Describe a partition's producers."""
        topic, _, number = tp.rpartition("-")
        body = {"topics": [{"name": topic, "partition_indexes": [int(number)]}]}
        found = self.ask(broker, "DescribeProducers", body)
        if isinstance(found, str):
            return found
        row = found["topics"][0]["partitions"][0]
        return [
            error(row),
            sorted(
                [
                    self.producer(each["producer_id"]),
                    *(each["producer_epoch"], each["last_sequence"], each["coordinator_epoch"]),
                    each["current_txn_start_offset"],
                ]
                for each in row["active_producers"]
            ),
        ]

    def coordinator(self, key: str, kind: int, broker: int, former: int | None = None) -> Plain:
        """Ask a broker for the coordinator of a group (0) or transactional id (1), but not that."""

        def attempt() -> Plain:
            found = self.ask(broker, "FindCoordinator", {"key": key, "key_type": kind})
            if isinstance(found, str) or error(found) != "NONE" or found["node_id"] == former:
                return None
            return [found["node_id"]]

        found = self.until(attempt)
        return found[0] if found else None

    def add(self, broker: int, txn: str, pid: int, epoch: int, tps: Sequence[str]) -> Plain:
        """Add partitions to a transaction."""
        topics: dict[str, list[int]] = {}
        for tp in tps:
            topic, _, number = tp.rpartition("-")
            topics.setdefault(topic, []).append(int(number))
        rows = [{"name": topic, "partitions": numbers} for topic, numbers in topics.items()]
        body = {"v3_and_below_transactional_id": txn, "v3_and_below_producer_id": pid,
                "v3_and_below_producer_epoch": epoch, "v3_and_below_topics": rows}  # fmt: skip
        found = self.ask(broker, "AddPartitionsToTxn", body)
        if isinstance(found, str):
            return found
        return {
            f"{topic['name']}-{row['partition_index']}": ERROR_NAMES[row["partition_error_code"]]
            for topic in found["results_by_topic_v3_and_below"]
            for row in topic["results_by_partition"]
        }

    def end(self, broker: int, txn: str, pid: int, epoch: int, *, commit: bool) -> Plain:
        """Commit or abort a transaction."""
        body = {"transactional_id": txn, "producer_id": pid, "producer_epoch": epoch,
                "committed": commit}  # fmt: skip
        found = self.ask(broker, "EndTxn", body)
        return found if isinstance(found, str) else error(found)

    def end_until(self, broker: int, txn: str, pid: int, epoch: int, *, commit: bool) -> Plain:
        """Commit or abort a transaction once its coordinator is there."""

        def attempt() -> Plain:
            found = self.end(broker, txn, pid, epoch, commit=commit)
            return None if found in NOT_YET[:4] else found

        return self.until(attempt)

    def transaction(self, broker: int, txn: str) -> Plain:
        """Describe a transaction."""
        found = self.ask(broker, "DescribeTransactions", {"transactional_ids": [txn]})
        if isinstance(found, str):
            return found
        row = found["transaction_states"][0]
        producer = self.producer(row["producer_id"])
        topics = sorted((each["topic"], sorted(each["partitions"])) for each in row["topics"])
        times = row["transaction_timeout_ms"]
        return [
            error(row),
            row["transaction_state"],
            producer,
            row["producer_epoch"],
            times,
            topics,
        ]

    def group(self, broker: int, group: str) -> Plain:
        """Describe a group."""
        found = self.ask(broker, "DescribeGroups", {"groups": [group]})
        if isinstance(found, str):
            return found
        row = found["groups"][0]
        members = sorted(
            [each["group_instance_id"], each["member_assignment"].decode("latin1")]
            for each in row["members"]
        )
        kind = row["protocol_type"]
        return [error(row), row["group_state"], kind, row["protocol_data"], members]

    def consumer_group_records(self, broker: int) -> list[Plain]:
        """The records of consumer groups in the log: the key's version and member, the value.

        A tombstone has no value; what is chance is left out.
        """
        texts = self.fetch(broker, "__consumer_offsets-0")["values"]
        rows = map(msgspec.json.decode, texts)
        return [row for each in rows if (row := consumer_group_record(each)) is not None]

    def group_records(self, broker: int) -> list[Plain]:
        """The records of groups of both protocols in the log, as :func:`group_record` tells."""
        texts = self.fetch(broker, "__consumer_offsets-0")["values"]
        rows = map(msgspec.json.decode, texts)
        return [row for text in rows if (row := group_record(text)) is not None]

    def group_is_known(self, broker: int, group: str) -> None:
        """Wait until a broker coordinates a group."""
        self.until(lambda: self.group(broker, group)[0] == "NONE")

    # ---- offsets

    def listed(self, broker: int, timestamp: int, current_epoch: int = -1, isolation: int = 0,
               version: int | None = None) -> Plain:  # fmt: skip
        """Ask for an offset of t-0."""
        row = {"partition_index": 0, "current_leader_epoch": current_epoch, "timestamp": timestamp}
        body = {"replica_id": -1, "isolation_level": isolation,
                "topics": [{"name": "t", "partitions": [row]}]}  # fmt: skip
        found = self.ask(broker, "ListOffsets", body, version=version)
        return found if isinstance(found, str) else found["topics"][0]["partitions"][0]

    def epoch_end(self, broker: int, epoch: int, current_epoch: int = -1, of: int = -1) -> Plain:
        """Ask for the end of a leader epoch of t-0."""
        row = {"partition": 0, "current_leader_epoch": current_epoch, "leader_epoch": epoch}
        body = {"replica_id": of, "topics": [{"topic": "t", "partitions": [row]}]}
        found = self.ask(broker, "OffsetForLeaderEpoch", body)
        if isinstance(found, str):
            return found
        row = found["topics"][0]["partitions"][0]
        return [error(row), row["leader_epoch"], row["end_offset"]]


STATES: Final = {"STABLE": 0, "UNREVOKED_PARTITIONS": 1, "UNRELEASED_PARTITIONS": 2}


def consumer_group_record(row: Plain) -> Plain:
    """A record of a consumer group by the version of its key; None for another record."""
    name, is_tombstone = row.get("member", ""), row.get("is_tombstone", False)
    match row["record"]:
        case "consumer_group":
            return [3, "", None if row["epoch"] < 0 else [row["epoch"]]]
        case "consumer_group_topics":
            topics = row.get("topics")
            return [4, "", None if topics is None else [{t: n for t, (_, n) in topics.items()}]]
        case "consumer_group_member":
            fields = [row.get("instance_id", ""), row.get("topics", []), row.get("regex", "")]
            fields += [row.get("rebalance_timeout_ms", -1), row.get("assignor", "")]
            return [5, name, None if is_tombstone else fields]
        case "consumer_group_target_epoch":
            return [6, "", None if row["epoch"] < 0 else [row["epoch"]]]
        case "consumer_group_target":
            partitions = row.get("partitions")
            return [7, name, None if partitions is None else [partitions]]
        case "consumer_group_current":
            fields = [row.get("epoch", 0), row.get("previous_epoch", 0)]
            is_early = "target_epoch" in row  # in 3.7 there is no state, but what is to come
            fields += [row["target_epoch"] if is_early else STATES[row.get("state", "STABLE")]]
            fields += [row.get("assigned", {}), row.get("revoking", {})]
            fields += [row.get("assigning", {})] if is_early else []
            return [8, name, None if is_tombstone else fields]
        case "consumer_group_regex":
            return [
                16,
                row["regex"],
                [topics] if (topics := row.get("topics")) is not None else None,
            ]
    return None


def group_record(row: Plain) -> Plain:
    """A record of a group by the version of its key, with what it says of classic members."""
    if row["record"] == "group":
        members = {
            name: [
                *(member.get("instance_id") or None, member["rebalance_timeout_us"] // 1_000),
                *(member["session_timeout_us"] // 1_000, None),
                b64decode(member.get("assignment", "")),
            ]
            for name, member in row.get("members", {}).items()
        }
        fields = [row.get("protocol_type", ""), row["generation"], row.get("assignor", "")]
        fields += [bool(row.get("leader")), members]
        return [2, "", None if row["generation"] < 0 else fields]
    told = consumer_group_record(row)
    if told is not None and told[0] == 5 and told[2] is not None:
        classic = row.get("classic")
        told[2].append(classic and [classic[0], [name for name, _ in classic[1]]])
    return told


def error(row: Plain) -> str:
    """The name of an error code in a response."""
    return ERROR_NAMES[row["error_code"]]


def only_good(found: Plain) -> Plain:
    """A response that is no error, or None."""
    return found if not isinstance(found, str) and found[0] == "NONE" else None


def settled(found: Plain) -> Plain:
    """A response that is not to be asked for again, or None."""
    return found if not isinstance(found, str) and found[0] not in NOT_YET else None


def values_of(records: bytes, offset: int) -> list[str]:
    """The values of the data records from an offset on."""
    found: list[str] = []
    for batch in memory_records.split(records) if records else ():
        if not record_batch.read_header(batch).is_control:
            found += [
                (each.value or b"").decode()
                for each in record_batch.decode(batch)
                if each.offset >= offset
            ]
    return found
