"""The dataset's tables as Spark reads them, and the results that a job has written so far."""

import re
import shutil
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from sessions.dataset.layout import DatasetFolder
from sessions.dataset.schema import SESSION, Table, file_schema, spark_schema
from sessions.dataset.tables import SESSIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEPT: Final = "_kept"
"""Beside the results: what is there until the last of them is written."""
NAMED_MAX: Final = 200
"""So many sessions are named in queries, which spares Spark a join a table."""
GLOB: Final = re.compile(r"[][{}*?\\]")


class Source:
    """Tables of one dataset, limited to sessions that were whole in it when this was made.

    ``results`` is the folder in which results are written.
    """

    def __init__(self, spark: "SparkSession", folder: DatasetFolder, results: Path) -> None:
        self._spark = spark
        self._folder = folder.path.resolve()
        self._results = results
        self._ids = folder.sessions()
        self._tables: dict[str, DataFrame] = {}
        self._kept: dict[str, DataFrame] = {}
        self._making: dict[str, Lock] = {}
        self.sessions = self._named(self._files(SESSIONS))

    def table(self, table: Table) -> "DataFrame":
        """A table with its declared columns and :data:`~sessions.dataset.schema.SESSION`."""
        if table.name not in self._tables:
            self._tables[table.name] = self._whole(self._files(table))
        return self._tables[table.name]

    def _named(self, rows: "DataFrame") -> "DataFrame":
        """The rows of sessions that are whole, if they are few enough to be named; else all."""
        from pyspark.sql import functions as F

        if len(self._ids) > NAMED_MAX:
            return rows
        return rows.where(F.col(SESSION).isin(self._ids))

    def _whole(self, rows: "DataFrame") -> "DataFrame":
        """The rows of sessions that are whole: few are named, many are looked up."""
        from pyspark.sql import functions as F

        if len(self._ids) <= NAMED_MAX:
            return self._named(rows)
        return rows.join(F.broadcast(self.sessions.select(SESSION)), SESSION, "left_semi")

    @cached_property
    def ends(self) -> "DataFrame":
        """The virtual time at which each session ended, ``end_us``."""
        from pyspark.sql import functions as F

        return F.broadcast(self.sessions.select(SESSION, F.col("time_us").alias("end_us")))

    def kept(self, name: str, make: "Callable[[Source], DataFrame]") -> "DataFrame":
        """What several results need, worked out once and written beside them until the end.

        It also keeps queries short: what is built on it begins with reading a file.
        """
        with self._making.setdefault(name, Lock()):  # other jobs, in other threads, wait for it
            if name not in self._kept:
                made = make(self)
                path = self._results / KEPT / name
                made.write.parquet(str(path))
                self._kept[name] = self._spark.read.schema(made.schema).parquet(literal_path(path))
            return self._kept[name]

    def release(self) -> None:
        """Drop what was kept."""
        shutil.rmtree(self._results / KEPT, ignore_errors=True)

    def result(self, table: Table) -> "DataFrame":
        """A result that has been written."""
        reader = self._spark.read.schema(file_schema(table))
        return reader.parquet(literal_path(self._results / table.name))

    def _files(self, table: Table) -> "DataFrame":
        path = literal_path(self._folder / table.name)
        return self._spark.read.schema(spark_schema(table)).parquet(path)


def literal_path(path: Path) -> str:
    """A path for Spark to read from, in which nothing stands for something else."""
    return GLOB.sub(r"\\\g<0>", str(path))
