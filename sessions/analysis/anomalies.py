"""The job ``anomalies``: anomalies that producers and consumers could observe.

Only what clients were told counts, as in Jepsen's Kafka workload, which the names are taken from:
offsets acknowledged to producers, and records returned to consumers. Logs are not examined.
Source of the names: jepsen.tests.kafka.
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from sessions.analysis.batches import batches, consumed_runs
from sessions.analysis.events import facts
from sessions.analysis.job import Job, Result, shown
from sessions.analysis.metadata_log import releases
from sessions.analysis.results.truth import ANOMALIES, ANOMALIES_KNOWN, ANOMALY_COUNTS
from sessions.analysis.tables import OBSERVED, DatasetTables
from sessions.analysis.windows import earlier, nearest
from sessions.dataset.schema import PARTITION, SESSION
from sessions.dataset.tables import CONSUMED

SUSPECTS: Final = "suspects"
"""Name under which the partitions with conflicting runs are materialised."""
KEYS: Final = (SESSION, "tp")
LATER: Final = "#"
"""What no topic's name contains."""
SEEN: Final = (*PARTITION, "record", "offset", "client", "seq")
NOT_WRITTEN: Final = (
    "INVALID_REQUIRED_ACKS",
    "MESSAGE_TOO_LARGE",
    "NOT_ENOUGH_REPLICAS",
    "UNKNOWN_TOPIC_OR_PARTITION",
)
"""Errors with which a broker reports that it wrote nothing."""


def anomalies(source: DatasetTables) -> DataFrame:
    """Return the table :data:`ANOMALIES`: a row for each record affected by each anomaly.

    Runs of records are compared first; only partitions in which two runs conflict are expanded
    into records.
    """
    acked = _numbered(source, _acked(batches(source)))
    read = _numbered(source, consumed_runs(source).withColumn("client", F.col("consumer")))
    suspects = source.looked_up(source.materialised(SUSPECTS, lambda _: _suspects(acked, read)))
    violations = _records(acked).join(suspects, list(KEYS), "left_semi")
    consumed = _numbered(source, source.table(CONSUMED)).withColumn("client", F.col("consumer"))
    met = consumed.join(suspects, list(KEYS), "left_semi").select(*SEEN)
    parts = (
        _unseen(acked, read, met),
        _lost(violations, met),
        *_clashes(violations.unionByName(met)),
        *_polls(read),
        _sends(acked),
        _aborted(batches(source), consumed),
    )
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.unionByName(part)
    return whole.withColumn("tp", F.regexp_replace("tp", f"{LATER}[0-9]+$", ""))


def _numbered(source: DatasetTables, seen: DataFrame) -> DataFrame:
    """Append a number to the ``tp`` of a topic that was deleted before and has been created again.

    It is another topic, whose offsets and records have nothing to do with those of the first.
    """
    deletions = facts(source, "TopicDeleted").groupBy(SESSION, "topic")
    deleted = deletions.agg(F.collect_list("seq").alias("deletions"))
    number = F.expr("size(filter(coalesce(deletions, array()), deleted -> deleted < seq))")
    name = F.when(number > 0, F.concat("tp", F.lit(LATER), number)).otherwise(F.col("tp"))
    joined = seen.join(source.looked_up(deleted), [SESSION, "topic"], "left")
    return joined.withColumn("tp", name).drop("deletions")


def _acked(produced: DataFrame) -> DataFrame:
    """Return the batches acknowledged at an offset, from the producer's point of view."""
    acknowledged = produced.where("outcome = 'acked' and base is not null")
    answered = F.col("answered_seq").alias("seq"), F.col("producer").alias("client")
    whole = acknowledged.select(*PARTITION, *answered, "records", "first", "last", "base")
    return (
        whole.groupBy(*PARTITION, "seq", "client")
        .agg(
            F.sum("records").alias("records"),
            F.min("first").alias("first"),
            F.max("last").alias("last"),
            F.min("base").alias("base"),
        )
        .withColumns(
            {"shift": F.col("base") - F.col("first"), "end": F.expr("base + last - first")}
        )
    )


