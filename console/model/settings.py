"""The user's settings for the console, and where each value comes from.

An option beats the environment, the environment beats the file, the file beats the default. What is
wrong in the file is told and passed over: a typing error must not keep anybody from a cluster.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from console.actions.lookup import ACTIONS, clashes, with_keys
from console.model.pacer import FRAMES_PER_SECOND
from sessions.file_system import read_regular

FILE_BYTES_MAX: Final = 1 << 20
"""The maximum size of a configuration file."""
FILE_VARIABLE: Final = "TIDEGAUGE_CONFIG"
"""The environment variable that names another file."""
KEYS: Final = "keys"
"""The table of the file in which keys are given to actions."""
KEY: Final = re.compile(r"(?:(?:ctrl|shift|alt)\+)*(?:\S|[a-z][a-z_0-9]+)")
TRUE: Final = ("1", "true", "yes", "on")
FALSE: Final = ("0", "false", "no", "off")
SPEEDS: Final = (1 / 16, 256.0)
"""The slowest and the fastest pace, in virtual seconds per second."""
RATES: Final = (1, 30)
"""The fewest and the most frames per second."""


class Setting(Struct, frozen=True):
    """One value and its origin: ``default``, a file, an environment variable or an option."""

    name: str
    value: Any
    origin: str


class Configuration(Struct, frozen=True):
    """All settings by name, the user's own keys by action id, and what was wrong with them."""

    settings: dict[str, Setting]
    keys: dict[str, tuple[str, ...]]
    problems: tuple[str, ...]
    path: Path

    def value(self, name: str) -> Any:  # noqa: ANN401 - each setting has a type of its own
        return self.settings[name].value


class Wrong(ValueError):
    """A value that a setting cannot have; the message is a clause, such as ``'x' is no number``."""


def _theme(value: object) -> str:
    from console.styles.themes import theme_names

    names = theme_names()
    if value not in names:
        raise Wrong(f"{value!r} is not a theme{_nearest(str(value), names)}")
    return str(value)


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word in (*TRUE, *FALSE):
        return word in TRUE
    raise Wrong(f"{value!r} is neither true nor false")


def _speed(value: object) -> float:
    slowest, fastest = SPEEDS
    try:
        number = float(str(value))
    except ValueError:
        raise Wrong(f"{value!r} is not a number") from None
    if not slowest <= number <= fastest:
        raise Wrong(f"{value!r} is not between 0.0625 (1/16) and 256")
    return number


def _rate(value: object) -> int:
    slowest, fastest = RATES
    word = str(value)
    if not word.isdecimal():
        raise Wrong(f"{value!r} is not a whole number")
    if not slowest <= int(word) <= fastest:
        raise Wrong(f"{value!r} is not between {slowest} and {fastest}")
    return int(word)


class Kind(Struct, frozen=True):
    """A kind of setting: how a value is read, its default, and its meaning."""

    read: Callable[[object], Any]
    default: Any
    help: str


SETTINGS: Final[Mapping[str, Kind]] = {
    "theme": Kind(_theme, "dark", "colours: dark, light, high-contrast, colour-blind, ..."),
    "ascii": Kind(_truth, default=False, help="draw with plain ASCII"),
    "read_only": Kind(_truth, default=False, help="give no statement to a live cluster"),
    "mouse": Kind(_truth, default=True, help="take the mouse; never needed"),
    "animation": Kind(_truth, default=True, help="let high watermarks glide and records vanish"),
    "fps": Kind(_rate, FRAMES_PER_SECOND, "frames per second, 1 to 30; fewer on a slow link"),
    "speed": Kind(_speed, 1.0, "virtual seconds per second at the start, 1/16 to 256"),
}
"""Every setting of the file, of ``TIDEGAUGE_NAME`` and of the options that are named like it."""


