"""What is assumed of a cluster whose image does not say everything, as Kafka would have it.

:func:`complete` fills in what a cluster needs to start, and names what could matter for an outcome.
What is only an identifier (topic ids, broker epochs, incarnations) is filled in without a word.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.cluster_image.acls import authorizer_of
from emulator.cluster_image.image import (
    NO_LEADER,
    NO_RACK,
    Broker,
    Brokers,
    ClusterImage,
    Controller,
    Mode,
    Partition,
    Quorum,
    Topic,
    ZooKeeperController,
)
from emulator.common.names import OFFSETS_TOPIC, uuid_of
from emulator.metadata_log.metadata_version import (
    ELIGIBLE_LEADER_REPLICAS,
    METADATA_VERSION,
    latest_level,
    name_of,
    supported_features,
)
from emulator.releases.config import (
    AUTHORIZER,
    AUTHORIZER_CLASS,
    authorizers,
    is_kraft,
    profile_of,
    resolve,
    with_effect,
)
from emulator.releases.profiles import DEFAULT_VERSION, PROFILES
from emulator.releases.versions import RELEASES, has_no_zookeeper

CONTROLLERS: Final = 3
"""How many controllers a quorum of unknown size is assumed to have: what Kafka recommends."""
FIRST_CONTROLLER: Final = 100
MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"
NAMES_SHOWN: Final = 8
"""How many objects an assumption lists before it only counts them."""


class Assumption(Struct, frozen=True):
    """Something that the image does not say.

    ``what`` is the subject (``racks``); ``of`` names the objects, and is empty for the cluster;
    ``value`` is what is assumed.
    """

    what: str
    of: tuple[str, ...]
    value: str

    def __str__(self) -> str:
        """``racks of brokers 4, 5: none``."""
        if not self.of:
            return f"{self.what}: {self.value}"
        more = len(self.of) - NAMES_SHOWN
        listed = ", ".join(self.of[:NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        return f"{self.what} {listed}: {self.value}"


class Completed(Struct, frozen=True):
    """An image from which a cluster can start, and what was assumed for it."""

    image: ClusterImage
    assumed: tuple[Assumption, ...]


def complete(image: ClusterImage) -> Completed:
    """Fill in what an image does not say.

    Source of the defaults: the release's own (features, topic ids), ``KafkaConfig`` (no rack), and
    for placement without states what ``kafka-topics --create`` leaves: the first replica that is up
    leads, all that are up are in sync.

    Raises:
        ConfigError: there is no such release, or it does not support the mode.
    """
    assumed: list[Assumption] = []
    image = _release(image, assumed)
    image = _brokers(image, assumed)
    image = _offsets_topic(image, assumed)
    image = _topics(image, assumed)
    _note_authorizer(image, assumed)
    return Completed(_controllers(image, assumed), tuple(assumed))


def _note_authorizer(image: ClusterImage, assumed: list[Assumption]) -> None:
    configs = authorizer_of(image)
    name = configs.get(AUTHORIZER_CLASS)
    names = authorizers(image.release or "", in_kraft_mode=image.mode == "kraft")
    unknown = sorted(AUTHORIZER - configs.keys())
    if name and name not in names:
        assumed.append(Assumption("authorizer", (), f"none, because {name} is not emulated"))
    elif name and unknown:
        assumed.append(Assumption(" and ".join(unknown), (), "not set"))


# ---- release, mode, features


def release_of(image: ClusterImage) -> tuple[str, str]:
    """Return the release of an image, or the one that is assumed, and the reason (empty if known).

    The reason is in the words of an assumption's value.
    """
    if image.release is not None:
        return image.release, ""
    level = (image.features or {}).get(METADATA_VERSION)
    if level is not None:
        line = name_of(level).split("-")[0]
        return line, f"{line}, the release of its metadata.version {name_of(level)}"
    if _has_elr(image):
        newest = ".".join(RELEASES[-1].split(".")[:2])
        return newest, f"{newest}, the newest: its partitions have an ELR"
    if mode_of(image) == "kraft":
        return DEFAULT_VERSION, f"{DEFAULT_VERSION}, the last release without ELRs"
    return DEFAULT_VERSION, f"{DEFAULT_VERSION}, the last release with ZooKeeper"


def mode_of(image: ClusterImage) -> Mode | None:
    """Return the mode of an image as far as something in it tells."""
    if image.mode is not None:
        return image.mode
    if image.quorum is not None or _has_elr(image) or METADATA_VERSION in (image.features or {}):
        return "kraft"
    profile = PROFILES.get(image.release or "")
    if profile is not None:
        if has_no_zookeeper(profile.numbers):
            return "kraft"
        if not profile.has("kraft"):
            return "zk"
    return "zk" if image.controller is not None else None


def _has_elr(image: ClusterImage) -> bool:
    return any(
        partition.elr is not None for topic in image.topics for partition in topic.partitions
    )


def _elr_is_off(image: ClusterImage) -> bool:
    """Whether ELRs are disabled although the brokers support them.

    A replica that leaves an ISR below min.insync.replicas is then in the ELR. If such an ISR is
    there and no partition has an ELR, the feature is off (KIP-966). Sources that say nothing of
    ELRs say nothing of the feature either.
    """
    is_small = False
    for topic in image.topics:
        default = (image.configs or {}).get(MIN_INSYNC_REPLICAS, "1")
        text = (topic.configs or {}).get(MIN_INSYNC_REPLICAS, default)
        least = int(text) if text.isdecimal() else 1
        for partition in topic.partitions:
            if partition.elr or partition.last_known_elr:
                return False
            if partition.isr is not None and partition.elr is not None:
                is_small |= len(partition.isr) < min(least, len(partition.replicas))
    return is_small


def _release(image: ClusterImage, assumed: list[Assumption]) -> ClusterImage:
    release, reason = release_of(image)
    if reason:
        assumed.append(Assumption("release", (), reason))
    mode = mode_of(image)
    if mode is None:
        mode = "zk"
        assumed.append(Assumption("mode", (), "zk: nothing says that there is a controller quorum"))
    is_kraft(release, mode)  # raises an error if the release does not support the mode
    features = image.features
    if mode == "kraft" and METADATA_VERSION not in (features or {}):
        supported = supported_features(release)
        defaults = {METADATA_VERSION: latest_level(release)}
        defaults |= {
            feature.name: feature.default for feature in supported.values() if feature.default
        }
        if ELIGIBLE_LEADER_REPLICAS in supported:
            if _elr_is_off(image):
                defaults.pop(ELIGIBLE_LEADER_REPLICAS, None)
            has_elr = ELIGIBLE_LEADER_REPLICAS in defaults
            value = f"those of a new cluster of {release}, {'with' if has_elr else 'without'} ELR"
            assumed.append(Assumption("features", (), value))
        features = defaults | (features or {})
    return replace(
        image,
        release=release,
        mode=mode,
        features=features or {},
        cluster_id=image.cluster_id or uuid_of("cluster"),
        configs=image.configs or {},
        static_configs=image.static_configs or {},
        next_producer_id=image.next_producer_id or 0,
    )


# ---- brokers


def known_brokers(image: ClusterImage) -> list[int]:
    """Return the ids of all brokers that the image names anywhere, sorted."""
    ids = {broker.id for broker in image.brokers}
    for topic in image.topics:
        for partition in topic.partitions:
            ids.update(partition.replicas)
            ids.update(partition.isr or ())
            if partition.leader is not None and partition.leader != NO_LEADER:
                ids.add(partition.leader)
            ids.update(log.broker for log in partition.logs)
    return sorted(ids)


def _brokers(image: ClusterImage, assumed: list[Assumption]) -> ClusterImage:
    working, assigned, has_isrs = _at_work(image)
    described = {broker.id: broker for broker in image.brokers}
    known_epochs = [broker.epoch for broker in image.brokers if broker.epoch is not None]
    epoch = max(known_epochs, default=0)
    brokers: list[Broker] = []
    without_rack: list[str] = []
    up: list[str] = []
    down: list[str] = []
    for number in known_brokers(image):
        broker = described.get(number) or Broker(number)
        if broker.rack is None:
            without_rack.append(str(number))
        is_up = broker.up
        if is_up is None and broker.fenced is not None:
            is_up = not broker.fenced
        if is_up is None:
            is_up = number in working or not has_isrs or number not in assigned
            (up if is_up else down).append(str(number))
        if broker.epoch is None:
            epoch += 1
        brokers.append(
            replace(
                broker,
                rack=NO_RACK if broker.rack is None else broker.rack,
                up=is_up,
                fenced=not is_up if broker.fenced is None else broker.fenced,
                in_controlled_shutdown=broker.in_controlled_shutdown or False,
                epoch=epoch if broker.epoch is None else broker.epoch,
                incarnation_id=broker.incarnation_id or uuid_of(f"incarnation {number}"),
                configs=broker.configs or {},
                static_configs=broker.static_configs or {},
            )
        )
    if without_rack:
        assumed.append(
            Assumption(_named_of("racks", "broker", without_rack), tuple(without_rack), "none")
        )
    if up and down:
        they = "it is" if len(up) == 1 else "they are"
        value = f"up, because {they} in sync or without replicas"
        assumed.append(Assumption(_named_of("state", "broker", up), tuple(up), value))
    elif up:
        assumed.append(Assumption(_named_of("state", "broker", up), tuple(up), "up"))
    if down:
        they = "it is" if len(down) == 1 else "they are"
        value = f"down, because {they} in no ISR"
        assumed.append(Assumption(_named_of("state", "broker", down), tuple(down), value))
    return replace(image, brokers=tuple(brokers))


def _at_work(image: ClusterImage) -> tuple[set[int], set[int], bool]:
    """The brokers that lead or are in sync, those with replicas, and whether any ISR is known."""
    working: set[int] = set()
    assigned: set[int] = set()
    has_isrs = False
    for topic in image.topics:
        for partition in topic.partitions:
            assigned.update(partition.replicas)
            if partition.leader is not None:
                working.add(partition.leader)
            # The last member stays in the ISR when it dies, so it counts only with a leader.
            if partition.isr is not None:
                has_isrs = True
                if partition.leader != NO_LEADER:
                    working.update(partition.isr)
    return working, assigned, has_isrs


# ---- topics


def _offsets_topic(image: ClusterImage, assumed: list[Assumption]) -> ClusterImage:
    """Add the topic that the committed offsets are in, if no source has it."""
    has_offsets = any(
        committed.offset is not None for group in image.groups for committed in group.offsets
    )
    release = image.release or DEFAULT_VERSION
    if not has_offsets or image.topic(OFFSETS_TOPIC) or not image.brokers:
        return image
    if not profile_of(release).has("consumer_groups"):
        return image
    config = resolve(release, with_effect(image.static_configs or {}, release))
    factor = min(config.offsets_topic_replication_factor, len(image.brokers))
    numbers = range(config.offsets_topic_num_partitions)
    topic = Topic(
        OFFSETS_TOPIC,
        replication_factor=factor,
        configs={"cleanup.policy": "compact"},
        partitions=tuple(map(Partition, numbers)),
    )
    value = f"{len(numbers)} partitions with {factor} replicas, for the committed offsets"
    assumed.append(Assumption(f"topic {OFFSETS_TOPIC}", (), value))
    return replace(image, topics=tuple(sorted((*image.topics, topic), key=lambda t: t.name)))


def _topics(image: ClusterImage, assumed: list[Assumption]) -> ClusterImage:
    up = {broker.id for broker in image.brokers if broker.up}
    committed: dict[tuple[str, int], int] = {}
    for group in image.groups:
        for offset in group.offsets:
            key = offset.topic, offset.partition
            committed[key] = max(committed.get(key, 0), offset.offset or 0)
    unknown: dict[str, list[str]] = {}
    topics = []
    for topic in image.topics:
        if topic.configs is None:
            unknown.setdefault("configs", []).append(topic.name)
        partitions = []
        for described in topic.partitions:
            end = committed.get((topic.name, described.partition), 0)
            _note(topic, described, unknown)
            partition = _placed(topic, described, [broker.id for broker in image.brokers], unknown)
            partitions.append(_completed(partition, up, end, image.mode))
        topics.append(
            replace(
                topic,
                id=topic.id or uuid_of(f"topic {topic.name}"),
                configs=topic.configs or {},
                deleting=topic.deleting or False,
                partitions=tuple(partitions),
            )
        )
    for name, text, value in _UNKNOWN:
        names = unknown.get(name)
        if names:
            noun = "topic" if name == "configs" else "partition"
            assumed.append(Assumption(_named_of(text, noun, names), tuple(names), value))
    return replace(image, topics=tuple(topics))


_UNKNOWN: Final = (
    ("configs", "configurations", "the brokers' defaults"),
    ("logs", "placement", "the brokers that have their logs"),
    ("intended", "placement", "as kafka-topics --create would spread them, without racks"),
    ("replicas", "placement", "unknown, so they cannot start"),
    ("isr", "ISR", "all replicas that are up"),
    ("leader", "leader", "the first replica that is up and in sync"),
)


def _note(topic: Topic, partition: Partition, unknown: dict[str, list[str]]) -> None:
    if not partition.replicas:
        return
    if partition.isr is None:
        unknown.setdefault("isr", []).append(f"{topic.name}-{partition.partition}")
    if partition.leader is None:
        unknown.setdefault("leader", []).append(f"{topic.name}-{partition.partition}")


def _placed(
    topic: Topic, partition: Partition, brokers: list[int], unknown: dict[str, list[str]]
) -> Partition:
    """Return the partition with replicas: known ones, those that have a log, or those intended."""
    if partition.replicas:
        return partition
    how, replicas = "logs", tuple(log.broker for log in partition.logs if not log.future)
    if not replicas and 0 < (topic.replication_factor or 0) <= len(brokers):
        how = "intended"
        replicas = spread(partition.partition, topic.replication_factor or 0, brokers)
    name = f"{topic.name}-{partition.partition}"
    unknown.setdefault(how if replicas else "replicas", []).append(name)
    return replace(partition, replicas=replicas)


def spread(partition: int, replication_factor: int, brokers: list[int]) -> Brokers:
    """Return where a new topic's partition is placed if Kafka draws the first broker first.

    Source: ``AdminUtils.assignReplicasToBrokersRackUnaware`` with 0 in place of its random numbers.
    """
    count = len(brokers)
    shift, first = divmod(partition, count)
    others = (
        (first + 1 + (shift + index) % max(1, count - 1)) % count
        for index in range(replication_factor - 1)
    )
    return tuple(brokers[position] for position in (first, *others))


def _completed(partition: Partition, up: set[int], committed: int, mode: Mode | None) -> Partition:
    isr = partition.isr
    if isr is None:
        if partition.leader is not None and partition.leader != NO_LEADER:
            up = up | {partition.leader}
        isr = tuple(broker for broker in partition.replicas if broker in up)
        isr = isr or partition.replicas[:1]
    leader = partition.leader
    if leader is None:
        electable = (broker for broker in partition.replicas if broker in up and broker in isr)
        leader = next(electable, NO_LEADER)
    start = partition.log_start or 0
    end = max(start, committed) if partition.log_end is None else partition.log_end
    watermark = partition.high_watermark
    return replace(
        partition,
        leader=leader,
        isr=isr,
        elr=partition.elr or (),
        last_known_elr=partition.last_known_elr or (),
        leader_epoch=partition.leader_epoch or 0,
        partition_epoch=partition.partition_epoch or 0,
        controller_epoch=(partition.controller_epoch or 1) if mode == "zk" else None,
        recovering=partition.recovering or False,
        adding=partition.adding or (),
        removing=partition.removing or (),
        log_start=start,
        log_end=end,
        high_watermark=end if watermark is None else watermark,
    )


# ---- controllers


def _controllers(image: ClusterImage, assumed: list[Assumption]) -> ClusterImage:
    if image.mode == "kraft":
        return replace(image, controller=None, quorum=_quorum(image, assumed))
    controller = image.controller or ZooKeeperController()
    broker = controller.broker
    if broker is None:
        broker = next((candidate.id for candidate in image.brokers if candidate.up), NO_LEADER)
        if broker != NO_LEADER:
            assumed.append(Assumption("controller", (), f"broker {broker}"))
    epoch = controller.epoch
    if epoch is None:
        epochs = (
            partition.controller_epoch or 1
            for topic in image.topics
            for partition in topic.partitions
        )
        epoch = max(epochs, default=1)
    version = controller.epoch_version
    return replace(
        image,
        quorum=None,
        controller=ZooKeeperController(broker, epoch, epoch if version is None else version),
    )


def _quorum(image: ClusterImage, assumed: list[Assumption]) -> Quorum:
    quorum = image.quorum or Quorum()
    controllers = quorum.controllers
    if not controllers:
        first = max([FIRST_CONTROLLER - 1, *(broker.id for broker in image.brokers)]) + 1
        controllers = tuple(Controller(first + index) for index in range(CONTROLLERS))
        value = f"{CONTROLLERS}, none of them a broker"
        assumed.append(Assumption("controllers", (), value))
    completed = tuple(
        replace(
            controller,
            up=True if controller.up is None else controller.up,
            voter=True if controller.voter is None else controller.voter,
            incarnation_id=controller.incarnation_id or uuid_of(f"incarnation {controller.id}"),
        )
        for controller in controllers
    )
    leader = quorum.leader
    if leader is None:
        leader = next(
            (controller.id for controller in completed if controller.up and controller.voter),
            NO_LEADER,
        )
        if image.quorum is not None and len(completed) > 1:
            assumed.append(Assumption("active controller", (), str(leader)))
    epochs = [broker.epoch or 0 for broker in image.brokers]
    offset = max(quorum.offset or 0, *epochs, 0) if epochs else quorum.offset or 0
    return Quorum(leader, 1 if quorum.epoch is None else quorum.epoch, offset, completed)


def _named_of(subject: str, noun: str, names: Iterable[str]) -> str:
    """``racks of brokers``, or ``racks of broker`` if there is one."""
    return f"{subject} of {noun if len(list(names)) == 1 else noun + 's'}"
