"""Administration in ZooKeeper mode: topics, configuration, elections, znodes.

It writes to ZooKeeper in the same way as Kafka's tools.
"""

from collections.abc import Mapping
from typing import Final

from emulator import events
from emulator.clients.assignors import COOPERATIVE
from emulator.clients.group_state import CONSUMER, SHARE
from emulator.clients.idempotence import idempotence_conflict
from emulator.clients.record_sizes import batch_excess
from emulator.clients.state import TransactionState
from emulator.cluster import Cluster
from emulator.common.names import is_topic_name
from emulator.events import CLIENTS, ZOOKEEPER
from emulator.inputs import statements as inputs
from emulator.protocol import AlterPartitionReassignmentsRequest, ElectLeadersRequest
from emulator.releases.config import ConfigError, check_topic_config, resolve, with_effect
from emulator.replication import assignment
from emulator.scenario.outcome import Outcome
from emulator.scenario.refusals import (
    RefusedError,
    needs,
    needs_broker,
    needs_partition,
    needs_topic,
)
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors, zkcli
from emulator.zookeeper.admin_client import AdminZkClient, colliding

ZKCLI_TIMEOUT_MS = 30_000
"""The session timeout requested by zkCli (``ZooKeeperMain``); the server grants 20 s of it."""
INVALID_STATE = "INVALID_TXN_STATE"
EARLY_ACCESS_HINT: Final = (
    ", but for the early access of 4.0, for which a cluster has unstable.api.versions.enable=true"
    " and group.share.enable=true"
)
"""What a refusal of share groups adds: they exist earlier in clusters that allow it."""