def _suspects(acked: DataFrame, read: DataFrame) -> DataFrame:
    """Return partitions in which a record may have two offsets, or an offset two records.

    Runs with the same ``shift`` agree with each other, so two runs can only conflict where the
    ranges of two shifts overlap.
    """
    reach = ("first", "last", "base", "end")
    both = acked.select(*KEYS, "shift", *reach).unionByName(read.select(*KEYS, "shift", *reach))
    reaches = both.groupBy(*KEYS, "shift").agg(
        *((F.min if name in ("first", "base") else F.max)(name).alias(name) for name in reach)
    )
    met = [
        F.col(low) <= F.max(high).over(earlier(KEYS, low))
        for low, high in (("first", "last"), ("base", "end"))
    ]
    return reaches.withColumn("met", met[0] | met[1]).where("met").select(*KEYS).distinct()


def _records(runs: DataFrame) -> DataFrame:
    """Expand runs without a gap into records."""
    offset = F.explode(F.sequence("base", "end")).alias("offset")
    apart = runs.select(*PARTITION, "client", "seq", "shift", offset)
    return apart.withColumn("record", F.col("offset") - F.col("shift")).select(*SEEN)


def _rows(rows: DataFrame, name: str, **others: Column) -> DataFrame:
    """Return rows of the result: an anomaly's name, and what it conflicts with."""
    columns = {"name": F.lit(name), "other_record": F.lit(None), "other_offset": F.lit(None)}
    wide = rows.withColumns({**columns, **others})
    return wide.select(
        *(
            F.col(column.name).cast("bigint") if column.type == "int64" else F.col(column.name)
            for column in ANOMALIES.columns
        )
    )


def _unseen(acked: DataFrame, read: DataFrame, met: DataFrame) -> DataFrame:
    """Return acknowledged records above the last read; without a conflict, these were never read.

    ``met`` has what was read of the other partitions.
    """
    highest = read.groupBy(*KEYS).agg(F.max("end").alias("highest"))
    above = acked.join(highest, list(KEYS)).where("end > highest")
    begin = F.greatest(F.col("base"), F.col("highest") + 1)
    records = _records(above.withColumn("base", begin))
    unseen = records.join(met.select(*KEYS, "record"), [*KEYS, "record"], "left_anti")
    return _rows(unseen, "unseen")


def _lost(seen: DataFrame, met: DataFrame) -> DataFrame:
    """Return acknowledged records that no consumer read, though it read another in their place."""
    unread = seen.join(met.select(*KEYS, "record"), [*KEYS, "record"], "left_anti")
    instead = met.select(
        *KEYS, "offset", F.col("record").alias("instead"), F.col("seq").alias("read_seq")
    )
    later = (
        unread.join(instead, [*KEYS, "offset"])
        .where("read_seq > seq")
        .groupBy(*SEEN)
        .agg(F.min_by("instead", "read_seq").alias("instead"))
    )
    return _rows(later, "lost-write", other_record=F.col("instead"), other_offset=F.col("offset"))


