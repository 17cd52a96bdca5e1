"""The programs of docs/clients.md, as they stand there, on clusters of several releases.

kcat is run where it is installed, the Java client where ``KAFKA_LIBS`` names its jars.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tidegauge.kafka_cluster import KafkaCluster

pytestmark = pytest.mark.clients

PAGE: Final = Path(__file__).parents[2] / "docs" / "clients.md"
PROGRAM: Final = re.compile(r"^### ([^\n]+)\n.*?^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SECTION: Final = PAGE.read_text().partition("\n## In ten lines\n")[2].partition("\n## ")[0]
PROGRAMS: Final = {name: (kind, text) for name, kind, text in PROGRAM.findall(SECTION)}
MODULES: Final = {"confluent-kafka": "confluent_kafka", "kafka-python": "kafka"}
LIBS: Final = os.environ.get("KAFKA_LIBS")
OLD_CLIENT: Final = "kafka-clients-[012].*.jar"
"""Java clients whose producers are not idempotent unless they are told to be (KIP-679)."""
SECONDS: Final = 60
RELEASES: Final = ("0.10.2", "2.8", "3.9", "4.1")


def command(kind: str, path: Path) -> list[str]:
    """How a program of the page is run."""
    if kind == "java":
        quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        return ["java", *quick, "-cp", str(Path(LIBS or "") / "*"), str(path)]
    return ["sh", str(path)] if kind == "sh" else [sys.executable, "-P", str(path)]


def need(name: str, kind: str) -> None:
    """Skip where the client is not installed."""
    if kind == "python":
        pytest.importorskip(MODULES.get(name, name))
    elif kind == "sh" and shutil.which("kcat") is None:
        pytest.skip("kcat is not installed")
    elif kind == "java" and (LIBS is None or shutil.which("java") is None):
        pytest.skip("KAFKA_LIBS names no jars of Kafka")


def test_the_page_has_all_of_them() -> None:
    kinds = {name: kind for name, (kind, _) in PROGRAMS.items()}
    python = dict.fromkeys(("confluent-kafka", "kafka-python", "aiokafka"), "python")
    assert kinds == {**python, "kcat": "sh", "The Java client": "java"}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "release", [pytest.param(each, marks=pytest.mark.kafka(version=each)) for each in RELEASES]
)
def test_a_program_of_the_page_reads_what_it_wrote(
    name: str, release: str, kafka_cluster: KafkaCluster, tmp_path: Path
) -> None:
    kind, text = PROGRAMS[name]
    need(name, kind)
    if kind == "java" and release == "0.10.2" and not any(Path(LIBS or "").glob(OLD_CLIENT)):
        pytest.skip("this Java client is too new for 0.10.2")
    path = tmp_path / ("Orders.java" if kind == "java" else "program")
    path.write_text(text)
    done = subprocess.run(
        [*command(kind, path), kafka_cluster.bootstrap_servers],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, (release, done.stderr)
    assert done.stdout.split() == ["paid"], (release, done.stdout, done.stderr)
    kafka_cluster.assert_nothing_lost()
