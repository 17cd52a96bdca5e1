"""To be written."""

import typer

app = typer.Typer()
