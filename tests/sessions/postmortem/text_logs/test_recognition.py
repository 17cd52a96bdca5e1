"""The table of patterns on real logs of seventeen releases that went through the same faults."""

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import fields

from emulator.releases.versions import numbers_of
from sessions.postmortem.text_logs import facts
from sessions.postmortem.text_logs.facts import KafkaVersion
from sessions.postmortem.text_logs.log_file import recognize
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.text_logs.merging import find_text_logs
from sessions.postmortem.text_logs.patterns import PATTERNS
from sessions.postmortem.text_logs.recognition import fact_of, layout_of
from tests.sessions.postmortem.text_logs.recorded import (
    CONTROLLERS_RAN_ON,
    KRAFT,
    NAMED,
    OLDEST_KRAFT,
    RECORDINGS,
    WITH_ZOOKEEPER,
    entries,
)

EVERYWHERE = {
    facts.IsrShrunk,
    facts.LeaderStarted,
    facts.FollowerStarted,
    facts.ControllerElected,
    facts.ControlledShutdown,
    facts.BrokerRegistered,
    facts.ProcessState,
    facts.FetchFailed,
    facts.SegmentRecovered,
    facts.Truncated,
}
WITH_ZOOKEEPER_ONLY = {
    facts.BrokersChanged,
    facts.BrokerFailed,
    facts.PartitionChanged,
    facts.SessionExpired,
    facts.SessionTimedOut,
    facts.ElectionFailed,
}
KRAFT_ONLY = {
    facts.BrokerFenced,
    facts.BrokerUnfenced,
    facts.HeartbeatFailed,
    facts.QuorumRole,
    facts.QuorumHighWatermark,
    facts.QuorumFetchTimedOut,
    facts.UncleanLeaderElected,
    facts.PartitionRecordChanged,
}


@pytest.mark.parametrize("release", [*WITH_ZOOKEEPER, *KRAFT])
def test_each_release_says_what_happened_to_it(release: str) -> None:
    told = entries(release)
    kinds = {type(entry.fact) for entry in told}
    expected = EVERYWHERE | (KRAFT_ONLY if release in KRAFT else WITH_ZOOKEEPER_ONLY)
    if release in CONTROLLERS_RAN_ON:
        expected = expected - {facts.QuorumFetchTimedOut}
    if release == OLDEST_KRAFT:
        expected = expected - {
            facts.QuorumHighWatermark,
            facts.UncleanLeaderElected,
            facts.PartitionRecordChanged,
        }
    if release in WITH_ZOOKEEPER and numbers_of(release) >= (2, 6):
        expected = expected | {facts.LeftIsr}
    if release in {"2.1.1", *CONTROLLERS_RAN_ON}:
        expected = expected | {facts.CommittedTruncated}
    if release in NAMED:
        expected = expected | {facts.KafkaVersion, facts.Configured}
        versions = {entry.fact.version for entry in told if isinstance(entry.fact, KafkaVersion)}
        assert versions == {release}
    assert not {kind.__name__ for kind in expected - kinds}
    shrunk = [entry.fact for entry in told if isinstance(entry.fact, facts.IsrShrunk)]
    frozen = [fact for fact in shrunk if fact.tp == "t-0" and 0 not in fact.isr]
    assert frozen
    if numbers_of(release) >= (2, 4):  # KAFKA-8671
        (replica,) = (replica for replica in frozen[0].out_of_sync if replica.broker == 0)
        assert replica.end_offset == frozen[0].high_watermark
        # where the controller was first to miss broker 0, only the leader that was cut off shrank
        assert frozen[0].end_offset == replica.end_offset + (
            2 if release in CONTROLLERS_RAN_ON else 1
        )
        assert (replica.last_caught_up_ms is not None) == (numbers_of(release) >= (3, 6))


