"""The console's settings: where each comes from, and what becomes of a broken file."""

from pathlib import Path
from typing import Protocol

import pytest

from console.model.settings import (
    SETTINGS,
    Configuration,
    Wrong,
    configuration,
    defaults,
    example_file,
)


class Read(Protocol):
    """Reads settings from a file of this text."""

    def __call__(
        self, text: str, options: dict[str, object] | None = None, **environment: str
    ) -> Configuration: ...


@pytest.fixture
def written(tmp_path: Path) -> Read:
    """Write the file, and read it with an environment that names it."""

    def read(
        text: str, options: dict[str, object] | None = None, **environment: str
    ) -> Configuration:
        path = tmp_path / "config.toml"
        path.write_text(text)
        return configuration(options, {"TIDEGAUGE_CONFIG": str(path), **environment})

    return read


def test_without_a_file_everything_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    found = configuration(environment={})
    assert not found.path.exists()
    assert {each.origin for each in found.settings.values()} == {"default"}
    assert found.settings == defaults().settings


def test_option_beats_environment_beats_file_beats_default(written: Read) -> None:
    found = written(
        "theme = 'light'\nspeed = 4\nmouse = false\n", {"theme": "dark"}, TIDEGAUGE_SPEED="8"
    )
    assert found.settings["theme"].origin == "--theme"
    assert (found.value("speed"), found.settings["speed"].origin) == (8.0, "TIDEGAUGE_SPEED")
    assert found.value("mouse") is False
    assert found.settings["mouse"].origin.endswith("config.toml")
    assert found.settings["ascii"].origin == "default"
    assert found.problems == ()


def test_the_example_sets_everything_to_its_default(written: Read) -> None:
    found = written(example_file())
    assert found.problems == ()
    assert {name: found.value(name) for name in SETTINGS} == {
        name: kind.default for name, kind in SETTINGS.items()
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theme = 'drak'", "theme: 'drak' is not a theme; did you mean 'dark'?"),
        ("them = 'dark'", "unknown setting 'them'; did you mean 'theme'?"),
        ("ascii = 'perhaps'", "ascii: 'perhaps' is neither true nor false"),
        ("speed = 1000", "speed: 1000 is not between 0.0625 (1/16) and 256"),
        ("speed = 'fast'", "speed: 'fast' is not a number"),
        ("theme = ", "not TOML: "),
        ("keys = 3", "keys is not a table"),
        ("[keys]\n'time.pauze' = 'x'", "unknown action 'time.pauze'; did you mean 'time.pause'?"),
        ("[keys]\n'time.pause' = 'ctrl+bogus'", "'ctrl+bogus' is not a key"),
        ("[keys]\n'time.pause' = 7", "7 is not a key"),
        ("[keys]\n'time.pause' = []", "an action needs at least one key"),
        ("[keys]\n'time.pause' = 'L'", "'L' would be both time.pause and time.live"),
    ],
)
def test_what_is_wrong_is_told_and_passed_over(written: Read, text: str, said: str) -> None:
    found = written(text)
    assert len(found.problems) == 1
    assert said in found.problems[0]
    assert found.keys == {}
    assert found.settings == defaults().settings


def test_a_file_that_is_named_has_to_be_there(tmp_path: Path) -> None:
    found = configuration(environment={"TIDEGAUGE_CONFIG": str(tmp_path / "none.toml")})
    assert "there is no such file" in found.problems[0]


def test_two_actions_may_swap_their_keys(written: Read) -> None:
    found = written("[keys]\n'time.pause' = 'L'\n'time.live' = ['space', 'f5']")
    assert found.problems == ()
    assert found.keys == {"time.pause": ("L",), "time.live": ("space", "f5")}


def test_a_wrong_option_is_refused() -> None:
    with pytest.raises(Wrong, match="did you mean 'light'"):
        configuration({"theme": "ligth"})
