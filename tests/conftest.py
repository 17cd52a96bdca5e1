"""What every test shares: how slow examples are judged, and where tests that need a JVM run."""

import os
import shutil
from importlib.util import find_spec

import pytest
from hypothesis import settings

settings.register_profile("tidegauge", settings(deadline=None))  # a loaded machine is no failure
settings.load_profile("tidegauge")


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all Spark tests in one xdist worker (one JVM), and skip them where Spark cannot run."""
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    reason = (
        "needs Java 17 or newer"
        if not java
        else "needs the 'spark' extra"
        if find_spec("pyspark") is None
        else None
    )
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))
