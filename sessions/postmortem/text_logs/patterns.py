"""The lines that are recognized: who writes each, since when, and what it means.

A row is tried on a line if its logger wrote the line and the line contains its text; then its
regular expression must match, and the groups become the fields of its fact. Loggers are named as
Kafka declares them; a layout that prints the last part of the name only (``%c{1}``) is found, too.

A regular expression begins with plain text, and every repetition in it is bounded, so that no line
can make it slow.
"""

import re
from typing import Final

from msgspec import Struct

from sessions.postmortem.text_logs import facts
from sessions.postmortem.text_logs.facts import Fact

FIRST: Final = "0.8"
LAST: Final = "4.4"

_TP = r"\[?(?P<tp>[\w.-]{1,249}[-,] ?\d{1,10})\]?"
_IDS = r"[\d, ]{0,4000}"
_SESSION = r"(?P<session>0x[0-9a-f]{1,16})"

PARTITION: Final = ("kafka.cluster.Partition",)
STATE_CHANGE: Final = ("state.change.logger",)
CONTROLLER: Final = ("kafka.controller.KafkaController",)
SERVER: Final = (
    "kafka.server.KafkaServer",
    "kafka.server.BrokerServer",
    "kafka.server.ControllerServer",
    "kafka.server.KafkaRaftServer",
)
FETCHER: Final = ("kafka.server.ReplicaFetcherThread",)
LOG: Final = (
    "kafka.log.Log",
    "kafka.log.UnifiedLog",
    "org.apache.kafka.storage.internals.log.UnifiedLog",
)
LOG_LOADER: Final = (
    "kafka.log.Log",
    "kafka.log.LogLoader",
    "org.apache.kafka.storage.internals.log.LogLoader",
)
LOG_MANAGER: Final = (
    "kafka.log.LogManager",
    "org.apache.kafka.storage.internals.log.LogManager",
)
ZOOKEEPER_CLIENT: Final = ("org.apache.zookeeper.ClientCnxn",)
REPLICATION_CONTROL: Final = ("org.apache.kafka.controller.ReplicationControlManager",)
QUORUM_STATE: Final = ("org.apache.kafka.raft.QuorumState",)
CONFIGURATION: Final = (
    "kafka.server.KafkaConfig",
    "org.apache.kafka.common.config.AbstractConfig",
)
LIFECYCLE: Final = (
    "kafka.server.BrokerLifecycleManager",
    "org.apache.kafka.server.BrokerLifecycleManager",
)


class Pattern(Struct, frozen=True):
    """A line that is recognized.

    ``text`` stands in every such line. ``more`` is searched only after ``expression`` matched, for
    fields that stand in front of it. ``since`` and ``until`` are the first and the last release
    that write it so.
    """

    fact: type[Fact]
    loggers: tuple[str, ...]
    text: bytes
    expression: re.Pattern[bytes]
    since: str
    until: str
    constants: tuple[tuple[str, object], ...] = ()
    more: re.Pattern[bytes] | None = None


def _row(
    fact: type[Fact],
    loggers: tuple[str, ...],
    text: str,
    expression: str,
    *,
    since: str = FIRST,
    until: str = LAST,
    more: str | None = None,
    **constants: object,
) -> Pattern:
    return Pattern(
        fact,
        loggers,
        text.encode(),
        re.compile(expression.encode()),
        since,
        until,
        tuple(constants.items()),
        None if more is None else re.compile(more.encode()),
    )


