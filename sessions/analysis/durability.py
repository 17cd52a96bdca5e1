"""The job ``durability``: whether acknowledged records are in the logs at the end."""

from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from emulator.releases.profiles import PROFILES
from sessions.analysis.batches import OUTCOMES, batches, records_by_outcome
from sessions.analysis.job import ACKS, Job, Result, answered, shown
from sessions.analysis.record_outcomes import KEPT, fates
from sessions.analysis.results.truth import (
    DURABILITY,
    DURABILITY_RECORDS,
    FATES,
    LOST_OFFSETS,
    PARTITION_DURABILITY,
    UNACKNOWLEDGED,
)
from sessions.analysis.state_intervals import partition_intervals
from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import PARTITION, SESSION
from sessions.dataset.tables import EVENTS, METADATA_RECORDS, PRODUCED

GENERATIONS: Final = {
    "high_watermark_needs_min_isr": "KAFKA-15583",
    "truncate_on_fetch": "KIP-595",
    "alter_isr": "KIP-497",
    "leader_epoch_fencing": "KIP-320",
    "epoch_end_offset_has_epoch": "KIP-279",
    "truncation_by_leader_epoch": "KIP-101",
}
"""Features that distinguish generations of the protocol, newest first, with their names."""
OLDEST: Final = "HW"
KRAFT: Final = "KIP-500"
ELIGIBLE: Final = "KIP-966"
ELR: Final = "eligible.leader.replicas.version"
CELL: Final = ("generation", "acks", "min_isr", "unclean")


def generation_of(version: str) -> str:
    """Return the generation of the replication protocol that a release uses."""
    profile = PROFILES[version]
    return next((name for feature, name in GENERATIONS.items() if profile.has(feature)), OLDEST)


def durability_records(source: DatasetTables) -> DataFrame:
    """Return the table :data:`DURABILITY_RECORDS`: a row for each problem with a record."""
    problems = source.materialised(KEPT, fates)
    # These are few: the others need not be moved.
    records = source.looked_up(problems.select(SESSION, "record").distinct())
    produced = source.table(PRODUCED).join(records, [SESSION, "record"], "left_semi")
    sent = produced.select(SESSION, "record", "producer", "acks", "sent_seq", "answered_seq")
    topic = F.regexp_extract("tp", "^(.*)-([0-9]+)$", 1)
    number = F.regexp_extract("tp", "^(.*)-([0-9]+)$", 2).cast("int")
    placed = problems.withColumns({"topic": topic, "partition": number})
    joined = placed.join(sent, [SESSION, "record"], "left")
    return joined.select(*DURABILITY_RECORDS.names)


def lost_offsets(source: DatasetTables) -> DataFrame:
    """Return the table :data:`LOST_OFFSETS`: what the last audit of each partition says."""
    events = source.table(EVENTS)
    ranges = F.from_json("payload", "lost_offsets ARRAY<ARRAY<BIGINT>>")["lost_offsets"]
    audits = events.where("type = 'AuditChanged'").withColumn("ranges", ranges)
    last = audits.groupBy(*PARTITION).agg(F.max_by(F.struct("seq", "ranges"), "seq").alias("last"))
    removals = events.where("type = 'PartitionStateRemoved'").groupBy(*PARTITION)
    removed = removals.agg(F.max("seq").alias("removed"))
    present = last.join(removed, list(PARTITION), "left").where("coalesce(removed, 0) < last.seq")
    rows = present.select(*PARTITION, "last.*", F.explode("last.ranges").alias("range"))
    bounds = {"first_offset": F.col("range")[0], "end_offset": F.col("range")[1]}
    return rows.withColumns(bounds | {"audit_seq": F.col("seq")}).select(*LOST_OFFSETS.names)


def partition_durability(source: DatasetTables) -> DataFrame:
    """Return the table :data:`PARTITION_DURABILITY`: a row for each partition and acks."""
    by_partition = _by_partition(source).join(_harm(source), [SESSION, "tp", "acks"], "left")
    counted = by_partition.fillna(0, [*FATES, UNACKNOWLEDGED])
    whole = counted.join(_settings(source), [SESSION, "tp"])
    return whole.select(*PARTITION_DURABILITY.names)


