"""A controller that is given what happened to a real one, read off what that one wrote.

Who asked for what, or fell silent, shows in the records that follow. What they are is up to the
rules, and compared record by record.
"""

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from emulator.metadata_log.changes import MetadataDelta, TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import ClearElrRecord
from emulator.metadata_log.shown import LogNames, ShownRecord, show
from emulator.quorum_controller.alter_partition import AlterPartitionItem
from emulator.quorum_controller.cluster_control import BrokerRegistrationRequest
from emulator.quorum_controller.configuration_control import ConfigResource
from emulator.quorum_controller.heartbeats import Heartbeat
from emulator.quorum_controller.partition_change_builder import Election
from emulator.quorum_controller.quorum_controller import QuorumController
from emulator.quorum_controller.result import Result
from emulator.quorum_controller.settings import ControllerSettings
from emulator.quorum_controller.topics import CreatableTopic, CreatePartitionsTopic
from emulator.releases.versions import numbers_of
from tests.golden_kraft.recorded import epoch_number

SESSION_US = 4_000_000
Record = dict[str, Any]
"""A recorded record: its type, version, data and batch."""


class Replay:
    """A controller that does what the recorded one was made to do, one request after another."""

    def __init__(self, recording: dict[str, Any]) -> None:
        settings = ControllerSettings(broker_session_timeout_us=SESSION_US)
        self.features = recording["features"]
        self.clean: dict[int, int] = {}
        self.stopped: set[int] = set()
        self.replaced: set[int] = set()
        self.emptied: Counter[str] = Counter()
        self.names = LogNames()
        self.now_us = 0
        self.controller = QuorumController.activate(
            MetadataImage(), settings, numbers_of(recording["kafka"]), self.random_below, 0
        )
        self.drawn = 0

    def random_below(self, limit: int) -> int:
        self.drawn += 1
        return self.drawn * 2654435761 % limit

    def write(self, result: Result[Any], recorded: list[Record]) -> None:
        """Take what the controller writes, which is to be what was recorded."""
        first = self.controller.image.offset + 1
        delta = MetadataDelta()
        self.controller.appended(result, first, 1, self.now_us, delta)
        clears = any(isinstance(record, ClearElrRecord) for record in result.records)
        for key, change in delta.partitions.items():
            if change.before is None:
                self.emptied[f"{change.topic}-{key.partition}"] = 0
            elif clears:
                self.emptied[f"{change.topic}-{key.partition}"] += 1
        ours = [show(record, self.names) for record in result.records]
        assert in_order(ours) == in_order(shown(recorded)), (ours, recorded)

    def would_write(self, result: Result[Any], recorded: list[Record]) -> bool:
        """Whether that is what was recorded; nothing is written."""
        names = copy.deepcopy(self.names)
        ours = [show(record, names) for record in result.records]
        return in_order(ours) == in_order(shown(recorded))

    # ---- what happened

    def boot(self, recorded: list[Record]) -> None:
        self.write(self.controller.bootstrap(self.features), recorded)

    def register_controller(self, recorded: list[Record]) -> None:
        data = recorded[0]["data"]
        self.write(self.controller.register_controller(data["controllerId"], "i"), recorded)

    def register_broker(self, recorded: list[Record]) -> None:
        data = recorded[-1]["data"]
        broker, epoch = data["brokerId"], epoch_number(data["brokerEpoch"])
        # A broker that was shut down tells the epoch that it had; one that was killed does not.
        previous = self.clean.pop(broker, -1)
        known = self.controller.image.brokers.get(broker)
        directory = 0 if known is None else known.directory
        if broker in self.replaced:
            self.replaced.remove(broker)
            previous, directory = -1, directory + 1
        self.let_session_end(broker)
        request = BrokerRegistrationRequest(broker, data["brokerEpoch"], None, previous, directory)
        self.write(self.controller.register_broker(request, epoch, self.now_us), recorded)

    def change_registration(self, recorded: list[Record]) -> None:
        change = next(each for each in recorded if each["type"] == "BrokerRegistrationChange")
        broker, fenced = change["data"]["brokerId"], change["data"]["fenced"]
        registration = self.controller.image.brokers[broker]
        is_stopping = broker in self.stopped and not registration.fenced
        if fenced == 1 and not is_stopping:
            heard_of = self.controller.state.heartbeats.contact_times.get(broker, {})
            if registration.fenced and registration.epoch not in heard_of:
                # It died after its first heartbeat, before it could be unfenced.
                self.beat(broker, [], want_fence=True)
            self.let_session_end(broker)
            result = self.controller.maybe_fence_one_stale_broker(self.now_us)
            while result.response and not result.records:  # a session of a former incarnation
                result = self.controller.maybe_fence_one_stale_broker(self.now_us)
            self.write(result, recorded)
        elif any("cordonedLogDirs" in each["data"] for each in recorded):
            self.heartbeat(
                broker,
                recorded,
                want_fence=fenced == 0 and registration.fenced,
                cordoned_log_dirs=(),
            )
        else:
            self.heartbeat(broker, recorded, want_shut_down=fenced != -1)
        if is_stopping:
            self.clean[broker] = registration.epoch

    def heartbeat(self, broker: int, recorded: list[Record], **wants: Any) -> None:
        for each in self.controller.image.brokers.values():
            others = each.is_active and each.id != broker
            if others:  # they have read the whole log by now
                self.beat(each.id, [])
        self.beat(broker, recorded, **wants)

    def beat(self, broker: int, recorded: list[Record], **wants: Any) -> None:
        image = self.controller.image
        result = self.controller.process_broker_heartbeat(
            broker, image.brokers[broker].epoch, Heartbeat(image.offset, **wants), self.now_us
        )
        self.write(result, recorded)

    def let_session_end(self, broker: int) -> None:
        """Let time pass, with signs of life of all brokers but one."""
        self.now_us += SESSION_US + 1
        for each in self.controller.image.brokers.values():
            state = self.controller.state.heartbeats.brokers[each.id]
            if each.id != broker:
                self.controller.state.heartbeats.track(each.id, each.epoch, self.now_us)
                state.last_contact_us = self.now_us

    def create_topic(self, recorded: list[Record]) -> None:
        topic = recorded[0]["data"]["name"]
        configs = {
            each["data"]["name"]: each["data"]["value"] for each in of_type(recorded, "Config")
        }
        assignments = {
            each["data"]["partitionId"]: tuple(each["data"]["replicas"])
            for each in of_type(recorded, "Partition")
        }
        wanted = CreatableTopic(topic, assignments=assignments, configs=configs)
        self.write(self.controller.create_topics([wanted]), recorded)

    def create_partitions(self, recorded: list[Record]) -> None:
        topic = recorded[0]["data"]["topicId"]
        count = recorded[-1]["data"]["partitionId"] + 1
        replicas = [tuple(each["data"]["replicas"]) for each in recorded]
        wanted = CreatePartitionsTopic(topic, count, replicas)
        self.write(self.controller.create_partitions([wanted]), recorded)

    def delete_topic(self, recorded: list[Record]) -> None:
        topic = self.topic_called(recorded[0]["data"]["topicId"])
        self.write(self.controller.delete_topics([topic]), recorded)

    def configure(self, recorded: list[Record]) -> None:
        changes: dict[ConfigResource, dict[str, str | None]] = {}
        for each in of_type(recorded, "Config"):
            data = each["data"]
            resource = ConfigResource(data["resourceType"], data["resourceName"])
            changes.setdefault(resource, {})[data["name"]] = data.get("value")
        self.write(self.controller.incremental_alter_configs(changes), recorded)

    def change_partition(self, recorded: list[Record]) -> None:
        (record,) = recorded
        data = record["data"]
        topic, number = self.topic_called(data["topicId"]), data["partitionId"]
        partition = self.controller.image.partition(topic, number)
        assert partition is not None
        is_move = not data.keys().isdisjoint(("replicas", "addingReplicas", "removingReplicas"))
        replicas = data.get("replicas", partition.replicas)
        adding = data.get("addingReplicas", partition.adding_replicas)
        removing = data.get("removingReplicas", partition.removing_replicas)
        ends = partition.is_reassigning and not adding and not removing
        completes = (
            "isr" in data
            and ends
            and set(partition.adding_replicas) <= set(replicas)
            and set(partition.removing_replicas).isdisjoint(replicas)
        )
        if assigns(record):
            self.assign_directory(topic, number, recorded)
        elif is_move and not completes:
            target = tuple(replica for replica in replicas if replica not in removing)
            move = {(topic, number): None if ends else target}  # it ends when it is cancelled
            self.write(self.controller.alter_partition_reassignments(move), recorded)
        elif "leader" in data and not completes:
            is_unclean = data.get("leaderRecoveryState") == 1
            election = Election.UNCLEAN if is_unclean else Election.PREFERRED
            self.write(self.controller.elect_leaders(election, [(topic, number)]), recorded)
        else:
            # What the leader asked for still had the replicas that a completed reassignment takes
            # away.
            leaving = [each for each in partition.removing_replicas if each in partition.isr]
            isr = (*data["isr"], *(leaving if completes else ()))
            item = AlterPartitionItem(
                self.controller.image.topic_ids[topic],
                number,
                partition.leader_epoch,
                partition.partition_epoch,
                tuple((member, -1) for member in isr),
            )
            epoch = self.controller.image.brokers[partition.leader].epoch
            self.write(self.controller.alter_partition(partition.leader, epoch, [item]), recorded)

    def assign_directory(self, topic: str, number: int, recorded: list[Record]) -> None:
        """Let the replica's last registered broker say that it has a new disk."""
        image = self.controller.image
        partition = image.partition(topic, number)
        assert partition is not None
        moved = [
            image.brokers[replica]
            for replica in partition.replicas
            if image.brokers[replica].directory != partition.directory(replica)
        ]
        broker = max(moved, key=lambda each: each.record_offset)
        key = TopicIdPartition(image.topic_ids[topic], number)
        self.write(
            self.controller.assign_replicas_to_dirs(
                broker.id, broker.epoch, broker.directory, [key]
            ),
            recorded,
        )

    def topic_called(self, label: str) -> str:
        """The name of the topic that is shown as ``t`` or ``t#2``."""
        return label.partition("#")[0]


