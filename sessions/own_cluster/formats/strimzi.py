"""Strimzi's resources in YAML: ``Kafka``, ``KafkaNodePool``, ``KafkaTopic`` and ``KafkaUser``.

They say what is intended: the release, the brokers, their configuration, the users, and the topics
with the number of partitions and replicas but not where they are. Source: Strimzi's ``v1beta2`` and
``v1``.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from emulator.cluster_image.image import Broker, ClusterImage, Controller, Partition, Quorum, Topic
from emulator.common.limits import BROKERS_MAX, PARTITIONS_MAX
from emulator.metadata_log.metadata_version import LEVELS, METADATA_VERSION, level_of
from sessions.own_cluster.content import Content
from sessions.own_cluster.formats.strimzi_users import Users, authorizer, mapping_in
from sessions.own_cluster.reading import Authority, FormatError, Reading
from sessions.text import clean, plural

NAME: Final = "Strimzi"
YAML_BYTES_MAX: Final = 8 << 20
DEPTH_MAX: Final = 100
_KIND: Final = re.compile(r"^[ \t]*(?:- )?apiVersion:\s*[\"']?kafka\.strimzi\.io/", re.MULTILINE)
_BROKER: Final = "broker"
_CONTROLLER: Final = "controller"
_RACKS: Final = "its brokers have racks, but the resources do not say which"


def recognizes(head: str) -> bool:
    """Whether a text has a resource of Strimzi."""
    return _KIND.search(head) is not None


def read(content: Content) -> Reading:
    """Return what the resources intend.

    Raises:
        FormatError: it is no valid YAML, or a field is not what it should be.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = content.read(YAML_BYTES_MAX + 1)
    if len(text) > YAML_BYTES_MAX:
        raise FormatError(f"is larger than {YAML_BYTES_MAX >> 20} MiB")
    collected = _Collected()
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise FormatError("uses aliases, which Kubernetes does not write")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEPTH_MAX:  # what is deeper takes a time in its square
                raise FormatError(f"is nested more than {DEPTH_MAX} levels deep")
        for document in yaml.load_all(text, Loader=loader):
            for resource in _resources(document):
                collected.take(resource)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = getattr(error, "problem", None) or "it is nested too deeply, or has a bad value"
        raise FormatError(f"is no valid YAML: {clean(str(reason))}") from error
    return Reading(content.name, NAME, Authority.INTENT, collected.image(), tuple(collected.notes))


def _resources(document: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - YAML
    if isinstance(document, dict):
        if str(document.get("kind", "")).endswith("List"):
            for item in document.get("items") or ():
                yield from _resources(item)
        else:
            yield document


class _Collected:
    """The merged content of the resources."""

    def __init__(self) -> None:
        self.release: str | None = None
        self.level: str | None = None
        self.mode: str | None = None
        self.configs: dict[str, str] = {}
        self.pools: list[tuple[list[int], int, list[str]]] = []
        self.replicas = 0
        self.topics: dict[str, Topic] = {}
        self.authorization: dict[str, Any] = {}
        self.users = Users()
        self.notes: list[str] = []

    def take(self, resource: dict[str, Any]) -> None:
        spec = mapping_in(resource, "spec")
        match resource.get("kind"):
            case "Kafka":
                self._kafka(mapping_in(spec, "kafka"))
                if "zookeeper" in spec:
                    self.mode = "zk"
            case "KafkaNodePool":
                ids = mapping_in(resource, "status").get("nodeIds") or []
                roles = [str(role) for role in spec.get("roles") or [_BROKER]]
                self.pools.append(
                    ([_count(node) for node in ids], _count(spec.get("replicas", 0)), roles)
                )
            case "KafkaTopic":
                self._topic(resource, spec)
            case "KafkaUser":
                self.users.take(str(mapping_in(resource, "metadata").get("name") or ""), spec)

    def _kafka(self, kafka: dict[str, Any]) -> None:
        version = kafka.get("version")
        self.release = None if version is None else str(version)
        level = kafka.get("metadataVersion")
        self.level = None if level is None else str(level)
        self.mode = "kraft"
        self.configs = _texts(mapping_in(kafka, "config"))
        self.replicas = _count(kafka.get("replicas", 0))
        self.authorization = mapping_in(kafka, "authorization")
        if "rack" in kafka:
            self.notes.append(_RACKS)

    def _topic(self, resource: dict[str, Any], spec: dict[str, Any]) -> None:
        metadata = mapping_in(resource, "metadata")
        name = str(spec.get("topicName") or metadata.get("name") or "")
        if not name:
            raise FormatError("has a KafkaTopic without a name")
        count = _count(spec.get("partitions", 1))
        if count > PARTITIONS_MAX:
            raise FormatError(f"has a KafkaTopic with more than {PARTITIONS_MAX:,} partitions")
        factor = spec.get("replicas")
        self.topics[name] = Topic(
            name,
            configs=_texts(mapping_in(spec, "config")),
            replication_factor=None if factor is None else _count(factor),
            partitions=tuple(Partition(number) for number in range(count)),
        )

    def image(self) -> ClusterImage:
        brokers, controllers = self._nodes()
        level = self.level
        features = None
        settings = authorizer(self.authorization, with_zookeeper=self.mode == "zk")
        configs = self.configs | settings
        if level is not None:
            name = level if level in LEVELS else _newest(level)
            features = {METADATA_VERSION: level_of(name)} if name else None
        return ClusterImage(
            release=self.release,
            mode="zk" if self.mode == "zk" else "kraft" if self.mode else None,
            features=features,
            static_configs=configs or None,
            acls=tuple(self.users.acls),
            users=tuple(self.users.users.values()),
            quotas=tuple(self.users.quotas.values()),
            quorum=Quorum(controllers=tuple(map(Controller, controllers))) if controllers else None,
            brokers=tuple(map(Broker, brokers)),
            topics=tuple(self.topics.values()),
        )

    def _nodes(self) -> tuple[list[int], list[int]]:
        """Ids of brokers and controllers; those of pools without a status are numbered through."""
        brokers: list[int] = []
        controllers: list[int] = []
        pools = self.pools or [([], self.replicas, [_BROKER])]
        if sum(replicas for _, replicas, _ in pools) > BROKERS_MAX:
            raise FormatError(f"has more than {BROKERS_MAX:,} brokers")
        used = {node for ids, _, _ in pools for node in ids}
        unnamed = 0
        for ids, replicas, roles in pools:
            nodes = list(ids)
            while not ids and len(nodes) < replicas:
                node = next(number for number in range(2 * BROKERS_MAX) if number not in used)
                used.add(node)
                nodes.append(node)
                unnamed += 1
            brokers += nodes if _BROKER in roles else []
            controllers += nodes if _CONTROLLER in roles else []
        if unnamed and self.pools:
            pools_text = plural(unnamed, "node")
            self.notes.append(f"{pools_text} numbered from 0: the pools have no status.nodeIds")
        return sorted(brokers), sorted(controllers)


def _texts(values: dict[str, Any]) -> dict[str, str]:
    return {
        str(name): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
    }


def _count(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise FormatError(f"has {clean(str(value)[:40])!r} where a number belongs")


def _newest(line: str) -> str | None:
    """The newest metadata version of a line such as ``4.1``."""
    return next((name for name in reversed(LEVELS) if name.startswith(f"{line}-")), None)