@pytest.mark.parametrize("release", [*WITH_ZOOKEEPER, *KRAFT])
def test_the_unclean_election_of_broker_0_can_be_seen(release: str) -> None:
    told = [entry for entry in entries(release) if entry.node == 0]
    leaders = [entry.fact for entry in told if isinstance(entry.fact, facts.LeaderStarted)]
    epochs = [fact.epoch for fact in leaders if fact.tp == "t-0"]
    assert epochs
    if numbers_of(release) < (1, 0):
        unclean = [
            entry.fact for entry in told if isinstance(entry.fact, facts.UncleanLeaderElected)
        ]
        assert ("t-0", 0) in [(fact.tp, fact.leader) for fact in unclean]
    elif release in WITH_ZOOKEEPER:
        changed = [entry.fact for entry in told if isinstance(entry.fact, facts.PartitionChanged)]
        assert [
            fact
            for fact in changed
            if fact.tp == "t-0" and fact.state_before == "OfflinePartition" and fact.isr == (0,)
        ]


@pytest.mark.parametrize("release", [*WITH_ZOOKEEPER, *KRAFT])
def test_files_belong_to_the_node_that_their_lines_name(release: str) -> None:
    for file in find_text_logs([RECORDINGS / release]).files:
        folder = file.path.parent.name
        expected = None if folder == "zk" else int(folder.strip("abcdefghijklmnopqrstuvwxyz"))
        assert file.node == expected
        assert file.nodes in ((), (expected,))


def rewritten(release: str, target: Path, layout: str) -> None:
    """The logs of a release as another layout writes them."""
    for path in sorted((RECORDINGS / release).rglob("*.gz")):
        lines = []
        for written in gzip.decompress(path.read_bytes()).decode().split("\n"):
            line = written
            head, _, rest = line.partition("] ")
            level, _, message = rest.partition(" ")
            text, found, logger = message.rpartition(" (")
            if head.startswith("[20") and found and logger.endswith(")"):
                name = logger.removesuffix(")")
                line = layout.format(
                    time=head.removeprefix("["), level=level, text=text, logger=name,
                    dotted=head.removeprefix("[").replace(",", "."),
                    short=name.rpartition(".")[2],
                )  # fmt: skip
            lines.append(line)
        folder = target / path.parent.name
        folder.mkdir(exist_ok=True)
        (folder / path.name.removesuffix(".gz")).write_text("\n".join(lines))


@pytest.mark.parametrize(
    "layout",
    [
        "{dotted} {level:5} [main] {logger}: {text}",
        "{time} [data-plane-kafka-request-handler-0] {level} {short} - {text}",
        "{dotted}Z {level} {short}:66 {text}",
        "2026-11-26T00:00:00.123456789Z stdout F [{time}] {level} {text} ({logger})",
        "[{time}] {level} {text}",
    ],
)
def test_other_layouts_say_the_same(tmp_path: Path, layout: str) -> None:
    for release in ("2.4.1", "4.1.2"):
        target = tmp_path / release
        target.mkdir()
        rewritten(release, target, layout)
        said = Counter((entry.node, entry.fact) for entry in find_text_logs([target]).entries())
        expected = Counter((entry.node, entry.fact) for entry in entries(release))
        left_out = {
            (node, type(fact).__name__)
            for node, fact in expected - said
            # how often what repeats is said depends on times, and these rows need the logger
            if not isinstance(fact, facts.NodeUnreachable | facts.FetchFailed | facts.ProcessState)
            and not isinstance(fact, facts.ControlledShutdown | facts.HeartbeatFailed)
        }
        assert not left_out


def test_each_row_of_the_table_names_its_loggers_and_a_text_that_its_lines_have() -> None:
    for row in PATTERNS:
        assert row.loggers
        assert row.text
        assert row.since <= row.until or row.until.startswith(("0.1", "1.", "2.", "3."))


