"""The conversation about configurations of groups (GROUP resources)."""

from typing import Any, Final

from emulator.common.errors import ERROR_NAMES
from tests.golden_wire.conversation import NOT_YET, Conversation, error

Plain = Any
"""A response as plain values."""
GROUP: Final = 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
SHARE_SESSION, SHARE_HEARTBEAT = "share.session.timeout.ms", "share.heartbeat.interval.ms"
LOCK, RESET = "share.record.lock.duration.ms", "share.auto.offset.reset"
ISOLATION: Final = "share.isolation.level"
Change = tuple[int, str, str | None]

CHECKED: Final[dict[str, list[Change]]] = {
    "low session": [(SET, SESSION, "1000")],
    "high session": [(SET, SESSION, "70000")],
    "low heartbeat": [(SET, HEARTBEAT, "1")],
    "high heartbeat": [(SET, HEARTBEAT, "16000")],
    "zero": [(SET, SESSION, "0")],
    "word": [(SET, SESSION, "abc")],
    "empty value": [(SET, SESSION, "")],
    "unknown": [(SET, "nope", "1")],
    "two unknown": [(SET, "nope", "1"), (SET, SESSION, "1000")],
    "low lock": [(SET, LOCK, "2000")],
    "lowest lock": [(SET, LOCK, "10")],
    "high lock": [(SET, LOCK, "70000")],
    "low share session": [(SET, SHARE_SESSION, "1000")],
    "high share session": [(SET, SHARE_SESSION, "70000")],
    "low share heartbeat": [(SET, SHARE_HEARTBEAT, "1")],
    "high share heartbeat": [(SET, SHARE_HEARTBEAT, "16000")],
    "bad reset": [(SET, RESET, "never")],
    "bad duration": [(SET, RESET, "by_duration:x")],
    "negative duration": [(SET, RESET, "by_duration:-PT1H")],
    "bad isolation": [(SET, ISOLATION, "x")],
    "append": [(APPEND, SESSION, "50000")],
    "subtract": [(SUBTRACT, SESSION, "50000")],
    "delete unset": [(DELETE, SESSION, None)],
    "delete unknown": [(DELETE, "nope", None)],
    "topic's name": [(SET, "retention.ms", "1000")],
    "streams low session": [(SET, "streams.session.timeout.ms", "1000")],
    "streams replicas": [(SET, "streams.num.standby.replicas", "9")],
    "streams delay": [(SET, "streams.initial.rebalance.delay.ms", "-1")],
    "delivery limit low": [(SET, "share.delivery.count.limit", "1")],
    "delivery limit high": [(SET, "share.delivery.count.limit", "100")],
    "locks low": [(SET, "share.partition.max.record.locks", "10")],
    "locks high": [(SET, "share.partition.max.record.locks", "1000000")],
    "renew word": [(SET, "share.renew.acknowledge.enable", "x")],
    "assignment high": [(SET, "consumer.assignment.interval.ms", "1000000")],
    "share assignment high": [(SET, "share.assignment.interval.ms", "1000000")],
    "streams assignment high": [(SET, "streams.assignment.interval.ms", "1000000")],
    "streams high session": [(SET, "streams.session.timeout.ms", "700000")],
    "streams low heartbeat": [(SET, "streams.heartbeat.interval.ms", "1")],
    "streams high heartbeat": [(SET, "streams.heartbeat.interval.ms", "60000")],
    "tags": [(SET, "streams.rack.aware.assignment.tags", "a,a")],
    "many tags": [(SET, "streams.rack.aware.assignment.tags", "a,b,c,d,e,f,g")],
    "assignor": [(SET, "streams.assignor.name", "x")],
    "dlq": [(SET, "errors.deadletterqueue.topic.name", "__x y")],
    "dlq2": [(SET, "errors.deadletterqueue.topic.name", "dlq")],
    "offload": [(SET, "consumer.assignor.offload.enable", "false")],
    "session not above heartbeat": [(SET, HEARTBEAT, "15000"), (SET, SESSION, "45000")],
}
"""Changes that are only validated."""


