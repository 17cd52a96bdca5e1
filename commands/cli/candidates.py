"""What a shell offers where a word is being typed: releases, themes, scenarios, statements.

Files need nothing: where no candidates are known, shells complete names of files by themselves.
"""

from collections.abc import Iterable

import typer


def versions(incomplete: str) -> list[str]:
    """Releases that can be emulated: the recommended ones, then all others."""
    from emulator.releases.profiles import PROFILES, VERSIONS

    return _beginning((*VERSIONS, *PROFILES), incomplete)


def several_versions(incomplete: str) -> list[str]:
    """The same where several are separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{version}" for version in versions(last)]


def themes(incomplete: str) -> list[str]:
    """Themes of the console."""
    from console.styles.themes import theme_names

    return _beginning(theme_names(), incomplete)


def scenarios(incomplete: str) -> list[str]:
    """Scenarios of the library."""
    from commands.library.index import library

    return _beginning((each.name for each in library()), incomplete)


def judged_scenarios(incomplete: str) -> list[str]:
    """Scenarios that ``matrix`` runs on every release."""
    from commands.library.index import SCENARIOS

    return _beginning((each.name for each in SCENARIOS), incomplete)


def statements(ctx: typer.Context, incomplete: str) -> list[str]:
    """The words of a statement: its first, and its second where there is one."""
    from commands.language.grammar import leaves, program

    typed = list(ctx.params.get("words") or [])
    names = [name.split() for name, _ in leaves(program())]
    following = (
        name[len(typed)] for name in names if name[: len(typed)] == typed and len(name) > len(typed)
    )
    return _beginning(following, incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    """The names that begin so, each once."""
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
