"""The folder of Spark that analyses start, and what PySpark remembers of Java."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from sessions.analysis import classes
from sessions.analysis.classes import ASKED, FUNCTIONS, ask_once, small_home


def names(folder: Path) -> set[str]:
    return {path.stem.split("_2.")[0].rstrip("0123456789.-") for path in folder.iterdir()}


@pytest.mark.spark
def test_spark_is_all_there_but_for_what_analyses_do_not_use(tmp_path: Path) -> None:
    home = small_home(tmp_path / "spark", {"spark.sql.shuffle.partitions": "3"})
    assert home is not None
    assert {"bin", "jars", "python"} <= names(home)
    jars = names(home / "jars")
    assert {"spark-sql", "spark-core", "janino", "hadoop-client-api", "arrow-vector"} <= jars
    assert not {"spark-mllib", "spark-hive", "hive-metastore", "kubernetes-client"} & jars
    assert all(path.exists() for path in (home / "jars").iterdir())


@pytest.mark.spark
@pytest.mark.parametrize(
    "name", ["spark.jars.packages", "spark.master", "spark.sql.catalog.lake", "spark.ui.port"]
)
def test_settings_that_add_code_take_all_of_spark(tmp_path: Path, name: str) -> None:
    assert small_home(tmp_path / "spark", {name: "x"}) is None


def test_spark_is_taken_as_it_is_without_jars_and_with_a_folder_of_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = SimpleNamespace(origin=str(tmp_path / "pyspark" / "__init__.py"))
    monkeypatch.setattr(classes, "find_spec", lambda _name: spec)
    assert small_home(tmp_path / "none", {}) is None
    (tmp_path / "pyspark" / "jars").mkdir(parents=True)
    assert small_home(tmp_path / "first", {}) is not None
    (tmp_path / "pyspark" / "conf").mkdir()
    assert small_home(tmp_path / "second", {}) is None


def test_java_is_asked_once_for_a_class_and_for_each_member() -> None:
    asked = []

    class Named:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> "Named":
            asked.append(f"{self._name}.{name}")
            return Named(name)

        def __call__(self, *arguments: str) -> "Named":
            asked.append(f"{self._name}{arguments}")
            return Named(self._name)

    jvm = Named("jvm")
    ask_once(jvm)
    for _ in range(3):
        assert jvm.functions.when is jvm.functions.when
        assert jvm.functions.col("seq") is jvm.functions.col("seq")
    classes_asked = [f"jvm.{name}" for name in ASKED]
    columns_asked = [f"{name}.col" for name in FUNCTIONS]
    assert asked == [*classes_asked, *columns_asked, "functions.when", "col('seq',)"]
