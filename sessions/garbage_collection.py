"""How often the garbage collector runs: states and events are trees, without reference cycles."""

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
    """Exclude existing objects from garbage collection, and collect new ones often.

    Otherwise a full collection over 100,000 partitions would occasionally freeze the screen for a
    third of a second, and the lines drawn in an hour would take as much memory as everything else.
    """
    gc.collect()
    gc.freeze()
    gc.collect()  # counts what is left: nothing; full looks come only after a quarter of it more
    gc.set_threshold(DRAWN_OBJECTS, OLDER_LOOKS, OLDER_LOOKS)


@cache
def spare_imports() -> None:
    """Exclude existing objects, which are mostly imports, from garbage collection.

    For a process that runs many tasks: only the first call has an effect, so that no task's garbage
    is kept.
    """
    gc.collect()
    gc.freeze()


def collect_seldom() -> None:
    """Collect garbage rarely in this process, and exclude existing objects."""
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
    """Pause the collector: decoded events have no cycles, and collecting doubles a seek's time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def spare_new_state() -> None:
    """Exclude existing objects, among them a state that was just read, from garbage collection.

    Unlike :func:`collect_while_drawing` it takes no time: the little garbage there is now stays.
    """
    gc.freeze()


def collect_no_more() -> None:
    """Disable the collector: the process is about to exit, and the system frees its memory."""
    gc.disable()
    gc.freeze()
