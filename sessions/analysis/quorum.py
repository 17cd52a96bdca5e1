"""The job ``quorum``: leaders of KRaft's metadata quorum, their records, and fenced brokers."""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.job import Job, Result, in_ms, shown
from sessions.analysis.results.quorum import FENCINGS, METADATA_WORK, QUORUM_TERMS
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier, later, nearest
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import FAULTS, METADATA_RECORDS, QUORUM_ROLES

DOWN: Final = ("crashed", "stopped", "frozen")
"""States in which a process serves no requests."""
GONE: Final = ("crashed", "stopped")
REGISTRATION_CHANGE: Final = "BrokerRegistrationChange"


def fencing_records(records: DataFrame) -> DataFrame:
    """Return the records that fence and unfence brokers: ``broker``, ``fenced``."""
    changes = records.where(F.col("type") == REGISTRATION_CHANGE)
    return changes.where("fenced is not null").select(
        *(SESSION, "seq", "time_us", "batch", "broker", "fenced")
    )


def quorum_terms(source: DatasetTables) -> DataFrame:
    """Return the table :data:`QUORUM_TERMS`: a row for each leader's term."""
    roles = source.table(QUORUM_ROLES).select(
        *(SESSION, "controller", "seq", "time_us", "role", "epoch")
    )
    ended = (
        source.table(FAULTS)
        .where("kind = 'controller'")
        .where(F.col("state").isin(*GONE))
        .select(SESSION, F.col("broker").alias("controller"), "seq", "time_us")
        .withColumn("role", F.lit("gone"))
    )
    line = _with_freezes(roles.unionByName(ended, allowMissingColumns=True), source.table(FAULTS))
    at = F.struct("seq", "time_us")
    leads = F.col("role") == "leader"
    stands = F.when(F.col("role") == "candidate", 1).otherwise(0)
    selected = line.select(
        "*",
        F.least(
            nearest(F.when(leads, at), later((SESSION,))),
            nearest(F.when(~leads, at), later((SESSION, "controller"))),
        ).alias("end"),
        F.sum(stands).over(earlier((SESSION,))).alias("stood"),
        nearest("freeze", earlier((SESSION,))).alias("frozen"),
    ).where(leads)
    before = earlier((SESSION,))
    last, frozen = F.last("end.time_us").over(before), F.col("frozen")
    still_frozen = frozen["seq"] > F.last("seq").over(before)
    still_frozen &= F.coalesce(frozen["thawed_seq"] > F.col("seq"), F.lit(True))
    terms = selected.select(
        *(SESSION, "controller", "epoch"),
        F.col("seq").alias("from_seq"),
        F.col("time_us").alias("from_us"),
        F.col("end.seq").alias("to_seq"),
        F.col("end.time_us").alias("to_us"),
        (F.col("time_us") - F.least(last, F.when(still_frozen, frozen["time_us"]))).alias(
            "without_us"
        ),
        (F.coalesce("stood", F.lit(0)) - F.coalesce(F.last("stood").over(before), F.lit(0))).alias(
            "candidacies"
        ),
    )
    whole = terms.join(_written(source.table(METADATA_RECORDS)), [SESSION, "epoch"], "left")
    counted = ("records", "batches", "fencings", "registrations", "elections", "unclean")
    return whole.fillna(0, [*counted, "eligible"]).select(*QUORUM_TERMS.names)


def _with_freezes(line: DataFrame, faults: DataFrame) -> DataFrame:
    """Add when the quorum's leader froze: ``freeze``, with the event in which it thawed."""
    states = faults.where("kind = 'controller' and state in ('frozen', 'running')").select(
        *(SESSION, F.col("broker").alias("controller"), "seq", "time_us", "state")
    )
    leader = F.when(F.col("role") == "leader", F.col("controller"))
    thawed = F.when(F.col("state") == "running", F.col("seq"))
    whole = line.unionByName(states, allowMissingColumns=True).select(
        "*",
        nearest(leader, earlier((SESSION,))).alias("led_by"),
        nearest(thawed, later((SESSION, "controller"))).alias("thawed_seq"),
    )
    froze = (F.col("state") == "frozen") & (F.col("controller") == F.col("led_by"))
    return whole.withColumn("freeze", F.when(froze, F.struct("seq", "time_us", "thawed_seq")))


