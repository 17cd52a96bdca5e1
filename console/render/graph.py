"""Values over time as a filled graph of several lines: in braille, in blocks, or in ASCII.

A braille character has two columns of four dots, so a graph has twice the resolution in time, and
four times that of its lines in height. Where braille is not to be had, each character shows the
higher of its two values.
"""

from collections.abc import Sequence
from typing import Final

BRAILLE: Final = 0x2800
LEFT: Final = (0x00, 0x40, 0x44, 0x46, 0x47)
RIGHT: Final = (0x00, 0x80, 0xA0, 0xB0, 0xB8)
"""The dots of a column, by how many of its four are filled from below."""
DOTS: Final = 4


def graph(values: Sequence[int | None], height: int, ramp: str, top: int) -> list[str]:
    """An even number of values, two a column, in ``height`` lines, the highest line first.

    They are scaled to ``top``. ``ramp`` has the characters of a column from empty to full; if it is
    empty, braille is drawn. There is a blank where nothing is known. A value above 0 fills at least
    the lowest step.
    """
    steps = len(ramp) - 1 if ramp else DOTS
    filled = [_filled(value, steps * height, top) for value in values]
    columns = list(zip(filled[::2], filled[1::2], strict=True))
    lines = []
    for line in reversed(range(height)):
        levels = [[min(steps, max(0, level - line * steps)) for level in pair] for pair in columns]
        if ramp:
            lines.append("".join(ramp[max(pair)] for pair in levels))
        else:
            lines.append("".join(_braille(left, right) for left, right in levels))
    return lines


def _filled(value: int | None, steps: int, top: int) -> int:
    return 0 if not value else max(1, min(steps, round(value * steps / max(1, top))))


def _braille(left: int, right: int) -> str:
    return chr(BRAILLE + LEFT[left] + RIGHT[right]) if left or right else " "


def rounded_up(value: int) -> int:
    """The next of 1, 2, 5, 10, 20, .. from a value on: the top of a scale that people can read."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if factor * step >= value:
                return factor * step
        step *= 10