class Administrator:
    """Alters and describes configurations of groups."""

    def __init__(self, conversation: Conversation) -> None:
        """Ask the first broker."""
        self.c = conversation

    def describe(self, *groups: str, keys: list[str] | None = None, synonyms: bool = True) -> Plain:
        """The configurations of groups, in one order."""
        rows = [
            {"resource_type": GROUP, "resource_name": group, "configuration_keys": keys}
            for group in groups
        ]
        body = {"resources": rows, "include_synonyms": synonyms}
        found = self.c.ask(0, "DescribeConfigs", body, version=4)
        return [[*_result(row), sorted(map(_entry, row["configs"]))] for row in found["results"]]

    def alter(self, group: str, *changes: Change, validate_only: bool = False) -> Plain:
        """Change a group's configuration."""
        rows = [
            {"name": name, "config_operation": operation, "value": value}
            for operation, name, value in changes
        ]
        resource = {"resource_type": GROUP, "resource_name": group, "configs": rows}
        body = {"resources": [resource], "validate_only": validate_only}
        found = self.c.ask(0, "IncrementalAlterConfigs", body, version=1)
        self.c.wait(0.2)
        return [_result(row) for row in found["responses"]]

    def replace(self, group: str, values: dict[str, str]) -> Plain:
        """Replace a group's configuration."""
        rows = [{"name": name, "value": value} for name, value in values.items()]
        resource = {"resource_type": GROUP, "resource_name": group, "configs": rows}
        found = self.c.ask(0, "AlterConfigs", {"resources": [resource]}, version=2)
        self.c.wait(0.2)
        return [_result(row) for row in found["responses"]]

    def listed(self, *types: int) -> Plain:
        """Which groups are listed as configured."""
        body = {"resource_types": list(types)}
        found = self.c.ask(0, "ListConfigResources", body, version=1)
        rows = [[row["resource_type"], row["resource_name"]] for row in found["config_resources"]]
        return [error(found), sorted(row for row in rows if row[0] == GROUP)]

    def heartbeat(self, group: str) -> Plain:
        """Join a consumer group: the error, and how often to send heartbeats."""
        body = {"group_id": group, "member_id": "x", "rebalance_timeout_ms": 5_000,
                "subscribed_topic_names": ["t"], "topic_partitions": []}  # fmt: skip

        def attempt() -> Plain:
            broker = self.c.coordinator(group, 0, 0)
            found = self.c.ask(broker, "ConsumerGroupHeartbeat", body, version=1)
            return None if error(found) in NOT_YET else found

        found = self.c.until(attempt)
        assert found is not None
        return [error(found), found["heartbeat_interval_ms"]]


def _result(row: Plain) -> list[Plain]:
    code = ERROR_NAMES[row["error_code"]]
    return [code, row["error_message"], row["resource_type"], row["resource_name"]]


def _entry(row: Plain) -> list[Plain]:
    names = ("name", "value", "read_only", "config_source", "is_sensitive", "config_type")
    synonyms = [[each["name"], each["value"], each["source"]] for each in row["synonyms"]]
    return [*(row[name] for name in names), synonyms]


def group_configs(c: Conversation) -> None:
    """Validate, set, describe, replace and delete configurations of groups."""
    admin = Administrator(c)
    c.do("topic create t --partitions 1 --replication-factor 1")
    c.say("describe unset", admin.describe("g"))
    for step, changes in CHECKED.items():
        c.say(step, admin.alter("v", *changes, validate_only=True))
    c.say("empty name", admin.alter("", (SET, SESSION, "50000")))
    c.say("describe empty name", admin.describe(""))
    c.say("beat before", admin.heartbeat("g"))
    c.say("set", admin.alter("g", (SET, SESSION, "50000"), (SET, HEARTBEAT, "6000")))
    c.say("describe set", admin.describe("g"))
    c.say("describe keys", admin.describe("g", "h", keys=[SESSION, "nope"]))
    c.say("describe no keys", admin.describe("g", keys=[], synonyms=False))
    c.say("beat after", admin.heartbeat("g"))
    shared: list[Change] = [(SET, SHARE_HEARTBEAT, "7000"), (SET, LOCK, "20000")]
    c.say("set share", admin.alter("s", *shared, (SET, RESET, "by_duration:PT1H")))
    c.say("describe share", admin.describe("s"))
    c.say("isolation", admin.alter("s", (SET, ISOLATION, "read_committed")))
    c.say("one bad of two", admin.alter("g", (SET, SESSION, "55000"), (SET, HEARTBEAT, "1")))
    c.say("describe kept", admin.describe("g", keys=[SESSION, HEARTBEAT]))
    c.say("same again", admin.alter("g", (SET, SESSION, "50000")))
    if not c.lab.cluster.settings.version.startswith("4.0"):
        c.say("list", admin.listed())
        c.say("list topic and group", admin.listed(2, GROUP))
    c.say("delete", admin.alter("g", (DELETE, HEARTBEAT, None)))
    c.say("describe deleted", admin.describe("g", keys=[SESSION, HEARTBEAT]))
    c.say("beat deleted", admin.heartbeat("g"))
    c.say("replace", admin.replace("g", {HEARTBEAT: "8000"}))
    c.say("describe replaced", admin.describe("g", keys=[SESSION, HEARTBEAT]))
    c.say("replace nothing", admin.replace("g", {}))
