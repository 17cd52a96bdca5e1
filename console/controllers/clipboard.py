"""Copying to the clipboard of the user's own terminal, also over ssh and inside tmux.

The terminal is asked by OSC 52, which needs no program on either machine. tmux by default drops
the sequence of a program inside it, but copies for itself (``set-clipboard external``): it is given
the text by its own command. GNU screen passes sequences through that are wrapped for it.
"""

import subprocess
from base64 import b64encode
from collections.abc import Mapping
from shutil import which
from typing import Final

TMUX_SECONDS: Final = 2.0
"""How long tmux may take."""
SCREEN_PIECE: Final = 700
"""GNU screen takes at most 768 bytes of one string."""


def sequence(text: str, environment: Mapping[str, str]) -> str:
    """The characters that make the terminal copy ``text``."""
    asked = f"\x1b]52;c;{b64encode(text.encode()).decode()}\a"
    if environment.get("TERM", "").startswith("screen") and "TMUX" not in environment:
        pieces = [asked[at : at + SCREEN_PIECE] for at in range(0, len(asked), SCREEN_PIECE)]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return asked


def give_to_tmux(text: str, environment: Mapping[str, str]) -> bool:
    """Let the surrounding tmux copy ``text``; return False if there is none, or it fails."""
    program = which("tmux") if "TMUX" in environment else None
    if program is None:
        return False
    try:
        done = subprocess.run(
            [program, "load-buffer", "-w", "-"],
            input=text.encode(),
            capture_output=True,
            timeout=TMUX_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