DRIVERS: dict[str, Callable[[Replay, list[Record]], None]] = {
    "BeginTransaction": Replay.boot,
    "RegisterController": Replay.register_controller,
    "RegisterBroker": Replay.register_broker,
    "BrokerRegistrationChange": Replay.change_registration,
    "Topic": Replay.create_topic,
    "Partition": Replay.create_partitions,
    "RemoveTopic": Replay.delete_topic,
    "Config": Replay.configure,
    "PartitionChange": Replay.change_partition,
}


ASSIGNMENT = "assignment to a directory"


def assigns(record: Record) -> bool:
    """Whether it only says in which directory a replica is: the recordings leave that out."""
    return record["type"] == "PartitionChange" and record["data"].keys() == {
        "partitionId",
        "topicId",
    }


def requests(log: list[Record]) -> Iterator[list[Record]]:
    """Cut a log into what single requests wrote: a batch may hold the records of several."""
    for _, together in groupby(log, key=lambda each: each["batch"]):
        yield from cut(list(together))


def cut(batch: list[Record]) -> Iterator[list[Record]]:
    """Partition changes belong to the registration in whose batch they stand, if to any."""
    while batch:
        kinds = [ASSIGNMENT if assigns(each) else each["type"] for each in batch]
        length = 1
        if kinds[0] == "BeginTransaction":
            length = kinds.index("EndTransaction") + 1
        elif kinds[0] == "Topic":
            length += run(kinds[1:], "Config", "ClearElr", "Partition")
        elif kinds[0] == "Config":
            length += run(kinds[1:], "Config", "ClearElr")
        elif kinds[0] == "Partition":
            length += run(kinds[1:], "Partition")
        elif kinds[0] == "BrokerRegistrationChange" and batch[0]["data"]["fenced"] != 1:
            length += run(kinds[1:], "PartitionChange")
        elif kinds[0] == "PartitionChange":
            changes = run(kinds, "PartitionChange")
            following = batch[changes : changes + 1]
            if following and (
                following[0]["type"] == "RegisterBroker" or following[0]["data"].get("fenced") == 1
            ):
                length = changes + 1
        yield batch[:length]
        batch = batch[length:]


