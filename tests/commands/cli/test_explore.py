"""``tidegauge explore``: what it prints, writes and refuses, and how it ends."""

import json
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from emulator.cluster_image.document import encode
from emulator.cluster_image.image import ClusterImage, Partition, Topic

ELR = "eligible.leader.replicas.version"
QUICK = ["--records", "1", "--elections", "1", "--crashes", "0"]
LOSES = ["--version", "0.10.2", "--property", "AcknowledgedKept"]


def test_a_specification_is_explored_as_tlc_explores_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["explore", "--spec", "Kip279", "--constants", "2,2,2,1", "--json"]
    assert run_program(words) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert (found["spec"], found["states"], found["depth"]) == ("Kip279", 1_177, 15)
    assert (found["complete"], found["violations"]) == (True, [])
    assert found["constants"] == {
        "replicas": 2,
        "log_size": 2,
        "max_records": 2,
        "max_leader_epoch": 1,
        "symmetric": False,
    }


def test_a_violation_is_told_step_by_step(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explore", "--spec", "TruncateToHW", "--constants", "2,2,2,1", "--property", "WeakIsr"]
    assert run_program(words) == ExitCode.FAILED
    out = capsys.readouterr().out
    assert "WeakIsr is violated in 8 steps:" in out
    assert "   8. BecomeFollower" in out
    assert run_program([*words, "--json"]) == ExitCode.FAILED
    (violation,) = json.loads(capsys.readouterr().out)["violations"]
    assert (violation["steps"], len(violation["path"]), violation["script"]) == (8, 8, None)
    assert all("action" in step for step in violation["path"])


def test_a_counterexample_is_written_as_a_script_that_reproduces_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lost.tide"
    assert run_program(["explore", *LOSES, "--script", str(path), "--json"]) == ExitCode.FAILED
    found = json.loads(capsys.readouterr().out)
    assert found["violations"][0]["script"] == path.read_text()
    assert run_program(["run", str(path)]) == ExitCode.OK


def test_a_partition_of_an_image_is_explored_with_its_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    partition = Partition(0, (4, 1, 2), 4, (4, 1))
    topic = Topic("orders", configs={"min.insync.replicas": "2"}, partitions=(partition,))
    image = ClusterImage("4.1", "kraft", features={"metadata.version": 27}, topics=(topic,))
    path = tmp_path / "prod.cluster.json"
    path.write_bytes(encode(image))
    bounds = ["--records", "1", "--elections", "0", "--crashes", "0", "--json"]
    named = ["explore", "--image", str(path), *bounds]
    assert run_program([*named, "--partition", "orders-0"]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    constants = found["constants"]
    assert (found["version"], constants["replicas"], constants["kraft"]) == ("4.1", 3, True)
    assert (constants["min_insync_replicas"], constants["elr"]) == (2, False)
    assert run_program(named) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["constants"]["replicas"] == 2
    assert run_program([*named, "--partition", "order-0"]) == ExitCode.USAGE
    assert "orders-0" in capsys.readouterr().err
    assert run_program(["explore", "--partition", "orders-0"]) == ExitCode.USAGE
    assert "--image" in capsys.readouterr().err


def test_a_script_that_exists_is_explored_with_its_settings_and_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my.tide"
    text = (
        "cluster --brokers 3 --version 3.9\n"
        "topic create orders --partitions 1 --replication-factor 2\n"
        "produce orders --acks 1\n"
    )
    path.write_text(text)
    for option in ("--script", "--configuration"):
        words = ["explore", option, str(path), *QUICK, "--property", "AcknowledgedKept", "--json"]
        assert run_program(words) == ExitCode.FAILED
        found = json.loads(capsys.readouterr().out)
        assert (found["version"], found["constants"]["acks"]) == ("3.9", 1)
        assert path.read_text() == text
    words = ["explore", "--script", str(path), *QUICK, "--acks", "all", "--json"]
    assert run_program(words) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert found["constants"]["acks"] == -1
    assert "AcknowledgedKept" in found["properties"]


def test_without_a_violation_no_script_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "none.tide"
    words = ["explore", "--version", "3.9", *QUICK, "--script", str(path)]
    assert run_program(words) == ExitCode.OK
    assert "is not written" in capsys.readouterr().err
    assert not path.exists()


def test_the_matrix_has_a_row_a_release(capsys: pytest.CaptureFixture[str]) -> None:
    bounds = ["--records", "1", "--crashes", "0"]
    words = ["explore", "--matrix", "--versions", "2.1,0.10.2", *bounds]
    assert run_program(words) == ExitCode.FAILED
    _title, head, old, new = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["VERSION", "AcknowledgedKept"]
    assert old.split()[0] == "0.10.2"
    assert "steps" in old
    assert new.split()[0] == "2.1"
    assert "steps" not in new


POWER_LOSS = [
    *("explore", "--records", "1", "--elections", "0", "--isr-changes", "1", "--crashes", "0"),
    *("--power-losses", "1", "--min-insync-replicas", "2", "--property", "AcknowledgedKept"),
]


def test_without_zookeeper_a_power_loss_costs_a_record_unless_eligible_replicas_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "power.tide"
    words = [*POWER_LOSS, "--version", "4.0", "--script", str(path)]
    assert run_program(words) == ExitCode.FAILED
    assert "violated in 8 steps with 1 fault" in capsys.readouterr().out
    assert f"--version 4.0 --controllers 1 --feature {ELR}=0 --stepwise" in path.read_text()
    assert run_program(["run", str(path)]) == ExitCode.OK
    capsys.readouterr()
    for kept in (["4.0", "--feature", f"{ELR}=1"], ["4.1"]):
        assert run_program([*POWER_LOSS, "--version", *kept, "--json"]) == ExitCode.OK
        found = json.loads(capsys.readouterr().out)
        assert (found["constants"]["kraft"], found["constants"]["elr"]) == (True, True)
        assert (found["states"], found["complete"]) == (2_140, True)


def test_the_matrix_has_both_modes(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*POWER_LOSS, "--matrix", "--versions", "3.9,4.0,4.1"]
    assert run_program(words) == ExitCode.FAILED
    _title, _head, *rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["3.9", "4.0", "4.1"]
    assert ["steps" in row for row in rows] == [True, True, False]


def test_a_script_of_a_cluster_without_zookeeper_says_what_is_explored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my.tide"
    path.write_text(
        f"cluster --brokers 3 --version 4.1 --feature {ELR}=0\n"
        "topic create orders --partitions 1 --replication-factor 2 --config min.insync.replicas=2\n"
    )
    words = ["explore", "--script", str(path), *QUICK, "--json"]
    assert run_program(words) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    constants = found["constants"]
    assert (found["version"], constants["kraft"], constants["elr"]) == ("4.1", True, False)
    assert constants["min_insync_replicas"] == 2


@pytest.mark.parametrize(
    ("limit", "reason"),
    [(["--time", "1ms"], "time"), (["--memory", "1MB"], "memory")],
    ids=["time", "memory"],
)
def test_at_a_limit_it_tells_what_is_known(
    limit: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explore", "--spec", "Kip320", "--constants", "3,2,2,2", *limit]
    assert run_program(words) == ExitCode.TIME_LIMIT
    out = capsys.readouterr().out
    assert out.startswith(f"the {reason} limit was reached: no violation up to depth ")
    assert run_program([*words, "--json"]) == ExitCode.TIME_LIMIT
    found = json.loads(capsys.readouterr().out)
    assert (found["complete"], found["stopped"]) == (False, f"the {reason} limit was reached")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--spec", "Kip27"], "'Kip27' is not a specification; did you mean 'Kip279'?"),
        (["--spec", "Kip279", "--property", "Weak"], "'Weak' is not a property; did you mean "),
        (["--property", "Lost"], "'Lost' is not a property (AcknowledgedKept, "),
        (["--spec", "Kip279", "--constants", "3,2,2"], "(written 3,2,2,2: replicas, log size"),
        (["--spec", "Kip279", "--constants", "9,2,2,2"], "from 1 to 5"),
        (["--replicas", "7"], "'7' is not a number of replicas (a whole number from 2 to 4)"),
        (["--min-insync-replicas", "3"], "min.insync.replicas 3 is more than the replicas (2)"),
        (["--acks", "0"], "acks=0 guarantees nothing to check"),
        (["--version", "4.9"], "'4.9' is not a version"),
        (["--version", "4.0", "--mode", "zk"], "4.0 has no ZooKeeper mode: 3.9 was the last"),
        (["--version", "2.8", "--mode", "kraft"], "KRaft mode exists since 3.3, not in 2.8"),
        (["--version", "3.9", "--feature", f"{ELR}=1"], f"3.9 uses ZooKeeper, and has no {ELR}"),
        (["--version", "3.9", "--fencings", "1"], "explored without it (--mode kraft from 3.3 on)"),
        (["--version", "2.8", "--shutdowns", "1"], "2.8 has ZooKeeper here"),
        (["--feature", "elr=1"], f"'elr' is not a feature ({ELR})"),
        (["--feature", f"{ELR}=2"], "(a whole number from 0 to 1)"),
        (["--spec", "Kip320", "--mode", "kraft"], "--spec goes with --constants"),
        (["--spec", "Kip320", "--crashes", "1"], "--spec goes with --constants"),
        (["--constants", "2,2,2,2"], "are of a --spec, which is missing"),
        (["--versions", "2.1"], "--versions is of the --matrix, which is missing"),
        (["--matrix", "--version", "2.1"], "--matrix goes with --versions"),
        (["--resume"], "--resume needs --out DIR"),
        (["--master", "local[2]"], "--master needs --out DIR"),
        (["--matrix", "--out", "work"], "--out keeps one search"),
        (["--conf", "spark.ui.enabled=true"], "there is no --master"),
        (["--master", "local", "--out", "w", "--memory", "1GB"], "--memory is of a search in one"),
    ],
    ids=str,
)
def test_what_cannot_be_explored_is_one_sentence(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["explore", *words]) == ExitCode.USAGE
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
