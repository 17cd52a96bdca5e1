"""The dataset's tables as Spark reads them."""

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sessions.dataset.folder import DatasetFolder
from sessions.dataset.schema import SESSION, Table, spark_schema
from sessions.dataset.tables import SESSIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GLOB: Final = re.compile(r"[][{}*?\\]")


class Source:
    """Tables of one dataset, limited to sessions that were whole in it when this was made."""

    def __init__(self, spark: "SparkSession", folder: DatasetFolder) -> None:
        self._spark = spark
        self._folder = folder.path.resolve()
        self.sessions = self._files(SESSIONS)

    def table(self, table: Table) -> "DataFrame":
        """A table with its declared columns and :data:`~sessions.dataset.schema.SESSION`."""
        return self._files(table).join(self._whole, SESSION, "left_semi")

    @cached_property
    def _whole(self) -> "DataFrame":
        from pyspark.sql import functions as F

        return F.broadcast(self.sessions.select(SESSION))

    def _files(self, table: Table) -> "DataFrame":
        path = literal_path(self._folder / table.name)
        return self._spark.read.schema(spark_schema(table)).parquet(path)


def literal_path(path: Path) -> str:
    """A path for Spark to read from, in which nothing stands for something else."""
    return GLOB.sub(r"\\\g<0>", str(path))
