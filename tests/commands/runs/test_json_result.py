"""The JSON object of ``run --json``: its keys and values, and that it is always the same."""

import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from commands.language.parser import parse_script
from commands.runs.driver import Pace
from commands.runs.json_result import json_object
from commands.runs.run import driven, started
from sessions.text import json_line

ROOT = Path(__file__).parents[3]

SCRIPT = """cluster --brokers 3 --racks a,b,c --seed ${SEED:-3}
topic create t --partitions 1 --replication-factor 3
wait until t-0.leader == 0
produce t --count 2 --value m --acks all
settle
mark written
zk get -s /controller
zk get /nope
consume t --consumer all
broker crash 2
wait until t-0.isr == [0,1]
expect t-0.leader == 0 and t-0.isr == [1,0]
expect t-0.hw == 9
expect error NONE on last
topic create t --partitions 1 --replication-factor 3
expect error TOPIC_ALREADY_EXISTS
topic delete nope
show brokers
wait until t-0.leader == 1 within 1s
"""

KEYS = {
    *("schema", "seed", "time_ms", "events", "state_hash", "version", "controller", "brokers"),
    *("partitions", "producers", "consumers", "audit", "expectations", "marks", "outputs"),
}
PARTITION = {
    *("topic", "partition", "state", "leader", "leader_epoch", "replicas", "isr", "osr"),
    *("hw", "leo", "zk_version", "controller_epoch", "replica_states"),
}
REPLICA = {
    *("broker", "role", "leo", "hw", "log_start", "remote_leo", "epochs", "values"),
    "record_epochs",
}

Plain = dict[str, Any]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("run") / "whole.tide"
    path.write_text(SCRIPT)
    return path


def output_of(*arguments: str) -> tuple[int, str]:
    """The exit status, and what is on standard output."""
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(StringIO()):
        status = run_program(["run", *arguments])
    return status, output.getvalue()


