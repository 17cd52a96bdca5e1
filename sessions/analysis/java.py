"""Check for a Java that Spark supports, before any JVM is started."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from sessions.analysis.errors import SparkUnavailable

JAVA_MIN: Final = 17
"""The oldest Java version that Spark 4 supports."""
RESPONSE_MAX_S: Final = 30
VERSION: Final = re.compile(r'version "(\d+)(?:\.(\d+))?')


def java_program() -> str | None:
    """Return the ``java`` that Spark's launcher starts: JAVA_HOME's if set, else the PATH's."""
    home = os.environ.get("JAVA_HOME")
    if not home:
        return shutil.which("java")
    program = Path(home) / "bin" / "java"
    return str(program) if os.access(program, os.X_OK) else None


def java_major(banner: str) -> int | None:
    """Return the major version in the output of ``java -version`` (``1.8`` is 8), or None."""
    match = VERSION.search(banner)
    if match is None:
        return None
    first, second = int(match[1]), int(match[2] or 0)
    return second if first == 1 else first


def require_java() -> None:
    """Raise :class:`SparkUnavailable` unless Java of at least :data:`JAVA_MIN` is installed."""
    needed = f"Spark needs Java {JAVA_MIN} or newer"
    program = java_program()
    if program is None:
        home = os.environ.get("JAVA_HOME")
        where = f"JAVA_HOME, {home}, has no bin/java" if home else "no java was found on the PATH"
        raise SparkUnavailable(f"{needed}, but {where}")
    try:
        done = subprocess.run(
            [program, "-version"],
            capture_output=True,
            text=True,
            timeout=RESPONSE_MAX_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SparkUnavailable(f"{needed}, but {program} could not be run: {error}") from error
    major = java_major(done.stderr + done.stdout)
    if done.returncode or major is None:
        raise SparkUnavailable(f"{needed}, but {program} -version did not say which one it is")
    if major < JAVA_MIN:
        raise SparkUnavailable(f"{needed}, but {program} is Java {major}")