LINES = [
    (
        "[2026-11-26 03:42:28,257] INFO [RaftManager id=100] Transitioning to Prospective state "
        "due to fetch timeout (org.apache.kafka.raft.KafkaRaftClient)",
        facts.QuorumFetchTimedOut(),
    ),
    (
        "[2024-03-01 10:00:00,123] WARN [Partition orders-3 broker=2] Failed to update ISR to "
        "PendingExpandIsr(isr=Set(2, 3), newInSyncReplicaId=1) due to INVALID_UPDATE_VERSION. "
        "Retrying. (kafka.cluster.Partition)",
        facts.IsrRefused(tp="orders-3", error="INVALID_UPDATE_VERSION"),
    ),
    (
        "[2024-03-01 10:00:00,123] WARN [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] "
        "Reset fetch offset for partition a.b-c-0 from 17 to current leader's latest offset 12 "
        "(kafka.server.ReplicaFetcherThread)",
        facts.OffsetOutOfRange(tp="a.b-c-0", offset=17, new_offset=12),
    ),
    (
        "[2024-03-01 10:00:00,123] WARN [ReplicaFetcher replicaId=1, leaderId=0, fetcherId=0] "
        "Truncating a.b-c-0 to offset 9 below high watermark 12 "
        "(kafka.server.ReplicaFetcherThread)",
        facts.CommittedTruncated(tp="a.b-c-0", offset=9, high_watermark=12),
    ),
    (
        "[2024-03-01 10:00:00,123] WARN Stopping serving logs in dir /data/1 "
        "(kafka.log.LogManager)",
        facts.LogDirFailed(path="/data/1"),
    ),
    (
        "[2024-03-01 10:00:00,123] ERROR Shutdown broker because all log dirs in /data/1 have "
        "failed (kafka.log.LogManager)",
        facts.Terminating(reason="Shutdown broker because all log dirs in /data/1 have failed"),
    ),
    (
        "[2024-03-01 10:00:00,123] INFO [SnapshotGenerator id=1] Successfully wrote snapshot "
        "00000000000000001234-0000000007 (org.apache.kafka.image.publisher.SnapshotGenerator)",
        facts.SnapshotWritten(offset=1234),
    ),
    (
        '[2024-03-01 10:00:00,123] DEBUG Completed request:{"requestHeader":{"requestApiKey":0,'
        '"clientId":"app","requestApiKeyName":"PRODUCE"},"totalTimeMs":2503.25} '
        "(kafka.request.logger)",
        facts.SlowRequest(api="PRODUCE", client="app", total_ms=2503.25),
    ),
]


@pytest.mark.parametrize(("line", "expected"), LINES, ids=lambda value: type(value).__name__)
def test_what_the_recordings_do_not_have_is_recognized(line: str, expected: facts.Fact) -> None:
    raw = line.encode()
    ((_, _, rows),) = layout_of([raw])([raw], 0)
    assert fact_of(raw, rows) == expected


def test_sentences_name_what_happened() -> None:
    sentences = [entry.sentence for entry in entries("4.1.2")]
    assert all(sentence.isprintable() and len(sentence) < 1_000 for sentence in sentences)
    assert (
        "node 1: the leader shrank the ISR of t-0 from [1,2,0] to [1,2] (HW 3, the leader's end at "
        "4; broker 0 was at 3)" in sentences
    )


def test_a_sentence_leaves_out_what_its_line_does_not_say() -> None:
    slow = facts.SlowRequest(api="Fetch", total_ms=1_200)
    assert slow.sentence == "a Fetch request took 1200 ms"
    for kind in facts.Fact.__subclasses__():
        always = re.sub(r"\[.*?\]", "", kind.says)
        optional = {field.name for field in fields(kind) if field.default is None}
        assert not optional & set(re.findall(r"{(\w+)", always)), kind


def test_a_line_says_where_it_stands() -> None:
    folder = RECORDINGS / "3.5.2" / "broker1"
    shrunk = next(
        entry
        for entry in find_text_logs([folder]).entries()
        if isinstance(entry.fact, facts.IsrShrunk)
    )
    path, _, line = shrunk.source.rpartition(":")
    text = gzip.decompress(Path(path).read_bytes()).split(b"\n")[int(line) - 1]
    assert b"Shrinking ISR from 1,2,0 to 1,2." in text
    assert recognize(Path(path), path).kind == "server.log"


def failed_fetches(told: list[LogLine]) -> list[str | None]:
    return [entry.exception for entry in told if isinstance(entry.fact, facts.FetchFailed)]


def test_the_first_line_of_a_stack_trace_belongs_to_the_line_above() -> None:
    assert failed_fetches(entries("2.4.1"))[0] == (
        "java.io.IOException: Connection to 2 was disconnected before the response was read"
    )
