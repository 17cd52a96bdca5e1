"""Reference commands: versions, keys, statements."""

from typing import TYPE_CHECKING, Annotated

import typer

from commands.cli import candidates
from commands.cli.examples import examples
from commands.cli.options import AsJson, argument, flag
from commands.exits import CommandError, ExitCode
from commands.output import streams

if TYPE_CHECKING:
    from commands.output.grids import Cell, Grid

app = typer.Typer()

Words = argument("STATEMENT", text="one statement", among=candidates.statements)


@app.command("versions", epilog=examples("tidegauge versions", "tidegauge versions --json"))
def versions(as_json: AsJson = False) -> None:
    """Print the releases that can be emulated, and which of them behave alike.

    Every release from 0.8.1 to 4.4 can be emulated; 2.3 is short for the latest 2.3.x. Releases
    listed after 'alike' have the same rules and defaults. Each release is followed by what it
    added, removed and changed, with the KIP or JIRA issue.
    """
    from commands.library.release_changes import behaviours, changes
    from commands.output.grids import Grid
    from emulator.releases.profiles import DEFAULT_VERSION

    if as_json:
        listed = [change for index in range(len(behaviours())) for change in changes(index)]
        streams.emit_json(listed)
        return
    rows = []
    for index, behaviour in enumerate(behaviours()):
        version = behaviour.version
        name = f"{version} (default)" if version == DEFAULT_VERSION else version
        for change in changes(index):
            about = f"{change.name}: " if "default" in change.what or "." in change.name else ""
            rows.append((name, change.what, change.label, f"{about}{change.meaning}"))
            name = ""
    _print(Grid("versions", ("VERSION", "CHANGE", "BY", "WHAT"), list(rows)), as_json)


@app.command(
    "keys",
    epilog=examples("tidegauge keys", "tidegauge keys --json", "tidegauge keys --defaults"),
)
def keys(
    as_json: AsJson = False,
    defaults: Annotated[bool, flag("--defaults", text="print the default keys")] = False,
) -> None:
    """Print the console's key bindings.

    If the configuration file has any, each is printed with its origin.
    """
    from commands.output.grids import Grid
    from console.actions.lookup import ACTIONS, keys_document, with_keys
    from console.model.settings import configuration
    from console.model.settings import defaults as without_file

    configured = without_file() if defaults else configuration()
    for problem in configured.problems:
        streams.narrate(problem)
    actions = with_keys(ACTIONS.values(), configured.keys)
    if as_json:
        streams.emit_json(keys_document(actions))
        return
    rows = [
        (
            action.id,
            " ".join(action.keys),
            ", ".join(action.contexts),
            action.help,
            str(configured.path) if action.id in configured.keys else "default",
        )
        for action in actions
    ]
    columns = ("ID", "KEYS", "WHERE", "WHAT", "ORIGIN")
    unprinted = () if configured.keys else ("ORIGIN",)
    streams.emit_tables([Grid("keys", columns, list(rows), unprinted=unprinted)])


@app.command(
    "statements",
    epilog=examples("tidegauge statements", "tidegauge statements topic create"),
)
def statements(
    words: Annotated[list[str] | None, Words] = None,
    markdown: Annotated[
        bool, flag("--markdown", text="print all of them as a Markdown page")
    ] = False,
) -> None:
    """Print the statements of the command language, or the help of one of them."""
    if markdown:
        from commands.language.reference import statements_page

        streams.emit(statements_page())
        return
    from commands.language.grammar import find, leaves, program
    from commands.output.grids import Grid
    from sessions.grammar.words import BadWord

    if not words:
        rows: list[tuple[Cell, ...]] = [
            (name, (command.help or "").splitlines()[0]) for name, command in leaves(program())
        ]
        streams.emit_tables([Grid("statements", ("STATEMENT", "WHAT"), rows)])
        return
    try:
        command, name, _ = find(words)
    except BadWord as error:
        raise CommandError(ExitCode.USAGE, str(error)) from None
    with command.make_context(name, [], resilient_parsing=True) as context:
        streams.emit(f"{command.get_help(context)}\n")


def _print(grid: "Grid", as_json: bool) -> None:

    if as_json:
        streams.emit_json(grid.plain())
    else:
        streams.emit_tables([grid])
