"""Statements as click commands, which parsing, help, completion and documentation all use.

An input that declares a statement (:mod:`emulator.inputs.words`) becomes a command by
:func:`command_of`. :func:`statement` makes one of a function whose annotated parameters are the
words, for a statement whose words are not the fields of its input.
"""

import inspect
from collections.abc import Callable
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import click
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

from commands.language.kinds import KINDS, parser_of
from emulator.inputs.statements import Input
from emulator.inputs.words import Word
from sessions.grammar.words import BadWord

Function = TypeVar("Function", bound=Callable[..., Any])
Parse = Callable[[str], Any]
"""Parses a word; raises :class:`~sessions.grammar.words.BadWord`."""

Terms = Callable[[], tuple[str, list[tuple[str, str]]]]
"""Returns a title, and words with their meanings."""

RAW: Final = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""For statements that parse their words themselves: ``-1`` is a word, not an option."""


class Declared(Struct, frozen=True):
    """One positional argument of a statement, or an option, which has ``names``.

    ``text`` is its help text.
    """

    names: tuple[str, ...]
    metavar: str
    text: str
    parse: Parse = str
    is_flag: bool = False


def argument(metavar: str, parse: Parse | None = None, text: str = "") -> Declared:
    """Declare a positional argument; without ``parse`` it is of the kind that ``metavar`` names."""
    if parse is None:
        parse = KINDS[metavar].parse if metavar in KINDS else str
    return Declared((), metavar, text, parse)


def option(
    *names: str,
    metavar: str = "",
    parse: Parse = str,
    kind: str = "",
    text: str,
    default: str = "",
) -> Declared:
    """Declare an option with a value, of a ``kind`` or parsed by a function of its own.

    ``default`` is the default shown in help.
    """
    if kind:
        metavar, parse = KINDS[kind]
    description = f"{text} [default: {default}]" if default else text
    return Declared(names, metavar, description, parse)


def flag(*names: str, text: str) -> Declared:
    """Declare an option without a value."""
    return Declared(names, "", text, is_flag=True)


class WrongWordError(click.BadParameter):
    """An invalid word in a statement; ``word`` is the word as it was given."""

    def __init__(
        self, error: BadWord, word: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> None:
        super().__init__(str(error), ctx=ctx, param=param)
        self.word = word


class Meaning(click.ParamType[Any]):
    """Parameter type that converts a word with a parse function."""

    name = "word"

    def __init__(self, parse: Parse) -> None:
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as inherited
        """Parse the word; a default that is not a word is returned unchanged."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(str(value))
        except BadWord as error:
            raise WrongWordError(error, value, param, ctx) from None


class Argument(click.Argument):
    """A positional argument; with any number of words its value is a list."""

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:  # noqa: ANN401 - as inherited
        """Return the parsed word, or a list of them."""
        parsed = super().type_cast_value(ctx, value)
        return list(parsed) if self.nargs == -1 else parsed


class Statement(click.Command):
    """A statement; its help ends with ``terms``: a title, and words with their meanings."""

    def __init__(
        self,
        name: str,
        *,
        terms: Terms | None,
        **settings: Any,
    ) -> None:
        super().__init__(name, **settings)
        self.terms = terms

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if self.terms is not None:
            title, words = self.terms()
            with formatter.section(title):
                formatter.write_dl(words)


def statement(
    group: click.Group,
    name: str,
    settings: dict[str, Any] | None = None,
    terms: Terms | None = None,
) -> Callable[[Function], Function]:
    """Declare a function as the statement ``name`` of a group, with click's context settings.

    Its help ends with ``terms``.
    """

    def declared(function: Function) -> Function:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
        group.add_command(
            Statement(
                name,
                terms=terms,
                callback=function,
                params=[_parameter(parameter, hints[parameter.name]) for parameter in parameters],
                help=inspect.getdoc(function),
                context_settings=settings,
                add_help_option=False,
            )
        )
        return function

    return declared


