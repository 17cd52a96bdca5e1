"""The versions of each API that a release advertises.

A client requests them with ApiVersions (KIP-35, 0.10.0) and uses the newest common version; older
releases did not advertise theirs. Only APIs supported by :mod:`emulator.wire.apis` are advertised.

Source: ``validVersions`` of each message definition at the release's tag, and its schemas in
``Protocol`` or in the request's class before 2.4. Versions still marked as unstable are not
included: AddPartitionsToTxn 4 in 3.5, OffsetCommit 9 in 3.6. Neither is ListTransactions 2 of 4.1
(KIP-1152), since its patterns are those of RE2.
"""

from functools import cache
from typing import Final

from emulator.releases.versions import RELEASE_OF, RELEASES, has_no_zookeeper, is_since, numbers_of
from emulator.wire.apis import API_NAMED

_LAST: Final = {
    "Produce": (
        "0.8.1:0 0.9.0:1 0.10.0:2 0.11.0:3 1.0:5 2.0:6 2.1:7 2.4:8 2.8:9 3.7:10 3.8:11 4.0:12 "
        "4.1:13"
    ),
    "Fetch": (
        "0.8.1:0 0.9.0:1 0.10.0:2 0.10.1:3 0.11.0:5 1.0:6 1.1:7 2.0:8 2.1:10 2.3:11 2.7:12 "
        "3.1:13 3.5:15 3.7:16 3.9:17 4.1:18"
    ),
    "ListOffsets": (
        "0.8.1:0 0.10.1:1 0.11.0:2 2.0:3 2.1:4 2.2:5 2.8:6 3.0:7 3.5:8 3.9:9 4.0:10 4.2:11"
    ),
    "Metadata": (
        "0.8.1:0 0.10.0:1 0.10.1:2 0.11.0:4 1.0:5 2.0:6 2.1:7 2.3:8 2.4:9 2.8:11 3.1:12 4.0:13"
    ),
    "OffsetCommit": "0.8.1:0 0.8.2:1 0.9.0:2 0.11.0:3 2.0:4 2.1:6 2.3:7 2.4:8 3.7:9 4.2:10",
    "OffsetFetch": "0.8.1:0 0.8.2:1 0.10.2:2 0.11.0:3 2.0:4 2.1:5 2.4:6 2.5:7 3.0:8 3.7:9 4.2:10",
    "FindCoordinator": "0.8.2:0 0.11.0:1 2.0:2 2.4:3 3.0:4 3.8:5 3.9:6",
    "JoinGroup": "0.9.0:0 0.10.1:1 0.11.0:2 2.0:3 2.2:4 2.3:5 2.4:6 2.5:7 3.2:9",
    "Heartbeat": "0.9.0:0 0.11.0:1 2.0:2 2.3:3 2.4:4",
    "LeaveGroup": "0.9.0:0 0.11.0:1 2.0:2 2.4:4 3.2:5",
    "SyncGroup": "0.9.0:0 0.11.0:1 2.0:2 2.3:3 2.4:4 2.5:5",
    "DescribeGroups": "0.9.0:0 0.11.0:1 2.0:2 2.3:3 2.4:5 4.0:6",
    "ListGroups": "0.9.0:0 0.11.0:1 2.0:2 2.4:3 2.6:4 3.8:5",
    "SaslHandshake": "0.10.0:0 1.0:1",
    "ApiVersions": "0.10.0:0 0.11.0:1 2.0:2 2.4:3 3.9:4 4.4:5",
    "CreateTopics": "0.10.1:0 0.10.2:1 0.11.0:2 2.0:3 2.4:5 2.7:6 2.8:7",
    "DeleteTopics": "0.10.1:0 0.11.0:1 2.0:2 2.1:3 2.4:4 2.7:5 2.8:6",
    "DeleteRecords": "0.11.0:0 2.0:1 2.6:2",
    "InitProducerId": "0.11.0:0 2.0:1 2.4:2 2.5:3 2.7:4 3.8:5",
    "OffsetForLeaderEpoch": "0.11.0:0 2.0:1 2.1:2 2.3:3 2.8:4",
    "AddPartitionsToTxn": "0.11.0:0 2.0:1 2.7:2 2.8:3 3.6:4 3.8:5",
    "AddOffsetsToTxn": "0.11.0:0 2.0:1 2.7:2 2.8:3 3.8:4",
    "EndTxn": "0.11.0:0 2.0:1 2.7:2 2.8:3 3.8:4 4.0:5",
    "WriteTxnMarkers": "0.11.0:0 2.8:1 4.2:2",
    "TxnOffsetCommit": "0.11.0:0 2.0:1 2.1:2 2.5:3 3.8:4 4.0:5 4.4:6",
    "DescribeAcls": "0.11.0:0 2.0:1 2.5:2 3.3:3",
    "CreateAcls": "0.11.0:0 2.0:1 2.5:2 3.3:3",
    "DeleteAcls": "0.11.0:0 2.0:1 2.5:2 3.3:3",
    "CreateDelegationToken": "1.1:0 2.0:1 2.4:2 3.3:3",
    "RenewDelegationToken": "1.1:0 2.0:1 2.5:2",
    "ExpireDelegationToken": "1.1:0 2.0:1 2.5:2",
    "DescribeDelegationToken": "1.1:0 2.0:1 2.5:2 3.3:3",
    "DescribeClientQuotas": "2.6:0 2.8:1",
    "AlterClientQuotas": "2.6:0 2.8:1",
    "DescribeUserScramCredentials": "2.7:0",
    "AlterUserScramCredentials": "2.7:0",
    "DescribeConfigs": "0.11.0:0 1.1:1 2.0:2 2.6:3 2.8:4",
    "AlterConfigs": "0.11.0:0 2.0:1 2.8:2",
    "AlterReplicaLogDirs": "1.0:0 2.0:1 2.8:2",
    "DescribeLogDirs": "1.0:0 2.0:1 2.6:2 3.2:3 3.3:4 4.3:5",
    "SaslAuthenticate": "1.0:0 2.2:1 2.5:2",
    "CreatePartitions": "1.0:0 2.0:1 2.5:2 2.7:3",
    "DeleteGroups": "1.1:0 2.0:1 2.4:2 4.4:3",
    "ElectLeaders": "2.2:0 2.4:2",
    "IncrementalAlterConfigs": "2.3:0 2.4:1",
    "AlterPartitionReassignments": "2.4:0 4.1:1",
    "ListPartitionReassignments": "2.4:0",
    "OffsetDelete": "2.4:0",
    "DescribeCluster": "2.8:0 3.7:1 4.0:2",
    "DescribeProducers": "2.8:0",
    "ConsumerGroupHeartbeat": "3.7:0 4.0:1",
    "ConsumerGroupDescribe": "3.8:0 4.0:1",
    "DescribeTransactions": "3.0:0",
    "ListTransactions": "3.0:0 3.8:1",
    "UpdateFeatures": "2.7:0 3.3:1 4.0:2",
}
"""The releases that added versions to each API, with the last version in each."""