def output_of_process(hash_seed: str, *arguments: str) -> tuple[int, str]:
    """The same of a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", "from commands.cli.main import main; main()", "run", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def made(script: Path) -> Plain:
    status, out = output_of(str(script), "--json")
    assert status == 1
    assert out.count("\n") == 1
    plain: Plain = json.loads(out)
    return plain


def test_the_object_has_every_key(made: Plain) -> None:
    assert made.keys() >= KEYS
    assert (made["schema"], made["seed"], made["version"]) == (1, 3, "3.9")
    assert len(made["state_hash"]) == 64
    assert made["events"] > 100
    assert made["time_ms"] > 0


def test_the_controller_and_the_brokers_are_told(made: Plain) -> None:
    assert made["controller"] == {"broker": 0, "epoch": 1, "epoch_zk_version": 1}
    assert [(b["id"], b["state"], b["rack"]) for b in made["brokers"]] == [
        (0, "running", "a"),
        (1, "running", "b"),
        (2, "crashed", "c"),
    ]
    assert all("epoch" in broker for broker in made["brokers"])


def test_a_partition_is_told_with_all_its_replicas(made: Plain) -> None:
    (partition,) = made["partitions"]
    assert partition.keys() >= PARTITION
    assert (partition["topic"], partition["partition"], partition["state"]) == ("t", 0, "online")
    assert (partition["isr"], partition["osr"], partition["hw"]) == ([0, 1], [2], 2)
    leader, follower, dead = partition["replica_states"]
    assert leader.keys() >= REPLICA
    assert (leader["role"], leader["remote_leo"], leader["values"]) == (
        "leader",
        None,
        ["m-0", "m-1"],
    )
    assert (follower["role"], follower["remote_leo"], follower["epochs"]) == (
        "follower",
        2,
        [[0, 0]],
    )
    assert (dead["role"], dead["record_epochs"]) == ("offline", [0, 0])


def test_clients_and_audit_are_told(made: Plain) -> None:
    (producer,) = made["producers"]
    assert producer == {
        **producer,
        "name": "p1",
        "acked": 2,
        "failed": 0,
        "retries": 0,
        "errors": [],
    }
    (consumer,) = made["consumers"]
    assert consumer == {
        "name": "all",
        "values": ["m-0", "m-1"],
        "position": 2,
        "error": "NONE",
    }
    assert made["audit"] == {
        "acked": 2,
        "lost": [],
        "duplicated": [],
        "diverged": [],
        "consumed_lost": [],
    }


def test_what_failed_is_told_with_its_line_and_the_value_there_was(made: Plain) -> None:
    assert made["expectations"] == {
        "passed": 3,
        "failed": [
            {"line": 13, "text": "t-0.hw == 9", "actual": 2},
            {"line": 17, "text": "topic delete nope", "actual": "UNKNOWN_TOPIC_OR_PARTITION"},
            {"line": 19, "text": "wait until t-0.leader == 1", "actual": 0},
        ],
    }


def test_a_mark_holds_the_same_objects_as_they_were(made: Plain) -> None:
    mark = made["marks"]["written"]
    assert mark["time_ms"] < made["time_ms"]
    assert mark["controller"] == made["controller"]
    assert [broker["state"] for broker in mark["brokers"]] == ["running"] * 3
    assert mark["partitions"][0].keys() == made["partitions"][0].keys()
    assert mark["partitions"][0]["isr"] == [0, 1, 2]


def test_what_was_printed_is_told_with_its_line(made: Plain) -> None:
    zk, missing, shown = made["outputs"]
    assert (zk["line"], zk["statement"]) == (7, "zk get -s /controller")
    assert zk["result"].keys() >= {
        *("data", "dataVersion", "cversion", "ephemeral", "dataLength", "numChildren"),
    }
    assert "dataVersion" in zk["text"]
    assert missing["result"] == "NoNodeError"
    assert [row["broker"] for row in shown["result"]] == [0, 1, 2]
    assert shown["text"].startswith("brokers\n")


def test_the_same_script_and_seed_give_the_same_bytes_in_every_process(script: Path) -> None:
    runs = {output_of_process(seed, str(script), "--json") for seed in ("1", "2")}
    assert len(runs) == 1
    assert runs == {output_of(str(script), "--json", "--speed", "1000")}


def test_recording_changes_nothing(script: Path, tmp_path: Path) -> None:
    plain = output_of(str(script), "--json")
    assert output_of(str(script), "--json", "--record", str(tmp_path)) == plain
    assert run_program(["sessions", "verify", str(tmp_path / "whole.tide.db")]) == 0


def test_another_seed_is_another_run(script: Path, made: Plain) -> None:
    _, out = output_of(str(script), "--json", "--seed", "4")
    assert json.loads(out)["seed"] == 4
    _, out = output_of(str(script), "--json", "--set", "SEED=5")
    assert json.loads(out)["seed"] == 5
    assert json.loads(out)["state_hash"] != made["state_hash"]


def test_releases_without_leader_epochs_have_none(script: Path) -> None:
    _, out = output_of(str(script), "--json", "--version", "0.10.2")
    plain = json.loads(out)
    assert plain["version"] == "0.10.2"
    (partition,) = plain["partitions"]
    assert [replica["epochs"] for replica in partition["replica_states"]] == [None] * 3
    assert partition["replica_states"][0]["record_epochs"] == [None, None]


def test_without_json_the_result_is_tables(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["run", str(script)]) == 1
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert "expectations: 3 held, 3 failed" in lines
    assert any(line.startswith("t-0 ") for line in lines)
    narrated = [line.split("  ")[1] for line in captured.err.splitlines()]
    steps = parse_script(SCRIPT, "x").steps
    assert narrated[1:] == [step.text for step in steps]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("settle", 0),
        ("topic create t --replica-assignment 0:1; settle; expect t-0.leader == 0", 0),
        ("expect offline == 1", 1),
        ("topic delete nope", 1),
        ("topic delete nope; expect error UNKNOWN_TOPIC_OR_PARTITION", 0),
        ("wait until offline == 1 within 1s", 1),
        ("wait until offline == 1 within 1s; expect error REQUEST_TIMED_OUT", 0),
        ("produce nope --retries 0; settle", 0),
        ("show log nope-0@1", 1),
        ("expct offline == 1", 2),
    ],
)
def test_the_exit_status_says_whether_all_held(text: str, status: int) -> None:
    assert run_program(["run", "-c", f"cluster; {text}"]) == status


@pytest.mark.parametrize(("within", "status"), [("20s", 0), ("1s", 4)])
def test_a_run_may_go_on_until_a_condition(within: str, status: int) -> None:
    arguments = ["run", "-c", "cluster", "--until", "time >= 15s", "--within", within]
    assert run_program(arguments) == status


def test_the_object_can_be_made_without_the_program() -> None:
    runner = started(parse_script("cluster\nmark a\n", "x.tide"), Pace(), None)
    assert driven(runner, None, json=True) is ExitCode.OK
    made = json_object(runner)
    assert json.loads(json_line(made)) == made
    assert list(made["marks"]) == ["a"]


def test_of_very_many_partitions_the_end_of_a_run_shows_some(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "cluster; topic create t --partitions 120 --replication-factor 1; settle"
    assert run_program(["run", "-c", text]) == 0
    short = capsys.readouterr().out
    assert short.startswith("partitions (100 of 120)\n")
    assert short.count("\nt-") == 100
    assert run_program(["run", "-c", f"{text}; show partitions"]) == 0
    assert capsys.readouterr().out.count("\nt-") == 220
