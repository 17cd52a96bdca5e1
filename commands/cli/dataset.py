"""``tidegauge dataset``: maintain a Parquet dataset of sessions."""

from pathlib import Path
from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import AsJson, argument, flag, option
from commands.language import values
from commands.output import streams

app = typer.Typer(
    name="dataset",
    help="Inspect and maintain a dataset: info, verify, compact, remove, export, convert.",
    epilog=examples(
        "tidegauge dataset info dataset/",
        "tidegauge dataset verify dataset/",
        "tidegauge dataset compact dataset/",
        "tidegauge dataset remove dataset/ run-1 run-2",
        "tidegauge dataset export dataset/ --format delta --out tables/",
    ),
)

Dataset = Annotated[str, argument("DATASET", text="a dataset, a folder or URI")]


@app.command(
    "info",
    epilog=examples("tidegauge dataset info dataset/", "tidegauge dataset info dataset/ --json"),
)
def info(dataset: Dataset, as_json: AsJson = False) -> None:
    """Show the number of sessions, rows, files and bytes.

    Only the manifest is read, so this is equally fast for a large dataset.
    """
    from commands.runs import dataset as work

    contents = work.info(dataset)
    if as_json:
        streams.emit_json(work.plain(contents))
    else:
        streams.emit_tables(work.tables(contents))


@app.command(
    "verify",
    epilog=examples(
        "tidegauge dataset verify dataset/", "tidegauge dataset verify dataset/ --json"
    ),
)
def verify(dataset: Dataset, as_json: AsJson = False) -> None:
    """Verify that all files are there, unchanged, with the declared columns, and none else.

    All files are read. Exit status 0: nothing is wrong; 1: there are files that do not belong to
    the dataset, or an unfinished commit; 5: rows are lost or changed.
    """
    from commands.runs import dataset as work

    verification = work.verify(dataset)
    if as_json:
        streams.emit_json(work.plain(verification))
    else:
        streams.emit_tables(work.verified(verification))
    work.end(verification)


@app.command("compact", epilog=examples("tidegauge dataset compact dataset/"))
def compact(dataset: Dataset) -> None:
    """Merge the small files that many exports leave, sorted by session.

    Readers see either the old files or the new ones. An analysis that is reading the old files at
    that moment fails with an error and can be restarted.
    """
    from commands.runs import dataset as work

    work.compact(dataset)


@app.command("remove", epilog=examples("tidegauge dataset remove dataset/ run-1 run-2"))
def remove(
    dataset: Dataset,
    sessions: Annotated[
        list[str], argument("SESSION..", text="the names of the sessions to remove")
    ],
) -> None:
    """Remove sessions from a dataset.

    Files that also contain other sessions are rewritten. If one of the sessions is not in the
    dataset, none is removed.
    """
    from commands.runs import dataset as work

    work.remove(dataset, sessions)


@app.command(
    "export",
    epilog=examples(
        "tidegauge dataset export dataset/ --format delta --out tables/",
        "tidegauge dataset export dataset/ --format iceberg --out tables/ --replace",
    ),
)
def export(
    dataset: Dataset,
    format_: Annotated[
        str,
        option(
            "--format",
            metavar="delta|iceberg",
            parse=values.choice("delta", "iceberg"),
            text="Delta Lake, or Apache Iceberg; needs the extra of that name",
        ),
    ],
    out: Annotated[Path, option("--out", metavar="FOLDER", text="a new folder for the tables")],
    replace: Annotated[
        bool, flag("--replace", text="replace the tables of an earlier export in that folder")
    ] = False,
) -> None:
    """Write all tables as tables of Delta Lake or Apache Iceberg: FOLDER/TABLE.

    They have the dataset's rows at this moment, and its columns with their meanings as comments.
    While they are replaced, readers may find some of them missing.
    """
    from commands.runs import dataset as work

    work.export(dataset, format_, out, replace=replace)


@app.command("convert", epilog=examples("tidegauge dataset convert old/ --out new/"))
def convert(
    dataset: Annotated[str, argument("DATASET", text="a dataset of an earlier release")],
    out: Annotated[str, option("--out", metavar="NEW", text="the new dataset; created if missing")],
) -> None:
    """Convert a dataset of an earlier release to the current layout.

    The old dataset is left unchanged. An interrupted conversion resumes when it is run again.
    """
    from commands.runs import dataset as work

    work.convert(dataset, out)
