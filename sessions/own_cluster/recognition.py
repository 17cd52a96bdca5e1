"""Recognize what a source is by its content, and read it."""

from types import ModuleType
from typing import Final

from sessions.own_cluster.content import Content
from sessions.own_cluster.formats import cluster_image, kafka_topics
from sessions.own_cluster.reading import FormatError, Reading, SourceError
from sessions.text import clean

TEXTS: Final[tuple[ModuleType, ...]] = (cluster_image, kafka_topics)
"""The formats that are text, in the order in which they are tried."""


def read(content: Content) -> Reading:
    """Return what a source says.

    Raises:
        SourceError: it is in no known format, or damaged.
    """
    head = content.text_head
    for found in TEXTS:
        if found.recognizes(head):
            return _read(found, content)
    raise SourceError(f"{clean(content.name)} is {_described(content)}; {WANTED}")


WANTED: Final = (
    "wanted is what 'kafka-topics --describe' prints, or another source that 'tidegauge import "
    "--help' lists"
)


def _read(found: ModuleType, content: Content) -> Reading:
    try:
        reading: Reading = found.read(content)
    except FormatError as error:
        raise SourceError(f"{clean(content.name)} ({found.NAME}): {error}") from error
    return reading


def _described(content: Content) -> str:
    if not content.head:
        return "empty"
    if b"\0" in content.head:
        return "a binary file of an unknown kind"
    return "a text of an unknown kind"
