from typing import Annotated

import click
import pytest

from commands.language.declaration import argument, flag, option, statement
from commands.language.usage import explained
from commands.language.values import natural

app = click.Group()


@statement(app, "one")
def one(
    name: Annotated[str, argument("NAME")],
    count: Annotated[int, option("--count", metavar="N", parse=natural, text="how many")] = 1,
    loud: Annotated[bool, flag("--loud", text="shout")] = False,
) -> None:
    """Do one thing."""


@statement(app, "none")
def none() -> None:
    """Take nothing."""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["one", "x", "--cuont", "1"], "'one' has no option '--cuont'; did you mean '--count'?"),
        (["one", "x", "--zzz"], "'one' has no option '--zzz' (--count, --loud)"),
        (["one", "x", "--count"], "'one': --count needs a value"),
        (["one", "x", "--loud=1"], "'one': --loud takes no value"),
        (["one", "x", "y", "z"], "'one' does not take 'y z'"),
        (["one"], "'one' needs NAME"),
        (["none", "-x"], "'none' has no option '-x' (it has none)"),
    ],
)
def test_what_is_wrong_is_one_sentence(words: list[str], sentence: str) -> None:
    command = app.commands[words[0]]
    with pytest.raises(click.UsageError) as raised:
        command.make_context(words[0], words[1:])
    assert explained(raised.value, command, words[0]) == sentence


def test_a_group_names_its_commands() -> None:
    with pytest.raises(click.UsageError) as raised, app.make_context("all", ["two"]) as context:
        app.invoke(context)
    assert explained(raised.value, app, "all") == "'all' has no command 'two' (one, none)"


def test_help_says_what_each_word_means() -> None:
    with app.commands["one"].make_context("one", [], resilient_parsing=True) as context:
        shown = app.commands["one"].get_help(context)
    assert "Positional arguments:\n  NAME" in shown
    assert "--count N  how many" in shown
