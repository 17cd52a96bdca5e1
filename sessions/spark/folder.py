"""The session files that a query reads, and how they are divided among Spark's tasks."""

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

from sessions.dataset.export_files import session_id
from sessions.format.schema import SUFFIX

OPEN_BYTES: Final = 65_536
"""What opening a file costs, in bytes that could be read instead."""
TASK_BYTES_MIN: Final = 1 << 20
TASK_BYTES_MAX: Final = 1 << 24
"""Bounds of the bytes that a task reads, unless one file has more."""
TASKS: Final = 16
"""Number of tasks that is aimed at, within these bounds."""


class SourceError(ValueError):
    """The data source cannot do that; the message says why in one sentence."""


def paths_of(options: Mapping[str, str]) -> list[Path]:
    """Return the files or folders that are given to ``load``, as absolute paths.

    Raises:
        SourceError: none is given.
    """
    paths = [options["path"]] if options.get("path") else json.loads(options.get("paths", "[]"))
    if not paths:
        raise SourceError("name the folder of the sessions: load('recordings/')")
    return [Path(path.removeprefix("file://")).absolute() for path in paths]


def session_files(paths: Iterable[Path]) -> dict[str, Path]:
    """Return the session files in folders, or those that are named, by the sessions' ids.

    Raises:
        SourceError: a folder cannot be read, or two files have the same id.
    """
    files: dict[str, Path] = {}
    for file in chain.from_iterable(map(_files, paths)):
        id_ = session_id(file)
        if files.setdefault(id_, file) != file:
            raise SourceError(
                f"{files[id_]} and {file} are both called {id_}: rename one, or load them apart"
            )
    return files


def _files(path: Path) -> list[Path]:
    if path.name.endswith(SUFFIX):
        return [path]
    try:
        return sorted(file for file in path.iterdir() if file.name.endswith(SUFFIX))
    except OSError as error:
        raise SourceError(f"the folder {path} cannot be read: {error.strerror}") from None


def divided(paths: Iterable[Path]) -> list[list[str]]:
    """Divide files among tasks, so that each reads about as many bytes; at least one task."""
    sizes = {path: OPEN_BYTES + _size(path) for path in paths}
    room = min(max(sum(sizes.values()) // TASKS, TASK_BYTES_MIN), TASK_BYTES_MAX)
    tasks: list[list[str]] = [[]]
    size_so_far = 0
    for path, size in sizes.items():
        if tasks[-1] and size_so_far + size > room:
            tasks.append([])
            size_so_far = 0
        tasks[-1].append(str(path))
        size_so_far += size
    return tasks


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # who opens it says why
        return 0
