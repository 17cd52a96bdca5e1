"""The job ``controller``: what each controller did during its term."""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.job import Job, Result, in_ms, shown
from sessions.analysis.results.cluster import CONTROLLER_STEPS, CONTROLLER_WORK
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier, later, nearest
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import CONTROLLER, ELECTIONS, REQUESTS

TERM: Final = (SESSION, "broker", "epoch")
FAILOVER: Final = "onControllerFailover"
REQUESTED: Final = {
    "LeaderAndIsrRequest": "leader_and_isr",
    "UpdateMetadataRequest": "update_metadata",
    "StopReplicaRequest": "stop_replica",
}
"""Requests that controllers send to brokers, and the prefixes of their columns."""


def controller_work(source: DatasetTables) -> DataFrame:
    """Return the table :data:`CONTROLLER_WORK`: a row for each controller term."""
    terms = _terms(source.table(CONTROLLER))
    steps = (
        source.table(CONTROLLER)
        .where("change = 'step'")
        .select(SESSION, "broker", "seq", "time_us", F.lit("step").alias("act"), "procedure")
    )
    elections = source.table(ELECTIONS).select(
        SESSION,
        F.col("controller").alias("broker"),
        "seq",
        F.when(F.col("elected"), "elected").otherwise("not elected").alias("act"),
        "strategy",
    )
    requested = source.table(REQUESTS).where(F.col("name").isin(*REQUESTED))
    requests = requested.select(
        SESSION,
        F.col("source").alias("broker"),
        "seq",
        F.col("name").alias("act"),
        "partitions",
        F.col("answered_seq").isNull().alias("unanswered"),
    )
    acts = steps
    for rows in (elections, requests):
        acts = acts.unionByName(rows, allowMissingColumns=True)
    sums = (
        _in_term(acts, terms)
        .groupBy(*TERM)
        .agg(
            F.max(F.when(F.col("procedure") == FAILOVER, F.col("time_us"))).alias("ready_us"),
            F.count_if(F.col("act") == "step").alias("steps"),
            F.count_if(F.col("act") == "elected").alias("elections"),
            F.count_if(F.col("act") == "not elected").alias("elections_failed"),
            F.count_if((F.col("act") == "elected") & (F.col("strategy") == "Unclean")).alias(
                "unclean"
            ),
            *(F.count_if(F.col("act") == name).alias(column) for name, column in REQUESTED.items()),
            *(
                F.sum(F.when(F.col("act") == name, F.col("partitions")).otherwise(0)).alias(
                    f"{column}_partitions"
                )
                for name, column in REQUESTED.items()
            ),
            F.count_if("unanswered").alias("unanswered"),
        )
    )
    ready = (F.col("ready_us") - F.col("from_us")).alias("failover_us")
    whole = terms.join(sums, list(TERM), "left").select("*", ready)
    counted = [column.name for column in CONTROLLER_WORK.columns if not column.null]
    return whole.fillna(0, counted).select(*CONTROLLER_WORK.names)


def _terms(controller: DataFrame) -> DataFrame:
    """Return controller terms: from an election to the resignation or the next election."""
    change = F.struct("seq", "time_us")
    elected = F.when(F.col("change") == "elected", change)
    resigned = F.when(F.col("change") == "resigned", change)
    offices = controller.where("change <> 'step'").select(
        *TERM,
        "change",
        F.col("seq").alias("from_seq"),
        F.col("time_us").alias("from_us"),
        F.least(nearest(elected, later((SESSION,))), nearest(resigned, later(TERM))).alias("end"),
    )
    return offices.where("change = 'elected'").select(
        *TERM,
        "from_seq",
        "from_us",
        F.col("end.seq").alias("to_seq"),
        F.col("end.time_us").alias("to_us"),
    )


def _in_term(acts: DataFrame, terms: DataFrame) -> DataFrame:
    """Return what brokers did, with the epoch in which each had last been elected controller."""
    begins = terms.select(SESSION, "broker", F.col("from_seq").alias("seq"), "epoch")
    changes = acts.unionByName(begins, allowMissingColumns=True)
    with_epoch = changes.withColumn("epoch", nearest("epoch", earlier((SESSION, "broker"), now=0)))
    return with_epoch.where("act is not null and epoch is not null")


def controller_steps(source: DatasetTables) -> DataFrame:
    """Return the table :data:`CONTROLLER_STEPS`: the steps of procedures by term."""
    controller = source.table(CONTROLLER)
    steps = controller.where("change = 'step'").drop("epoch").withColumn("act", F.lit("step"))
    in_term = _in_term(steps, _terms(controller))
    return (
        in_term.groupBy(*TERM, "procedure", "step", "name")
        .agg(
            F.count("*").alias("times"),
            F.min("seq").alias("first_seq"),
            F.min("time_us").alias("first_us"),
            F.max("time_us").alias("last_us"),
        )
        .select(*CONTROLLER_STEPS.names)
    )


JOB: Final = Job(
    "controller",
    "what did the controllers do?",
    (
        Result(
            CONTROLLER_WORK,
            controller_work,
            "Controllers' work",
            shown(
                session=SESSION,
                broker="broker",
                epoch="epoch",
                from_event="from_seq",
                failover_ms=in_ms("failover_us"),
                steps="steps",
                elections="elections",
                failed="elections_failed",
                unclean="unclean",
                LeaderAndIsr="leader_and_isr",
                of_partitions="leader_and_isr_partitions",
                UpdateMetadata="update_metadata",
                StopReplica="stop_replica",
                unanswered="unanswered",
            ),
            ("leader_and_isr_partitions", "steps"),
            (SESSION, "epoch"),
        ),
        Result(CONTROLLER_STEPS, controller_steps, "Controllers' steps"),
    ),
)
