from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.language.parser import ScriptError, parse_script, read_text
from emulator.cluster_image.image import Broker, ClusterImage, Partition, Topic
from emulator.inputs.statements import CreateCluster
from sessions.own_cluster.image_files import write_image

IMAGE = ClusterImage(
    brokers=(Broker(1, "a"), Broker(5, "b"), Broker(9, "c")),
    topics=(
        Topic("orders", configs={}, partitions=(Partition(0, (5, 9, 1), 5, (5, 9), log_end=40),)),
    ),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_image(IMAGE, tmp_path / "prod.cluster.json")
    write_image(IMAGE, tmp_path / "prod.cluster.json.zst")
    return tmp_path


def cluster(text: str, source: Path, *options: str) -> CreateCluster:
    return parse_script(text, str(source), {}, options).spec


@pytest.mark.parametrize("name", ["prod.cluster.json", "prod.cluster.json.zst"])
def test_a_script_names_the_image_beside_it(folder: Path, name: str) -> None:
    spec = cluster(f"cluster --image {name}", folder / "any.tide")
    assert spec.image == IMAGE
    assert (spec.broker_ids, spec.brokers) == ([1, 5, 9], 3)


def test_release_and_mode_are_those_of_the_image_unless_the_statement_names_others(
    folder: Path,
) -> None:
    plain = cluster("cluster --image prod.cluster.json", folder / "any.tide")
    assert (plain.version, plain.mode) == ("3.9", "zk")
    newer = cluster("cluster --image prod.cluster.json --version 4.1", folder / "any.tide")
    assert (newer.version, newer.mode) == ("4.1", "kraft")
    with pytest.raises(ScriptError, match="has no ZooKeeper mode"):
        cluster("cluster --image prod.cluster.json --version 4.1 --mode zk", folder / "any.tide")


def test_any_script_can_run_on_the_cluster_of_an_image(folder: Path) -> None:
    image = str(folder / "prod.cluster.json")
    spec = cluster("cluster --brokers 7 --racks a,b,c,d,e,f,g", Path("any.tide"), "--image", image)
    assert spec.broker_ids == [1, 5, 9]


def test_an_image_is_a_script_that_starts_its_cluster(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "prod.cluster.json"
    assert cluster(read_text(path), path).image == IMAGE
    assert run_program(["run", str(path), "--json"]) == 0
    assert '"leader":5' in capsys.readouterr().out


def test_a_recording_has_its_image_and_its_script_says_how_to_get_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    recorded = ["run", "--image", "prod.cluster.json", "-c", "cluster; broker crash 5; wait 20s"]
    assert run_program([*recorded, "--record", "run.tide.db"]) == 0
    assert run_program(["sessions", "verify", "run.tide.db"]) == 0
    capsys.readouterr()
    assert run_program(["sessions", "script", "run.tide.db"]) == 0
    script = capsys.readouterr().out
    assert "cluster --image image.cluster.json --version 3.9" in script
    assert run_program(["import", "run.tide.db", "--out", "image.cluster.json"]) == 0
    again = folder / "again.tide"
    again.write_text(script)
    capsys.readouterr()
    assert run_program(["run", "again.tide", "--json"]) == 0
    assert '"leader":9' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("prod.json", "is no image of a cluster, which is named *.cluster.json"),
        ("none.cluster.json", "cannot read 'none.cluster.json': No such file or directory"),
        ("bad.cluster.json", "bad.cluster.json"),
    ],
)
def test_what_is_no_image_is_refused_in_one_sentence(
    folder: Path, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.cluster.json").write_text('{"format": "tidegauge cluster image", "schema": 9}')
    script = folder / "any.tide"
    script.write_text(f"cluster --image {name}\n")
    assert run_program(["run", str(script)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_recording_without_image_is_no_source(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(folder / "run.tide.db")
    assert run_program(["run", "-c", "cluster", "--record", path]) == 0
    assert run_program(["import", path]) == 3
    assert "is a recording of a cluster that started from no image" in capsys.readouterr().err
