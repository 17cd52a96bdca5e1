"""The dataset's tables as Spark reads them, and the results that a job has already written."""

from collections.abc import Callable
from functools import cache, cached_property
from threading import Lock
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from sessions.analysis.added import AddedSessions
from sessions.analysis.sizing import is_small
from sessions.dataset.layout import Dataset
from sessions.dataset.location import Location
from sessions.dataset.schema import SESSION, Table, arrow_schema
from sessions.dataset.tables import SESSIONS
from sessions.model.states import NO_SEED

OBSERVED: Final = f"(seed = {NO_SEED})"
"""Condition on sessions: they are of a real cluster, seen from outside."""
MATERIALISED: Final = "_materialised"
"""Folder beside the results: tables that several jobs read, kept until the last has ended."""


class DatasetTables:
    """Tables of one dataset, without files of incomplete commits.

    ``results`` is where results are written. With ``only``, the tables are limited to these
    sessions, and other commits' files are not opened.
    """

    def __init__(
        self,
        spark: SparkSession,
        dataset: Dataset,
        results: Location,
        only: AddedSessions | None = None,
    ) -> None:
        self._spark = spark
        self._dataset = dataset
        self._results = results
        self._only = only
        self._folder = results / MATERIALISED
        self._left_out = dataset.left_out()
        self._tables: dict[str, DataFrame] = {}
        self._materialised: dict[str, DataFrame] = {}
        self._written: dict[str, list[str]] = {}
        self._making: dict[str, Lock] = {}

    @cached_property
    def everything(self) -> "DatasetTables":
        """Return the tables of all sessions, including those that were analysed earlier.

        A result across sessions is made from other results: with the dataset's large tables,
        adding a session would take as long as analysing all of them again.
        """
        if self._only is None:
            return self
        return DatasetTables(self._spark, self._dataset, self._results)

    @property
    def sessions(self) -> DataFrame:
        """Return the table ``sessions``."""
        return self.table(SESSIONS)

    def table(self, table: Table) -> DataFrame:
        """Return a table with its declared columns."""
        if table.name not in self._tables:
            only = self._only
            self._tables[table.name] = (
                self.whole(table) if only is None else self._added(table, only)
            )
        return self._tables[table.name]

    def _added(self, table: Table, only: AddedSessions) -> DataFrame:
        """Return a table with the rows of some sessions, from the files of their commits."""
        folder = self._dataset.location / table.name
        paths = [(folder / name).for_spark_to_read for name in only.files(table)]
        if not paths:
            return self._empty(table)
        rows = self._parquet(_schema(table), *paths)
        return self._limited(rows, only) if only.has_others else rows

    def _limited(self, rows: DataFrame, only: AddedSessions) -> DataFrame:
        """Return the rows of some sessions; whole row groups are left out by their statistics."""
        first, last = min(only.sessions, default=""), max(only.sessions, default="")
        return rows.where(F.col(SESSION).between(first, last)).join(
            F.broadcast(self._names), SESSION, "left_semi"
        )

    @cached_property
    def _names(self) -> DataFrame:
        assert self._only is not None
        rows = [(session,) for session in self._only.sessions]
        return self._spark.createDataFrame(rows, f"`{SESSION}` STRING")

    def whole(self, table: Table) -> DataFrame:
        """Return a table with the rows of all sessions."""
        if table.name not in self._filled:
            return self._empty(table)
        folder = self._dataset.location / table.name
        rows = self._spark.read.schema(_schema(table)).parquet(folder.for_spark_to_read)
        if self._left_out:
            pattern = f"^({'|'.join(self._left_out)})-"
            rows = rows.where(~F.col("_metadata.file_name").rlike(pattern))
        return self._together(rows)

    def _empty(self, table: Table) -> DataFrame:
        """Return a table without rows. Made from Arrow it is known to be empty in advance."""
        return self._spark.createDataFrame(arrow_schema(table).empty_table(), _schema(table))

    def _parquet(self, schema: StructType, *paths: str) -> DataFrame:
        return self._together(self._spark.read.schema(schema).parquet(*paths))

    def _together(self, rows: DataFrame) -> DataFrame:
        """Put few rows in one partition: what is made of these is not shuffled."""
        return rows.coalesce(1) if self._is_small else rows

    def distributed(self, rows: DataFrame, *keys: str) -> DataFrame:
        """Return the rows, those with equal keys in the same partition; few are all in one."""
        return rows if self._is_small else rows.repartition(*keys)

    def looked_up(self, rows: DataFrame) -> DataFrame:
        """Return the smaller side of a join: where rows are not moved, the larger is not sorted."""
        return rows.hint("shuffle_hash") if self._is_small else rows

    @cached_property
    def _is_small(self) -> bool:
        only = self._only
        return is_small(self._dataset.commits() if only is None else only.commits)

    @cached_property
    def _filled(self) -> frozenset[str]:
        """The tables with rows; the files of others only declare columns."""
        return frozenset(name for commit in self._dataset.commits() for name in commit.files)

    @cached_property
    def ends(self) -> DataFrame:
        """Return the virtual time at which each session ended, ``end_us``."""
        return self.looked_up(self.sessions.select(SESSION, F.col("time_us").alias("end_us")))

    def materialised(self, name: str, make: "Callable[[DatasetTables], DataFrame]") -> DataFrame:
        """Compute a table that several results need only once, and store it until the end.

        It also keeps query plans short: what is built on it starts with reading a file.
        """
        with self._making.setdefault(name, Lock()):  # other jobs, in other threads, wait for it
            if name not in self._materialised:
                computed = make(self)
                folder = self._folder / name
                names = self._write(computed, folder)
                self._materialised[name] = self._stored(computed.schema, folder, names)
            return self._materialised[name]

    def release(self) -> None:
        """Delete what was materialised."""
        self._folder.delete()

    def write(self, table: Table, rows: DataFrame) -> None:
        """Write the rows of a result, in a new folder."""
        self._written[table.name] = self._write(rows, self._results / table.name)

    def result(self, table: Table) -> DataFrame:
        """Return the rows of a result that :meth:`write` wrote here; otherwise of all sessions."""
        folder = self._results / table.name
        names = self._written.get(table.name) or _parquet_files(folder)
        return self._stored(_schema(table), folder, names)

    @staticmethod
    def _write(rows: DataFrame, folder: Location) -> list[str]:
        rows.write.parquet(folder.for_spark)
        return _parquet_files(folder)

    def _stored(self, schema: StructType, folder: Location, names: list[str]) -> DataFrame:
        """Return the rows in files; Spark leaves out of its plans what has none."""
        import pyarrow.dataset as pad

        paths = [folder / name for name in names]
        files = [path.arrow_path for path in paths]
        there = pad.dataset(files, format="parquet", filesystem=folder.filesystem)
        rows = self._parquet(schema, *(path.for_spark_to_read for path in paths))
        return rows if there.count_rows() else rows.limit(0)


@cache
def _schema(table: Table) -> StructType:
    """Return a table's schema as an object: Java would parse a text for each reader."""
    return StructType(
        [StructField(field.name, from_arrow_type(field.type)) for field in arrow_schema(table)]
    )


def _parquet_files(folder: Location) -> list[str]:
    return [name for name in folder.listed() if name.endswith(".parquet")]