def _clashes(seen: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return records at several offsets and offsets with several records, except the first seen."""
    counts = seen.groupBy(*PARTITION, "record", "offset").agg(
        F.min(F.struct("seq", "client")).alias("w")
    )
    first = counts.select(*PARTITION, "record", "offset", "w.seq", "w.client")
    copies = first.withColumn("other", _first_of("offset", "record"))
    records = first.withColumn("other", _first_of("record", "offset"))
    return (
        _rows(
            copies.where("other is not null"), "duplicate",
            other_record=F.col("record"), other_offset=F.col("other"),
        ),
        _rows(
            records.where("other is not null"), "inconsistent-offsets",
            other_record=F.col("other"), other_offset=F.col("offset"),
        ),
    )  # fmt: skip


def _first_of(value: str, by: str) -> Column:
    """Return the value first seen with the same ``by``; null in the row where it was first seen."""
    line = Window.partitionBy(SESSION, "tp", by).orderBy("seq", value)
    return F.first(value).over(line.rowsBetween(Window.unboundedPreceding, -1))


def _polls(read: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return polls of one ``consume`` that do not start where the previous one ended."""
    key = (*PARTITION, "client", "consume")
    polls = read.groupBy(*key, "seq").agg(
        F.min(F.struct("base", "shift")).alias("begin"), F.max("end").alias("end")
    )
    before = polls.withColumn("other", nearest("end", earlier(key)))
    record = F.col("begin.base") - F.col("begin.shift")
    looked = before.select("*", F.col("begin.base").alias("offset"), record.alias("record"))
    other = F.col("other")
    return (
        _rows(looked.where("offset <= other"), "nonmonotonic-poll", other_offset=other),
        _rows(looked.where("offset > other + 1"), "poll-skip", other_offset=other),
    )


def _sends(acked: DataFrame) -> DataFrame:
    """Return records of a producer at an offset at or below that of its previous record.

    Within a batch offsets increase, so only the first record of each batch can be affected.
    """
    before = earlier((*KEYS, "client"), "first")
    looked = acked.select(
        *PARTITION,
        "client",
        "seq",
        F.col("first").alias("record"),
        F.col("base").alias("offset"),
        nearest("last", before).alias("other_record"),
        nearest("end", before).alias("other"),
    )
    nonmonotonic = looked.where("offset <= other")
    return _rows(
        nonmonotonic,
        "nonmonotonic-send",
        other_record=F.col("other_record"),
        other_offset=F.col("other"),
    )


def _aborted(produced: DataFrame, consumed: DataFrame) -> DataFrame:
    """Return records that were consumed although their producer was told they were not written."""
    failed = produced.where(F.col("error").isin(*NOT_WRITTEN) & (F.col("retries") == 0))
    refused = failed.select(SESSION, F.explode(F.sequence("first", "last")).alias("record"))
    reads = consumed.join(refused, [SESSION, "record"], "left_semi")
    first = reads.groupBy(*PARTITION, "record").agg(
        F.min(F.struct("seq", "offset", "client")).alias("read")
    )
    return _rows(first.select(*PARTITION, "record", "read.*"), "G1a")


def anomaly_counts(source: DatasetTables) -> DataFrame:
    """Return the table :data:`ANOMALY_COUNTS`: a row for each release and anomaly, also if zero.

    What clients of a real cluster observed is not known, so it is none of the sessions.
    """
    judged = source.sessions.where(f"seed is null or not {OBSERVED}").select(SESSION)
    counted = releases(source).join(judged, SESSION, "left_semi")
    release = ("version", "mode")
    names = F.explode(F.array(*(F.lit(name) for name in ANOMALIES_KNOWN))).alias("name")
    cells = counted.groupBy(*release).agg(F.count("*").alias("sessions")).select("*", names)
    rows = source.result(ANOMALIES).join(counted, SESSION).groupBy(*release, "name")
    example = F.min(F.struct(SESSION, "seq"))
    counts = rows.agg(
        F.count_distinct(SESSION).alias("sessions_with"),
        F.count("*").alias("times"),
        example[SESSION].alias("example_session"),
        example["seq"].alias("example_seq"),
    )
    whole = cells.join(counts, [*release, "name"], "left").fillna(0, ["sessions_with", "times"])
    return whole.select(*ANOMALY_COUNTS.names)


JOB: Final = Job(
    "anomalies",
    "what did clients observe that they never should?",
    (
        Result(
            ANOMALIES,
            anomalies,
            "Anomalies",
            shown(
                session=SESSION,
                partition="tp",
                anomaly="name",
                record="record",
                offset="offset",
                other_record="other_record",
                other_offset="other_offset",
                client="client",
                at_event="seq",
            ),
            (),
            (SESSION, "topic", "partition", "name", "seq", "offset"),
        ),
        Result(
            ANOMALY_COUNTS,
            anomaly_counts,
            "Anomalies by release",
            shown(
                version="version",
                mode="mode",
                anomaly="name",
                sessions="sessions",
                sessions_with="sessions_with",
                times="times",
                example="example_session",
                at_event="example_seq",
            ),
            ("times",),
            ("version", "mode", "name"),
        ),
    ),
)
