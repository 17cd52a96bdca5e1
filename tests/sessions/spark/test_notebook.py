"""The notebook about sessions in Spark prints what its page shows."""

from typing import TYPE_CHECKING

import pytest

from docs.make_spark_page import PAGE, page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_the_notebook_prints_what_its_page_shows(spark: "SparkSession") -> None:
    spark.range(1).count()  # the notebook uses this session
    assert page() == PAGE.read_text(encoding="utf-8")
