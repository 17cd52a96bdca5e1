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
    files: Annotated[list[str], argument("FILE", text="session files, *.tide.db")],
    out: Annotated[
        str,
        option("--out", metavar="DATASET", text="a dataset, a folder or URI; created if missing"),
    ],
    replace: Annotated[bool, flag("--replace", text="replace sessions of the same name")] = False,
) -> ExitCode:
    """Add sessions to a Parquet dataset.

    A session is named after its file in the dataset. A session becomes visible only once all of it
    is written. Sessions that are already in the dataset are skipped, so an interrupted export
    resumes when it is run again. Exit status 3: the dataset cannot be written, or already has a
    different session of the same name; 5: a session cannot be read, or not from its beginning, and
    the others are exported; 6: all are exported, but one is damaged, is still being recorded, or
    was killed.
    """
    from commands.runs.export import export_files

    return export_files(files, out, replace=replace)
