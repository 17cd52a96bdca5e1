"""Settings that suit how much there is to read: Spark's own are made for very much."""

import contextlib
from collections.abc import Iterator
from typing import Final

from pyspark.sql import SparkSession

from sessions.dataset.layout import Dataset
from sessions.dataset.tables import EVENTS

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
"""So many bytes of events, about 300,000 of them in normal flow, for one task of a shuffle.

Adaptive execution merges tasks that get less than they are worth; it cannot make more of them.
"""
PARTITIONS_MIN: Final = 4


def settings_for(size_bytes: int, partitions: str) -> dict[str, str]:
    """What to set for so many bytes of events where ``partitions`` of a shuffle are chosen."""
    wanted = dict(INTERPRETED) if size_bytes < COMPILED_MIN else {}
    if partitions == UNSET:
        wanted[PARTITIONS] = str(max(PARTITIONS_MIN, -(-size_bytes // PARTITION_BYTES)))
    return wanted


@contextlib.contextmanager
def suited(spark: SparkSession, dataset: Dataset) -> Iterator[None]:
    """Have queries run as suits a dataset; afterwards the session is as it was.

    What somebody has set about compiling stays.
    """
    size = sum(
        file.size_bytes
        for commit in dataset.commits()
        for file in commit.files.get(EVENTS.name, ())
    )
    wanted = settings_for(size, str(spark.conf.get(PARTITIONS)))
    if any(spark.conf.get(key, None) == "true" for key in INTERPRETED):
        wanted = {key: value for key, value in wanted.items() if key not in INTERPRETED}
    before = {key: spark.conf.get(key) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # a JVM that is gone has no settings
            for key, old in before.items():
                spark.conf.set(key, str(old))
