"""The lines that are recognized: who writes each, since when, and what it means.

A row is tried on a line if its logger wrote the line and the line contains its text; then its
regular expression must match, and the groups become the fields of its fact. Loggers are named as
Kafka declares them; a layout that prints the last part of the name only (``%c{1}``) is found, too.

A regular expression begins with plain text, and every repetition in it is bounded, so that no line
can make it slow.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from sessions.postmortem.text_logs import facts
from sessions.postmortem.text_logs.facts import Fact

FIRST_RELEASE: Final = "0.8"
LAST_RELEASE: Final = "4.4"

_PARTS: Final = {
    "<TP>": r"\[?(?P<tp>[\w.-]{1,249}[-,] ?\d{1,10})\]?",
    "<IDS>": r"[\d, ]{0,4000}",
    "<SESSION>": r"(?P<session>0x[0-9a-f]{1,16})",
}
"""What stands in several expressions."""

_LOGGERS: Final = """\
PARTITION kafka.cluster.Partition
STATE_CHANGE state.change.logger
CONTROLLER kafka.controller.KafkaController
SERVER kafka.server.KafkaServer kafka.server.BrokerServer kafka.server.ControllerServer
    kafka.server.KafkaRaftServer
FETCHER kafka.server.ReplicaFetcherThread
LOG kafka.log.Log kafka.log.UnifiedLog org.apache.kafka.storage.internals.log.UnifiedLog
LOG_LOADER kafka.log.Log kafka.log.LogLoader org.apache.kafka.storage.internals.log.LogLoader
LOG_MANAGER kafka.log.LogManager org.apache.kafka.storage.internals.log.LogManager
ZOOKEEPER_CLIENT org.apache.zookeeper.ClientCnxn
REPLICATION_CONTROL org.apache.kafka.controller.ReplicationControlManager
QUORUM_STATE org.apache.kafka.raft.QuorumState
CONFIGURATION kafka.server.KafkaConfig org.apache.kafka.common.config.AbstractConfig
LIFECYCLE kafka.server.BrokerLifecycleManager org.apache.kafka.server.BrokerLifecycleManager
TOPIC_DELETION kafka.controller.TopicDeletionManager
    kafka.controller.TopicDeletionManager$DeleteTopicsThread
LEADER_SELECTION kafka.controller.OfflinePartitionLeaderSelector
    kafka.controller.PartitionStateMachine kafka.controller.ZkPartitionStateMachine
BROKER_CHANGES kafka.controller.KafkaController
    kafka.controller.ReplicaStateMachine$BrokerChangeListener kafka.controller.BrokerChangeListener
ZOOKEEPER_WRITES kafka.zk.KafkaZkClient kafka.utils.ZkUtils kafka.utils.ZkUtils$
ZOOKEEPER_SERVER org.apache.zookeeper.server.ZooKeeperServer
KAFKA_ZOOKEEPER_CLIENT kafka.zookeeper.ZooKeeperClient
ZK_CLIENT org.I0Itec.zkclient.ZkClient
HEARTBEATS org.apache.kafka.controller.BrokerHeartbeatManager
APP_INFO org.apache.kafka.common.utils.AppInfoParser
    org.apache.kafka.common.utils.AppInfoParser$AppInfo
    org.apache.kafka.common.utils.internals.AppInfoParser
SIGNALS org.apache.kafka.common.utils.LoggingSignalHandler
    org.apache.kafka.common.utils.internals.LoggingSignalHandler
PROCESS kafka.server.KafkaServer kafka.server.BrokerServer kafka.server.ControllerServer
    kafka.server.KafkaRaftServer kafka.Kafka$ kafka.server.KafkaServerStartable
    kafka.server.ReplicaManager kafka.log.LogManager
    org.apache.kafka.storage.internals.log.LogManager kafka.server.BrokerLifecycleManager
    org.apache.kafka.server.BrokerLifecycleManager
LOG_DIRS kafka.log.LogManager org.apache.kafka.storage.internals.log.LogManager
    kafka.server.ReplicaManager
