"""Let Java find Spark's classes sooner: in fewer jars, and without asking twice for the same one.

Java searches one jar after another, also for names that belong to no class. The compiler of queries
tries many such names, and so does PySpark for each column: in Spark's 280 jars that was a sixth of
the time of an analysis of few sessions.
"""

import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

UNUSED: Final = re.compile(
    "spark-(connect|graphx|hive|kubernetes|mllib|pipelines|repl|streaming|yarn)"
    "|hive|antlr-runtime|commons-(dbcp|pool)|datanucleus|derby|HikariCP|http(client|core)|javolution"
    "|javax.jdo|jdo|jline|joda|jpam|jta|lib(fb303|thrift)|opencsv|ST4|stax|super-csv|transaction"
    "|jjwt|kubernetes|vertx|volcano|zjsonpatch"
    "|algebra|arpack|blas|breeze|cats|JLargeArrays|JTransforms|lapack|spire"
    "|aopalliance|hk2|istack|jakarta[.](activation|annotation|inject|validation|xml)|javassist|jaxb"
    "|jersey|osgi"
    "|audience|curator|netty-(all|tcnative)|oro|scala-compiler|tink|zookeeper"
)
"""Jars that analyses do not use: Hive's, Kubernetes', those of MLlib, of the web UI, and others."""
ADDING: Final = (
    *("spark.driver.extra", "spark.jars", "spark.master", "spark.plugins", "spark.ui"),
    *("spark.sql.catalog", "spark.sql.extensions", "spark.sql.hive"),
)
"""Prefixes of the settings that add code, or parts of Spark that need other jars."""
FUNCTIONS: Final = ("functions", "org.apache.spark.sql.functions")
"""Names under which PySpark asks for the class of Spark's functions."""
ASKED: Final = (*FUNCTIONS, "PythonUtils")
"""The classes that PySpark asks Java for anew with each column."""


def small_home(folder: Path, conf: Mapping[str, str]) -> Path | None:
    """Link Spark, without the jars in :data:`UNUSED`, into a new folder, and return that.

    None if ``conf`` adds code, if PySpark has a folder of settings (which may add code) or no jars
    (as ``pyspark-client``), or if there are no symbolic links, as on Windows.
    """
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None or os.name != "posix":
        return None
    whole = Path(spec.origin).parent
    is_plain = (whole / "jars").is_dir() and not (whole / "conf").exists()
    if not is_plain or any(name.startswith(ADDING) for name in conf):
        return None
    (folder / "jars").mkdir(parents=True)
    for path in (*whole.iterdir(), *(whole / "jars").iterdir()):
        link = folder / path.relative_to(whole)
        if not link.exists() and not UNUSED.match(path.name):
            link.symlink_to(path)
    return folder


class _Members:
    """A class of Java, which is asked for each of its members only once."""

    def __init__(self, java_class: Any) -> None:  # noqa: ANN401 - py4j's
        self._class = java_class

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - py4j's
        member = getattr(self._class, name)
        setattr(self, name, member)
        return member


def ask_once(jvm: Any) -> None:  # noqa: ANN401 - py4j's view of a JVM
    """Let PySpark remember the classes in :data:`ASKED`, their members, and columns by name."""
    for name in ASKED:
        setattr(jvm, name, _Members(getattr(jvm, name)))
    for name in FUNCTIONS:
        functions = getattr(jvm, name)
        functions.col = cache(functions.col.__call__)
