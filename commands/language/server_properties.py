"""server.properties, the file with a broker's configuration, in Java's format of properties."""

import re
from collections.abc import Iterator
from typing import Final

from commands.language.images import located
from sessions.grammar.words import BadWord
from sessions.text import clean

SIZE_MAX: Final = 1 << 20
"""A longer file is no server.properties."""
_ENTRY: Final = re.compile(r"((?:[^\\=:\s]|\\.)+)\s*[=:\s]?\s*(.*)", re.DOTALL)


def server_properties(word: str) -> dict[str, str]:
    """Read the file that a word names; return all its values by name.

    Raises:
        BadWord: it cannot be read, or is no such file.
    """
    path, name = located(word), clean(word)
    try:
        if path.exists() and not path.is_file():
            raise BadWord(f"cannot read '{name}': it is no regular file")
        with path.open("rb") as file:
            data = file.read(SIZE_MAX + 1)
        if len(data) > SIZE_MAX:
            raise BadWord(f"'{name}' is too large for server.properties: over {SIZE_MAX} bytes")
        text = data.decode("utf-8")
    except OSError as error:
        raise BadWord(f"cannot read '{name}': {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadWord(f"'{name}' is not a text file in UTF-8") from None
    return dict(_entries(text))


def effective(properties: dict[str, str], version: str) -> dict[str, str]:
    """The values that have an effect here in a release, by the names that it has here.

    A broker has many others: its id, addresses, folders, threads.
    """
    from emulator.releases.config import MISSPELT, in_milliseconds, known_settings

    settings = known_settings(version)
    values = {
        name: value
        for name, value in properties.items()
        if value and (name in settings or name in MISSPELT)
    }
    finest = in_milliseconds({name: value for name, value in properties.items() if value})
    return values | {name: finest[name] for name in finest.keys() & settings - values.keys()}


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for line in _logical_lines(text):
        match = _ENTRY.fullmatch(line)
        if match:
            yield _unescaped(match[1]), _unescaped(match[2].rstrip())


def _logical_lines(text: str) -> Iterator[str]:
    """Join the lines that end in a backslash; leave comments and empty lines out."""
    line_so_far = ""
    for line in text.splitlines():
        stripped = line.lstrip()
        if not line_so_far and (not stripped or stripped[0] in "#!"):
            continue
        if (len(stripped) - len(stripped.rstrip("\\"))) % 2:
            line_so_far += stripped[:-1]
            continue
        yield line_so_far + stripped
        line_so_far = ""
    if line_so_far:
        yield line_so_far


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
