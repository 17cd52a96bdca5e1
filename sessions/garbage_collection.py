"""How often the garbage collector looks: states and events are trees, without cycles to find."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

YOUNG_OBJECTS: Final = 100_000
"""So many objects more than before are worth a look; the language's own 700 cost a third of a
cluster of 100,000 partitions."""

MANY_OBJECTS: Final = 10_000_000
"""The same while a script runs, which makes no cycles and, now and then, 100,000 partitions."""


DRAWN_OBJECTS: Final = 10_000
"""The same while lines are drawn: Textual's hold themselves, some hundreds of objects a frame."""

OLDER_LOOKS: Final = 3
"""After how many looks what outlived one is looked at again while lines are drawn, and after how
many of these what outlived two: it is garbage by then, and would stay for hours."""


def collect_while_drawing() -> None:
    """Never look at what this process has made so far, and often at what it makes from here on.

    Else a full collection over 100,000 partitions would now and then hold the screen for a third
    of a second, and the lines that were drawn in an hour would take as much memory as all else.
    """
    gc.collect()
    gc.freeze()
    gc.collect()  # counts what is left: nothing; full looks come only after a quarter of it more
    gc.set_threshold(DRAWN_OBJECTS, OLDER_LOOKS, OLDER_LOOKS)


@cache
def spare_imports() -> None:
    """Never look at what this process has made so far, which is mostly what it has imported.

    For a process that is used for one task after another: only the first call does anything, so
    that no task's garbage is spared.
    """
    gc.collect()
    gc.freeze()


def collect_seldom() -> None:
    """Let this process look for cycles seldom, and never at what it has made so far."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)


@contextmanager
def collector_resting(objects: int = MANY_OBJECTS) -> Iterator[None]:
    """Look for cycles only after so many new objects: a large cluster in the making once."""
    before = gc.get_threshold()
    gc.set_threshold(objects, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Decoded events and states have no cycles: looking for some doubles the time of a seek."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def collect_no_more() -> None:
    """The process is about to end, and what it has made goes with it: do not look for cycles."""
    gc.disable()
    gc.freeze()