class Admin:
    """Administrative operations on a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.environment = cluster.environment
        self.zookeeper = cluster.zookeeper
        self.client = AdminZkClient(
            cluster.profile,
            lambda: cluster.settings.racks,
            cluster.kernel.random_below,
            self._write,
        )

    # ---- topics

    def create_topic(self, statement: inputs.CreateTopic) -> None:
        """Write the topic's configuration, then the topic; the controller elects the leaders."""
        topic = statement.topic
        self._check_new_name(topic)
        config = self._topic_config(statement.config)
        lists = statement.assignment or self._assign(statement)
        self._check_lists(lists)
        self.client.create(topic, lists, config)
        by_kafka = self.cluster.settings.assigned_by_kafka
        by_kafka.pop(topic, None)
        if statement.policy == "kafka" and not statement.assignment:
            by_kafka[topic] = None

    def _check_new_name(self, topic: str) -> None:
        if not is_topic_name(topic):
            raise RefusedError(
                "INVALID_TOPIC_EXCEPTION",
                f"{topic!r} is not a valid name: up to 249 letters, digits, '.', '_' and '-'.",
            )
        if self.cluster.has_topic(topic):
            raise RefusedError("TOPIC_ALREADY_EXISTS", f"Topic {topic} already exists.")
        if not {".", "_"} & set(topic):  # a name without either cannot collide
            return
        other = colliding(topic, self.cluster.topics())
        if other is not None:
            raise RefusedError(
                "INVALID_TOPIC_EXCEPTION", f"Topic {topic} collides with {other} ('.' and '_')."
            )

    def _topic_config(self, config: dict[str, str]) -> dict[str, str]:
        try:
            return check_topic_config(config, self.cluster.profile.version)
        except ConfigError as error:
            raise RefusedError("INVALID_CONFIG", str(error)) from None

    def live(self) -> list[int]:
        """The registered brokers as a tool reads them; an invalid broker id makes it fail."""
        names = self.zookeeper.names(znodes.BROKER_IDS)
        live = {name: znodes.number_in(name) for name in names}
        for name, number in live.items():
            if number is None:
                raise RefusedError(
                    "UNKNOWN_SERVER_ERROR", f"{znodes.BROKER_IDS}/{name} is not a broker id."
                )
        return sorted(number for number in live.values() if number is not None)

    def _assign(self, statement: inputs.CreateTopic) -> list[list[int]]:
        live = self.live()
        partitions, factor = statement.partitions, statement.replication_factor
        try:
            if statement.policy == "seed":
                return assignment.assign_seed(live, partitions, factor)
            return self.client.assign(live, partitions, factor)
        except assignment.AssignmentError as error:
            raise RefusedError(error.error_name, str(error)) from None

    def _check_lists(self, lists: list[list[int]]) -> None:
        brokers = frozenset(self.cluster.brokers)
        for number, replicas in enumerate(lists):
            distinct = frozenset(replicas)
            if not distinct or len(distinct) != len(replicas):
                raise RefusedError(
                    "INVALID_REPLICA_ASSIGNMENT",
                    f"Partition {number} needs replicas on different brokers, not {replicas}.",
                )
            if not distinct <= brokers:
                unknown = next(broker for broker in replicas if broker not in brokers)
                ids = ", ".join(map(str, self.cluster.brokers))
                raise RefusedError(
                    "INVALID_REPLICA_ASSIGNMENT",
                    f"There is no broker {unknown}; there are {ids}.",
                )

    def add_partitions(self, statement: inputs.AddPartitions) -> None:
        """Add partitions to the topic's znode."""
        needs_topic(self.cluster, statement.topic)
        if statement.assignment:
            raise RefusedError(
                "INVALID_REQUEST", "Replicas of new partitions can be specified only in KRaft mode."
            )
        path = znodes.topic_path(statement.topic)
        current = znodes.topic_in(self.zookeeper.get(path).data)
        if current is None or 0 not in current.replicas:
            raise RefusedError("UNKNOWN_SERVER_ERROR", f"{path} has no replicas of partition 0.")
        have = len(current.replicas)
        if statement.partitions <= have:
            raise RefusedError(
                "INVALID_PARTITIONS",
                f"Topic {statement.topic} has {have} partitions; the number can only grow.",
            )
        policy = "kafka" if statement.topic in self.cluster.settings.assigned_by_kafka else "seed"
        new = self.assign_added(policy, current.replicas[0], statement.partitions - have, have)
        self.client.add_partitions(statement.topic, current, new)

    def assign_added(
        self, policy: str, first: list[int], partitions: int, have: int
    ) -> list[list[int]]:
        """The replicas of added partitions; ``first`` are the replicas of partition 0.

        The policy is that of the topic's creation: Kafka's starts again where the topic started
        (``AdminUtils.addPartitions``), "seed" continues counting.
        """
        live, factor = self.live(), len(first)
        try:
            if policy == "seed":
                return assignment.assign_seed(live, partitions, factor, have)
            return self.client.assign_added(live, partitions, first, have)
        except assignment.AssignmentError as error:
            raise RefusedError(error.error_name, str(error)) from None

    def configure_topic(self, statement: inputs.ConfigureTopic) -> None:
        """Write a topic's configuration, and a change notification."""
        needs_topic(self.cluster, statement.topic)
        config = self._topic_config(_written(statement.config))
        path = znodes.topic_config_path(statement.topic)
        self._merge_config(path, config)
        self._notify_change("topics", statement.topic)

    def _merge_config(self, path: str, config: dict[str, str]) -> None:
        """Set values in a configuration znode; an empty value is removed."""
        there = self.zookeeper.find(path)
        before = znodes.config_in(there.data) if there is not None else None
        merged = {k: v for k, v in {**(before or {}), **config}.items() if v}
        self._write(path, znodes.config_json(merged))

    def _notify_change(self, kind: str, name: str) -> None:
        change = znodes.config_change_json(self.cluster.profile, kind, name)
        self.zookeeper.create(self.environment, 0, znodes.CONFIG_CHANGE, change, sequential=True)

    def configure_broker(self, statement: inputs.ConfigureBroker) -> None:
        """Set configuration values of one broker or of all, which take effect at once.

        From 1.1 on they are stored in a znode (KIP-226). All settings are accepted, although in
        Kafka some only take effect after a restart.
        """
        is_stored = self.cluster.profile.has("dynamic_broker_config")
        if statement.broker is not None:
            needs_broker(self.cluster, statement.broker)
        elif not is_stored:
            since = self.cluster.profile.first_with("dynamic_broker_config")
            raise RefusedError(
                "INVALID_REQUEST", f"Values for all brokers can be set since {since} (KIP-226)."
            )
        settings, config = self.cluster.settings, _written(statement.config)
        before = {} if statement.broker is None else settings.brokers.get(statement.broker, {})
        merged = {k: v for k, v in {**before, **config}.items() if v}
        try:
            resolve(
                settings.version,
                settings.defaults | with_effect(before, settings.version) | config,
            )
        except ConfigError as error:
            raise RefusedError("INVALID_CONFIG", str(error)) from None
        if statement.broker is None or is_stored:
            name = znodes.ALL_BROKERS if statement.broker is None else str(statement.broker)
            self._merge_config(znodes.broker_config_path(statement.broker), config)
            self._notify_change("brokers", name)
            return
        settings.brokers[statement.broker] = merged
        self.cluster.configuration.changed()
        for key, value in config.items():
            self.cluster.kernel.emit(
                events.ConfigChanged, "broker", str(statement.broker), key, value
            )

    def delete_topic(self, statement: inputs.DeleteTopic) -> Outcome:
        """Write /admin/delete_topics/T; the controller deletes the topic.

        If its configuration disables that, the outcome says so, as kafka-topics warns.
        """
        needs_topic(self.cluster, statement.topic)
        try:
            self.zookeeper.create(
                self.environment, 0, znodes.delete_topic_path(statement.topic), None
            )
        except errors.NodeExistsError:
            raise RefusedError(
                "NodeExistsError", f"Topic {statement.topic} is already being deleted."
            ) from None
        controller = self.cluster.controller_id()
        if controller is None or self._deletes_topics(controller):
            return Outcome()
        return Outcome(
            "TOPIC_DELETION_DISABLED",
            f"delete.topic.enable is false on controller {controller}, which keeps the topic.",
        )

    def _deletes_topics(self, controller: int) -> bool:
        settings = self.cluster.settings
        return resolve(settings.version, settings.of_broker(controller)).delete_topic_enable

    def _write(self, path: str, data: str) -> None:
        """Set a znode's data, creating it if it does not exist."""
        if self.zookeeper.find(path) is None:
            self.zookeeper.create(self.environment, 0, path, data)
        else:
            self.zookeeper.set_data(self.environment, path, data)

    # ---- elections

    def elect_preferred(self, statement: inputs.ElectPreferred) -> None:
        """Write /admin/preferred_replica_election."""
        chosen = statement.partitions or self._all_partitions()
        for tp in chosen:
            needs_partition(self.cluster, tp)
        try:
            data = znodes.partitions_json(chosen)
            self.zookeeper.create(self.environment, 0, znodes.PREFERRED_ELECTION, data)
        except errors.NodeExistsError:
            raise RefusedError(
                "NodeExistsError", "A preferred replica election is already in progress."
            ) from None

    def _all_partitions(self) -> list[str]:
        """The partitions of all topics according to the topics' znodes."""
        partitions: list[str] = []
        for topic in self.cluster.topics():
            before = znodes.topic_in(self.zookeeper.get(znodes.topic_path(topic)).data)
            partitions += [f"{topic}-{number}" for number in (before.replicas if before else ())]
        return partitions

    def elect_unclean(self, statement: inputs.ElectUnclean) -> int:
        """Ask the controller for an unclean leader election (ElectLeaders, 2.4+; KIP-460).

        Returns the job.
        """
        needs_partition(self.cluster, statement.tp)
        hint = "; set unclean.leader.election.enable=true"
        needs(self.cluster.profile, "elect_leaders", "Unclean elections on demand exist", hint)
        request = ElectLeadersRequest([statement.tp])
        return self.cluster.clients.admin.call(request, statement.tp)

    def reassign(self, statement: inputs.Reassign) -> None:
        """Write /admin/reassign_partitions; the controller moves the replicas."""
        needs_partition(self.cluster, statement.tp)
        self._check_lists([statement.replicas])
        try:
            data = znodes.moves_json([(statement.tp, statement.replicas)])
            self.zookeeper.create(self.environment, 0, znodes.REASSIGN_PARTITIONS, data)
        except errors.NodeExistsError:
            raise RefusedError(
                "NodeExistsError", "A reassignment is already in progress; wait until it has ended."
            ) from None

    def cancel_reassignment(self, statement: inputs.CancelReassignment) -> int:
        """Ask the controller to cancel a reassignment (AlterPartitionReassignments, 2.4+).

        Returns the job.
        """
        needs_partition(self.cluster, statement.tp)
        needs(self.cluster.profile, "cancel_reassignment", "Reassignments can be cancelled")
        request = AlterPartitionReassignmentsRequest({statement.tp: None})
        return self.cluster.clients.admin.call(request, statement.tp)

    # ---- clients

    def check_produce(self, statement: inputs.Produce) -> None:
        """Reject an invalid `produce` statement."""
        transaction = self._transaction(statement.producer)
        if transaction is not None and transaction.is_open and not statement.transactional:
            raise RefusedError(
                INVALID_STATE,
                f"Producer {statement.producer} is in a transaction: use 'transaction produce', or"
                " another --producer.",
            )
        if not statement.count and self.cluster.profile.has("produce_needs_batch"):
            raise RefusedError(
                "INVALID_RECORD",
                "From 0.11 on a request without records is refused: give --count 1 or more.",
            )
        too_large = batch_excess(statement)
        if too_large is not None:
            raise RefusedError("INVALID_CONFIG", too_large)
        if statement.idempotent:
            needs(self.cluster.profile, "idempotence", "Idempotent producers exist")
            conflict = idempotence_conflict(self.cluster.profile, statement)
            if conflict is not None:
                raise RefusedError("INVALID_CONFIG", conflict)

    def _transaction(self, name: str) -> TransactionState | None:
        producer = self.cluster.clients.state.producers.get(name)
        return None if producer is None else producer.transaction

    def check_begin(self, statement: inputs.BeginTransaction) -> None:
        """Reject a `transaction begin` by a producer that is in a transaction."""
        needs(self.cluster.profile, "idempotence", "Transactions exist")
        transaction = self._transaction(statement.producer)
        if transaction is not None and transaction.is_open:
            raise RefusedError(
                INVALID_STATE,
                f"Producer {statement.producer} is in a transaction: commit or abort it first.",
            )

    def check_in_transaction(self, name: str) -> None:
        """Reject a statement of a producer that is in no transaction, or is ending it."""
        needs(self.cluster.profile, "idempotence", "Transactions exist")
        transaction = self._transaction(name)
        if transaction is None or not transaction.is_open or transaction.ending:
            raise RefusedError(
                INVALID_STATE,
                f"Producer {name} is in no transaction: begin one ('transaction begin"
                f" --producer {name}').",
            )

    def check_consume(self, statement: inputs.Consume) -> None:
        """Reject an invalid `consume` statement."""
        profile = self.cluster.profile
        if statement.rack:
            needs(profile, "fetch_from_followers", "Consumers name racks")
        if statement.isolation == "read_committed":
            needs(profile, "idempotence", "Transactions exist")
        if statement.from_timestamp_us is not None:
            needs(profile, "offsets_for_times", "Consumers find offsets by timestamp")
        if statement.group is not None:
            needs(profile, "consumer_groups", "Consumer groups exist")
            if statement.protocol == CONSUMER:
                needs(profile, "consumer_group_protocol", "The protocol `consumer` exists")
            if statement.protocol == SHARE:
                needs(profile, "share_groups", "Share groups exist", EARLY_ACCESS_HINT)
            if statement.assignor == COOPERATIVE:
                needs(profile, "cooperative_rebalance", "The cooperative-sticky assignor exists")

    # ---- ZooKeeper

    def expire_session(self, statement: inputs.ExpireSession) -> None:
        """Expire a broker's session, or the zkCli session (``CLIENTS``), at once."""
        session = self.zookeeper.session_of(statement.broker)
        if session is None:
            names = {CLIENTS: "The clients' host", ZOOKEEPER: "ZooKeeper itself"}
            host = names.get(statement.broker, f"Broker {statement.broker}")
            raise RefusedError("SessionExpiredError", f"{host} has no ZooKeeper session.")
        self.zookeeper.expire_session(self.environment.of(ZOOKEEPER), session)

    def _own_session(self) -> int:
        """The zkCli session, on the clients' host.

        It is opened by the first command that needs one, and then lives as long as that host does:
        zkCli's pings are not emulated. After ``zk expire clients`` the next command opens another.
        """
        session = self.zookeeper.session_of(CLIENTS)
        if session is None:
            session = self.zookeeper.open_session(
                self.environment, CLIENTS, ZKCLI_TIMEOUT_MS, is_kept_alive=True
            )
        return session

    def zk_command(self, statement: inputs.ZkCommand) -> Outcome:
        """Execute a zkCli command; ZooKeeper's errors are results."""
        try:
            return self._zk(statement)
        except errors.ZooKeeperError as error:
            return Outcome(error.name, str(error), zkcli.error_text(error), error.name)

    def _zk(self, statement: inputs.ZkCommand) -> Outcome:
        zookeeper, environment, path = self.zookeeper, self.environment, statement.path
        zone = zkcli.Zone(
            statement.zone, statement.utc_offset_s, self.cluster.state.kernel.started_ms
        )
        match statement.command:
            case "ls":
                names = zkcli.list_result(zookeeper, path, recursive=statement.recursive)
                if statement.recursive:
                    return Outcome(output="\n".join(names), result=names)
                printed = zkcli.listed(zookeeper, self.cluster.profile, path)
                return Outcome(output=zkcli.list_text(printed), result=names)
            case "get":
                node = zookeeper.get(path)
                with_stat = statement.with_stat or not self.cluster.profile.has("zkcli_of_3_5")
                text = zkcli.get_text(node, with_stat=with_stat, zone=zone)
                return Outcome(output=text, result=zkcli.node_result(node, zone.started_ms))
            case "stat":
                node = zookeeper.get(path)
                text = zkcli.stat_text(node.stat(), zone)
                return Outcome(output=text, result=zkcli.node_result(node, zone.started_ms))
            case "create":
                created = zookeeper.create(
                    environment,
                    self._own_session() if statement.ephemeral else 0,
                    path,
                    statement.data,
                    ephemeral=statement.ephemeral,
                    sequential=statement.sequential,
                )
                return Outcome(output=f"Created {created}", result=created)
            case "set":
                version = zookeeper.set_data(environment, path, statement.data, statement.version)
                is_silent = self.cluster.profile.has("zkcli_of_3_5")
                text = "" if is_silent else zkcli.stat_text(zookeeper.get(path).stat(), zone)
                return Outcome(output=text, result=version)
            case "delete":
                zookeeper.delete(environment, path, statement.version)
                return Outcome(output="")
            case "watches":
                return self._watches(path)

    def _watches(self, path: str) -> Outcome:
        """The watchers of the next change at a path and below it."""
        watches = self.zookeeper.watches
        below = path.rstrip("/") + "/"
        rows = [
            [watched, kind, host]
            for kind, table in (("data", watches.data), ("children", watches.children))
            for watched, hosts in table.items()
            if watched == path or watched.startswith(below)
            for host in hosts
        ]
        rows.sort(key=str)
        lines = [f"{watched}  {kind}  broker {host}" for watched, kind, host in rows]
        return Outcome(output="\n".join(lines), result=rows)


def _written(config: Mapping[str, str | None]) -> dict[str, str]:
    """Return the values as the tools of ZooKeeper mode write them: an empty one is deleted."""
    return {key: value or "" for key, value in config.items()}
