import json
import re
import shlex
from pathlib import Path

import pytest

from commands.cli.main import run_program
from sessions.rehearsal import html

TOPICS = """\
Topic: orders\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3
\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,3,1
"""
ALONE = """\
Topic: logs\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:
\tTopic: logs\tPartition: 0\tLeader: 3\tReplicas: 3\tIsr: 3
"""


@pytest.fixture
def topics(tmp_path: Path) -> str:
    path = tmp_path / "topics.txt"
    path.write_text(TOPICS)
    return str(path)


@pytest.fixture
def unsafe(tmp_path: Path) -> str:
    path = tmp_path / "unsafe.txt"
    path.write_text(TOPICS + ALONE)
    return str(path)


def test_a_safe_cluster_ends_in_status_0(topics: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["rehearse", topics, "--version", "3.9"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("SAFE: nothing that is healthy now fails in 3 cases")
    assert "restart in this order: 2, 3, 1" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_lost_partition_ends_in_status_1(
    unsafe: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "report.html"
    assert run_program(["rehearse", unsafe, "--version", "3.9", "--html", str(target)]) == 1
    captured = capsys.readouterr()
    assert "UNSAFE: 1 of 3 cases" in captured.out
    assert "broker 3: offline, replication factor 1: logs-0" in captured.out
    assert "tidegauge console prod.cluster.json --run 'broker crash 3'" in captured.out
    made_by = f"json: tidegauge import {unsafe} --out prod.cluster.json --version 3.9\n"
    assert captured.out.endswith(made_by)
    assert "logs-0" in target.read_text()


def test_json_has_each_case(unsafe: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["rehearse", unsafe, "--version", "4.1", "--json", "--lose", "broker=3,broker=1"]
    assert run_program(arguments) == 1
    plain = json.loads(capsys.readouterr().out)
    [case] = plain["cases"]
    assert (case["lose"], case["name"]) == ([1, 3], "broker 3, broker 1")
    assert case["risks"]["rf1_offline"] == ["logs-0"]
    assert (plain["release"], plain["mode"], plain["safe"]) == ("4.1", "kraft", False)
    assert any(line.startswith("controllers") for line in plain["assumed"])


def test_a_baseline_tells_only_what_became_worse(
    topics: str, unsafe: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run_program(["rehearse", topics, "--version", "3.9", "--json"])
    earlier = tmp_path / "earlier.json"
    earlier.write_text(capsys.readouterr().out)
    same = ["rehearse", topics, "--version", "3.9", "--baseline", str(earlier)]
    assert run_program(same) == 0
    assert capsys.readouterr().out == "nothing became worse\n"
    assert run_program(["rehearse", unsafe, "--version", "3.9", "--baseline", str(earlier)]) == 1
    assert "worse: broker 3: offline, replication factor 1: logs-0" in capsys.readouterr().out


def test_a_plan_is_previewed_with_what_it_makes_worse(
    topics: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    moved = {"topic": "orders", "partition": 0, "replicas": [1, 2]}
    plan.write_text(json.dumps({"version": 1, "partitions": [moved]}))
    assert run_program(["rehearse", topics, "--version", "3.9", "--reassign", str(plan)]) == 1
    out = capsys.readouterr().out
    assert "the change on its way" in out
    assert "worse: broker 1: writes with acks=all refused: orders-0" in out
    arguments = ["rehearse", topics, "--version", "3.9", "--reassign", topics]
    assert run_program(arguments) == 2
    assert "is no plan of kafka-reassign-partitions" in capsys.readouterr().err


def test_a_broker_is_replaced(topics: str, capsys: pytest.CaptureFixture[str]) -> None:
    changed = ["--add-broker", "7=", "--decommission", "3", "--json", "--each", "broker"]
    assert run_program(["rehearse", topics, "--version", "4.1", *changed]) == 0
    plain = json.loads(capsys.readouterr().out)
    for partition in plain["change"]["plan"]["partitions"]:
        assert sorted(partition["replicas"]) == [1, 2, 7]
    assert (plain["worse"], plain["better"], plain["safe"]) == ([], [], True)


def test_a_restart_alone_has_a_verdict_of_its_own(
    topics: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    arguments = ["rehearse", topics, "--version", "4.1", "--roll", "--html", str(page)]
    assert run_program(arguments) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "SAFE: the restart makes no partition unwritable that is healthy now"
    assert not [line for line in rest if "case" in line]
    assert "Cases" not in page.read_text()
    assert " case" not in page.read_text()


def test_the_command_that_makes_the_image_can_be_typed(
    unsafe: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["--version", "4.1", "--rack", "1=a", "--set", "min.insync.replicas=1"]
    assert run_program(["rehearse", unsafe, *given, "--lose", "broker=3"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("UNSAFE: 1 of 1 case makes partitions unavailable")
    command = out.splitlines()[-1].removeprefix("to make prod.cluster.json: tidegauge ")
    assert run_program(shlex.split(command)) == 0
    assert json.loads((tmp_path / "prod.cluster.json").read_text())["release"] == "4.1"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--lose", "rack=a"], 2, "There is no rack 'a': no broker has a rack"),
        (["--lose", "broker=7"], 2, "There is no node 7; the nodes are 1, 2, 3"),
        (["--lose", "disk=1"], 2, "names nothing to lose"),
        (["--version", "3.99"], 2, "3.99"),
        (["--baseline", "none.json"], 3, "cannot read 'none.json'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    topics: str,
    arguments: list[str],
    status: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["rehearse", topics, *arguments]) == status
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_configuration_is_previewed(topics: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["rehearse", topics, "--version", "3.9", "--json"]
    assert run_program([*arguments, "--set-config", "topic:orders:min.insync.replicas=3"]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert {"broker 1", "broker 2", "broker 3"} <= {each["name"] for each in plain["worse"]}
    assert not plain["safe"]
    assert run_program([*arguments, "--set-config", "topic:order:min.insync.replicas=3"]) == 2
    assert "orders" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("topic:orders:min.insync.replicas=abc", "must be an integer, not 'abc'"),
        ("topic:orders:min.isr=2", "topic:orders:min.isr=2: "),
        ("min.isr=2", "There is no configuration 'min.isr'"),
        ("broker:1:num.io.threads=x", "num.io.threads must be a number, not 'x'"),
    ],
)
@pytest.mark.parametrize("version", ["3.9", "4.1"])
def test_a_configuration_that_no_cluster_takes_is_not_previewed(
    topics: str, version: str, setting: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["rehearse", topics, "--version", version, "--lose", "broker=1"]
    assert run_program([*arguments, "--set-config", setting]) == 2
    assert message in capsys.readouterr().err


def test_what_a_change_does_on_the_way_and_to_each_case_is_told(
    unsafe: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(html, "ROWS_SHOWN", 1)
    target = tmp_path / "report.html"
    change = ["--add-broker", "7=", "--decommission", "3", "--set-config", "min.insync.replicas=2"]
    arguments = ["rehearse", unsafe, "--version", "3.9", "--each", "broker", *change]
    assert run_program([*arguments, "--html", str(target)]) == 1
    text, page = capsys.readouterr().out, target.read_text()
    for line in ("worse: broker 1: offline", "better: broker 3: offline"):
        assert line in text
        assert line in page
    assert text.count("(before the change)\n") == text.count("better: ")
    assert "worse: nothing lost: writes with acks=all refused: logs-0" in text
    assert "step by step\nSECONDS" in text
    assert "Step by step" in page
    assert re.search(r"<p>\d+ more steps?: --json has all\.</p>", page)
    assert run_program([*arguments, "--json"]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert plain["change"]["still_unwritable"] == ["logs-0"]
    assert plain["change"]["settings"] == {"min.insync.replicas": "2"}
    last = {step["topic"]: step for step in plain["change"]["steps"]}
    assert 3 not in last["logs"]["replicas"]
    assert last["orders"]["writable"]


def test_a_broker_that_is_added_alone_makes_nothing_worse(
    topics: str, capsys: pytest.CaptureFixture[str]
) -> None:
    added = ["rehearse", topics, "--version", "3.9", "--each", "broker", "--add-broker", "7=b"]
    assert run_program([*added, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert (plain["worse"], plain["better"]) == ([], [])
    assert "broker 7" in {case["name"] for case in plain["cases"]}
    assert run_program(added) == 0
    assert capsys.readouterr().out.endswith("the change makes no case worse or better\n")


@pytest.mark.spark
@pytest.mark.usefixtures("hasty_java")
def test_cases_on_spark_come_to_the_same(
    unsafe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    racks = ["--rack", "1=a", "--rack", "2=a", "--rack", "3=b"]
    arguments = ["rehearse", unsafe, "--version", "4.1", *racks, "--json", "--partitions"]
    assert run_program([*arguments, "--workers", "1"]) == 1
    here = json.loads(capsys.readouterr().out)
    assert run_program([*arguments, "--master", "local[2]"]) == 1
    assert json.loads(capsys.readouterr().out) == here
    assert len(here["cases"]) > 3


def test_settings_of_spark_need_a_master(topics: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["rehearse", topics, "--conf", "spark.executor.cores=2"]) == 2
    assert "--master" in capsys.readouterr().err
