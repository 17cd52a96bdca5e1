"""Fuzzers: one module here for each way by which foreign data comes in.

A module has ``target``, a :class:`Target`: it prepares what is attacked in a folder of its own and
yields an :data:`Attack`, which makes one attempt with the given source of randomness. An attempt
raises whatever a user would see as a traceback; what the program refuses in one sentence is no
failure. An attempt is a function of its name, ``SEED/NUMBER``, so each can be repeated.

The tests run a few attempts of each target, and those that once failed. ``python -m
benchmarks.fuzz TARGET`` runs them for hours.
"""

import gc
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random
from typing import Protocol

Attack = Callable[[Random], None]
"""One attempt; it raises an exception that no user should see."""


class Target(Protocol):
    """What is attacked; ``folder`` is empty and belongs to it."""

    def __call__(self, folder: Path, /) -> AbstractContextManager[Attack]:
        """Prepare the target; leaving the context stops it."""
        ...


class FuzzError(AssertionError):
    """An attempt did what it must not do; the message begins with its name."""


def targets() -> list[str]:
    """Return the names of all targets, which are the modules of this package."""
    return sorted(module.name for module in iter_modules(__path__))


def target_named(name: str) -> Target:
    """Return a target by its name."""
    found: Target = import_module(f"{__name__}.{name}").target
    return found


def chance_of(attempt: str) -> Random:
    """Return the source of randomness of an attempt, the same everywhere."""
    return Random(attempt)  # a text is seeded by its SHA-512, not by its hash()


def hold(target: Target, folder: Path, attempts: Iterable[str]) -> None:
    """Make some attempts.

    Raises:
        FuzzError: one of them failed.
    """
    gc.collect()
    gc.freeze()  # to look through what other tests left would count as time of an attempt
    with target(folder) as attack:
        for attempt in attempts:
            try:
                attack(chance_of(attempt))
            except Exception as error:  # whatever it is: nothing may be raised
                raise FuzzError(f"{attempt}: {type(error).__name__}: {error}") from error
