"""Recognize what a source is by its content, and read it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final

from emulator.cluster_image.image import ClusterImage
from sessions.own_cluster.content import Content
from sessions.own_cluster.formats import (
    broker_list,
    cluster_image,
    consumer_groups,
    cruise_control,
    kafka_configs,
    kafka_features,
    kafka_topics,
    kcat,
    log_dirs,
    metadata_log,
    metadata_quorum,
    reassignment,
    strimzi,
    zookeeper_dump,
    zookeeper_log,
    zookeeper_snapshot,
)
from sessions.own_cluster.places import END, Place
from sessions.own_cluster.reading import Authority, FormatError, Reading, SourceError
from sessions.own_cluster.validation import validate
from sessions.own_cluster.wrong_files import refusal
from sessions.own_cluster.zookeeper_history.reading import read_history
from sessions.text import clean

TEXTS: Final[tuple[ModuleType, ...]] = (
    cluster_image,
    zookeeper_dump,
    kcat,
    cruise_control,
    log_dirs,
    reassignment,
    broker_list,
    strimzi,
    kafka_topics,
    kafka_configs,
    consumer_groups,
    kafka_features,
    metadata_quorum,
)
"""The formats that are text, in the order in which they are tried."""


def read(content: Content, until: Place = END) -> Reading:
    """Return what a source says; a history is read up to a place.

    Raises:
        SourceError: it is in no known format, or damaged.
    """
    if not content.head:
        return Reading(content.name, EMPTY, Authority.INTENT, ClusterImage(), (EMPTY_NOTE,))
    if content.path is not None and content.head.startswith(zookeeper_log.MAGIC):
        reading = _history(content.path, content.name, until)
        if reading is not None:
            return reading
    if zookeeper_snapshot.recognizes(content.head):
        return _read(zookeeper_snapshot.NAME, content, zookeeper_snapshot.read)
    if metadata_log.recognizes(content.head):
        return _read(metadata_log.NAME, content, partial(metadata_log.read, until=until))
    head = content.text_head
    for file_format in TEXTS:
        if file_format.recognizes(head):
            return _read(file_format.NAME, content, file_format.read)
    raise SourceError(refusal(content))


def read_folder(folder: Path, name: str, until: Place = END) -> Reading:
    """Return what a folder says; a history is read up to a place.

    Raises:
        SourceError: it is no folder of a known kind, or a file in it is damaged.
    """
    nested = folder / METADATA_FOLDER
    if nested.is_dir():  # a log.dirs of a controller
        folder = nested
    try:
        if metadata_log.is_folder(folder):
            reading = metadata_log.read_folder(folder, name, until)
            validate(reading.image)
            return reading
    except FormatError as error:
        raise SourceError(f"{clean(name)} ({metadata_log.NAME}): {error}") from error
    except OSError as error:
        raise SourceError(f"{clean(name)} cannot be read: {error.strerror}") from error
    reading_or_none = _history(folder, name, until)
    if reading_or_none is not None:
        return reading_or_none
    raise SourceError(f"{clean(name)} is a folder without a metadata log; {metadata_log.WANTED}")


def _history(path: Path, name: str, until: Place) -> Reading | None:
    """Read ZooKeeper's transaction logs; None if there are none."""
    try:
        reading = read_history(path, name, until)
        if reading is not None:
            validate(reading.image)
    except FormatError as error:
        raise SourceError(f"{clean(name)} ({zookeeper_log.NAME}): {error}") from error
    return reading


EMPTY: Final = "nothing"
EMPTY_NOTE: Final = "it is empty, as a tool's output is that found nothing, or could not connect"
METADATA_FOLDER: Final = "__cluster_metadata-0"


def _read(kind: str, content: Content, read_it: Callable[[Content], Reading]) -> Reading:
    try:
        reading = read_it(content)
        validate(reading.image)
    except FormatError as error:
        raise SourceError(f"{clean(content.name)} ({kind}): {error}") from error
    return reading
