"""``tidegauge serve`` as a process: its first line, the control channel, signals, recordings."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

import pytest

from commands.cli.main import run_program
from commands.runs.serve import Clusters
from commands.runs.served_cluster import ServedCluster
from emulator.wire.codec import encode_request
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import ApiVersionsRequest
from sessions.playback.verify import verify

ROOT = Path(__file__).parents[2]
SECONDS = 60


class Control:
    """A connection to the control channel."""

    def __init__(self, addresses: dict[str, str]) -> None:
        host, _, port = addresses["control"].rpartition(":")
        with socket.create_connection((host, int(port)), SECONDS) as connection:
            self.stream = cast(TextIO, connection.makefile("rw"))
        assert self.ask({"token": addresses["token"]}) == [{"ok": True}]

    def ask(self, *lines: dict[str, Any] | str) -> list[dict[str, Any]]:
        """Send all lines, then read all responses."""
        for line in lines:
            self.stream.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        self.stream.flush()
        return [json.loads(self.stream.readline()) for _ in lines]


@contextmanager
def served(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server and its first line; it is killed if it has not ended by then."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tidegauge", "serve", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline()
        finally:
            process.kill()


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Status and standard error of a process that ends by itself."""
    _, narrated = process.communicate(timeout=SECONDS)
    return process.returncode, narrated