def run(kinds: list[str], *accepted: str) -> int:
    """How many of the first are of accepted kinds."""
    return next((index for index, kind in enumerate(kinds) if kind not in accepted), len(kinds))


def of_type(recorded: list[Record], kind: str) -> list[Record]:
    return [each for each in recorded if each["type"] == kind]


def shown(recorded: list[Record]) -> list[ShownRecord]:
    return [ShownRecord(each["type"], each["version"], each["data"]) for each in recorded]


def in_order(records: list[ShownRecord]) -> list[ShownRecord]:
    """Records with those about partitions in one order: between topics theirs is chance."""
    found: list[ShownRecord] = []
    for is_change, them in groupby(records, key=lambda each: each.type == "PartitionChange"):
        together = list(them)
        found += sorted(together, key=str) if is_change else together
    return [
        ShownRecord(each.type, each.version, {**each.data, **sorted_members(each.data)})
        for each in found
    ]


def sorted_members(data: dict[str, Any]) -> dict[str, Any]:
    return {name: sorted(data[name]) for name in ("eligibleLeaderReplicas",) if name in data}


def without_elections(log: list[Record]) -> list[Record]:
    """A log without the records of the quorum itself."""
    return [each for each in log if each["type"] != "LeaderChange"]


def replay_one(replay: Replay, recorded: list[Record]) -> None:
    kinds = {each["type"] for each in recorded}
    for kind in ("RegisterBroker", "BrokerRegistrationChange"):
        if kind in kinds:
            DRIVERS[kind](replay, recorded)
            return
    DRIVERS[recorded[0]["type"]](replay, recorded)
