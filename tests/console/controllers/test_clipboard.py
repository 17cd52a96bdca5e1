"""What the terminal is asked to copy, directly, in tmux and in GNU screen."""

from base64 import b64decode
from pathlib import Path

import pytest

from console.controllers.clipboard import give_to_tmux, sequence


def test_a_terminal_is_asked_by_osc_52() -> None:
    asked = sequence("größe", {"TERM": "xterm-256color"})
    assert asked.startswith("\x1b]52;c;")
    assert b64decode(asked[len("\x1b]52;c;") : -1]).decode() == "größe"


def test_gnu_screen_passes_it_on_in_pieces() -> None:
    asked = sequence("x" * 2_000, {"TERM": "screen"})
    pieces = asked.split("\x1b\\")[:-1]
    assert len(pieces) > 1
    assert all(piece.startswith("\x1bP") and len(piece) < 768 for piece in pieces)
    assert "".join(piece.removeprefix("\x1bP") for piece in pieces) == sequence("x" * 2_000, {})


def test_outside_tmux_there_is_nobody_to_give_to() -> None:
    assert not give_to_tmux("x", {})


def test_tmux_is_given_the_text_by_its_own_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got = tmp_path / "got"
    program = tmp_path / "tmux"
    program.write_text(f'#!/bin/sh\necho "$@" > {got}; cat >> {got}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert give_to_tmux("orders-3", {"TMUX": "/tmp/x,1,0"})
    assert got.read_text() == "load-buffer -w -\norders-3"


def test_a_tmux_that_fails_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tmux"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not give_to_tmux("x", {"TMUX": "/tmp/x,1,0"})
