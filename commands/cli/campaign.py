"""``tidegauge campaign``: run one script with many seeds and parameter values on Spark."""

from typing import Annotated, Any

import typer

from commands.cli.examples import examples
from commands.cli.options import (
    Image,
    JsonObject,
    Mode,
    Settings,
    Variables,
    Version,
    argument,
    flag,
    named,
    option,
)
from commands.cli.spark_options import Master, Remote, SparkConf, require_one, spark_conf
from commands.exits import ExitCode
from commands.language.ranges import Seeds, Variation, seeds, variation
from commands.output import streams

app = typer.Typer()


def chaos_of(words: str) -> Any:  # noqa: ANN401
    """Parse like :func:`sessions.campaign.chaos.chaos_kinds`."""
    from sessions.campaign.chaos import chaos_kinds

    return chaos_kinds(words)


LIMIT_US = 60_000_000
"""Default limit on the wall-clock time of a run."""

EXAMPLES = examples(
    "tidegauge campaign failover.tide --seeds 0..9999 --out dataset/",
    "tidegauge campaign failover.tide --vary acks=1,all --vary version=0.10.2,3.9 --out dataset/",
    "tidegauge campaign failover.tide --vary config.min.insync.replicas=1,2 --json --out dataset/",
    "tidegauge campaign failover.tide --chaos crash,freeze:2,cut,delay --shrink --out dataset/",
    "tidegauge campaign failover.tide --image prod.cluster.json --seeds 0..99 --out dataset/",
    "tidegauge campaign failover.tide --master spark://host:7077 --out /shared/dataset",
)


Vary = Annotated[
    list[Variation] | None,
    option(
        "--vary",
        metavar="NAME=V,V,..",
        parse=variation,
        text="vary a script variable, version, mode or config.K; all combinations are run",
    ),
]
Limit = Annotated[
    int,
    option(
        "--limit",
        kind="positive D",
        text="maximum wall-clock time of each run",
        default="60s",
    ),
]


@app.command("campaign", epilog=EXAMPLES)
def campaign(
    script: Annotated[str, argument("SCRIPT", text="a script")],
    out: Annotated[
        str,
        option(
            "--out", metavar="DATASET", text="a new dataset, or that of this campaign to resume it"
        ),
    ],
    seed_ranges: Annotated[
        Seeds | None,
        option(
            "--seeds",
            metavar="A..B",
            parse=seeds,
            text="random seeds, both ends included",
            default="0..99",
        ),
    ] = None,
    vary: Vary = None,
    variables: Variables = None,
    version: Version = None,
    mode: Mode = None,
    config: Settings = None,
    image: Image = None,
    limit: Limit = LIMIT_US,
    master: Master = None,
    remote: Remote = None,
    conf: SparkConf = None,
    chaos: Annotated[  # noqa: ANN401 - its module need not be loaded to show help
        Any,
        option(
            "--chaos",
            metavar="KIND,KIND:N,..",
            parse=chaos_of,
            text="add faults to each run, drawn from its random seed, N of each kind (1): crash, "
            "stop, freeze, cut, delay",
        ),
    ] = None,
    shrink: Annotated[
        bool,
        flag("--shrink", text="reduce the runs worth looking at to the statements that matter"),
    ] = False,
    as_json: JsonObject = False,
) -> int:
    """Run a script with many seeds, in every combination of the varied parameters, on Spark.

    Each run becomes a session in the dataset. Prints one row of outcomes for each combination, and
    the runs worth looking at, each as the command that opens it in the console. After ctrl-c,
    repeat the command to resume the campaign; with more seeds or values, only the missing runs are
    made.
    Exit status 1: a run failed, raised an exception or hung; 3: Java or Spark is missing, or the
    dataset belongs to another campaign.
    """
    require_one("campaign", master, remote)
    from commands.runs import campaign as campaigning
    from commands.runs.campaign_plan import CampaignOptions, plan

    options = CampaignOptions(
        file=script,
        seeds=seed_ranges,
        vary=vary or (),
        variables=named(variables),
        version=version,
        config=config or (),
        chaos=chaos,
        mode=mode,
        image=image,
    )
    planned, unused = plan(options)
    for name in unused:
        if name in options.variables:
            streams.narrate(f"--set {name}: nothing in the script asks for ${{{name}}}")
    report = campaigning.campaign(
        planned, out, limit, master, remote, spark_conf(conf), shrink=shrink
    )
    if report is None:
        return ExitCode.INTERRUPTED
    if as_json:
        streams.emit_json(campaigning.plain(report))
    else:
        streams.emit_tables([campaigning.matrix(report)])
        streams.emit("\n" + campaigning.to_look_at(report))
    return ExitCode.FAILED if report.failed else ExitCode.OK