PATTERNS: Final = (
    # The leader changes an ISR.
    _row(
        facts.IsrShrunk,
        PARTITION,
        "Shrinking ISR",
        rf"(?:\[Partition (?P<tp>[\w.-]{{1,260}}) broker=\d+\] |on broker \d+: )Shrinking ISR "
        rf"(?:for partition \[?(?P<old_tp>[\w.-]{{1,249}}[-,]\d{{1,10}})\]? )?"
        rf"from (?P<isr_before>{_IDS}) to (?P<isr>{_IDS})"
        rf"(?:\. Leader: \(highWatermark: (?P<high_watermark>\d+), endOffset: (?P<end_offset>\d+)\)"
        r"\. Out of sync replicas: (?P<out_of_sync>[^.]{0,4000}))?",
    ),
    _row(
        facts.IsrExpanded,
        PARTITION,
        "Expanding ISR",
        rf"(?:\[Partition (?P<tp>[\w.-]{{1,260}}) broker=\d+\] |on broker \d+: )Expanding ISR "
        rf"(?:for partition \[?(?P<old_tp>[\w.-]{{1,249}}[-,]\d{{1,10}})\]? )?"
        rf"from (?P<isr_before>{_IDS}) to (?P<isr>{_IDS})",
    ),
    _row(
        facts.IsrStored,
        PARTITION,
        "ISR updated to",
        rf"\[Partition (?P<tp>[\w.-]{{1,260}}) broker=\d+\] ISR updated to \[?(?P<isr>{_IDS})\]?"
        r" {1,3}and (?:zkV|v)ersion updated to \[?(?P<version>\d+)",
        since="2.5",
    ),
    _row(
        facts.IsrRefused,
        PARTITION,
        "skip updating ISR",
        r"(?:\[Partition (?P<tp>[\w.-]{1,260}) broker=\d+\] |Partition \[(?P<old_tp>[\w.-]{1,249},"
        r"\d+)\] on broker \d+: )Cached zkVersion (?:\[)?(?P<version>\d+)",
        until="2.7",
    ),
    _row(
        facts.IsrRefused,
        PARTITION,
        "Failed to update ISR",
        r"\[Partition (?P<tp>[\w.-]{1,260}) broker=\d+\] Failed to update ISR to .{0,2000}?"
        r"(?:due to (?:unexpected )?(?P<error>[A-Z_]{3,60})|since|because)",
        since="2.7",
        until="3.1",
    ),
    _row(
        facts.IsrRefused,
        PARTITION,
        "Failed to alter partition",
        r"\[Partition (?P<tp>[\w.-]{1,260}) broker=\d+\] Failed to alter partition to "
        r".{0,2000}?(?P<error>[A-Z]{3,20}_[A-Z_]{3,60})",
        since="3.2",
    ),
    # Brokers become leaders and followers.
    _row(
        facts.LeaderStarted,
        STATE_CHANGE,
        "Leader ",
        rf"\[Broker id=(?P<node>\d+)\] Leader {_TP} (?:with topic id \S{{1,40}} )?starts at leader "
        r"epoch (?P<epoch>\d+) from offset (?P<offset>\d+) with (?:partition epoch \d+, )?high "
        rf"watermark (?P<high_watermark>\d+),? ISR \[(?P<isr>{_IDS})\]",
        since="2.6",
    ),
    _row(
        facts.LeaderStarted,
        PARTITION,
        "starts at",
        r"\[Partition (?P<tp>[\w.-]{1,260}) broker=(?P<node>\d+)\] \S{1,260} starts at "
        r"(?:L|l)eader (?:E|e)poch (?P<epoch>\d+) from offset (?P<offset>\d+)"
        r"(?: with high watermark (?P<high_watermark>\d+))?",
        since="0.11",
        until="2.5",
    ),
    _row(
        facts.LeaderStarted,
        STATE_CHANGE,
        "become-leader transition for partition",
        r"Broker (?P<node>\d+) completed LeaderAndIsr request correlationId \d+ from controller \d+"
        rf" epoch \d+ for the become-leader transition for partition {_TP}",
        until="0.11",
    ),
    _row(
        facts.LeaderStarted,
        STATE_CHANGE,
        "become-leader transition for partition",
        r"\[Broker id=(?P<node>\d+)\] Completed LeaderAndIsr request correlationId \d+ from "
        rf"controller \d+ epoch \d+ for the become-leader transition for partition {_TP}",
        since="1.0",
        until="2.5",
    ),
    _row(
        facts.FollowerStarted,
        STATE_CHANGE,
        "Follower ",
        rf"\[Broker id=(?P<node>\d+)\] Follower {_TP} starts at leader epoch (?P<epoch>\d+) from "
        r"offset (?P<offset>\d+) with (?:partition epoch \d+ and )?high watermark "
        r"(?P<high_watermark>\d+)\.(?: Current leader is (?P<leader>-?\d+))?",
        since="2.6",
    ),
    _row(
        facts.FollowerStarted,
        STATE_CHANGE,
        "become-follower transition for partition",
        r"(?:Broker (?P<node>\d+) completed|\[Broker id=(?P<own_node>\d+)\] Completed) LeaderAndIsr"
        r" request correlationId \d+ from controller \d+ epoch \d+ for the become-follower "
        rf"transition for partition {_TP}(?: with leader (?P<leader>-?\d+))?",
        until="2.5",
    ),
    _row(
        facts.LeaderAndIsrReceived,
        STATE_CHANGE,
        "eceived LeaderAndIsr request",
        r"Broker (?P<node>\d+) received LeaderAndIsr request \(LeaderAndIsrInfo:\(Leader:"
        rf"(?P<leader>-?\d+),ISR:(?P<isr>{_IDS}),LeaderEpoch:(?P<epoch>\d+),ControllerEpoch:"
        rf"(?P<controller_epoch>\d+)\).{{0,4000}} for partition {_TP}",
        until="0.10",
    ),
    _row(
        facts.LeaderAndIsrReceived,
        STATE_CHANGE,
        "eceived LeaderAndIsr request",
        r"(?:Broker (?P<node>\d+) received|\[Broker id=(?P<own_node>\d+)\] Received) LeaderAndIsr "
        r"request (?:PartitionState|PartitionStateInfo|LeaderAndIsrPartitionState)\((?:topicName='"
        r"(?P<topic>[\w.-]{1,249})', partitionIndex=(?P<partition>\d+), )?controllerEpoch="
        r"(?P<controller_epoch>\d+), leader=(?P<leader>-?\d+), leaderEpoch=(?P<epoch>\d+), "
        rf"isr=\[?(?P<isr>{_IDS})\]?, zkVersion=(?P<version>\d+)"
        rf"(?:.{{0,8000}} for partition {_TP})?",
        since="0.10",
        until="2.5",
    ),
    _row(
        facts.Recovered,
        STATE_CHANGE,
        "was marked as RECOVERING",
        rf"The topic partition {_TP} was marked as RECOVERING\. Marking",
        since="3.2",
    ),
    # The controller of a cluster with ZooKeeper.
    _row(
        facts.PartitionChanged,
        STATE_CHANGE,
        "with state LeaderAndIsr(",
        rf"Changed partition {_TP} from (?P<state_before>\w{{1,40}}) to (?P<state>\w{{1,40}}) with "
        r"state LeaderAndIsr\(leader=(?P<leader>-?\d+), leaderEpoch=(?P<epoch>\d+), "
        rf"(?:isr=List\((?P<isr>{_IDS})\)|isrWithBrokerEpoch=List\((?P<isr_states>[^\]]{{0,4000}}?)"
        r"\)), (?:leaderRecoveryState=(?P<recovery>\w{1,20}), )?(?:zkVersion|partitionEpoch)="
        r"(?P<version>\d+)",
        since="1.1",
        until="3.9",
    ),
    _row(
        facts.PartitionChanged,
        STATE_CHANGE,
        "hanged partition",
        rf"(?:Controller \d+ epoch (?P<controller_epoch>\d+) changed|Changed) partition {_TP} "
        r"(?:state )?from (?P<state_before>\w{1,40}) to (?P<state>\w{1,40})"
        r"(?: with leader (?P<leader>-?\d+))?",
        until="3.9",
    ),
    _row(
        facts.PartitionChanged,
        STATE_CHANGE,
        "for Offline partition",
        r"(?:Controller \d+ epoch (?P<controller_epoch>\d+) elected|Elected) leader "
        rf"(?P<leader>-?\d+) for Offline partition {_TP}",
        until="1.0",
    ),
    _row(
        facts.LeftIsr,
        STATE_CHANGE,
        "after removing replica",
        rf"Partition {_TP} state changed to \(Leader:(?P<leader>-?\d+),ISR:(?P<isr>{_IDS}),"
        r"(?:LeaderRecoveryState:\w{1,20},)?LeaderEpoch:(?P<epoch>\d+),ZkVersion:(?P<version>\d+),"
        r"ControllerEpoch:\d+\) after removing replica (?P<replica>\d+) ",
        since="1.1",
        until="3.9",
    ),
    _row(
        facts.PartitionChanged,
        CONTROLLER,
        "New leader and ISR for partition",
        rf"New leader and ISR for partition {_TP} is "
        r'\{"leader":(?P<leader>-?\d+),"leader_epoch":(?P<epoch>\d+),"isr":\[(?P<isr>[\d,]{0,4000})'
        r"\]\}",
        until="1.0",
    ),
    _row(
        facts.UncleanLeaderElected,
        (
            "kafka.controller.OfflinePartitionLeaderSelector",
            "kafka.controller.PartitionStateMachine",
            "kafka.controller.ZkPartitionStateMachine",
        ),
        "potential data loss",
        rf"No broker in ISR is alive for {_TP}\. Elect leader (?P<leader>\d+) from live brokers",
        until="1.0",
    ),
    _row(
        facts.ElectionFailed,
        STATE_CHANGE,
        "failed to change state for partition",
        rf"failed to change state for partition {_TP} from",
        since="1.1",
        until="3.9",
    ),
    _row(
        facts.ElectionFailed,
        STATE_CHANGE,
        "encountered error while electing leader for partition",
        rf"encountered error while electing leader for partition {_TP} due to",
        until="1.0",
    ),
    _row(
        facts.ControllerElected,
        CONTROLLER,
        "is ready to serve as the new controller",
        r"Broker (?P<node>\d+) is ready to serve as the new controller with epoch (?P<epoch>\d+)",
        until="1.0",
    ),
    _row(
        facts.ControllerElected,
        CONTROLLER,
        "Ready to serve as the new controller",
        r"Controller id=(?P<node>\d+)\] Ready to serve as the new controller with epoch "
        r"(?P<epoch>\d+)",
        since="1.0",
        until="3.9",
    ),
    _row(
        facts.ControllerResigned,
        CONTROLLER,
        "esigned",
        r"(?:\[Controller id=(?P<node>\d+)\] Resigned|Broker (?P<old_node>\d+) resigned as the "
        r"controller)",
        until="3.9",
    ),
    _row(
        facts.BrokersChanged,
        (
            "kafka.controller.KafkaController",
            "kafka.controller.ReplicaStateMachine$BrokerChangeListener",
            "kafka.controller.BrokerChangeListener",
        ),
        "Newly added brokers",
        rf"Newly added brokers: (?P<added>{_IDS}), deleted brokers: (?P<deleted>{_IDS}), "
        rf"(?:bounced brokers: (?P<bounced>{_IDS}), )?all live brokers: (?P<live>{_IDS})",
        until="3.9",
    ),
    _row(
        facts.BrokerFailed,
        CONTROLLER,
        "Broker failure callback for",
        rf"Broker failure callback for (?P<brokers>{_IDS})",
        until="3.9",
    ),
    _row(
        facts.ControlledShutdown,
        CONTROLLER,
        "hutting down broker",
        r"Shutting down broker (?P<node>\d+) \(kafka",
        until="3.9",
        stage="the controller moves its leaderships",
    ),
    # Registration, sessions and heartbeats.
    _row(
        facts.BrokerRegistered,
        ("kafka.zk.KafkaZkClient", "kafka.utils.ZkUtils", "kafka.utils.ZkUtils$"),
        "Registered broker",
        r"Registered broker (?P<broker>\d+) at path /"
        r"(?:.{0,2000}czxid \(broker epoch\): (?P<broker_epoch>\d+))?",
        until="3.9",
    ),
    _row(
        facts.BrokerRegistered,
        LIFECYCLE,
        "Successfully registered broker",
        r"Successfully registered broker (?P<broker>\d+) with broker epoch (?P<broker_epoch>\d+)",
        since="2.8",
    ),
    _row(
        facts.SessionTimedOut,
        ZOOKEEPER_CLIENT,
        "have not heard from server in",
        r"Client session timed out, have not heard from server in (?P<silent_ms>\d+)ms for session "
        rf"?id {_SESSION}",
        until="3.9",
    ),
    _row(
        facts.SessionExpired,
        ZOOKEEPER_CLIENT,
        "has expired",
        rf"Unable to reconnect to ZooKeeper service, session {_SESSION} has expired",
        until="3.9",
    ),
    _row(
        facts.SessionExpired,
        ("org.apache.zookeeper.server.ZooKeeperServer",),
        "Expiring session",
        rf"Expiring session {_SESSION}, timeout of (?P<timeout_ms>\d+)ms exceeded",
        until="3.9",
    ),
    _row(
        facts.SessionExpired,
        ("kafka.zookeeper.ZooKeeperClient",),
        "Session expired.",
        r"Session expired\.",
        since="1.1",
        until="3.9",
    ),
    _row(
        facts.ZooKeeperState,
        ("org.I0Itec.zkclient.ZkClient",),
        "zookeeper state changed",
        r"zookeeper state changed \((?P<state>\w{1,30})\)",
        until="1.0",
    ),
    _row(
        facts.BrokerFenced,
        REPLICATION_CONTROL,
        "because its session has timed out",
        r"Fencing broker (?P<broker>\d+) (?:at epoch (?P<broker_epoch>\d+) )?because its session "
        r"has timed out",
        since="2.8",
    ),
    _row(
        facts.BrokerUnfenced,
        ("org.apache.kafka.controller.BrokerHeartbeatManager",),
        "to unfence has been granted",
        r"The request from broker (?P<broker>\d+) to unfence has been granted",
        since="2.8",
    ),
    _row(
        facts.BrokerUnfenced,
        LIFECYCLE,
        "The broker has been unfenced",
        r"The broker has been unfenced",
        since="2.8",
    ),
    _row(
        facts.HeartbeatFailed,
        LIFECYCLE,
        "Unable to send a heartbeat because",
        r"Unable to send a heartbeat because (?P<reason>.{1,200}?)\.(?: \(|$|\r)",
        since="2.8",
    ),
    _row(
        facts.HeartbeatFailed,
        LIFECYCLE,
        "sent a heartbeat request but received error",
        r"sent a heartbeat request but received error (?P<reason>\w{1,60})",
        since="3.0",
    ),
    # Processes.
    _row(
        facts.ProcessState,
        SERVER,
        "starting (",
        r"Server (?:id=)?(?P<node>\d+)\],? (?P<state>starting) \(",
        until="3.9",
    ),
    _row(
        facts.ProcessState,
        SERVER,
        "starting",
        r" INFO (?P<state>starting) \(kafka\.server\.KafkaServer\)",
        since="1.0",
        until="3.9",
    ),
    _row(
        facts.ProcessState,
        SERVER,
        "started",
        r"(?:Server (?:id=)?(?P<node>\d+)\],? |nodeId=(?P<own_node>\d+)\] Kafka Server )"
        r"(?P<state>started)",
    ),
    _row(
        facts.ProcessState,
        SERVER,
        "shutting down",
        r"Server (?:id=)?(?P<node>\d+)\],? (?P<state>shutting down)",
    ),
    _row(
        facts.ProcessState,
        SERVER,
        "shut down completed",
        r"Server (?:id=)?(?P<node>\d+)\],? (?P<state>shut down completed)",
    ),
    _row(
        facts.ProcessState,
        SERVER,
        "Transition from",
        r"Server id=(?P<node>\d+)\] Transition from \w{1,30} to "
        r"(?P<state>STARTING|STARTED|SHUTTING_DOWN|SHUTDOWN)",
        since="2.8",
    ),
    _row(
        facts.KafkaVersion,
        (
            "org.apache.kafka.common.utils.AppInfoParser",
            "org.apache.kafka.common.utils.AppInfoParser$AppInfo",
            "org.apache.kafka.common.utils.internals.AppInfoParser",
        ),
        "Kafka version",
        r"Kafka version ?: (?P<version>\d{1,3}(?:\.\d{1,3}){1,3})",
        since="0.9",
    ),
    # The line before the settings, or the one after them: where the logger is.
    _row(facts.Configured, CONFIGURATION, "KafkaConfig values:", r"KafkaConfig values:"),
    _row(facts.Configured, CONFIGURATION, "(kafka.server.KafkaConfig)", r"^ \("),
    _row(
        facts.Configured,
        CONFIGURATION,
        "(org.apache.kafka.common.config.AbstractConfig)",
        r"^ \(",
        since="4.0",
    ),
    _row(
        facts.Terminating,
        (
            "org.apache.kafka.common.utils.LoggingSignalHandler",
            "org.apache.kafka.common.utils.internals.LoggingSignalHandler",
        ),
        "Terminating process due to signal",
        r"Terminating process due to (?P<reason>signal \w{1,20})",
        since="1.1",
    ),
    _row(
        facts.Terminating,
        (
            *SERVER,
            "kafka.Kafka$",
            "kafka.server.KafkaServerStartable",
            "kafka.server.ReplicaManager",
            *LOG_MANAGER,
            *LIFECYCLE,
        ),
        "xiting Kafka",
        r"(?P<reason>[^\[\]]{0,120}Exiting Kafka[^(]{0,60}?)\.? ?(?:\(|$|\r)",
    ),
    _row(
        facts.Terminating,
        (*LOG_MANAGER, "kafka.server.ReplicaManager"),
        "have failed",
        r"(?P<reason>(?:Shutdown|Stopping|Halting)[^(]{0,300}have failed)",
        since="1.0",
    ),
    _row(
        facts.ControlledShutdown,
        SERVER,
        "Starting controlled shutdown",
        r"Server (?:id=)?(?P<node>\d+)\],? Starting controlled shutdown",
        until="3.9",
        stage="begins",
    ),
    _row(
        facts.ControlledShutdown,
        SERVER,
        "Controlled shutdown ",
        r"Server (?:id=)?(?P<node>\d+)\],? Controlled shutdown (?P<stage>succeeded|request returned"
        r" successfully)",
        until="3.9",
    ),
    _row(
        facts.ControlledShutdown,
        SERVER,
        "remaining to move",
        r"Server (?:id=)?(?P<node>\d+)\],? Controlled shutdown request returned after \d+ms with "
        r"(?P<remaining>\d+) partitions remaining to move",
        since="2.4",
        until="3.9",
        stage="not done",
    ),
    _row(
        facts.ControlledShutdown,
        SERVER,
        "Remaining partitions to move",
        r"Server (?:id=)?(?P<node>\d+)\],? Remaining partitions to move: (?P<stage>[^(]{0,200})",
        until="2.4",
    ),
    _row(
        facts.ControlledShutdown,
        SERVER,
        "all the controlled shutdown attempts failed",
        r"Server (?:id=)?(?P<node>\d+)\],? Proceeding to do an unclean shutdown as all the",
        until="3.9",
        stage="failed, the broker stops uncleanly",
    ),
    _row(
        facts.ControlledShutdown,
        LIFECYCLE,
        "Beginning controlled shutdown",
        r"BrokerLifecycleManager id=(?P<node>\d+)[^\]]{0,40}\] Beginning controlled shutdown",
        since="2.8",
        stage="begins",
    ),
    _row(
        facts.ControlledShutdown,
        ("org.apache.kafka.controller.BrokerHeartbeatManager",),
        "requested and been granted",
        r"broker (?P<node>\d+) has requested and been granted (?P<stage>an? \w{1,20} shutdown)",
        since="2.8",
    ),
    # Logs on disk.
    _row(
        facts.LogDirFailed,
        ("kafka.server.ReplicaManager", *LOG_MANAGER),
        "serving",
        r"(?:Stopping serving (?:replicas|logs) in (?:log )?(?:dir(?:ectory)?)|Broker \d+ stopped "
        r"fetcher for partitions .{0,2000}?they are in the failed log dir(?:ectory)?) "
        r"(?P<path>[^\s(]{1,1000}?)\.? ?(?:\(|$|\r| because)",
        since="1.0",
    ),
    _row(
        facts.UncleanShutdownFound,
        LOG_MANAGER,
        "since no clean shutdown file was found",
        r"Recovering (?P<logs>\d+) logs from (?P<path>\S{1,1000}) since no clean shutdown file",
        since="2.7",
    ),
    _row(
        facts.UncleanShutdownFound,
        LOG_MANAGER,
        "since no clean shutdown file was found",
        r"Attempting recovery for all logs in (?P<path>\S{1,1000}) since no clean shutdown file",
        since="2.6",
        until="2.6",
    ),
    _row(
        facts.IndexCorrupt,
        LOG_LOADER,
        "index file",
        r"(?:Found a corrupted index file|Could not find (?:offset|time) index file|Found (?:a )?"
        r"corrupted (?:time |offset )?index file)[^/]{0,80}(?P<path>/\S{1,1000}?)[,:.]?(?: |$)",
    ),
    _row(
        facts.SegmentRecovered,
        LOG_LOADER,
        "ecovering unflushed segment",
        r"(?:\[\w{1,20} partition=(?P<tp>[\w.-]{1,260}), dir=[^\]]{1,1000}\] )?Recovering "
        r"unflushed segment (?P<offset>\d+)"
        r"(?: (?:in log|of partition) (?P<old_tp>[\w.-]{1,259}\d))?",
    ),
    _row(
        facts.Truncated,
        LOG,
        "Truncating to offset",
        r"(?:\[\w{1,20} partition=(?P<tp>[\w.-]{1,260}), dir=[^\]]{1,1000}\] )?Truncating to offset"
        r" (?P<offset>\d+)",
        since="1.1",
    ),
    _row(
        facts.Truncated,
        LOG,
        "Truncating log",
        r"Truncating log (?P<tp>[\w.-]{1,260}) to offset (?P<offset>\d+)",
        until="1.0",
    ),
    _row(
        facts.Truncated,
        FETCHER,
        "due to local high watermark",
        rf"Truncating partition {_TP} (?:to (?P<old_offset>\d+)|with TruncationState\(offset="
        r"(?P<offset>\d+)).{0,80}due to local high watermark (?P<high_watermark>\d+)",
        since="2.4",
    ),
    _row(
        facts.Truncated,
        FETCHER,
        "to local high watermark",
        rf"Truncating partition {_TP} to local high watermark (?P<offset>\d+)",
        since="2.3",
        until="2.6",
    ),
    _row(
        facts.HighWatermarkWentBack,
        LOG,
        "Non-monotonic update of high watermark",
        r"\[\w{1,20} partition=(?P<tp>[\w.-]{1,260}), dir=[^\]]{1,1000}\] Non-monotonic update of "
        r"high watermark from \(offset=(?P<before>\d+)\D.{0,100}? to \(offset=(?P<after>\d+)",
        since="2.4",
    ),
    _row(
        facts.LogDeleted,
        LOG_MANAGER,
        "is scheduled for deletion",
        r"Log for partition (?P<tp>[\w.-]{1,260}) is renamed to",
    ),
    # Followers fetch.
    _row(
        facts.FetchFailed,
        FETCHER,
        "Error in response for fetch request",
        r"\[ReplicaFetcher replicaId=(?P<node>\d+), leaderId=(?P<leader>\d+), fetcherId=\d+\] "
        r"Error in response for fetch request",
        since="1.1",
    ),
    _row(
        facts.FetchFailed,
        FETCHER,
        "Error in fetch",
        r"\[ReplicaFetcherThread-\d+-(?P<leader>\d+)\][,:] Error in fetch",
        until="1.0",
    ),
    _row(
        facts.FetchFailed,
        FETCHER,
        "Error in fetch",
        r"\[ReplicaFetcher replicaId=(?P<node>\d+), leaderId=(?P<leader>\d+), fetcherId=\d+\] "
        r"Error in fetch",
        since="1.0",
        until="1.0",
    ),
    _row(
        facts.OffsetOutOfRange,
        FETCHER,
        "out of range",
        rf"Current offset (?P<offset>\d+) for partition {_TP} (?:is )?out of range(?:; reset offset"
        r" to (?P<new_offset>\d+)|, which typically implies a leader change\. Reset fetch offset to"
        r" (?P<newer_offset>\d+))?",
    ),
    _row(
        facts.OffsetOutOfRange,
        FETCHER,
        "reset its fetch offset",
        rf"Replica \d+ for partition {_TP} reset its fetch offset from (?P<offset>\d+) to current "
        r"leader \d+'s (?:latest|start) offset (?P<new_offset>\d+)",
        until="1.0",
    ),
    _row(
        facts.OffsetOutOfRange,
        FETCHER,
        "Reset fetch offset for partition",
        rf"Reset fetch offset for partition {_TP} from (?P<offset>\d+) to current leader's (?:"
        r"latest|start) offset (?P<new_offset>\d+)",
        since="1.0",
    ),
    _row(
        facts.EpochRefused,
        FETCHER,
        "epoch (",
        rf"Partition {_TP} has an? (?P<which>older|newer) epoch \((?P<epoch>-?\d+)\) than the "
        r"current leader",
        since="2.1",
    ),
    _row(
        facts.PartitionFailed,
        FETCHER,
        "marked as failed",
        rf"Partition {_TP} marked as failed",
        since="2.3",
    ),
    _row(
        facts.NodeUnreachable,
        ("org.apache.kafka.clients.NetworkClient",),
        "could not be established",
        r"Connection to node (?P<peer>-?\d+) (?:\(/?(?P<address>[^)]{1,260})\) )?could not be "
        r"established",
        since="0.9",
    ),
    _row(
        facts.NodeUnreachable,
        ("kafka.controller.RequestSendThread", "kafka.controller.ControllerChannelManager"),
        "connection to broker",
        r"connection to broker .{0,260}?(?:\(id: |id:)(?P<peer>\d+).{0,260} was unsuccessful",
        until="3.9",
    ),
    # Requests.
    _row(
        facts.SlowRequest,
        ("kafka.request.logger",),
        '"totalTimeMs":',
        r'"totalTimeMs":(?P<total_ms>\d{4,12}(?:\.\d{1,9})?)',
        since="2.7",
        more=r'"clientId":"(?P<client>[^"]{0,255})".{0,60}?"requestApiKeyName":"(?P<api>\w{1,60})"',
    ),
    _row(
        facts.SlowRequest,
        ("kafka.request.logger", "kafka.network.RequestChannel$"),
        "totalTime:",
        r"[;,]totalTime:(?P<total_ms>\d{4,12}(?:\.\d{1,9})?)",
        until="2.6",
        more=r"ompleted request: ?(?:RequestHeader\(apiKey=|Name: ?)(?P<api>\w{1,60})",
    ),
    # KRaft's controllers.
    _row(
        facts.UncleanLeaderElected,
        ("org.apache.kafka.controller.PartitionChangeBuilder",),
        "using an unclean election",
        r"Setting new leader for topicId (?P<topic_id>[\w-]{22}), partition (?P<partition>\d+) to "
        r"(?P<leader>\d+) using an unclean election",
        since="3.3",
    ),
    _row(
        facts.PartitionRecordChanged,
        REPLICATION_CONTROL,
        "UNCLEAN partition change for",
        rf"UNCLEAN partition change for {_TP} with topic ID [\w-]{{22}}: (?P<changes>.{{1,1000}}?)"
        r"(?: \(|$|\r)",
        since="3.0",
        unclean=True,
    ),
    _row(
        facts.PartitionRecordChanged,
        REPLICATION_CONTROL,
        "artition change for",
        rf"[^N] (?:P|p)artition change for {_TP} with topic ID [\w-]{{22}}: "
        r"(?P<changes>.{1,1000}?)(?: \(|$|\r)",
        since="3.0",
    ),
    _row(
        facts.ControllerElected,
        ("org.apache.kafka.controller.QuorumController",),
        "Becoming the active controller at epoch",
        r"(?:\[QuorumController id=|\[Controller )(?P<node>\d+)\] Becoming the active controller at"
        r" epoch (?P<epoch>\d+)",
        since="3.0",
    ),
    _row(
        facts.ControllerElected,
        ("org.apache.kafka.controller.QuorumController",),
        "Becoming active at controller epoch",
        r"\[Controller (?P<node>\d+)\] Becoming active at controller epoch (?P<epoch>\d+)",
        since="2.8",
        until="3.4",
    ),
    _row(
        facts.ControllerResigned,
        ("org.apache.kafka.controller.QuorumController",),
        "enouncing",
        r"(?:\[QuorumController id=|\[Controller )(?P<node>\d+)\] Renouncing the "
        r"(?:leadership|active)[^(]{0,80}?(?:epoch (?P<epoch>\d+))?",
        since="2.8",
    ),
    _row(
        facts.QuorumRole,
        QUORUM_STATE,
        "Completed transition to",
        r"Completed transition to (?P<role>Follower|Candidate|Prospective|Unattached|Resigned|Voted"
        r"|Leader)(?:State)?\((?:.{0,2000}?[( ])?epoch=(?P<epoch>\d+)"
        r"(?:, leader(?:Id)?=(?P<leader>\d+))?",
        since="2.8",
    ),
    _row(
        facts.QuorumHighWatermark,
        ("org.apache.kafka.raft.LeaderState",),
        "High watermark set to",
        r"High watermark set to LogOffsetMetadata\(offset=(?P<offset>\d+).{0,200}? for the first "
        r"time for epoch (?P<epoch>\d+)",
        since="2.8",
    ),
    _row(
        facts.QuorumFetchTimedOut,
        ("org.apache.kafka.raft.KafkaRaftClient",),
        "due to fetch timeout",
        r"(?:Become candidate|Transitioning to \w{1,20} state) due to fetch timeout",
        since="2.8",
    ),
    _row(
        facts.SnapshotWritten,
        (
            "org.apache.kafka.image.publisher.SnapshotEmitter",
            "kafka.server.metadata.SnapshotEmitter",
            "org.apache.kafka.image.publisher.SnapshotGenerator",
        ),
        "Successfully wrote",
        r"Successfully wrote (?:snapshot )?(?P<offset>\d{20})-\d{10}",
        since="3.3",
    ),
)
"""Every line that is recognized. If several rows fit a line, the first one counts."""
