"""``tidegauge analyze``: Spark's answers to what many recordings say."""

from typing import Annotated

import typer

from commands import output
from commands.exits import CommandError, ExitCode
from commands.program.examples import examples
from commands.statements.kinds import argument, option

app = typer.Typer()

EXAMPLES = examples(
    "tidegauge analyze dataset/ --out report/",
    "tidegauge analyze dataset/ --out report/ --master spark://host:7077",
    "tidegauge analyze dataset/ --out report/ --remote sc://host:15002",
)


@app.command("analyze", epilog=EXAMPLES)
def analyze(
    dataset: Annotated[str, argument("DATASET", text="what 'sessions export' made")],
    out: Annotated[str, option("--out", metavar="DIR", text="a new folder for the results")],
    master: Annotated[
        str | None,
        option("--master", metavar="URL", text="a Spark master", default="this machine"),
    ] = None,
    remote: Annotated[
        str | None, option("--remote", metavar="URL", text="a Spark Connect server: sc://..")
    ] = None,
) -> None:
    """Analyze a dataset of sessions with Spark.

    Availability, failover, commit latency, ISR churn, durability and more; results are Parquet and
    tables. Exit status 3: there is no Java, no Spark or no dataset.
    """
    if master and remote:
        raise CommandError(
            ExitCode.USAGE, "'tidegauge analyze' takes --master or --remote, not both"
        )
    from commands.analysing import analysis

    output.emit_tables(analysis(dataset, out, master, remote))
