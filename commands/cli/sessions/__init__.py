"""``tidegauge sessions``: inspect, verify and export recordings."""

import typer

from commands.cli.examples import examples
from commands.cli.sessions import delete, diff, export, html, list, script, show, trim, verify, why

app = typer.Typer(
    name="sessions",
    help="List, show, verify, compare, trim, export and delete recordings.",
    epilog=examples(
        "tidegauge sessions list recordings/",
        "tidegauge sessions verify recordings/scenario.tide.db",
    ),
)
for part in (list, show, why, html, verify, export, diff, trim, delete, script):
    app.add_typer(part.app)
