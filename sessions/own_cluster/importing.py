"""Read sources into one image: files, folders and what was given by hand."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from emulator.cluster_image.assumptions import Assumption, complete
from emulator.cluster_image.image import ClusterImage
from emulator.common.names import nearest_hint
from emulator.releases.config import ConfigError, check_topic_config, resolve
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.format.schema import SUFFIX as SESSION_SUFFIX
from sessions.own_cluster.content import Content, open_content
from sessions.own_cluster.formats import metadata_log, zookeeper_log
from sessions.own_cluster.merging import Contradiction, merge
from sessions.own_cluster.places import END, Place
from sessions.own_cluster.reading import Authority, FormatError, Reading, SourceError
from sessions.own_cluster.recognition import EMPTY, read, read_folder
from sessions.own_cluster.validation import validate
from sessions.own_cluster.wrong_files import ANYTHING
from sessions.text import clean, natural_list

STDIN: Final = "-"
HISTORIES: Final = (metadata_log.NAME, zookeeper_log.NAME)
WANTED: Final = "wanted is a metadata log, or ZooKeeper's transaction logs"
SCHEME: Final = "kafka://"


class Imported(Struct, frozen=True):
    """An image with its sources, their gaps and their contradictions."""

    image: ClusterImage
    readings: tuple[Reading, ...]
    contradictions: tuple[Contradiction, ...]
    assumed: tuple[Assumption, ...]


def import_sources(
    sources: Sequence[str],
    by_hand: ClusterImage | None = None,
    properties: Mapping[str, str] | None = None,
    tell: Callable[[str], object] = lambda _: None,
    until: Place = END,
) -> Imported:
    """Read and merge sources; ``by_hand`` wins over all of them.

    ``properties`` are Kafka's client properties, for running clusters. ``tell`` is called with what
    is being done, since large sources take a while. ``until``: histories are read up to that place.

    Raises:
        SourceError: a source cannot be read, the release does not have the mode, or no source is a
            history of which a place is asked for.
        ConfigError: the release has no configuration that is given by hand, or not with that value.
    """
    readings = []
    for source in sources:
        tell(f"reading {source} ..")
        readings.append(read_source(source, properties, until))
    names = natural_list(clean(reading.source) for reading in readings)
    if all(reading.format == EMPTY for reading in readings):
        raise SourceError(f"{names}: empty; wanted is {ANYTHING}")
    if until != END and not any(reading.format in HISTORIES for reading in readings):
        raise SourceError(f"{names}: no history, so it is of one moment; {WANTED}")
    if by_hand is not None and by_hand != ClusterImage():
        _require_topics(by_hand, readings)
        readings.append(Reading("the command line", "options", Authority.HAND, by_hand))
    tell("merging ..")
    merged = merge(readings)
    try:
        completed = complete(merged.image)
    except ConfigError as error:
        raise SourceError(str(error).rstrip(".")) from error
    if by_hand is not None:
        _check_configs(by_hand, completed.image.release or "")
    return Imported(merged.image, tuple(readings), merged.contradictions, completed.assumed)


def _require_topics(by_hand: ClusterImage, readings: Sequence[Reading]) -> None:
    """Check that the topics that are configured by hand exist."""
    topics = {topic.name: None for reading in readings for topic in reading.image.topics}
    for topic in by_hand.topics:
        if topic.name not in topics:
            hint = nearest_hint(topic.name, topics)
            raise SourceError(f"no source has a topic {clean(topic.name)!r}{hint}")


def _check_configs(by_hand: ClusterImage, release: str) -> None:
    """Check the configurations that are given by hand; those of real clusters may have any name."""
    for configs in (by_hand.configs, *(broker.configs for broker in by_hand.brokers)):
        resolve(release, configs or {})
    for topic in by_hand.topics:
        check_topic_config(topic.configs or {}, release)


def read_source(
    source: str, properties: Mapping[str, str] | None = None, until: Place = END
) -> Reading:
    """Return what one source says: a file, ``kafka://..``, or ``-`` for standard input.

    A history, such as a metadata log, is read up to a place.

    Raises:
        SourceError: it cannot be read.
    """
    if source == STDIN:
        return read(Content("standard input", sys.stdin.buffer), until)
    if source.startswith(SCHEME):
        from sessions.own_cluster.running_cluster import read_running_cluster

        reading = read_running_cluster(source, dict(properties or {}))
        try:
            validate(reading.image)
        except FormatError as error:
            raise SourceError(f"{clean(source)} {error}") from error
        return reading
    path = Path(source)
    if path.is_dir():
        return read_folder(path, source, until)
    if path.name.endswith(SESSION_SUFFIX):
        return _of_session(path, source)
    with open_content(path, source) as content:
        return read(content, until)


def _of_session(path: Path, source: str) -> Reading:
    """The image with which the cluster of a recording started."""
    try:
        with SessionFile(path) as session:
            image = session.origin.cluster.image
    except SessionError as error:
        raise SourceError(str(error).removesuffix(".")) from error
    if image is None:
        raise SourceError(f"{clean(source)} is a recording of a cluster that started from no image")
    return Reading(source, "recording", Authority.IMAGE, image)
