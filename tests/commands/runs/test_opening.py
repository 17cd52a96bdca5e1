from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.runs.opening import opened


def test_a_session_is_opened_and_its_damage_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.tide.db"
    assert run_program(["run", "-c", "cluster", "--record", str(path)]) == 0
    capsys.readouterr()
    with opened(str(path)) as session:
        assert session.last_seq > 0
    assert capsys.readouterr().err == ""
    path.write_bytes(path.read_bytes()[:-1])
    with opened(str(path)):
        assert "is truncated" in capsys.readouterr().err