def durability(source: DatasetTables) -> DataFrame:
    """Return the table :data:`DURABILITY`: a row for each producer setting that occurs."""
    counted = source.result(PARTITION_DURABILITY)
    harmed = reduce(lambda a, b: a | b, (F.col(fate) > 0 for fate in FATES))
    example = F.min(F.when(harmed, F.struct(SESSION, "first_seq")))
    whole = counted.groupBy(*CELL).agg(
        F.collect_set("version").alias("found_versions"),
        F.count_distinct(SESSION).alias("sessions"),
        *(F.sum(name).alias(name) for name in ("records", *OUTCOMES, *FATES, UNACKNOWLEDGED)),
        F.count_distinct(F.when(F.col("lost") > 0, F.col(SESSION))).alias("sessions_lost"),
        F.count_distinct(F.when(harmed, F.col(SESSION))).alias("sessions_harmed"),
        example[SESSION].alias("example_session"),
        example["first_seq"].alias("example_seq"),
    )
    all_versions = F.array(*(F.lit(version) for version in PROFILES))
    versions = F.concat_ws(", ", F.array_intersect(all_versions, F.col("found_versions")))
    return whole.withColumn("versions", versions).select(*DURABILITY.names)


def _by_partition(source: DatasetTables) -> DataFrame:
    """Return the outcomes of records for their producers, by partition and acks."""
    return (
        batches(source)
        .groupBy(*PARTITION, "acks")
        .agg(F.sum("records").alias("records"), *records_by_outcome())
    )


def _harm(source: DatasetTables) -> DataFrame:
    """Return the number of records by final outcome, partition and acks, and the first of them."""
    problems = source.result(DURABILITY_RECORDS).where("acks is not null")
    return problems.groupBy(SESSION, "tp", "acks").agg(
        *(F.count_if(F.col("fate") == fate).alias(fate) for fate in (*FATES, UNACKNOWLEDGED)),
        F.min(F.when(F.col("fate") != UNACKNOWLEDGED, F.col("sent_seq"))).alias("first_seq"),
    )


def _settings(source: DatasetTables) -> DataFrame:
    """Return each partition's last configuration, and its replication protocol's generation."""
    last = F.max_by(F.struct("min_isr", "unclean_election"), "from_seq")
    of_partition = partition_intervals(source).groupBy(SESSION, "tp").agg(last.alias("last"))
    version = source.sessions.select(SESSION, "version", _generation().alias("release_generation"))
    with_mode = version.join(_without_zookeeper(source), SESSION, "left")
    return of_partition.join(with_mode, SESSION, "left").select(
        SESSION,
        "tp",
        "version",
        F.coalesce("kraft_generation", "release_generation").alias("generation"),
        F.col("last.min_isr").alias("min_isr"),
        F.col("last.unclean_election").alias("unclean"),
    )


def _without_zookeeper(source: DatasetTables) -> DataFrame:
    """Return the generation of each session in KRaft mode, by its finalized features."""
    is_elr = (F.col("type") == "FeatureLevel") & (F.col("name") == ELR)
    level = F.max_by("feature_level", F.when(is_elr, F.col("seq")))
    name = F.when(level > 0, F.lit(ELIGIBLE)).otherwise(F.lit(KRAFT))
    return source.table(METADATA_RECORDS).groupBy(SESSION).agg(name.alias("kraft_generation"))


def _generation() -> Column:
    pairs = [F.lit(text) for version in PROFILES for text in (version, generation_of(version))]
    return F.coalesce(F.create_map(*pairs)[F.col("version")], F.lit(OLDEST))


JOB: Final = Job(
    "durability",
    "how durable were acknowledged records?",
    (
        Result(
            DURABILITY_RECORDS,
            durability_records,
            "Records that fared badly",
            shown(
                session=SESSION,
                partition="tp",
                fate="fate",
                record="record",
                offset="offset",
                producer="producer",
                acks="acks",
                sent_at="sent_seq",
                answered_at="answered_seq",
            ),
            (),
            (SESSION, "topic", "partition", "fate", "record", "offset"),
        ),
        Result(
            LOST_OFFSETS,
            lost_offsets,
            "Offsets that are lost, whose records are not known",
            shown(
                session=SESSION,
                partition="tp",
                first="first_offset",
                end="end_offset",
                told_at="audit_seq",
            ),
            (),
            (SESSION, "topic", "partition", "first_offset"),
        ),
        Result(PARTITION_DURABILITY, partition_durability, "Durability by partition"),
        Result(
            DURABILITY,
            durability,
            "Durability by way to produce",
            shown(
                generation="generation",
                acks=ACKS,
                min_ISR="min_isr",
                unclean=answered("unclean"),
                sessions="sessions",
                records="records",
                acked="acked",
                lost="lost",
                duplicated="duplicated",
                diverged="diverged",
                read_and_lost="consumed_lost",
                sessions_with_loss="sessions_lost",
                example="example_session",
                sent_at="example_seq",
            ),
            ("lost", "duplicated", "diverged", "consumed_lost"),
            CELL,
        ),
    ),
)
