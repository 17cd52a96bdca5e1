"""``tidegauge config``: the console's settings, and where each value comes from."""

from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec import Struct

from commands.cli.candidates import themes
from commands.cli.examples import examples
from commands.cli.options import AsJson, flag, option
from commands.exits import CommandError, ExitCode
from commands.output import streams
from sessions.grammar.places import Place, place

if TYPE_CHECKING:
    from console.model.settings import Configuration

app = typer.Typer()

Theme = Annotated[
    str | None,
    option(
        "--theme",
        metavar="NAME",
        text="dark, light, high-contrast, colour-blind, colour-blind-light, or one of Textual's",
        default="dark",
        among=themes,
    ),
]
Ascii = Annotated[bool, flag("--ascii", text="draw with plain ASCII")]
NoAnimation = Annotated[
    bool, flag("--no-animation", text="draw high watermarks and truncated records without moving")
]


class ScreenArguments(Struct, frozen=True, kw_only=True):
    """The options for the console's look and its start."""

    at: Annotated[
        Place | None,
        option(
            "--at",
            metavar="PLACE",
            parse=place,
            text="start at a time (12s, 12:04, -3m) or an event (#1289)",
        ),
    ] = None
    theme: Theme = None
    ascii_only: Ascii = False
    fps: Annotated[
        int | None,
        option("--fps", metavar="N", text="frames per second, 1 to 30; fewer on a slow link"),
    ] = None
    no_animation: NoAnimation = False
    paused: Annotated[bool, flag("--paused", text="start paused")] = False

    def settings(self, *, read_only: bool = False) -> "Configuration":
        """Return the console's settings, including those given as options.

        Raises:
            CommandError: an option's value is invalid.
        """
        from console.model.settings import Wrong, configuration

        options = {
            "theme": self.theme,
            "ascii": self.ascii_only or None,
            "read_only": read_only or None,
            "fps": self.fps,
            "animation": False if self.no_animation else None,
        }
        try:
            return configuration(options)
        except Wrong as error:
            raise CommandError(ExitCode.USAGE, str(error)) from None


NO_SCREEN: Final = ScreenArguments()


@app.command(
    "config",
    epilog=examples(
        "tidegauge config",
        "tidegauge config --json",
        "tidegauge config --example > ~/.config/tidegauge/config.toml",
    ),
)
def config(
    as_json: AsJson = False,
    example: Annotated[
        bool, flag("--example", text="print a configuration file with all defaults")
    ] = False,
) -> int:
    """Print the console's settings and the origin of each.

    Options override the environment (TIDEGAUGE_THEME and so on), which overrides the file, which
    overrides the defaults. TIDEGAUGE_CONFIG names another file. Errors in the file are reported
    and set the exit status to 2; the console reports them too, and ignores those lines.
    """
    from commands.output.grids import Grid, as_text
    from console.model.settings import configuration, example_file

    if example:
        streams.emit(example_file())
        return ExitCode.OK
    configured = configuration()
    rows = [
        *(
            (setting.name, str(setting.value), setting.origin)
            for setting in configured.settings.values()
        ),
        *(
            (f"keys.{id}", " ".join(keys), str(configured.path))
            for id, keys in configured.keys.items()
        ),
    ]
    if as_json:
        listed = [
            {"name": setting.name, "value": setting.value, "origin": setting.origin}
            for setting in configured.settings.values()
        ]
        document = {
            "file": str(configured.path),
            "settings": listed,
            "keys": configured.keys,
            "problems": configured.problems,
        }
        streams.emit_json(document)
    else:
        streams.emit(as_text([Grid("config", ("SETTING", "VALUE", "ORIGIN"), list(rows))]))
        streams.narrate(
            f"file: {configured.path}{'' if configured.path.exists() else ' (not there)'}"
        )
    for problem in configured.problems:
        streams.narrate(problem)
    return ExitCode.USAGE if configured.problems else ExitCode.OK
