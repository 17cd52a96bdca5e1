"""The characters that the console draws with: glyphs of the basic plane, and plain ASCII.

``--ascii``, or a locale that is not UTF-8, takes the second set. Nothing else in the console names
such a character.
"""

import codecs
import locale
import os
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

PLAIN_LOCALES: Final = ("C", "POSIX")
"""Locales of ASCII."""
PLAIN_TERMINALS: Final = ("linux",)
"""Terminals, by ``TERM``, whose fonts have no braille."""
COERCED: Final = "C.UTF-8"
"""What Python puts into LC_CTYPE in place of those (PEP 538)."""


class Glyphs(Struct, frozen=True):
    """One set of characters, one column wide (only ``because`` and ``pause`` may take two).

    ``sparks`` are the bars of a line, ``ramp`` those of a graph, empty where it has braille.
    """

    name: str
    offline: str
    leaderless: str
    waiting: str
    lost: str
    authority: str
    under_min: str
    unclean: str
    diverged: str
    at_min: str
    under_replicated: str
    stalled: str
    not_preferred: str
    moving: str
    cursor: str
    here: str
    play: str
    left: str
    pause: str
    ascending: str
    descending: str
    horizontal: str
    vertical: str
    expanded: str
    collapsed: str
    leaf: str
    because: str
    more: str
    high_watermark: str
    leader_high_watermark: str
    record: str
    no_record: str
    truncated: str
    different: str
    mark: str
    watched: str
    pin: str
    in_sync: str
    up: str
    down: str
    sparks: str
    ramp: str


UNICODE = Glyphs(
    name="unicode",
    offline="✖",
    leaderless="†",
    waiting="◔",
    lost="∅",
    authority="⊘",
    under_min="▼",
    unclean="↯",
    diverged="≠",
    at_min="◆",
    under_replicated="▲",
    stalled="‖",
    not_preferred="~",
    moving="↻",
    cursor="▌",
    here="▸",
    play="▶",
    left="◀",
    pause="‖",
    ascending="▴",
    descending="▾",
    horizontal="─",
    vertical="│",
    expanded="▾",
    collapsed="▸",
    leaf="·",
    because="←",
    more="…",
    high_watermark="┃",
    leader_high_watermark="┊",
    record="•",
    no_record="·",
    truncated="\u00d7",
    different="≠",
    mark="⚑",
    watched="◉",
    pin="‡",
    in_sync="•",
    up="●",
    down="○",
    sparks="▁▂▃▄▅▆▇█",
    ramp="",
)
BLOCKS = replace(UNICODE, ramp=" ▁▂▃▄▅▆▇█")
"""For terminals whose font has no braille."""

ASCII = Glyphs(
    name="ascii",
    offline="x",
    leaderless="X",
    waiting="w",
    lost="0",
    authority="@",
    under_min="v",
    unclean="!",
    diverged="#",
    at_min="=",
    under_replicated="^",
    stalled="|",
    not_preferred="~",
    moving="r",
    cursor=">",
    here=">",
    play=">",
    left="<",
    pause="||",
    ascending="^",
    descending="v",
    horizontal="-",
    vertical="|",
    expanded="-",
    collapsed="+",
    leaf=".",
    because="<-",
    more="~",
    high_watermark="|",
    leader_high_watermark=":",
    record="o",
    no_record=".",
    truncated="x",
    different="!",
    mark="!",
    watched="*",
    pin="^",
    in_sync="o",
    up="*",
    down="o",
    sparks="_.,-~=+#",
    ramp=" .:#",
)


def choose(*, ascii_only: bool) -> Glyphs:
    """The set to draw with: ASCII when asked for, or when the locale cannot say the other one."""
    if ascii_only or not _locale_is_utf8():
        return ASCII
    return BLOCKS if os.environ.get("TERM") in PLAIN_TERMINALS else UNICODE


def _locale_is_utf8() -> bool:
    """Whether the user's locale is of UTF-8; Python takes C for C.UTF-8, which the user may not."""
    if _locale() in PLAIN_LOCALES:
        return False
    try:
        return codecs.lookup(locale.getencoding()).name == "utf-8"
    except LookupError:
        return False


def _locale() -> str:
    """The locale that the environment asks for; empty if it says nothing of it."""
    environment = os.environ
    chosen = environment.get("LC_ALL") or environment.get("LC_CTYPE", "")
    return environment.get("LANG", "") if chosen in ("", COERCED) else chosen