NETWORK_CLIENT org.apache.kafka.clients.NetworkClient
CONTROLLER_CHANNEL kafka.controller.RequestSendThread kafka.controller.ControllerChannelManager
REQUEST_LOG kafka.request.logger
REQUESTS kafka.request.logger kafka.network.RequestChannel$
PARTITION_CHANGE_BUILDER org.apache.kafka.controller.PartitionChangeBuilder
QUORUM_CONTROLLER org.apache.kafka.controller.QuorumController
LEADER_STATE org.apache.kafka.raft.LeaderState
KAFKA_RAFT_CLIENT org.apache.kafka.raft.KafkaRaftClient
SNAPSHOT_EMITTER org.apache.kafka.image.publisher.SnapshotEmitter
    kafka.server.metadata.SnapshotEmitter org.apache.kafka.image.publisher.SnapshotGenerator
"""
"""Loggers by the names that the table below gives them."""


class Pattern(Struct, frozen=True):
    """A line that is recognized.

    ``text`` stands in every such line. ``prefix`` is searched only after ``expression`` matched,
    for fields that stand in front of it. ``since`` and ``until`` are the first and the last release
    that write it so.
    """

    fact: type[Fact]
    loggers: tuple[str, ...]
    text: bytes
    expression: re.Pattern[bytes]
    since: str
    until: str
    constants: tuple[tuple[str, object], ...] = ()
    prefix: re.Pattern[bytes] | None = None


_TABLE: Final = r"""
IsrShrunk PARTITION | Shrinking ISR
    (?:\[Partition (?P<tp>[\w.-]{1,260}) broker=\d+\]|Partition \[(?P<old_tp>[\w.-]{1,249},\d{1,10})\] on broker \d+:) Shrinking ISR (?:for partition \S{1,262} )?from (?P<isr_before><IDS>) to (?P<isr><IDS>)(?:\. Leader: \(highWatermark: (?P<high_watermark>\d+), endOffset: (?P<end_offset>\d+)\)\. Out of sync replicas: (?P<out_of_sync>[^.]{0,4000}))?
IsrExpanded PARTITION | Expanding ISR
    (?:\[Partition (?P<tp>[\w.-]{1,260}) broker=\d+\]|Partition \[(?P<old_tp>[\w.-]{1,249},\d{1,10})\] on broker \d+:) Expanding ISR (?:for partition \S{1,262} )?from (?P<isr_before><IDS>) to (?P<isr><IDS>)
