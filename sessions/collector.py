"""How often the garbage collector looks: states and events are trees, without cycles to find."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

YOUNG_OBJECTS: Final = 100_000
"""So many objects more than before are worth a look; the language's own 700 cost a third of a
cluster of 100,000 partitions."""

MANY_OBJECTS: Final = 1_000_000
"""The same while a script runs, which makes few cycles and, now and then, 100,000 partitions."""


def collect_seldom() -> None:
    """Let this process look for cycles seldom, and never at what it has made so far."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)


@contextmanager
def collector_resting() -> Iterator[None]:
    """Look for cycles more seldom still: a large cluster in the making is looked at once."""
    before = gc.get_threshold()
    gc.set_threshold(MANY_OBJECTS, *before[1:])
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