def test_the_first_line_names_the_brokers() -> None:
    with served("--port", "0", "--brokers", "2") as (process, line):
        key, _, servers = line.strip().partition("=")
        assert key == "bootstrap.servers"
        assert [each.split(":")[0] for each in servers.split(",")] == ["127.0.0.1"] * 2
        process.send_signal(signal.SIGINT)
        assert ended(process) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_recording_that_verifies(
    tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "served.tide.db"
    words = ("--port", "0", "--control", "0", "--json", "--record", str(path))
    with served(*words) as (process, line):
        addresses = json.loads(line)
        assert set(addresses) == {"bootstrap_servers", "control", "token"}
        control = Control(addresses)
        (response,) = control.ask({"statement": "broker crash 1"})
        assert response == {"ok": True, "outcome": "ok"}
        process.send_signal(number)
        assert ended(process) == (0, f"recorded: {path}\n")
    assert verify(path).same


def test_the_control_channel_answers_in_order_whatever_is_asked() -> None:
    with served("--port", "0", "--control", "0", "--json") as (_, line):
        control = Control(json.loads(line))
        responses = control.ask(
            {"statement": "topic create t --replica-assignment 0:1"},
            {"statement": "wait until t-0.leader == 0"},
            {"statement": "produce t --value v --acks all"},
            {"statement": "expect t-0.hw == 1"},
            {"statement": "expect t-0.hw == 2"},
            {"statement": "broker crash 7"},
            {"statement": "no such thing"},
            {"statement": "zk ls /brokers"},
            {"result": True},
            {"nonsense": 1},
            "[]",
            "{",
            {"statement": "wait 1ms", "cluster": 5},
            {"statement": 5},
            {"statement": "show events", "from": "x"},
            {"result": False},
            "[" * 100_000,
        )
    oks = [response["ok"] for response in responses]
    assert oks == [True] * 4 + [False] * 3 + [True] * 2 + [False] * 8
    assert "it is 1" in responses[4]["error"]
    assert responses[5]["outcome"] == "BROKER_NOT_AVAILABLE"
    assert "there is no statement 'no'" in responses[6]["error"]
    assert responses[7]["result"] == ["ids", "seqid", "topics"]
    (topic,) = [p for p in responses[8]["result"]["partitions"] if p["topic"] == "t"]
    assert topic["replica_states"][0]["values"] == ["v"]
    assert responses[8]["result"]["expectations"]["passed"] == 1
    assert '"statement"' in responses[9]["error"]
    assert "there is no cluster 5" in responses[12]["error"]
    said = '"statement" has a value such as "broker crash 1", not 5'
    assert responses[13]["error"] == said
    assert responses[14]["error"] == '"from" has a value such as 10001, not "x"'
    assert responses[15]["error"] == '"result" has a value such as true, not false'
    assert "not a JSON object" in responses[16]["error"]


def ask_api_versions(servers: str) -> None:
    """One request of a client that says who it is."""
    host, _, port = servers.split(",", maxsplit=1)[0].rpartition(":")
    request = ApiVersionsRequest("a-library", "1.2")
    frame = encode_request(RequestHeader(18, 3, 1, "somebody"), request)
    with socket.create_connection((host, int(port)), SECONDS) as connection:
        connection.sendall(len(frame).to_bytes(4) + frame)
        assert connection.recv(4)


@pytest.mark.parametrize("recorded", [False, True])
def test_the_control_channel_knows_events_and_clients(recorded: bool, tmp_path: Path) -> None:
    words = ["--port", "0", "--control", "0", "--json"]
    words += ["--record", str(tmp_path / "r.tide.db")] if recorded else []
    with served(*words) as (_, line):
        addresses = json.loads(line)
        ask_api_versions(addresses["bootstrap_servers"])
        control = Control(addresses)
        asked, failed, shown, again, crashed, table, clients = control.ask(
            {"statement": "expect event ClientRequestReceived client=somebody api=ApiVersions"},
            {"statement": "expect event BrokerStateChanged broker=1 state=crashed"},
            {"statement": "show events ClientIdentified"},
            {"statement": "broker crash 1"},
            {"statement": "expect event BrokerStateChanged broker=1 state=crashed"},
            {"statement": "show clients"},
            {"clients": True},
        )
    assert asked["ok"]
    assert not failed["ok"]
    assert "there is no BrokerStateChanged" in failed["error"]
    assert [row["type"] for row in shown["result"]] == ["ClientIdentified"]
    assert "software=a-library" in shown["result"][0]["fields"]
    assert (again["ok"], crashed["ok"]) == (True, True)
    assert (table["result"], clients["clients"]) == ([], [])


def test_a_script_is_given_while_clients_are_served(tmp_path: Path) -> None:
    script = tmp_path / "s.tide"
    script.write_text("cluster --brokers 1 --latency 0.00002s\nwait 10ms\nbroker freeze 0\n")
    with served(str(script), "--port", "0") as (process, line):
        assert line.count(":") == 1
        assert process.stderr is not None
        told = [process.stderr.readline() for _ in range(2)]
        assert "wait 10ms" in told[0]
        assert "broker freeze 0" in told[1]


def test_on_standby_clusters_come_and_go_and_it_ends_with_its_input() -> None:
    words = ("--standby", "--control", "0", "--json")
    with served(*words) as (process, line):
        control = Control(json.loads(line))
        first, second, gone, missing, wrong = control.ask(
            {"open": {"brokers": 1}},
            {"open": {"brokers": 2, "version": "2.8", "config": {"min.insync.replicas": 2}}},
            {"close": True, "cluster": 1},
            {"statement": "wait 1ms", "cluster": 1},
            {"open": {"config": {"no.such": 1}}},
        )
        assert (first["cluster"], second["cluster"], gone["ok"]) == (1, 2, True)
        assert set(second) == {"ok", "cluster", "bootstrap_servers", "controllers"}
        assert "there is no cluster 1; there are: 2" in missing["error"]
        assert wrong["error"].startswith("There is no configuration 'no.such'")
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(SECONDS) == 0


async def test_an_error_in_the_emulator_ends_one_cluster_of_a_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clusters = Clusters(lambda script, _: ServedCluster(script, keeps_journal=True))
    for _ in range(2):
        assert (await clusters.respond({"open": {"brokers": 1}}))["ok"]

    def broken(_limit_us: int, _steps: int) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(clusters.by_number[1].run.runner, "advance", broken)
    for _ in range(2):
        failed = await clusters.respond({"statement": "wait 1ms", "cluster": 1})
        assert not failed["ok"]
        assert "in the emulator" in failed["error"]
        assert failed["error"].endswith("ZeroDivisionError: a defect")
    assert (await clusters.respond({"statement": "wait 1ms", "cluster": 2}))["ok"]
    assert (await clusters.respond({"close": True, "cluster": 1}))["ok"]
    await clusters.stop()


def test_ports_that_are_taken_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert run_program(["serve", "--port", str(port)]) == 3
    assert "name others by --port" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--port", "80"), "(a whole number from 1,024 to 65,535, or 0 for any free one)"),
        (("--standby",), "--standby needs --control"),
        (("--version", "1.2.3"), "1.2.3"),
        (("--config", "no.such=1"), "no.such"),
    ],
)
def test_what_cannot_be_served_is_said(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["serve", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_script_of_a_served_session_gives_its_faults_while_others_are_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "served.tide.db"
    words = ("--port", "0", "--control", "0", "--json", "--record", str(path))
    with served(*words) as (process, line):
        addresses = json.loads(line)
        ask_api_versions(addresses["bootstrap_servers"])
        (done,) = Control(addresses).ask({"statement": "broker crash 1"})
        assert done["ok"]
        process.send_signal(signal.SIGTERM)
        assert ended(process)[0] == 0
    assert run_program(["sessions", "script", str(path)]) == 0
    text = capsys.readouterr().out
    assert "connections and requests of clients outside" in text
    assert "--steps" not in text
    assert text.splitlines()[-2] == "broker crash 1"
    script = tmp_path / "again.tide"
    script.write_text(text)
    with served(str(script), "--port", "0") as (process, _):
        assert process.stderr is not None
        assert "broker crash 1" in process.stderr.readline()
