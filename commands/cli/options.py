"""Options that ``run`` and ``console`` share: those that go before what a ``cluster`` line says."""

from collections.abc import Sequence
from typing import Annotated

from commands.language import values
from commands.language.places import size
from commands.language.statements.parameters import option

Version = Annotated[
    str | None,
    option("--version", metavar="VERSION", parse=values.version, text="the release to emulate"),
]
Seed = Annotated[int | None, option("--seed", metavar="S", parse=values.seed, text="of all chance")]
Variables = Annotated[
    list[values.Setting] | None,
    option("--set", metavar="NAME=VALUE", parse=values.variable, text="what ${NAME} stands for"),
]

Record = Annotated[
    str | None,
    option(
        "--record", metavar="PATH", parse=values.file_name, text="a session *.tide.db, or a folder"
    ),
]

Keep = Annotated[
    int | None,
    option(
        "--keep",
        metavar="SIZE",
        parse=size,
        text="how large the recording may become (64MB): its oldest events are dropped",
        default="no limit",
    ),
]


def named(variables: Sequence[values.Setting] | None) -> dict[str, str]:
    """What each ``${NAME}`` stands for; the last one given counts."""
    return {variable.name: variable.value for variable in variables or ()}


def cluster_options(
    version: str | None, seed: int | None, config: Sequence[values.Setting] | None
) -> list[str]:
    """The ``cluster`` statement's own words for these options."""
    options = ["--version", version] if version is not None else []
    options += ["--seed", str(seed)] if seed is not None else []
    for setting in config or ():
        options += ["--config", f"{setting.name}={setting.value}"]
    return options
