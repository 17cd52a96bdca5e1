"""What the user says of a cluster where no source does: racks and configurations."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from emulator.cluster_image.image import Broker, ClusterImage, Mode, Topic

TOPIC: Final = "topic"
BROKER: Final = "broker"


def image_of(
    racks: Mapping[int, str],
    settings: Iterable[tuple[str, str]] = (),
    release: str | None = None,
    mode: Mode | None = None,
) -> ClusterImage:
    """Return an image with what was given, and nothing else.

    A setting's name is a configuration of all brokers, or starts with the resource that has it:
    ``broker:3:min.insync.replicas``, ``topic:orders:retention.ms``.
    """
    brokers = {broker: Broker(broker, rack=rack) for broker, rack in racks.items()}
    topics: dict[str, dict[str, str]] = {}
    everywhere: dict[str, str] = {}
    for key, value in settings:
        resource, _, rest = key.partition(":")
        owner, _, name = rest.partition(":")
        if resource == TOPIC:
            topics.setdefault(owner, {})[name] = value
        elif resource == BROKER:
            broker = brokers.get(int(owner)) or Broker(int(owner))
            configs = {**(broker.configs or {}), name: value}
            brokers[broker.id] = replace(broker, configs=configs)
        else:
            everywhere[key] = value
    return ClusterImage(
        release=release,
        mode=mode,
        configs=everywhere or None,
        brokers=tuple(brokers.values()),
        topics=tuple(Topic(name, configs=configs) for name, configs in topics.items()),
    )
