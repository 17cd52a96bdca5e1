"""A pseudo-terminal is put back as it was, and nobody waits for it."""

import os
import pty
import termios
import tty

import pytest

from console.process.tty import LEAVE, Tty


@pytest.fixture
def ends() -> tuple[int, int]:
    return pty.openpty()


def test_a_terminal_is_put_back_as_it_was(ends: tuple[int, int]) -> None:
    outside, inside = ends
    terminal = Tty()
    terminal.fileno = inside
    before = termios.tcgetattr(inside)
    terminal.remember()
    tty.setraw(inside)
    terminal.restore()
    assert termios.tcgetattr(inside) == before
    assert os.read(outside, 4_096).decode() == LEAVE
    terminal.is_left = True
    terminal.restore()
    terminal.say("bye")
    assert os.read(outside, 4_096).decode() == "bye"


def test_a_terminal_that_takes_nothing_is_not_waited_for(ends: tuple[int, int]) -> None:
    terminal = Tty()
    terminal.fileno = ends[1]
    for _ in range(100):
        terminal.say("x" * 10_000)


def test_a_terminal_that_is_gone_is_not_missed(ends: tuple[int, int]) -> None:
    terminal = Tty()
    terminal.fileno = ends[1]
    terminal.remember()
    os.close(ends[0])
    terminal.restore()