def _parameter(parameter: inspect.Parameter, hint: Any) -> click.Parameter:  # noqa: ANN401 - a type
    """Return the click parameter for a function's parameter; a list takes any number of words."""
    assert get_origin(hint) is Annotated
    kind, declared = get_args(hint)
    assert isinstance(declared, Declared)
    many = any(get_origin(part) is list for part in (kind, *get_args(kind)))
    required = parameter.default is inspect.Parameter.empty
    default = {} if required else {"default": parameter.default}
    if not declared.names:
        return Argument(
            [parameter.name],
            help=declared.text,
            metavar=declared.metavar,
            type=Meaning(declared.parse),
            required=required,
            nargs=-1 if many else 1,
            **default,
        )
    if declared.is_flag:
        return click.Option(
            [*declared.names, parameter.name], is_flag=True, default=False, help=declared.text
        )
    return click.Option(
        [*declared.names, parameter.name],
        metavar=declared.metavar,
        type=Meaning(declared.parse),
        required=required,
        multiple=many,
        help=declared.text,
        **default,
    )


Finish = Callable[[Any], Input]
"""Completes an input that was made of a statement's words, or raises BadWord."""


def command_of(kind: type[Input], finish: Finish | None) -> Statement:
    """Return the command of the statement that an input declares.

    A field that may be left out, and does not say how it is written, is no word of it.
    """
    hints = get_type_hints(kind, include_extras=True)
    written = [field for field in fields(kind) if field.required or _is_word(hints[field.name])]
    parsed = {field.name: _parts(hints[field.name]) for field in written}
    containers = {
        name: get_origin(plain)
        for name, (plain, _, _) in parsed.items()
        if get_origin(plain) in (list, dict)
    }
    turned = [name for name, (_, word, _) in parsed.items() if word.off]
    defaults = {field.name: field.default for field in written if not field.required}

    def is_default(name: str, value: object) -> bool:
        return name in defaults and type(value) is type(defaults[name]) and value == defaults[name]

    def make_input(**words: Any) -> Input:
        fields = {name: value for name, value in words.items() if value is not None}
        fields |= {
            name: container(fields[name])
            for name, container in containers.items()
            if name in fields
        }
        fields |= {name: not fields[name] for name in turned}
        # A default that is written out is the default itself: msgspec leaves out what is the same
        # object, so that otherwise two words for one cluster would come to two state hashes.
        input_ = kind(
            **{name: value for name, value in fields.items() if not is_default(name, value)}
        )
        return input_ if finish is None else finish(input_)

    return Statement(
        kind.statement.rpartition(" ")[2],
        terms=None,
        callback=make_input,
        params=[_parameter_of(field, *parsed[field.name]) for field in written],
        help=inspect.getdoc(kind),
        add_help_option=False,
    )


def _is_word(hint: object) -> bool:
    return any(isinstance(part, Word) for part in get_args(hint)[1:])


def _parts(hint: Any) -> tuple[Any, Word, list[Meta]]:  # noqa: ANN401 - a type
    """Return a field's type without None, how it is written, and the bounds of a number."""
    words = [part for part in get_args(hint)[1:] if isinstance(part, Word)]
    if not words:
        raise TypeError(f"{hint} does not say how it is written")
    bounds = [part for part in get_args(hint)[1:] if isinstance(part, Meta)]
    plain = get_args(hint)[0]
    if isinstance(plain, UnionType) or get_origin(plain) is Union:
        plain = next(part for part in get_args(plain) if part is not NoneType)
    if get_origin(plain) is Annotated:
        bounds += [part for part in get_args(plain)[1:] if isinstance(part, Meta)]
        plain = get_args(plain)[0]
    return plain, words[-1], bounds


def _parameter_of(
    field: FieldInfo,
    plain: Any,  # noqa: ANN401 - a type
    word: Word,
    bounds: list[Meta],
) -> click.Parameter:
    choices = get_args(plain) if get_origin(plain) is Literal else ()
    metavar = word.metavar or "|".join(choices)
    if plain is bool:
        names = [*word.names, field.name]
        return click.Option(names, is_flag=True, default=False, help=word.text)
    settings: dict[str, Any] = {
        "required": field.required,
        "metavar": metavar,
        "type": Meaning(parser_of(word.kind or metavar, choices, bounds)),
    }
    if not word.names:
        nargs = -1 if word.many else 1
        return Argument([field.name], help=word.text, nargs=nargs, **settings)
    text = f"{word.text} [default: {word.default}]" if word.default else word.text
    return click.Option([*word.names, field.name], help=text, multiple=word.many, **settings)