IsrStored PARTITION since 2.5 | ISR updated to
    \[Partition (?P<tp>[\w.-]{1,260}) broker=\d+\] ISR updated to \[?(?P<isr><IDS>)\]? {1,3}and (?:zkV|v)ersion updated to \[?(?P<version>\d+)
IsrRefused PARTITION until 2.7 | skip updating ISR
    (?:\[Partition (?P<tp>[\w.-]{1,260}) broker=\d+\] |Partition \[(?P<old_tp>[\w.-]{1,249},\d+)\] on broker \d+: )Cached zkVersion (?:\[)?(?P<version>\d+)
IsrRefused PARTITION since 2.7 until 3.1 | Failed to update ISR
    \[Partition (?P<tp>[\w.-]{1,260}) broker=\d+\] Failed to update ISR to .{0,2000}?(?:due to (?:unexpected )?(?P<error>[A-Z_]{3,60})|since|because)
IsrRefused PARTITION since 3.2 | Failed to alter partition
    \[Partition (?P<tp>[\w.-]{1,260}) broker=\d+\] Failed to alter partition to .{0,2000}?(?P<error>[A-Z]{3,20}_[A-Z_]{3,60})
# Brokers become leaders and followers.
LeaderStarted STATE_CHANGE since 2.6 | starts at leader epoch
    \[Broker id=(?P<node>\d+)\] Leader <TP> (?:with topic id \S{1,40} )?starts at leader epoch (?P<epoch>\d+) from offset (?P<offset>\d+) with (?:partition epoch \d+, )?high watermark (?P<high_watermark>\d+),? ISR \[(?P<isr><IDS>)\]
LeaderStarted PARTITION since 0.11 until 2.5 | starts at
    (?:\[Partition (?P<tp>[\w.-]{1,260}) broker=(?P<node>\d+)\]|Partition \[(?P<old_tp>[\w.-]{1,249},\d{1,10})\] on broker (?P<old_node>\d+):) \S{1,260} starts at (?:L|l)eader (?:E|e)poch (?P<epoch>\d+) from offset (?P<offset>\d+)(?: with high watermark (?P<high_watermark>\d+))?
LeaderStarted STATE_CHANGE until 0.11 | ompleted LeaderAndIsr request
    Broker (?P<node>\d+) completed LeaderAndIsr request correlationId \d+ from controller \d+ epoch \d+ for the become-leader transition for partition <TP>
LeaderStarted STATE_CHANGE since 1.0 until 2.5 | ompleted LeaderAndIsr request
    \[Broker id=(?P<node>\d+)\] Completed LeaderAndIsr request correlationId \d+ from controller \d+ epoch \d+ for the become-leader transition for partition <TP>
FollowerStarted STATE_CHANGE since 2.6 | starts at leader epoch
    \[Broker id=(?P<node>\d+)\] Follower <TP> starts at leader epoch (?P<epoch>\d+) from offset (?P<offset>\d+) with (?:partition epoch \d+ and )?high watermark (?P<high_watermark>\d+)\.(?: Current leader is (?P<leader>-?\d+))?
FollowerStarted STATE_CHANGE until 2.5 | ompleted LeaderAndIsr request
    (?:Broker (?P<node>\d+) completed|\[Broker id=(?P<own_node>\d+)\] Completed) LeaderAndIsr request correlationId \d+ from controller \d+ epoch \d+ for the become-follower transition for partition <TP>(?: with leader (?P<leader>-?\d+))?
LeaderAndIsrReceived STATE_CHANGE until 0.10 | eceived LeaderAndIsr request
    eceived LeaderAndIsr request \(LeaderAndIsrInfo:\(Leader:(?P<leader>-?\d+),ISR:(?P<isr><IDS>),LeaderEpoch:(?P<epoch>\d+),ControllerEpoch:(?P<controller_epoch>\d+)\).{0,4000} for partition <TP>
    & Broker (?P<node>\d+)
LeaderAndIsrReceived STATE_CHANGE since 0.10 until 2.5 | eceived LeaderAndIsr request
    eceived LeaderAndIsr request (?:PartitionState|PartitionStateInfo|LeaderAndIsrPartitionState)\((?:topicName='(?P<indexed_tp>[\w.-]{1,249}', partitionIndex=\d+), )?controllerEpoch=(?P<controller_epoch>\d+), leader=(?P<leader>-?\d+), leaderEpoch=(?P<epoch>\d+), isr=\[?(?P<isr><IDS>)\]?, zkVersion=(?P<version>\d+)(?:.{0,8000} for partition <TP>)?
    & Broker (?:id=)?(?P<node>\d+)
Recovered STATE_CHANGE since 3.2 | was marked as RECOVERING
    The topic partition <TP> was marked as RECOVERING\. Marking
# The controller of a cluster with ZooKeeper.
PartitionChanged STATE_CHANGE since 1.1 until 3.9 | with state LeaderAndIsr(
    Changed partition <TP> from (?P<state_before>\w{1,40}) to (?P<state>\w{1,40}) with state LeaderAndIsr\(leader=(?P<leader>-?\d+), leaderEpoch=(?P<epoch>\d+), (?:isr=List\((?P<isr><IDS>)\)|isrWithBrokerEpoch=List\((?P<isr_states>[^\]]{0,4000}?)\)), (?:leaderRecoveryState=(?P<recovery>\w{1,20}), )?(?:zkVersion|partitionEpoch)=(?P<version>\d+)
PartitionChanged STATE_CHANGE until 3.9 | hanged partition
    hanged partition <TP> (?:state )?from (?P<state_before>\w{1,40}) to (?P<state>\w{1,40})(?: with leader (?P<leader>-?\d+))?
    & Controller \d+ epoch (?P<controller_epoch>\d+)
PartitionChanged STATE_CHANGE until 1.0 | for Offline partition
    (?:Controller \d+ epoch (?P<controller_epoch>\d+) elected|Elected) leader (?P<leader>-?\d+) for Offline partition <TP>
LeftIsr STATE_CHANGE since 2.6 until 3.9 | after removing replica
    Partition <TP> state changed to \(Leader:(?P<leader>-?\d+),ISR:(?P<isr><IDS>),(?:LeaderRecoveryState:\w{1,20},)?LeaderEpoch:(?P<epoch>\d+),(?:ZkVersion:(?P<version>\d+),)?ControllerEpoch:\d+\) after removing replica (?P<replica>\d+)\x20
PartitionChanged CONTROLLER until 1.0 | New leader and ISR for partition
    New leader and ISR for partition <TP> is \{"leader":(?P<leader>-?\d+),"leader_epoch":(?P<epoch>\d+),"isr":\[(?P<isr>[\d,]{0,4000})\]\}
UncleanLeaderElected LEADER_SELECTION until 1.0 | potential data loss
    No broker in ISR is alive for <TP>\. Elect leader (?P<leader>\d+) from live brokers
TopicDeleted TOPIC_DELETION until 3.9 | uccessfully completed
    Deletion of topic (?P<topic>[\w.-]{1,249}) successfully completed
ElectionFailed STATE_CHANGE since 1.1 until 3.9 | failed to change state for partition
    failed to change state for partition <TP> from (?P<state>\w{1,40})
ElectionFailed STATE_CHANGE until 1.0 | encountered error while electing leader for partition
    encountered error while electing leader for partition <TP> due to
ControllerElected CONTROLLER until 1.0 | is ready to serve as the new controller
    Broker (?P<node>\d+) is ready to serve as the new controller with epoch (?P<epoch>\d+)
ControllerElected CONTROLLER since 1.0 until 3.9 | Ready to serve as the new controller
    Controller id=(?P<node>\d+)\] Ready to serve as the new controller with epoch (?P<epoch>\d+)
ControllerResigned CONTROLLER until 3.9 | esigned
    (?:\[Controller id=(?P<node>\d+)\] Resigned|Broker (?P<old_node>\d+) resigned as the controller)
BrokersChanged BROKER_CHANGES until 3.9 | Newly added brokers
    Newly added brokers: (?P<added><IDS>), deleted brokers: (?P<deleted><IDS>), (?:bounced brokers: (?P<bounced><IDS>), )?all live brokers: (?P<live><IDS>)
BrokersChanged CONTROLLER until 3.9 at_start=yes | Currently active brokers in the cluster
    Currently active brokers in the cluster: \w{0,10}Set\((?P<live><IDS>)\)
BrokerFailed CONTROLLER until 3.9 | Broker failure callback for
    Broker failure callback for (?P<brokers><IDS>)
ControlledShutdown CONTROLLER until 3.9 stage=the controller moves its leaderships | hutting down broker
    Shutting down broker (?P<node>\d+) \(kafka
# Registration, sessions and heartbeats.
BrokerRegistered ZOOKEEPER_WRITES until 3.9 | Registered broker
    Registered broker (?P<broker>\d+) at path /(?:.{0,2000}czxid \(broker epoch\): (?P<broker_epoch>\d+))?
BrokerRegistered LIFECYCLE since 2.8 | Successfully registered broker
    Successfully registered broker (?P<broker>\d+) with broker epoch (?P<broker_epoch>\d+)
SessionTimedOut ZOOKEEPER_CLIENT until 3.9 | have not heard from server in
    Client session timed out, have not heard from server in (?P<silent_ms>\d+)ms for session ?id <SESSION>
SessionExpired ZOOKEEPER_CLIENT until 3.9 | has expired
    Unable to reconnect to ZooKeeper service, session <SESSION> has expired
SessionExpired ZOOKEEPER_SERVER until 3.9 | Expiring session
    Expiring session <SESSION>, timeout of (?P<timeout_ms>\d+)ms exceeded
SessionExpired KAFKA_ZOOKEEPER_CLIENT since 1.1 until 3.9 | Session expired.
    Session expired\.
ZooKeeperState ZK_CLIENT until 1.0 | zookeeper state changed
    zookeeper state changed \((?P<state>\w{1,30})\)
BrokerFenced REPLICATION_CONTROL since 2.8 | because its session has timed out
    Fencing broker (?P<broker>\d+) (?:at epoch (?P<broker_epoch>\d+) )?because its session has timed out
BrokerUnfenced HEARTBEATS since 2.8 | to unfence has been granted
    The request from broker (?P<broker>\d+) to unfence has been granted
BrokerUnfenced LIFECYCLE since 2.8 | The broker has been unfenced
    The broker has been unfenced
HeartbeatFailed LIFECYCLE since 2.8 | Unable to send a heartbeat because
    Unable to send a heartbeat because (?P<reason>.{1,200}?)\.(?: \(|$|\r)
HeartbeatFailed LIFECYCLE since 3.0 | sent a heartbeat request but received error
    sent a heartbeat request but received error (?P<reason>\w{1,60})
# Processes.
ProcessState SERVER until 3.9 | starting (
    Server (?:id=)?(?P<node>\d+)\],? (?P<state>starting) \(
ProcessState SERVER since 1.0 until 3.9 | starting
     INFO (?P<state>starting) \(kafka\.server\.KafkaServer\)
ProcessState SERVER | started
    (?:Server (?:id=)?(?P<node>\d+)\],? |nodeId=(?P<own_node>\d+)\] Kafka Server )(?P<state>started)
ProcessState SERVER | shutting down
    Server (?:id=)?(?P<node>\d+)\],? (?P<state>shutting down)
ProcessState SERVER | shut down completed
    Server (?:id=)?(?P<node>\d+)\],? (?P<state>shut down completed)
ProcessState SERVER since 2.8 | Transition from
    Server id=(?P<node>\d+)\] Transition from \w{1,30} to (?P<state>STARTING|STARTED|SHUTTING_DOWN|SHUTDOWN)
KafkaVersion APP_INFO since 0.9 | Kafka version
    Kafka version ?: (?P<version>\d{1,3}(?:\.\d{1,3}){1,3})
# The line before the settings, or the one after them: where the logger is.
Configured CONFIGURATION | KafkaConfig values:
    KafkaConfig values:
Configured CONFIGURATION | (kafka.server.KafkaConfig)
    ^ \(
Configured CONFIGURATION since 4.0 | (org.apache.kafka.common.config.AbstractConfig)
    ^ \(
Terminating SIGNALS since 1.1 | Terminating process due to signal
    Terminating process due to (?P<reason>signal \w{1,20})
Terminating PROCESS | xiting Kafka
    (?P<reason>[^\[\]]{0,120}Exiting Kafka[^(]{0,60}?)\.? ?(?:\(|$|\r)
Terminating LOG_DIRS since 1.0 | have failed
    (?P<reason>(?:Shutdown|Stopping|Halting)[^(]{0,300}have failed)
ControlledShutdown SERVER until 3.9 stage=begins | Starting controlled shutdown
    Server (?:id=)?(?P<node>\d+)\],? Starting controlled shutdown
ControlledShutdown SERVER until 3.9 | Controlled shutdown\x20
    Server (?:id=)?(?P<node>\d+)\],? Controlled shutdown (?P<stage>succeeded|request returned successfully)
ControlledShutdown SERVER since 2.4 until 3.9 stage=not done | remaining to move
    Server (?:id=)?(?P<node>\d+)\],? Controlled shutdown request returned after \d+ms with (?P<remaining>\d+) partitions remaining to move
ControlledShutdown SERVER until 2.4 | Remaining partitions to move
    Server (?:id=)?(?P<node>\d+)\],? Remaining partitions to move: (?P<stage>[^(]{0,200})
ControlledShutdown SERVER until 3.9 stage=failed, the broker stops uncleanly | all the controlled shutdown attempts failed
    Server (?:id=)?(?P<node>\d+)\],? Proceeding to do an unclean shutdown as all the
ControlledShutdown LIFECYCLE since 2.8 stage=begins | Beginning controlled shutdown
    BrokerLifecycleManager id=(?P<node>\d+)[^\]]{0,40}\] Beginning controlled shutdown
