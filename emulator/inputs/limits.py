"""How large the things are that an input asks for, whoever gives it.

The command language refuses larger numbers as they are typed. An input may also come from a file
that somebody else wrote, so it is checked again before it is executed.
"""

from emulator.common.limits import BROKERS_MAX, CONTROLLERS_MAX, PARTITIONS_MAX
from emulator.inputs.statements import AddPartitions, AnyInput, CreateCluster, CreateTopic


def excess(wanted: AnyInput) -> str:
    """Return what an input asks too much of, as ``1,000,000 partitions``; empty: nothing."""
    sizes: list[tuple[int, int, str]] = []
    if isinstance(wanted, CreateCluster):
        sizes = [
            (wanted.brokers, BROKERS_MAX, "brokers"),
            (wanted.controllers, CONTROLLERS_MAX, "controllers"),
            (len(wanted.racks), BROKERS_MAX, "racks"),
            (len(wanted.hosts), BROKERS_MAX, "hosts"),
        ]
    elif isinstance(wanted, CreateTopic | AddPartitions):
        replicas = max(map(len, wanted.assignment), default=0)
        sizes = [
            (max(wanted.partitions, len(wanted.assignment)), PARTITIONS_MAX, "partitions"),
            (replicas, BROKERS_MAX, "replicas"),
        ]
    if isinstance(wanted, CreateTopic):
        sizes.append((wanted.replication_factor, BROKERS_MAX, "replicas"))
    return next((f"{size:,} {noun}" for size, most, noun in sizes if size > most), "")