_LAST_OF_KRAFT: Final = {
    "DescribeQuorum": "2.7:0 3.3:1 3.9:2",
    "DescribeTopicPartitions": "3.8:0",
    "ShareGroupHeartbeat": "4.1:1",
    "ShareGroupDescribe": "4.1:1",
    "ShareFetch": "4.1:1 4.2:2",
    "ShareAcknowledge": "4.1:1 4.2:2",
    "DescribeShareGroupOffsets": "4.1:0 4.2:1",
    "AlterShareGroupOffsets": "4.1:0",
    "DeleteShareGroupOffsets": "4.1:0",
    "UnregisterBroker": "2.8:0",
    "ListConfigResources": "3.7:0 4.1:1",
}
"""The same for APIs supported only in KRaft mode (KIP-595, KIP-966)."""

_LATER_IN_KRAFT: Final = {
    "UpdateFeatures": "3.3",
    "DescribeUserScramCredentials": "3.5",
    "AlterUserScramCredentials": "3.5",
    "CreateDelegationToken": "3.6",
    "RenewDelegationToken": "3.6",
    "ExpireDelegationToken": "3.6",
    "DescribeDelegationToken": "3.6",
}
"""The first releases that have an API in KRaft mode, where they came later than with ZooKeeper."""

_FIRST: Final = {
    "Fetch": "4.0:4",
    "DescribeAcls": "4.0:1",
    "CreateAcls": "4.0:1",
    "DeleteAcls": "4.0:1",
    "CreateDelegationToken": "4.0:1",
    "RenewDelegationToken": "4.0:1",
    "ExpireDelegationToken": "4.0:1",
    "DescribeDelegationToken": "4.0:1",
    "ListOffsets": "4.0:1",
    "OffsetCommit": "4.0:2",
    "OffsetFetch": "4.0:1",
    "JoinGroup": "4.0:2 4.0.1:0",
    "CreateTopics": "4.0:2",
    "DeleteTopics": "4.0:1",
    "OffsetForLeaderEpoch": "4.0:2",
    "WriteTxnMarkers": "4.0:1",
    "DescribeConfigs": "4.0:1",
    "AlterReplicaLogDirs": "4.0:1",
    "DescribeLogDirs": "4.0:1",
    "ShareGroupHeartbeat": "4.1:1",
    "ShareGroupDescribe": "4.1:1",
    "ShareFetch": "4.1:1",
    "ShareAcknowledge": "4.1:1",
}
"""The releases that changed the first version, which is otherwise 0.

4.0 dropped the versions used by clients before 2.1 (KIP-896), but still advertises Produce from 0
on, which librdkafka checks (KAFKA-18659); 4.0.1 restored JoinGroup 0 and 1 for the same reason.
"""

EARLY_SHARE_GROUPS: Final = {
    API_NAMED[api].key: range(1)
    for api in ("ShareGroupHeartbeat", "ShareGroupDescribe", "ShareFetch", "ShareAcknowledge")
}
"""What brokers of 4.0 serve besides if they are configured with unstable versions (KIP-932)."""


@cache
def versions_of(release: str, *, without_zookeeper: bool = False) -> dict[int, range]:
    """Return the versions of each API in a release, by key; unsupported APIs are absent.

    ``release`` is any name of :data:`emulator.releases.versions.NAMES`, or of 4.0 and newer;
    ``without_zookeeper`` is for a broker in KRaft mode before 4.0. ``documents`` and its variants
    correspond to 0.8.1.
    """
    name = RELEASE_OF.get(release, release)
    numbers = max(numbers_of(name), numbers_of(RELEASES[0]))
    kraft = without_zookeeper or has_no_zookeeper(numbers)
    table = _LAST | _LAST_OF_KRAFT if kraft else _LAST
    versions: dict[int, range] = {}
    for api, history in table.items():
        if kraft and not is_since(numbers, _LATER_IN_KRAFT.get(api, RELEASES[0])):
            continue
        last = _at(history, numbers)
        if last is not None:
            first = _at(_FIRST.get(api, ""), numbers) or 0
            versions[API_NAMED[api].key] = range(first, last + 1)
    return dict(sorted(versions.items()))


def _at(history: str, numbers: tuple[int, ...]) -> int | None:
    """Return the value of the latest entry up to a release."""
    latest = None
    for entry in history.split():
        release, number = entry.split(":")
        if is_since(numbers, release):
            latest = int(number)
    return latest