ControlledShutdown HEARTBEATS since 2.8 | requested and been granted
    broker (?P<node>\d+) has requested and been granted (?P<stage>an? \w{1,20} shutdown)
# Logs on disk.
LogDirFailed LOG_DIRS since 1.0 | serving
    (?:Stopping serving (?:replicas|logs) in (?:log )?(?:dir(?:ectory)?)|Broker \d+ stopped fetcher for partitions .{0,2000}?they are in the failed log dir(?:ectory)?) (?P<path>[^\s(]{1,1000}?)\.? ?(?:\(|$|\r| because)
UncleanShutdownFound LOG_MANAGER since 2.7 | since no clean shutdown file was found
    Recovering (?P<logs>\d+) logs from (?P<path>\S{1,1000}) since no clean shutdown file
UncleanShutdownFound LOG_MANAGER since 2.6 until 2.6 | since no clean shutdown file was found
    Attempting recovery for all logs in (?P<path>\S{1,1000}) since no clean shutdown file
IndexCorrupt LOG_LOADER | index file
    (?:Found a corrupted index file|Could not find (?:offset|time) index file|Found (?:a )?corrupted (?:time |offset )?index file)[^/]{0,80}(?P<path>/\S{1,1000}?)[,:.]?(?: |$)
SegmentRecovered LOG_LOADER | ecovering unflushed segment
    (?:\[\w{1,20} partition=(?P<tp>[\w.-]{1,260}), dir=[^\]]{1,1000}\] )?Recovering unflushed segment (?P<offset>\d+)(?: (?:in log|of partition) (?P<old_tp>[\w.-]{1,259}\d))?
Truncated LOG since 1.1 | Truncating to offset
    (?:\[\w{1,20} partition=(?P<tp>[\w.-]{1,260}), dir=[^\]]{1,1000}\] )?Truncating to offset (?P<offset>\d+)
