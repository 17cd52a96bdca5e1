"""The adapters that come along: each injected fault reaches their clients, which keep to it all."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.conformance.clients import CLIENTS
from commands.exits import ExitCode

pytestmark = pytest.mark.clients

KEPT = (
    "leader-crash",  # --close-after
    "half-open-connection",  # --drop
    "late-response",  # --delay
    "fenced-epoch",  # an error
    "coordinator-loads",
    "rebalance-eager",
    "fenced-producer",
    "exactly-once",
    "throttled-consumer",
)
"""Scenarios that every client keeps to: one for each kind of fault and of request."""
KEPT_IN_SHARE_GROUPS = ("share-release", "share-reject", "share-lock", "share-leader-crash")


@pytest.mark.parametrize("version", ["2.1", "4.1"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_keeps_to_what_every_client_keeps_to(
    client: str, version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keeps_to(KEPT, client, version, tmp_path, capsys)


@pytest.mark.parametrize("client", ["confluent-kafka", "java", "franz-go"])
def test_a_client_with_share_groups_keeps_to_their_promises(
    client: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keeps_to(KEPT_IN_SHARE_GROUPS, client, "4.4", tmp_path, capsys)


def keeps_to(
    kept: Sequence[str],
    client: str,
    version: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if client == "java" and not os.environ.get("KAFKA_LIBS"):
        pytest.skip("KAFKA_LIBS names no folder with the jars of kafka-clients")
    names = [word for name in kept for word in ("--scenario", name)]
    words = [
        *names,
        "--versions",
        version,
        "--sessions",
        str(tmp_path),
        "--patience",
        "2",
        "--json",
    ]
    status = run_program(["conform", client, *words])
    printed = capsys.readouterr()
    if status == ExitCode.UNREACHABLE:
        pytest.skip(printed.err)
    told = json.loads(printed.out)["cases"]
    assert [(case["scenario"], case["violations"]) for case in told if case["violations"]] == []
    assert [case["verdict"] for case in told] == ["passed"] * len(kept)
