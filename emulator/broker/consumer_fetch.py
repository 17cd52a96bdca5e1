"""How a broker serves consumers: up to the HW, from its leaders or (KIP-392) from its followers.

A leader that is configured so sends a consumer that names its rack to a replica there; that one
answers up to its own HW, which may lag behind the leader's.
"""

from emulator.broker.fetch_session import FetchSessions
from emulator.broker.replica import FOLLOWER, LEADER, Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.protocol import FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.replication.partition import epoch_error

NONE = "NONE"
NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"


class ConsumerReads:
    """Answers the fetches of consumers."""

    def __init__(self, context: BrokerContext, replicas: Replicas, sessions: FetchSessions) -> None:
        """Serve ``replicas`` in ``context``."""
        self.context = context
        self.replicas = replicas
        self.sessions = sessions
        self.from_followers = context.profile.has("fetch_from_followers")
        self.in_sync_only = context.profile.has("preferred_read_replica_in_isr")

    def fetch(self, client: int, request: int, message: FetchRequest) -> None:
        """Answer a consumer at once with what it may see."""
        rows = {
            tp: self._read(self.replicas.get(tp), asked, message.rack)
            for tp, asked in message.partitions.items()
        }
        self.context.respond(client, request, FetchResponse(request, rows))

    def _read(self, replica: Replica | None, asked: FetchPartition, rack: str) -> FetchedPartition:
        error = epoch_error(replica, asked.current_leader_epoch, self.replicas.rules)
        if error == NOT_LEADER and rack and self._may_follow(replica):
            error = NONE
        if error != NONE or replica is None:
            return FetchedPartition(error, -1, -1, [])
        log, high_watermark = replica.log, replica.high_watermark
        preferred = self.preferred(replica, asked.offset, rack)
        if preferred != self.context.id:
            return FetchedPartition(
                NONE, high_watermark, log.start, [], preferred_read_replica=preferred
            )
        if asked.offset < log.start or asked.offset > log.end:
            return FetchedPartition("OFFSET_OUT_OF_RANGE", high_watermark, log.start, [])
        found = log.read(asked.offset, high_watermark)
        return FetchedPartition(NONE, high_watermark, log.start, found)

    def _may_follow(self, replica: Replica | None) -> bool:
        return self.from_followers and replica is not None and replica.role == FOLLOWER

    def preferred(self, replica: Replica, offset: int, rack: str) -> int:
        """The broker that a consumer of that rack should read from: mostly this one.

        Of the live followers in the rack that have the offset, the one that has most; then the one
        that was caught up last; then the highest id. Source: ``ReplicaManager`` and
        ``RackAwareReplicaSelector`` 2.4 to 3.9 (from 3.4 only members of the ISR).
        """
        mine = self.context.id
        racks = self.context.world.settings.racks
        if (
            not (rack and self.from_followers and self.context.config.rack_aware_reads)
            or replica.role != LEADER
            or racks.get(mine) == rack
        ):
            return mine
        found = [
            (remote.leo, self.sessions.caught_up_us(replica, follower), follower)
            for follower, remote in replica.remotes.items()
            if racks.get(follower) == rack
            and follower in self.context.process.live_brokers
            and remote.leo >= offset
            and (follower in replica.isr or not self.in_sync_only)
        ]
        return max(found)[2] if found else mine