Truncated LOG until 1.0 | Truncating log
    Truncating log (?P<tp>[\w.-]{1,260}) to offset (?P<offset>\d+)
Truncated FETCHER since 2.4 | due to local high watermark
    Truncating partition <TP> (?:to (?P<old_offset>\d+)|with TruncationState\(offset=(?P<offset>\d+)).{0,80}due to local high watermark (?P<high_watermark>\d+)
Truncated FETCHER since 2.3 until 2.6 | to local high watermark
    Truncating partition <TP> to local high watermark (?P<offset>\d+)
CommittedTruncated FETCHER since 2.0 until 4.1 | below high watermark
    Truncating <TP> to offset (?P<offset>\d+) below high watermark (?P<high_watermark>\d+)
CommittedTruncated LOG since 4.2 | below high watermark
    Truncating <TP> to offset (?P<offset>\d+) below high watermark (?P<high_watermark>\d+)
HighWatermarkWentBack LOG since 2.4 | Non-monotonic update of high watermark
    \[\w{1,20} partition=(?P<tp>[\w.-]{1,260}), dir=[^\]]{1,1000}\] Non-monotonic update of high watermark from \(offset=(?P<before>\d+)\D.{0,100}? to \(offset=(?P<after>\d+)
LogDeleted LOG_MANAGER | is scheduled for deletion
    Log for partition (?P<tp>[\w.-]{1,260}) is renamed to
# Followers fetch.
FetchFailed FETCHER since 1.1 | Error in response for fetch request
    \[ReplicaFetcher replicaId=(?P<node>\d+), leaderId=(?P<leader>\d+), fetcherId=\d+\] Error in response for fetch request
FetchFailed FETCHER until 1.0 | Error in fetch
    \[ReplicaFetcherThread-\d+-(?P<leader>\d+)\][,:] Error in fetch
FetchFailed FETCHER since 1.0 until 1.0 | Error in fetch
    \[ReplicaFetcher replicaId=(?P<node>\d+), leaderId=(?P<leader>\d+), fetcherId=\d+\] Error in fetch
OffsetOutOfRange FETCHER | out of range
    Current offset (?P<offset>\d+) for partition <TP> (?:is )?out of range(?:; reset offset to (?P<new_offset>\d+)|, which typically implies a leader change\. Reset fetch offset to (?P<newer_offset>\d+))?
OffsetOutOfRange FETCHER until 1.0 | reset its fetch offset
    Replica \d+ for partition <TP> reset its fetch offset from (?P<offset>\d+) to current leader \d+'s (?:latest|start) offset (?P<new_offset>\d+)
OffsetOutOfRange FETCHER since 1.0 | Reset fetch offset for partition
    Reset fetch offset for partition <TP> from (?P<offset>\d+) to current leader's (?:latest|start) offset (?P<new_offset>\d+)
EpochRefused FETCHER since 2.1 | epoch (
    Partition <TP> has an? (?P<age>older|newer) epoch \((?P<epoch>-?\d+)\) than the current leader
PartitionFailed FETCHER since 2.3 | marked as failed
    Partition <TP> marked as failed
NodeUnreachable NETWORK_CLIENT since 0.9 | could not be established
    Connection to node (?P<peer>-?\d+) (?:\(/?(?P<address>[^)]{1,260})\) )?could not be established
NodeUnreachable CONTROLLER_CHANNEL until 3.9 | connection to broker
    connection to broker .{0,260}?(?:\(id: |id:)(?P<peer>\d+).{0,260} was unsuccessful
# Requests.
SlowRequest REQUEST_LOG since 2.7 | "totalTimeMs":
    "totalTimeMs":(?P<total_ms>\d{4,12}(?:\.\d{1,9})?)
    & "clientId":"(?P<client>[^"]{0,255})".{0,60}?"requestApiKeyName":"(?P<api>\w{1,60})"
SlowRequest REQUESTS until 2.6 | totalTime:
    [;,]totalTime:(?P<total_ms>\d{4,12}(?:\.\d{1,9})?)
    & ompleted request: ?(?:RequestHeader\(apiKey=|Name: ?)(?P<api>\w{1,60})
# KRaft's controllers.
UncleanLeaderElected PARTITION_CHANGE_BUILDER since 3.5 | using an unclean election
    Setting new leader for topicId (?P<topic_id>[\w-]{22}), partition (?P<partition>\d+) to (?P<leader>\d+) using an unclean election
PartitionRecordChanged REPLICATION_CONTROL since 3.0 unclean=yes | UNCLEAN partition change for
    UNCLEAN partition change for <TP> with topic ID [\w-]{22}: (?P<changes>.{1,1000}?)(?: \(|$|\r)
PartitionRecordChanged REPLICATION_CONTROL since 3.0 | artition change for
    [^N] (?:P|p)artition change for <TP> with topic ID [\w-]{22}: (?P<changes>.{1,1000}?)(?: \(|$|\r)
ControllerElected QUORUM_CONTROLLER since 3.0 | Becoming the active controller at epoch
    (?:\[QuorumController id=|\[Controller )(?P<node>\d+)\] Becoming the active controller at epoch (?P<epoch>\d+)
ControllerElected QUORUM_CONTROLLER since 2.8 until 3.4 | Becoming active at controller epoch
    \[Controller (?P<node>\d+)\] Becoming active at controller epoch (?P<epoch>\d+)
ControllerResigned QUORUM_CONTROLLER since 2.8 | enouncing
    (?:\[QuorumController id=|\[Controller )(?P<node>\d+)\] Renouncing the (?:leadership|active)[^(]{0,80}?(?:epoch (?P<epoch>\d+))?
QuorumRole QUORUM_STATE since 2.8 | Completed transition to
    Completed transition to (?P<role>Follower|Candidate|Prospective|Unattached|Resigned|Voted|Leader)(?:State)?\((?:.{0,2000}?[( ])?epoch=(?P<epoch>\d+)(?:, leader(?:Id)?=(?P<leader>\d+))?
QuorumHighWatermark LEADER_STATE since 3.4 | High watermark set to
    High watermark set to LogOffsetMetadata\(offset=(?P<offset>\d+).{0,200}? for the first time for epoch (?P<epoch>\d+)
QuorumFetchTimedOut KAFKA_RAFT_CLIENT since 2.8 | due to fetch timeout
    (?:Become candidate|Transitioning to \w{1,20} state) due to fetch timeout
SnapshotWritten SNAPSHOT_EMITTER since 3.3 | Successfully wrote
    Successfully wrote (?:snapshot )?(?P<offset>\d{20})-\d{10}
"""
"""A line for each pattern: fact, logger, releases, a constant field of the fact, and the text.

Below it are the expression and, after ``&``, the one of the prefix.
"""
_HEADER: Final = re.compile(
    r"(?P<fact>\w+) (?P<logger>\w+)(?: since (?P<since>\S+))?(?: until (?P<until>\S+))?"
    r"(?: (?P<name>\w+)=(?P<value>[^|]+))? \| (?P<text>.+)"
)
_INDENT: Final = "    "


def _patterns() -> Iterator[Pattern]:
    names = [line.split() for line in _LOGGERS.replace(f"\n{_INDENT}", " ").splitlines()]
    loggers = {name: tuple(classes) for name, *classes in names}
    rows = [line for line in _TABLE.splitlines() if line and not line.startswith("#")]
    for row in "\n".join(rows).replace(f"\n{_INDENT}", "\0").splitlines():
        header, expression, *prefixes = row.split("\0")
        match = _HEADER.fullmatch(header)
        assert match is not None, header
        name, value = match["name"], match["value"]
        yield Pattern(
            getattr(facts, match["fact"]),
            loggers[match["logger"]],
            match["text"].replace(r"\x20", " ").encode(),
            _expression(expression),
            match["since"] or FIRST_RELEASE,
            match["until"] or LAST_RELEASE,
            ((name, value == "yes" or value),) if name else (),
            _expression(prefixes[0].removeprefix("& ")) if prefixes else None,
        )


def _expression(text: str) -> re.Pattern[bytes]:
    for name, part in _PARTS.items():
        text = text.replace(name, part)
    return re.compile(text.encode())


PATTERNS: Final = tuple(_patterns())
"""Every line that is recognized.

Rows with the same text are tried together, where the first of them stands; the first that fits a
line counts.
"""
