"""server.properties: how the file is read, and what of it has an effect on a cluster."""

from pathlib import Path

import pytest

from commands.language.parser import parse_script
from commands.language.server_properties import effective, server_properties
from sessions.grammar.words import BadWord

FILE = """\
# The id of the broker
! and another comment
broker.id=0
listeners=PLAINTEXT://:9092
auto.leader.rebalance.enable = false
replica.log.time.max.ms: 2000
min.insync.\\
  replicas=2
log.retention.hours=2
log.retention.minutes=30
log.roll.hours 168

offsets.topic.num.partitions
"""


def read(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "server.properties"
    path.write_text(text, encoding="utf-8")
    return server_properties(str(path))


def test_it_is_read_as_java_reads_it(tmp_path: Path) -> None:
    assert read(tmp_path, FILE) == {
        "broker.id": "0",
        "listeners": "PLAINTEXT://:9092",
        "auto.leader.rebalance.enable": "false",
        "replica.log.time.max.ms": "2000",
        "min.insync.replicas": "2",
        "log.retention.hours": "2",
        "log.retention.minutes": "30",
        "log.roll.hours": "168",
        "offsets.topic.num.partitions": "",
    }


def test_only_what_has_an_effect_here_is_set_and_coarser_units_are_converted(
    tmp_path: Path,
) -> None:
    found = read(tmp_path, FILE)
    assert effective(found, "3.9") == {
        "auto.leader.rebalance.enable": "false",
        "replica.log.time.max.ms": "2000",
        "min.insync.replicas": "2",
        "log.retention.ms": "1800000",
        "log.roll.ms": "604800000",
    }
    assert "unclean.leader.election.enable" not in effective(found, "3.9")


def test_a_cluster_has_the_files_values_and_the_statement_overrides_them(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(FILE, encoding="utf-8")
    line = f"cluster --properties {path} --config min.insync.replicas=1\n"
    spec = parse_script(line, "script").spec
    assert spec.config["min.insync.replicas"] == "1"
    assert spec.config["auto.leader.rebalance.enable"] == "false"
    assert spec.properties == {}


@pytest.mark.parametrize(
    ("data", "why"),
    [(None, "cannot read"), (b"\xff\xfe=1", "not a text file"), (b"#" * (2 << 20), "too large")],
)
def test_what_is_no_such_file_is_refused_with_its_name(
    tmp_path: Path, data: bytes | None, why: str
) -> None:
    path = tmp_path / "server.properties"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(BadWord, match=why):
        server_properties(str(path))
