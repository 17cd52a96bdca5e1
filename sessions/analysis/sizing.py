"""Settings that suit how much there is to read: Spark's own are made for very much."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from sessions.dataset.layout import DatasetFolder
from sessions.dataset.tables import EVENTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERPRETED: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Queries are then run as they are; compiling each to Java first takes longer for few rows."""
COMPILED_MIN: Final = 2 * 2**20
"""From so many bytes of events on it is worth compiling them (half a million in normal flow)."""
PARTITIONS: Final = "spark.sql.shuffle.partitions"
UNSET: Final = "200"
"""What Spark takes if nobody has chosen."""
PARTITION_BYTES: Final = 2**20
"""So many bytes of events, about 300,000 of them in normal flow, for one task of a shuffle."""
PARTITIONS_MIN: Final = 4


def settings_for(size_bytes: int, partitions: str) -> dict[str, str]:
    """What to set for so many bytes of events where ``partitions`` of a shuffle are chosen."""
    wanted = dict(INTERPRETED) if size_bytes < COMPILED_MIN else {}
    if partitions == UNSET:
        suited = max(PARTITIONS_MIN, -(-size_bytes // PARTITION_BYTES))
        wanted[PARTITIONS] = str(min(int(UNSET), suited))
    return wanted


@contextlib.contextmanager
def suited(spark: "SparkSession", folder: DatasetFolder) -> Iterator[None]:
    """Have queries run as suits a dataset; afterwards the session is as it was."""
    parts = (folder.path / EVENTS.name).glob("*/*.parquet")
    wanted = settings_for(
        sum(part.stat().st_size for part in parts), str(spark.conf.get(PARTITIONS))
    )
    before = {key: spark.conf.get(key) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # a JVM that is gone has no settings
            for key, old in before.items():
                spark.conf.set(key, str(old))
