"""The adapters that come along, and what each needs to run."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct

from commands.exits import CommandError, ExitCode
from sessions.child_process import environment, python_command

ADAPTERS: Final = Path(__file__).parent / "adapters"
LIBRARIES: Final = "KAFKA_LIBS"
"""Environment variable with the folder of kafka-clients and the jars that it needs."""
BUILD_SECONDS: Final = 600
JVM: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx128m")
"""A small JVM that starts fast."""


class Command(Struct, frozen=True):
    """How an adapter is started."""

    words: Sequence[str]
    environment: dict[str, str] = {}


class Client(Struct, frozen=True):
    """A client library with an adapter; ``prepare`` builds it in a folder.

    ``prepare`` raises :class:`~commands.exits.CommandError` if something that it needs is missing.
    """

    name: str
    prepare: Callable[[Path], Command]


def _python(module: str, library: str, package: str) -> Callable[[Path], Command]:
    def prepare(_folder: Path) -> Command:
        if find_spec(library) is None:
            needed = f"'tidegauge conform {package}' needs {package}"
            message = f"{needed}; install it with: pip install {package}"
            raise CommandError(ExitCode.UNREACHABLE, message)
        return Command(python_command("-m", module), environment())

    return prepare


def _java(folder: Path) -> Command:
    libraries = os.environ.get(LIBRARIES, "")
    if not any(Path(libraries).glob("kafka-clients-*.jar")) if libraries else True:
        message = (
            f"'tidegauge conform java' needs the jars of kafka-clients and jackson-databind: "
            f"{LIBRARIES} names their folder"
        )
        raise CommandError(ExitCode.UNREACHABLE, message)
    jars = f"{libraries}/*"
    _build(["javac", "-cp", jars, "-d", str(folder), str(ADAPTERS / "JavaClient.java")], folder)
    path = os.pathsep.join((str(folder), jars))
    return Command(["java", *JVM, "-cp", path, "JavaClient"])


def _go(module: str) -> Callable[[Path], Command]:
    def prepare(folder: Path) -> Command:
        source = folder / module
        shutil.copytree(ADAPTERS / module, source)
        shutil.copy(ADAPTERS / "lines.go", source)
        _build(["go", "build", "-o", "adapter", "."], source)
        return Command([str(source / "adapter")])

    return prepare


def _build(command: Sequence[str], folder: Path) -> None:
    """Compile an adapter.

    Raises:
        CommandError: the compiler is missing, or fails.
    """
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
        )
    except OSError:
        message = f"'{command[0]}' is missing, which compiles this client's adapter"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    except subprocess.TimeoutExpired:
        message = f"'{command[0]}' took more than {BUILD_SECONDS} s to compile the adapter"
        raise CommandError(ExitCode.TIME_LIMIT, message) from None
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()[:1]
        message = f"'{command[0]}' cannot compile the adapter: {' '.join(reason)}"
        raise CommandError(ExitCode.UNREACHABLE, message)


KAFKA_PYTHON: Final = "commands.conformance.adapters.kafka_python"
AIOKAFKA: Final = "commands.conformance.adapters.aiokafka_client"
CONFLUENT: Final = "commands.conformance.adapters.confluent"
CLIENTS: Final = {
    client.name: client
    for client in (
        Client("kafka-python", _python(KAFKA_PYTHON, "kafka", "kafka-python")),
        Client("aiokafka", _python(AIOKAFKA, "aiokafka", "aiokafka")),
        Client("confluent-kafka", _python(CONFLUENT, "confluent_kafka", "confluent-kafka")),
        Client("java", _java),
        Client("franz-go", _go("franz_go")),
        Client("sarama", _go("sarama")),
    )
}
"""The clients that come along, by name."""
