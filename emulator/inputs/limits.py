"""How large the things are that an input asks for, whoever gives it.

The command language refuses larger numbers as they are typed. An input may also come from a file
that somebody else wrote, so it is checked again before it is executed.
"""

from emulator.cluster_image.assumptions import known_brokers
from emulator.cluster_image.image import ClusterImage
from emulator.common.limits import (
    BROKERS_MAX,
    CLUSTER_PARTITIONS_MAX,
    CONTROLLERS_MAX,
    PARTITIONS_MAX,
)
from emulator.inputs.statements import AddPartitions, AnyInput, CreateCluster, CreateTopic


def excess(input_: AnyInput) -> str:
    """Return what an input asks too much of, as ``1,000,000 partitions``; empty: nothing."""
    sizes: list[tuple[int, int, str]] = []
    if isinstance(input_, CreateCluster):
        sizes = [
            (input_.brokers, BROKERS_MAX, "brokers"),
            (input_.controllers, CONTROLLERS_MAX, "controllers"),
            (len(input_.racks), BROKERS_MAX, "racks"),
            (len(input_.hosts), BROKERS_MAX, "hosts"),
        ]
        if input_.image is not None:
            sizes += _sizes(input_.image)
    elif isinstance(input_, CreateTopic | AddPartitions):
        replicas = max(map(len, input_.assignment), default=0)
        sizes = [
            (max(input_.partitions, len(input_.assignment)), PARTITIONS_MAX, "partitions"),
            (replicas, BROKERS_MAX, "replicas"),
        ]
    if isinstance(input_, CreateTopic):
        sizes.append((input_.replication_factor, BROKERS_MAX, "replicas"))
    return next((f"{size:,} {noun}" for size, most, noun in sizes if size > most), "")


def _sizes(image: ClusterImage) -> list[tuple[int, int, str]]:
    """The numbers of an image's parts, and how many of each there may be."""
    controllers = len(image.quorum.controllers) if image.quorum else 0
    return [
        (len(known_brokers(image)), BROKERS_MAX, "brokers"),
        (controllers, CONTROLLERS_MAX, "controllers"),
        (image.partition_count, CLUSTER_PARTITIONS_MAX, "partitions"),
    ]
