import pytest
import typer
from typer.main import get_command

from commands.language.usage import Command, UsageError, explained

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("one")
def one(
    name: str,
    count: int = typer.Option(1, "--count"),
    loud: bool = typer.Option(False, "--loud"),
) -> None:
    """Do one thing."""


@app.command("none")
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
        (["none", "-x"], "'none' has no option '-x' (it has none)"),
    ],
)
def test_what_is_wrong_is_one_sentence(words: list[str], sentence: str) -> None:
    command: Command = get_command(app).commands[words[0]]  # type: ignore[attr-defined]
    with pytest.raises(UsageError) as raised:
        command.make_context(words[0], words[1:])
    assert explained(raised.value, command, words[0]) == sentence


def test_a_group_names_its_commands() -> None:
    group: Command = get_command(app)
    with pytest.raises(UsageError) as raised, group.make_context("all", ["two"]) as context:
        group.invoke(context)
    assert explained(raised.value, group, "all") == "'all' has no command 'two' (one, none)"
