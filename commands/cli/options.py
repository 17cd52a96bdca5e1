"""Declarations of arguments and options, and the options that several commands share."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from msgspec import Struct

from commands.cli import candidates
from commands.exits import CommandError, ExitCode
from commands.language import values
from commands.language.cluster_options import ClusterOptions
from commands.language.kinds import KINDS
from commands.language.places import size
from sessions.grammar.words import BadWord

if TYPE_CHECKING:
    from sessions.own_cluster.places import Place

Parse = Callable[[str], Any]
"""Parses a word; raises :class:`~sessions.grammar.words.BadWord`."""
Value = Any
"""What typer passes to a parser: the word, or a default."""
Declaration = Any
"""Return type of typer's ``Argument`` and ``Option``."""
Candidates = Callable[..., list[str]]
"""Returns completion candidates for the word being typed."""


CANDIDATES: Final[dict[str, Candidates]] = {"VERSION": candidates.versions}
"""The completions of kinds of words."""


def parsed(parse: Parse) -> Callable[[Value], Value]:
    """Adapt ``parse`` to typer: pass defaults through and raise typer's error for a bad word."""

    @wraps(parse)
    def checked(value: Value) -> Value:
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except BadWord as error:
            raise typer.BadParameter(str(error)) from None

    return checked


def argument(
    metavar: str, parse: Parse | None = None, text: str = "", among: Candidates | None = None
) -> Declaration:
    """Declare a positional argument; a shell completes it from ``among``."""
    parser = parsed(parse) if parse else None
    return typer.Argument(
        metavar=metavar, parser=parser, help=text, show_default=False, autocompletion=among
    )


def option(
    *names: str,
    metavar: str = "",
    parse: Parse | None = None,
    kind: str = "",
    text: str,
    default: str = "",
    among: Candidates | None = None,
) -> Declaration:
    """Declare an option with a value, of a ``kind`` or parsed by a function of its own.

    ``default`` is the default shown in help.
    """
    if kind:
        metavar, parse = KINDS[kind]
        among = CANDIDATES.get(kind, among)
    return typer.Option(
        *names,
        metavar=metavar,
        parser=parsed(parse) if parse else None,
        help=f"{text} [default: {default}]" if default else text,
        show_default=False,
        autocompletion=among,
    )


def flag(*names: str, text: str) -> Declaration:
    """Declare an option without a value."""
    return typer.Option(*names, help=text, show_default=False)


def switch(names: str, *, text: str, default: str) -> Declaration:
    """Declare an option with an opposite, ``--name/--no-name``; ``default`` is shown in help."""
    return typer.Option(names, help=f"{text} [default: {default}]", show_default=False)


Settings = Annotated[
    list[values.Setting] | None,
    option(
        "--config",
        kind="K=V",
        text="set a broker property; may be repeated",
    ),
]

Version = Annotated[
    str | None,
    option(
        "--version",
        kind="VERSION",
        text="the Kafka release to emulate, or documents: what Kafka is taught from",
    ),
]
Mode = Annotated[
    str | None,
    option(
        "--mode",
        kind="kraft|zk",
        text="without ZooKeeper (3.3 to 4.4) or with it (up to 3.9)",
        default="zk up to 3.9",
    ),
]
Seed = Annotated[int | None, option("--seed", kind="S", text="the random seed")]
Variables = Annotated[
    list[values.Setting] | None,
    option(
        "--set",
        metavar="NAME=VALUE",
        parse=values.variable,
        text="the value of ${NAME} in the script; may be repeated",
    ),
]

Racks = Annotated[
    list[values.Setting] | None,
    option(
        "--rack",
        metavar="BROKER=RACK",
        parse=values.broker_rack,
        text="the rack of a broker; may be repeated",
    ),
]
ResourceSettings = Annotated[
    list[values.Setting] | None,
    option(
        "--set",
        metavar="K=V",
        parse=values.resource_setting,
        text="a configuration of all brokers, of one (broker:3:K=V) or of a topic "
        "(topic:orders:K=V); may be repeated",
    ),
]

Record = Annotated[
    str | None,
    option(
        "--record",
        metavar="PATH",
        parse=values.file_name,
        text="record to this *.tide.db file, or into this folder",
    ),
]

Keep = Annotated[
    int | None,
    option(
        "--keep",
        metavar="SIZE",
        parse=size,
        text="maximum size of the recording, such as 64MB; its oldest events are dropped",
        default="no limit",
    ),
]

Brokers = Annotated[
    int | None,
    option("--brokers", kind="brokers", text="number of brokers", default="3"),
]
Controllers = Annotated[
    int | None,
    option(
        "--controllers",
        kind="controllers",
        text="number of controllers without ZooKeeper",
        default="1",
    ),
]
Image = Annotated[
    str | None,
    option(
        "--image",
        kind="FILE",
        text="start the cluster in the state of an image (see 'tidegauge import')",
    ),
]

AsJson = Annotated[bool, flag("--json", text="print JSON")]
JsonObject = Annotated[bool, flag("--json", text="print one JSON object on standard output")]


class ClusterArguments(Struct, frozen=True, kw_only=True):
    """The options for a script's cluster, and the values of the script's variables."""

    version: Version = None
    mode: Mode = None
    config: Settings = None
    variables: Variables = None
    seed: Seed = None

    def options(self, **others: Any) -> ClusterOptions:
        """Return what the script's ``cluster`` line is overridden by; ``others`` win."""
        own = {name: getattr(self, name) for name in ("version", "mode", "config", "seed")}
        return ClusterOptions(**(own | others))

    def values(self) -> dict[str, str]:
        """Return the value of each ``${NAME}``."""
        return named(self.variables)


NO_CLUSTER: Final = ClusterArguments()


def with_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that each parameter of a struct's type has as fields."""
    signature = inspect.signature(command)
    groups: dict[str, type[Struct]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        group = parameter.annotation
        if isinstance(group, type) and issubclass(group, Struct):
            groups[parameter.name] = group
            parameters += [
                parameter.replace(name=name, annotation=annotation, default=getattr(group(), name))
                for name, annotation in group.__annotations__.items()
            ]
        else:
            parameters.append(parameter)

    @wraps(command)
    def run(**words: Value) -> Value:
        for name, group in groups.items():
            words[name] = group(**{field: words.pop(field) for field in group.__struct_fields__})
        return command(**words)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def named(variables: Sequence[values.Setting] | None) -> dict[str, str]:
    """Return the value of each ``${NAME}``; the last one given wins."""
    return {variable.name: variable.value for variable in variables or ()}


def place_at(at: str | None) -> "Place | None":
    """Return the place in a history that ``--at`` names.

    Raises:
        CommandError: it is neither an offset nor a time.
    """
    from sessions.own_cluster.places import place_of

    if at is None:
        return None
    try:
        return place_of(at)
    except ValueError as error:
        raise CommandError(ExitCode.USAGE, f"--at: {error}") from None
