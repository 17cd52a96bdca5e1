"""``tidegauge sessions export``: add sessions to a Parquet dataset."""

from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import argument, flag, option
from commands.exits import ExitCode

app = typer.Typer()


@app.command(
    "export",
    epilog=examples(
        "tidegauge sessions export run.tide.db --out dataset/",
        "tidegauge sessions export recordings/*.tide.db --out dataset/",
        "tidegauge sessions export run.tide.db --out s3a://bucket/dataset",
        "tidegauge sessions export run.tide.db --out dataset/ --replace",
    ),
)
def export(
    files: Annotated[list[str], argument("FILE", text="sessions, *.tide.db")],
    out: Annotated[
        str,
        option("--out", metavar="DATASET", text="a dataset, a folder or URI; created if missing"),
    ],
    replace: Annotated[
        bool, flag("--replace", text="put a session in the place of another of its name")
    ] = False,
) -> ExitCode:
    """Add sessions to a Parquet dataset.

    A session's name in the dataset is its file's. Nothing is seen of a session before all of it is
    there. One that is there already is left out: so an export that was broken off goes on when it
    is started again. Exit status 3: the dataset cannot be written, or has another session of a
    name; 5: a session cannot be read, or not from its beginning; the others are exported; 6: all
    are exported, but one is damaged, is still being recorded, or was killed.
    """
    from commands.runs.export import export_files

    return export_files(files, out, replace=replace)
