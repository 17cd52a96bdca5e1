"""``tidegauge analyze``: analyze a dataset of recordings with Spark."""

from typing import Annotated

import typer

from commands.cli.examples import examples
from commands.cli.options import JsonObject, argument, option
from commands.cli.spark_options import Master, Remote, SparkConf, require_one, spark_conf
from commands.output import streams
from sessions.text import plural

app = typer.Typer()

EXAMPLES = examples(
    "tidegauge analyze dataset/ --out report/",
    "tidegauge analyze dataset/ --out report/ --job failover --job replay --json",
    "tidegauge analyze dataset/ --out report/ --master spark://host:7077",
    "tidegauge analyze dataset/ --out report/ --remote sc://host:15002",
    "tidegauge analyze s3a://bucket/dataset --out s3a://bucket/report "
    "--conf spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION",
)


@app.command("analyze", epilog=EXAMPLES)
def analyze(
    dataset: Annotated[
        str, argument("DATASET", text="a dataset made by 'sessions export' or 'campaign'")
    ],
    out: Annotated[
        str, option("--out", metavar="DIR", text="a folder for the results, new or of this dataset")
    ],
    master: Master = None,
    remote: Remote = None,
    conf: SparkConf = None,
    jobs: Annotated[
        list[str] | None,
        option("--job", metavar="NAME", text="run only this job; may be repeated", default="all"),
    ] = None,
    as_json: JsonObject = False,
) -> None:
    """Analyze a dataset of sessions with Spark.

    The jobs: availability, failover, latency, isr, durability, leaders, controller, quorum,
    anomalies, replay (docs/analysis.md). Results are written as Parquet; their worst rows are
    printed. If DIR contains an earlier analysis of the dataset, only sessions added since are
    analyzed. Exit status 3: Java, Spark or the dataset is missing, or DIR contains something else;
    5: the dataset cannot be read.
    """
    require_one("analyze", master, remote)
    from commands.runs import analysis

    report = analysis.analysis(dataset, out, master, remote, tuple(jobs or ()), spark_conf(conf))
    if report.added is not None:
        added, whole = plural(report.added, "new session"), plural(report.sessions, "session")
        streams.narrate(f"analyzed {added}; the results are about {whole}")
    if report.unlike:
        streams.narrate(
            f"the events of {plural(report.unlike, 'session')} do not build the state that was "
            f"recorded: see {report.out}/replay_differences"
        )
    if report.remark:
        streams.narrate(f"note: {report.remark}")
    if as_json:
        streams.emit_json(analysis.plain(report))
    else:
        streams.emit_tables(analysis.tables(report))
