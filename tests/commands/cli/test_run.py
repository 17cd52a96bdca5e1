from pathlib import Path

import pytest

from commands.cli.main import run_program

SCRIPT = """\
# title: x
# versions: {versions}
cluster --brokers 1{more}
"""


def ran(tmp_path: Path, versions: str, more: str = "", *options: str) -> int:
    path = tmp_path / "x.tide"
    path.write_text(SCRIPT.format(versions=versions, more=more))
    return run_program(["run", str(path), "--json", *options])


@pytest.mark.parametrize(
    ("written", "options", "runs_on", "told"),
    [
        (("0.9 2.4 0.10.2", ""), (), "2.4", "running on 2.4, the newest release that "),
        (("2.4 3.9", ""), (), "3.9", ""),
        (("0.9 2.4", ""), ("--version", "0.9"), "0.9", ""),
        (
            ("0.9 2.4", ""),
            ("--version", "3.5"),
            "3.5",
            "is written for 0.9, 2.4; here it runs",
        ),
        (("0.9 2.4", " --version 1.1"), (), "1.1", "is written for 0.9, 2.4; here it runs on"),
    ],
)
def test_a_script_runs_on_a_release_that_it_names(
    tmp_path: Path,
    written: tuple[str, str],
    options: tuple[str, ...],
    runs_on: str,
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ran(tmp_path, *written, *options) == 0
    captured = capsys.readouterr()
    assert f'"version":"{runs_on}"' in captured.out
    assert told in captured.err
    assert bool(told) == ("is written for" in captured.err)


def test_a_release_that_does_not_exist_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(tmp_path, "0.9 2.9") == 2
    assert "'# versions:': '2.9' is not a version; did you mean '2.8" in capsys.readouterr().err


def test_the_documents_misspelt_setting_is_understood_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = " --config replica.log.time.max.ms=2000"
    assert ran(tmp_path, "3.9", more) == 0
    note = "NOTE: 'replica.log.time.max.ms' is taken for 'replica.lag.time.max.ms', as Kafka"
    assert note in capsys.readouterr().err
    line = "cluster --config replica.log.time.max.ms=2000"
    assert run_program(["run", "-c", line]) == 0
    assert note in capsys.readouterr().err
