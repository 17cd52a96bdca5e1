"""A membership can be made of both: a broker that migrates has a session and tells controllers.

Only the seam is tested here: nothing decides yet which of both worlds has the metadata.
"""

from collections.abc import Collection, Iterable

from emulator.broker.broker import Broker, BrokerState
from emulator.broker.core import Core
from emulator.broker.kraft_membership.forwarding import ForwardingManager
from emulator.broker.kraft_membership.membership import KRaftMembership
from emulator.broker.kraft_membership.producer_ids import KRaftProducerIds
from emulator.broker.kraft_membership.state import KRaftMembershipState
from emulator.broker.membership import Handler, Task
from emulator.broker.zookeeper_membership.cluster_metadata import ZooKeeperMetadata
from emulator.broker.zookeeper_membership.membership import (
    ZooKeeperMembership,
    ZooKeeperMembershipState,
)
from emulator.broker.zookeeper_membership.producer_ids import ProducerIds
from emulator.broker_context import BrokerContext, ProcessState, Surroundings
from emulator.cluster import Cluster
from emulator.common.acls import Acl
from emulator.coordinator.own_requests import OwnRequests
from emulator.events import ZOOKEEPER
from emulator.inputs.statements import CreateCluster
from emulator.protocol import ConnectionLost
from emulator.zookeeper.client import ZkClient
from emulator.zookeeper.data import CONTROLLER, controller_json

ME = 0


class BothMemberships:
    """In ZooKeeper, and known to the controllers of a quorum."""

    def __init__(self, zookeeper: ZooKeeperMembership, kraft: KRaftMembership) -> None:
        self.zookeeper = zookeeper
        self.kraft = kraft

    @property
    def acls(self) -> Collection[Acl]:
        return self.zookeeper.acls

    @property
    def handles_administration(self) -> bool:
        return self.kraft.handles_administration

    def parts(self) -> Iterable[object]:
        return (*self.kraft.parts(), *self.zookeeper.parts())

    def requests(self) -> dict[type, Handler]:
        return self.kraft.requests() | self.zookeeper.requests()

    def tasks(self) -> dict[str, Task]:
        return self.kraft.tasks() | self.zookeeper.tasks() | {"boot": self._boot}

    def _boot(self) -> None:
        self.zookeeper.lifecycle.boot()
        self.kraft.lifecycle.boot()

    def start(self) -> None:
        self.zookeeper.start()

    def stop(self) -> None:
        self.zookeeper.stop()

    def thaw(self) -> None:
        self.kraft.thaw()

    def connection_lost(self, message: ConnectionLost) -> None:
        self.zookeeper.connection_lost(message)
        self.kraft.connection_lost(message)

    def replace_disk(self) -> None:
        self.kraft.replace_disk()

    def end_process(self) -> None:
        self.zookeeper.end_process()
        self.kraft.end_process()


def in_both_worlds(cluster: Cluster) -> tuple[Broker, BothMemberships]:
    """Let a cluster with controllers have ZooKeeper too, and one more broker that is in both."""
    assert cluster.kraft is not None
    surroundings = Surroundings(
        cluster.kernel,
        cluster.network,
        cluster.zookeeper,
        cluster.environment,
        cluster.configuration,
        cluster.ledger,
        cluster.server.session_opened,
        list(cluster.kraft.controllers),
        "cluster",
    )
    with_zookeeper, with_controllers = ZooKeeperMembershipState(), KRaftMembershipState()
    state = BrokerState(ProcessState(ME), with_zookeeper)
    own_requests = OwnRequests(state.core.own_requests)
    context = BrokerContext(state.process, surroundings, own_requests.receive)
    zk = ZkClient(
        ME,
        with_zookeeper.zk,
        kernel=cluster.kernel,
        network=cluster.network,
        zookeeper=cluster.zookeeper,
        environment=cluster.environment.of(ME),
        timers=context.timers,
        timeout_us=lambda: context.config.zookeeper_session_timeout_us,
        session_opened=cluster.server.session_opened,
    )
    context.metadata = metadata = ZooKeeperMetadata(context, zk)
    ids = ProducerIds(context, with_zookeeper.producer_ids, zk)
    core = Core(context, state.core, own_requests, ids)
    both = BothMemberships(
        ZooKeeperMembership(core, with_zookeeper, metadata, ids),
        KRaftMembership(
            core,
            with_controllers,
            voters=surroundings.voters,
            cluster_id=surroundings.cluster_id,
            forwarding=ForwardingManager(context, with_controllers),
            producer_ids=KRaftProducerIds(context, with_controllers),
        ),
    )
    return Broker(state, core, both), both


def test_a_broker_in_both_worlds_registers_in_both() -> None:
    cluster = Cluster(CreateCluster(brokers=1, version="3.9", mode="kraft"))
    cluster.brokers[ME].end_process("crashed")
    broker, both = in_both_worlds(cluster)
    cluster.kernel.actors[ME] = broker
    cluster.kernel.start_host(ZOOKEEPER)
    # As in a migration (KIP-866) a controller of the quorum holds /controller.
    zookeeper, around = cluster.zookeeper, cluster.environment
    session = zookeeper.open_session(around, ZOOKEEPER, 0, is_kept_alive=True)
    data = controller_json(cluster.profile, cluster.active_controller() or 0, 0)
    zookeeper.create(around, session, CONTROLLER, data, ephemeral=True)
    broker.start()
    until_us = cluster.now_us + 20_000_000
    while cluster.now_us < until_us:
        cluster.step()
    node = cluster.zookeeper.find(f"/brokers/ids/{ME}")
    assert node is not None
    assert node.ephemeral_owner == both.zookeeper.state.zk.session
    assert cluster.kraft is not None
    registration = cluster.kraft.committed.image.brokers[ME]
    assert registration.incarnation_id == both.kraft.state.lifecycle.incarnation
    assert both.kraft.state.image.offset > 0
    assert broker.takes_requests


def test_its_parts_react_for_either_world() -> None:
    cluster = Cluster(CreateCluster(brokers=1, version="3.9", mode="kraft"))
    broker, both = in_both_worlds(cluster)
    parts = broker.parts()
    assert parts["Lifecycle"] is both.zookeeper.lifecycle
    assert parts["BrokerLifecycle"] is both.kraft.lifecycle
    assert parts["AlterPartitionManager"] is both.zookeeper.alter_partition
