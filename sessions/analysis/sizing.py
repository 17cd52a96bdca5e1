"""Spark settings for the amount of data: Spark's defaults are meant for very large data."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Final

from pyspark.sql import SparkSession

from sessions.analysis.session import configured
from sessions.dataset.layout import Commit
from sessions.dataset.tables import EVENTS

INTERPRETED: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Interpret queries; compiling each to Java first takes longer if there are few rows."""
COMPILED_MIN: Final = 2 * 2**20
"""Bytes of events above which compiling pays off (half a million events in normal flow)."""
PARTITIONS: Final = "spark.sql.shuffle.partitions"
UNSET: Final = "200"
"""Spark's default."""
PARTITION_BYTES: Final = 2**20
"""Bytes of events per shuffle task, about 300,000 events in normal flow.

Adaptive execution merges tasks that get too little data; it cannot split them.
"""
PARTITIONS_MIN: Final = 4
SMALL_MAX: Final = 8 * 2**20
"""Bytes of events up to which one task reads each table, about two million events in normal flow.

Nothing is shuffled then: each query is one stage, planned once, and jobs share the cores.
"""
UNSHUFFLED: Final = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.sources.fileCompressionFactor": "1e-9",
    "spark.sql.optimizer.excludedRules": (
        "org.apache.spark.sql.catalyst.optimizer.PushDownLeftSemiAntiJoin"
    ),
}
"""Join rows in one partition where they are.

Spark expects a join to have as many bytes as the product of both sides, and would split it, so
files are made to seem almost empty. A semi-join would be pushed below where rows come together.
After an inner join Spark shuffles what it joins again; so what has one row for each session is
joined from the left.
"""


def is_small(commits: Iterable[Commit]) -> bool:
    """Return whether one task may read each table of these commits."""
    return events_bytes(commits) < SMALL_MAX


def events_bytes(commits: Iterable[Commit]) -> int:
    """Return the size of the table ``events`` in these commits."""
    return sum(file.size_bytes for commit in commits for file in commit.files.get(EVENTS.name, ()))


def settings_for(size_bytes: int, partitions: str) -> dict[str, str]:
    """Return the settings for a number of bytes of events; ``partitions`` is the user's choice."""
    settings = dict(INTERPRETED) if size_bytes < COMPILED_MIN else {}
    if size_bytes < SMALL_MAX:
        settings |= UNSHUFFLED
    if partitions == UNSET:
        settings[PARTITIONS] = str(max(PARTITIONS_MIN, -(-size_bytes // PARTITION_BYTES)))
    return settings


@contextlib.contextmanager
def suited(spark: SparkSession, commits: Iterable[Commit]) -> Iterator[None]:
    """Apply settings that suit the commits to be read; restore the session's own afterwards.

    A user's settings for compilation and for joins are kept.
    """
    settings = settings_for(events_bytes(commits), str(spark.conf.get(PARTITIONS)))
    chosen = {key for key in UNSHUFFLED if spark.conf.get(key, None) is not None}
    if any(spark.conf.get(key, None) == "true" for key in INTERPRETED):
        chosen |= INTERPRETED.keys()
    with configured(spark, {key: settings[key] for key in settings.keys() - chosen}):
        yield
