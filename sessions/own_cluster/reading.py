"""What was read from one source, and how a source is refused."""

from enum import IntEnum

from msgspec import Struct

from emulator.cluster_image.image import ClusterImage


class Authority(IntEnum):
    """Which source wins where two disagree: the lower number.

    What was given by hand wins over everything, the cluster's own records win over what a tool
    printed of them, and what somebody intends is believed last.
    """

    HAND = 0
    METADATA = 1
    TOOL = 2
    CLIENT = 3
    MONITOR = 4
    IMAGE = 5
    INTENT = 6


class Reading(Struct, frozen=True):
    """The content of one source.

    ``source`` is its name as the user wrote it, ``format`` what it is, such as ``kafka-topics
    --describe``. ``notes`` are sentences about what was left out, such as a torn last batch.
    """

    source: str
    format: str
    authority: Authority
    image: ClusterImage
    notes: tuple[str, ...] = ()


class SourceError(Exception):
    """A source cannot be read; the text is one sentence that names it and says what is wanted."""


class FormatError(Exception):
    """The content is not in the format that its beginning promises; the text says where and why.

    The text has no subject: it continues a sentence that names the source.
    """
