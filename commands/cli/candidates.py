"""Shell completion candidates: releases, themes, scenarios, statements.

File names need no candidates: without any, shells complete file names themselves.
"""

from collections.abc import Iterable

import typer


def versions(incomplete: str) -> list[str]:
    """Return the releases that can be emulated: the recommended ones first."""
    from emulator.releases.profiles import PROFILES, VERSIONS

    return _beginning((*VERSIONS, *PROFILES), incomplete)


def several_versions(incomplete: str) -> list[str]:
    """Return the same for a comma-separated list."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{version}" for version in versions(last)]


def themes(incomplete: str) -> list[str]:
    """Return the console's themes."""
    from console.styles.themes import theme_names

    return _beginning(theme_names(), incomplete)


def scenarios(incomplete: str) -> list[str]:
    """Return the scenarios of the library."""
    from commands.library.index import library

    return _beginning((scenario.name for scenario in library()), incomplete)


def judged_scenarios(incomplete: str) -> list[str]:
    """Return the scenarios that ``matrix`` runs on every release."""
    from commands.library.index import SCENARIOS

    return _beginning((scenario.name for scenario in SCENARIOS), incomplete)


def conform_scenarios(incomplete: str) -> list[str]:
    """Return the scenarios that ``conform`` runs with clients."""
    from commands.conformance.scenarios import SCENARIOS

    return _beginning((scenario.name for scenario in SCENARIOS), incomplete)


def clients(incomplete: str) -> list[str]:
    """Return the clients whose adapters come along."""
    from commands.conformance.clients import CLIENTS

    return _beginning(CLIENTS, incomplete)


def statements(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the candidates for a statement's first word, or for its second if it takes one."""
    from commands.language.grammar import leaves, program

    typed = list(ctx.params.get("words") or [])
    names = [name.split() for name, _ in leaves(program())]
    following = (
        name[len(typed)] for name in names if name[: len(typed)] == typed and len(name) > len(typed)
    )
    return _beginning(following, incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that start with the prefix, without duplicates."""
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