def _written(records: DataFrame) -> DataFrame:
    """Return what was written in each epoch of the quorum."""
    kind, changes = F.col("type"), F.col("type") == "PartitionChange"
    # A record may name the leader that there is, to raise its epoch: that is no election.
    named = F.when(F.col("topic").isNotNull(), F.col("leader"))
    previous_leader = nearest(named, earlier((SESSION, "topic", "partition")))
    elects = changes & (F.col("leader") >= 0) & ~F.col("leader").eqNullSafe(F.col("was"))
    return (
        records.withColumn("was", previous_leader)
        .groupBy(SESSION, "epoch")
        .agg(
            F.count("*").alias("records"),
            F.countDistinct("batch").alias("batches"),
            F.count_if((kind == REGISTRATION_CHANGE) & F.col("fenced")).alias("fencings"),
            F.count_if(kind == "RegisterBroker").alias("registrations"),
            F.count_if(elects).alias("elections"),
            F.count_if(changes & (F.col("leader_recovery_state") == 1)).alias("unclean"),
            F.count_if(changes & F.col("eligible_leader_replicas").isNotNull()).alias("eligible"),
        )
    )


def metadata_work(source: DatasetTables) -> DataFrame:
    """Return the table :data:`METADATA_WORK`: records by type and epoch."""
    return (
        source.table(METADATA_RECORDS)
        .groupBy(SESSION, "epoch", "type")
        .agg(
            F.count("*").alias("records"),
            F.countDistinct("batch").alias("batches"),
            F.min("seq").alias("first_seq"),
            F.min("time_us").alias("first_us"),
            F.max("time_us").alias("last_us"),
        )
        .select(*METADATA_WORK.names)
    )


def fencings(source: DatasetTables) -> DataFrame:
    """Return the table :data:`FENCINGS`: a row for each record that fences a broker."""
    records = source.table(METADATA_RECORDS)
    process = source.table(FAULTS).where("kind = 'broker'")
    line = fencing_records(records).unionByName(
        process.select(SESSION, "seq", "time_us", "broker", "state"), allowMissingColumns=True
    )
    of_broker = (SESSION, "broker")
    process_state = F.when(F.col("state").isNotNull(), F.struct("state", "seq", "time_us"))
    change = F.when(F.col("fenced").isNotNull(), F.struct("fenced", "seq", "time_us"))
    fenced = line.select(
        "*",
        nearest(process_state, earlier(of_broker)).alias("was"),
        nearest(change, later(of_broker)).alias("then"),
    ).where("fenced")
    changed = (
        records.where(F.col("type").isin("PartitionChange"))
        .groupBy(SESSION, "batch")
        .agg(F.count("*").alias("partitions"))
    )
    is_down = F.col("was.state").isin(*DOWN)
    is_back = ~F.col("then.fenced")
    rows = fenced.join(changed, [SESSION, "batch"], "left").select(
        *(SESSION, "broker"),
        F.col("seq").alias("fenced_seq"),
        F.col("time_us").alias("fenced_us"),
        F.when(is_down, F.col("was.state")).otherwise("running").alias("process"),
        F.when(is_down, F.col("was.seq")).alias("fault_seq"),
        F.when(is_down, F.col("was.time_us")).alias("fault_us"),
        F.when(is_down, F.col("time_us") - F.col("was.time_us")).alias("noticed_us"),
        F.coalesce("partitions", F.lit(0)).alias("partitions"),
        F.when(is_back, F.col("then.seq")).alias("unfenced_seq"),
        F.when(is_back, F.col("then.time_us")).alias("unfenced_us"),
        F.when(is_back, F.col("then.time_us") - F.col("time_us")).alias("fenced_for_us"),
    )
    return rows.select(*FENCINGS.names)


JOB: Final = Job(
    "quorum",
    "who led KRaft's quorum, what did it write to the metadata log, and which brokers were fenced?",
    (
        Result(
            QUORUM_TERMS,
            quorum_terms,
            "Leaders of the quorum",
            shown(
                session=SESSION,
                controller="controller",
                epoch="epoch",
                from_event="from_seq",
                without_leader_ms=in_ms("without_us"),
                candidacies="candidacies",
                records="records",
                batches="batches",
                fencings="fencings",
                registrations="registrations",
                elections="elections",
                unclean="unclean",
                ELR_changes="eligible",
            ),
            ("without_us", "records"),
            (SESSION, "epoch"),
        ),
        Result(METADATA_WORK, metadata_work, "Records of the metadata log"),
        Result(
            FENCINGS,
            fencings,
            "Fenced brokers",
            shown(
                session=SESSION,
                broker="broker",
                process="process",
                noticed_ms=in_ms("noticed_us"),
                at_event="fenced_seq",
                partitions="partitions",
                fenced_for_ms=in_ms("fenced_for_us"),
            ),
            ("fenced_for_us", "noticed_us"),
            (SESSION, "fenced_seq"),
        ),
    ),
)