def _nearest(word: str, names: list[str]) -> str:
    near = get_close_matches(word, names, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def default_path() -> Path:
    """Where the file is looked for if the environment names no other."""
    from platformdirs import user_config_path

    return user_config_path("tidegauge", appauthor=False) / "config.toml"


def defaults() -> Configuration:
    """All settings at their defaults."""
    settings = {name: Setting(name, kind.default, "default") for name, kind in SETTINGS.items()}
    return Configuration(settings, {}, (), default_path())


def example_file() -> str:
    """An example file that states the defaults."""
    lines = ["# Settings of the tidegauge console. Every line is optional.", ""]
    for name, kind in SETTINGS.items():
        value = kind.default if not isinstance(kind.default, bool) else str(kind.default).lower()
        shown = f'"{value}"' if isinstance(kind.default, str) else value
        lines += [f"# {kind.help}", f"{name} = {shown}", ""]
    lines += [
        f"[{KEYS}]",
        "# An action's id (see: tidegauge keys) and the keys that it shall have instead.",
        '# "time.pause" = ["space", "f5"]',
    ]
    return "\n".join(lines) + "\n"


def configuration(
    options: Mapping[str, object] | None = None, environment: Mapping[str, str] | None = None
) -> Configuration:
    """Combine options (None: not given), environment, file and defaults."""
    environment = os.environ if environment is None else environment
    named = environment.get(FILE_VARIABLE)
    path = Path(named) if named else default_path()
    problems: list[str] = []
    written = _read(path, must_exist=bool(named), problems=problems)
    values = {
        **{name: (value, str(path)) for name, value in written.items() if name != KEYS},
        **{
            name: (environment[variable], variable)
            for name in SETTINGS
            if (variable := f"TIDEGAUGE_{name.upper()}") in environment
        },
    }
    for name in set(values) - set(SETTINGS):
        known = [*SETTINGS, KEYS]
        problems.append(f"{values.pop(name)[1]}: unknown setting {name!r}{_nearest(name, known)}")
    settings = {
        name: _setting(name, kind, values.get(name), problems) for name, kind in SETTINGS.items()
    }
    for name, value in (options or {}).items():
        if value is not None:
            settings[name] = _option(name, value)
    keys = _keys(written.get(KEYS, {}), str(path), problems)
    return Configuration(settings, keys, tuple(problems), path)


def _option(name: str, value: object) -> Setting:
    option = f"--{name}"
    try:
        return Setting(name, SETTINGS[name].read(value), option)
    except Wrong as error:
        raise Wrong(f"{option}: {error}") from None


def _read(path: Path, *, must_exist: bool, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular(path, FILE_BYTES_MAX).decode())
    except FileNotFoundError:
        if must_exist:
            problems.append(f"{path}: there is no such file ({FILE_VARIABLE} names it)")
    except OSError as error:
        problems.append(f"{path}: cannot be read: {error.strerror}")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(f"{path}: not TOML: {error}")
    return {}


def _setting(
    name: str, kind: Kind, setting: tuple[object, str] | None, problems: list[str]
) -> Setting:
    if setting is not None:
        value, origin = setting
        try:
            return Setting(name, kind.read(value), origin)
        except Wrong as error:
            problems.append(f"{origin}: {name}: {error}")
    return Setting(name, kind.default, "default")


def _keys(given: object, origin: str, problems: list[str]) -> dict[str, tuple[str, ...]]:
    """The user's valid keys; a key that two actions would share is invalid."""
    if not isinstance(given, dict):
        problems.append(f"{origin}: {KEYS} is not a table; write [{KEYS}] and then id = 'key'")
        return {}
    taken: dict[str, tuple[str, ...]] = {}
    for id, value in given.items():
        keys = tuple(value) if isinstance(value, list) else (value,)
        wrong = _wrong_key(id, keys)
        if wrong:
            problems.append(f"{origin}: {KEYS}: {wrong}")
        else:
            taken[id] = keys
    while shared := clashes(with_keys(ACTIONS.values(), taken)):
        context, key, ids = shared[0]
        problems.append(
            f"{origin}: {KEYS}: {key!r} would be both {' and '.join(ids)} (on {context}); "
            "their keys stay as they were"
        )
        for id in ids:
            taken.pop(id, None)
    return taken


def _wrong_key(id: str, keys: tuple[Any, ...]) -> str:
    if id not in ACTIONS:
        return f"unknown action {id!r}{_nearest(id, list(ACTIONS))}"
    for key in keys:
        if not isinstance(key, str) or not KEY.fullmatch(key) or not _is_known(key):
            return f"{id}: {key!r} is not a key; keys are written 'x', 'ctrl+x', 'f5', 'space'"
    return "" if keys else f"{id}: an action needs at least one key"


def _is_known(key: str) -> bool:
    """Whether the key exists: one character, or a name that Textual knows."""
    name = key.rpartition("+")[2] or "+"
    if len(name) == 1:
        return True
    from textual.keys import Keys

    return any(name == known.value.rpartition("+")[2] for known in Keys)
