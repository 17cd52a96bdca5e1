"""Images of clusters that scripts name: where a relative name is looked for, and how it is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sessions.grammar.words import BadWord
from sessions.text import clean

if TYPE_CHECKING:
    from emulator.cluster_image.image import ClusterImage

SUFFIXES: Final = (".cluster.json", ".cluster.json.zst")
_folder: ContextVar[Path] = ContextVar("folder", default=Path())


def is_image(path: Path) -> bool:
    """Whether a file is an image of a cluster by its name."""
    return path.name.endswith(SUFFIXES)


@contextmanager
def relative_to(folder: Path) -> Iterator[None]:
    """Look for images in ``folder``, that of the script that names them."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def located(word: str) -> Path:
    """Return the file that a script names, relative to the script's own folder."""
    return _folder.get() / word


def cluster_image(word: str) -> "ClusterImage":
    """Return the image in a file.

    Raises:
        BadWord: there is no such image, or it cannot be read.
    """
    path = located(word)
    if not is_image(path):
        raise BadWord(
            f"'{clean(word)}' is no image of a cluster, which is named *{SUFFIXES[0]};"
            " 'tidegauge import' makes one"
        )
    try:
        status = path.stat()
    except OSError as error:
        raise BadWord(f"cannot read '{clean(word)}': {error.strerror}") from None
    return _read(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1)
def _read(path: str, _changed_ns: int, _size: int) -> "ClusterImage":
    """Read an image; a script names it several times while it is parsed."""
    from sessions.own_cluster.importing import read_source
    from sessions.own_cluster.reading import SourceError

    try:
        return read_source(path).image
    except SourceError as error:
        raise BadWord(str(error)) from None
