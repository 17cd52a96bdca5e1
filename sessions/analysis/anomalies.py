"""The job ``anomalies``: what producers and consumers could see and should not have.

Only what clients were told counts, as in Jepsen's Kafka workload, whose names these are: offsets
that producers were told, and records that consumers were given. Nobody looks into a log.
Source of the names: jepsen.tests.kafka.
"""

from typing import TYPE_CHECKING, Final

from sessions.analysis.job import Job, Result, shown
from sessions.analysis.order import earlier, nearest
from sessions.analysis.results.truth import ANOMALIES, ANOMALIES_KNOWN, ANOMALY_COUNTS
from sessions.analysis.source import Source
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import CONSUMED, PRODUCED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PLACE: Final = (SESSION, "tp", "topic", "partition")
SEEN: Final = (*PLACE, "record", "offset", "client", "seq")
NOT_WRITTEN: Final = (
    "INVALID_REQUIRED_ACKS",
    "MESSAGE_TOO_LARGE",
    "NOT_ENOUGH_REPLICAS",
    "UNKNOWN_TOPIC_OR_PARTITION",
)
"""Errors by which a broker says that it wrote nothing."""


def anomalies(source: Source) -> "DataFrame":
    """The table :data:`ANOMALIES`: a row for each record that each anomaly happened to."""
    from pyspark.sql import functions as F

    produced, consumed = source.table(PRODUCED), source.table(CONSUMED)
    given = consumed.withColumn("client", F.col("consumer"))
    known = F.col("answered_seq").alias("seq"), F.col("producer").alias("client")
    told = produced.where("outcome = 'acked' and acks <> 0 and offset is not null")
    acked = told.select(*PLACE, "record", "offset", *known, "producer")
    found = (
        *_unread(acked, given),
        *_clashes(acked.select(*SEEN).unionByName(given.select(*SEEN))),
        *_polls(given),
        _sends(acked),
        _aborted(produced, given),
    )
    whole = found[0]
    for more in found[1:]:
        whole = whole.unionByName(more)
    return whole


def _rows(found: "DataFrame", name: str, **others: "Column") -> "DataFrame":
    """Rows of the result: an anomaly's name, and what it clashes with."""
    from pyspark.sql import functions as F

    columns = {"name": F.lit(name), "other_record": F.lit(None), "other_offset": F.lit(None)}
    wide = found.withColumns({**columns, **others})
    return wide.select(
        *(
            F.col(column.name).cast("bigint") if column.type == "int64" else F.col(column.name)
            for column in ANOMALIES.columns
        )
    )


def _unread(acked: "DataFrame", given: "DataFrame") -> "tuple[DataFrame, DataFrame]":
    """Acknowledged records that nobody was given: lost, if another came in their place later."""
    from pyspark.sql import functions as F

    read = given.select(SESSION, "tp", "record").distinct()
    highest = given.groupBy(SESSION, "tp").agg(F.max("offset").alias("highest"))
    unread = acked.join(read, [SESSION, "tp", "record"], "left_anti")
    known = unread.join(F.broadcast(highest), [SESSION, "tp"])
    unseen = known.where("offset > highest")
    instead = given.select(
        SESSION, "tp", "offset", F.col("record").alias("instead"), F.col("seq").alias("read_seq")
    )
    passed = known.where("offset <= highest").join(instead, [SESSION, "tp", "offset"])
    later = (
        passed.where("read_seq > seq")
        .groupBy(*SEEN)
        .agg(F.min_by("instead", "read_seq").alias("instead"))
    )
    return (
        _rows(unseen, "unseen"),
        _rows(later, "lost-write", other_record=F.col("instead"), other_offset=F.col("offset")),
    )


def _clashes(seen: "DataFrame") -> "tuple[DataFrame, DataFrame]":
    """Records at several offsets, and offsets with several records: each but the first seen."""
    from pyspark.sql import functions as F

    ways = seen.groupBy(*PLACE, "record", "offset").agg(F.min(F.struct("seq", "client")).alias("w"))
    first = ways.select(*PLACE, "record", "offset", "w.seq", "w.client")
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


def _first_of(value: str, by: str) -> "Column":
    """The value that was seen first with the same ``by``; null in the row where it was."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    line = Window.partitionBy(SESSION, "tp", by).orderBy("seq", value)
    return F.first(value).over(line.rowsBetween(Window.unboundedPreceding, -1))


def _polls(given: "DataFrame") -> "tuple[DataFrame, DataFrame]":
    """Polls of one ``consume`` that do not begin where the one before ended."""
    from pyspark.sql import functions as F

    key = (*PLACE, "client", "consume")
    polls = given.groupBy(*key, "seq").agg(
        F.min(F.struct("offset", "record")).alias("begin"), F.max("offset").alias("end")
    )
    before = polls.withColumn("other", nearest("end", earlier(key)))
    looked = before.select("*", "begin.offset", "begin.record")
    other = F.col("other")
    return (
        _rows(looked.where("offset <= other"), "nonmonotonic-poll", other_offset=other),
        _rows(looked.where("offset > other + 1"), "poll-skip", other_offset=other),
    )


def _sends(acked: "DataFrame") -> "DataFrame":
    """Records of a producer at an offset at or below that of its record before."""
    from pyspark.sql import functions as F

    before = earlier((SESSION, "tp", "client"), "record")
    looked = acked.withColumns(
        {"other_record": nearest("record", before), "other": nearest("offset", before)}
    )
    found = looked.where("offset <= other")
    return _rows(
        found, "nonmonotonic-send", other_record=F.col("other_record"), other_offset=F.col("other")
    )


def _aborted(produced: "DataFrame", given: "DataFrame") -> "DataFrame":
    """Records that were given to a consumer and that their producer was told are not written."""
    from pyspark.sql import functions as F

    failed = produced.where(F.col("error").isin(*NOT_WRITTEN) & (F.col("retries") == 0))
    first = given.groupBy(*PLACE, "record").agg(
        F.min(F.struct("seq", "offset", "client")).alias("read")
    )
    found = first.join(failed.select(SESSION, "record"), [SESSION, "record"], "left_semi")
    return _rows(found.select(*PLACE, "record", "read.*"), "G1a")


def anomaly_counts(source: Source) -> "DataFrame":
    """The table :data:`ANOMALY_COUNTS`: a row for each release and anomaly, also for none."""
    from pyspark.sql import functions as F

    named = source.sessions.select(SESSION, F.coalesce("version", F.lit("")).alias("version"))
    names = F.explode(F.array(*(F.lit(name) for name in ANOMALIES_KNOWN))).alias("name")
    cells = named.groupBy("version").agg(F.count("*").alias("sessions")).select("*", names)
    found = source.result(ANOMALIES).join(F.broadcast(named), SESSION).groupBy("version", "name")
    example = F.min(F.struct(SESSION, "seq"))
    counts = found.agg(
        F.count_distinct(SESSION).alias("sessions_with"),
        F.count("*").alias("times"),
        example[SESSION].alias("example_session"),
        example["seq"].alias("example_seq"),
    )
    whole = cells.join(counts, ["version", "name"], "left").fillna(0, ["sessions_with", "times"])
    return whole.select(*ANOMALY_COUNTS.names)


JOB: Final = Job(
    "anomalies",
    "what could clients see that they should not have?",
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
                anomaly="name",
                sessions="sessions",
                sessions_with="sessions_with",
                times="times",
                example="example_session",
                at_event="example_seq",
            ),
            ("times",),
            ("version", "name"),
        ),
    ),
)
