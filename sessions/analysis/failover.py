"""From the fault of a leader's broker to the service of the next leader, step by step.

Not every fault is a failover. A broker that is thawed, or restarted and still leader, before the
controller has elected another leader has *returned*: it was away, and nothing took over. A *failed
over* partition has a new leader by an election, and an *open* one has none serving yet. Only an
election that moves the leadership to another broker counts. A new leader epoch for the same leader
is none: KRaft's controller raises the epoch when it shrinks the ISR. Nor is one that somebody asked
for (``Preferred``, ``Reassign``, ``ControlledShutdown``), nor the ``New`` leader of a topic that
was deleted and created again. Leadership that moves by such an election has been *moved*.

A fault is a running broker that crashes, stops or freezes, whose ZooKeeper session expires, or that
KRaft's controller fences because its heartbeats do not arrive. Each partition whose state names it
as leader at that moment counts as a failover. Detection is the expiry of the ZooKeeper session, or
in KRaft mode the record that fences the broker or registers its next process; the election is the
controller's choice; service starts when the replica becomes leader.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sessions.analysis.job import Job, Result, TerminalColumn, in_ms, shown
from sessions.analysis.metadata_log import releases
from sessions.analysis.percentiles import percentiles
from sessions.analysis.quorum import DOWN, GONE, REGISTRATION_CHANGE
from sessions.analysis.results.columns import MARKS
from sessions.analysis.results.failover import FAILOVER, FAILOVERS
from sessions.analysis.state_intervals import leader_intervals, partition_intervals
from sessions.analysis.tables import OBSERVED, DatasetTables
from sessions.analysis.windows import earlier, later, nearest
from sessions.dataset.schema import PARTITION, SESSION
from sessions.dataset.tables import CONTROLLER, ELECTIONS, EVENTS, FAULTS, METADATA_RECORDS

PARTS: Final = ("detection", "election", "takeover", "total")
KIND: Final = ("version", "mode", "fault", "was_controller")
BY_FAULT: Final = ("Offline", "Unclean")
"""Strategies of elections that are held because a leader is gone; others are planned."""
NONE: Final = ("returned", "moved")
"""Outcomes of faults that no failover followed."""


def failovers(source: DatasetTables) -> DataFrame:
    """Return the table :data:`FAILOVERS`: a row for each partition whose leader failed."""
    faults = _faults(source)
    states = partition_intervals(source).where("leader >= 0")
    led = states.select(*PARTITION, F.col("leader").alias("broker"), "from_seq", "to_seq")
    hit = led.join(faults, [SESSION, "broker"]).where(
        "from_seq < fault_seq and (to_seq is null or to_seq >= fault_seq)"
    )
    line = (
        hit.drop("from_seq", "to_seq")
        .withColumn("seq", F.col("fault_seq"))
        .unionByName(_elected(source), allowMissingColumns=True)
        .unionByName(_serving(source), allowMissingColumns=True)
    )
    observed = source.sessions.where(OBSERVED).select(SESSION, F.lit(True).alias("observed"))
    followed = _followed(line).join(F.broadcast(observed), SESSION, "left")
    rows = _with_outcome(followed)
    for part, begin, end in (
        ("detection", "fault_us", "detected_us"),
        ("election", "detected_us", "elected_us"),
        ("takeover", "elected_us", "serving_us"),
        ("total", "fault_us", "serving_us"),
    ):
        rows = rows.withColumn(f"{part}_us", F.col(end) - F.col(begin))
    return rows.select(*FAILOVERS.names)


def _noticed(records: DataFrame) -> DataFrame:
    """Return KRaft's detections of failed brokers, as faults of the kind ``metadata``.

    The controller fences the broker (state ``fenced``) or, since 4.0, learns of it at registration
    (KAFKA-18106).
    """
    registers = F.col("type") == "RegisterBroker"
    fences = (F.col("type") == REGISTRATION_CHANGE) & F.col("fenced")
    noticed = records.where(registers | fences)
    kind = F.lit("metadata").alias("kind")
    state = F.when(fences, "fenced").alias("state")
    return noticed.select(SESSION, "seq", "time_us", kind, "broker", state)


def _faults(source: DatasetTables) -> DataFrame:
    """Return faults of running brokers: when detected, and whether the broker was the controller.

    A broker that crashes or stops leaves its ZooKeeper session behind, and is detected when that
    session ends, even if the next process is running by then. The session's end is a fault of its
    own only if the process that opened it still runs. KRaft's controller detects the fault with a
    record. A broker that thaws before that has not been detected. That record is a fault of its own
    if it fences the process that registered last, and that process still runs. The history of a
    real cluster says of a process only that it is fenced, which its record says, too.
    """
    logged = source.table(METADATA_RECORDS).select(SESSION).distinct()
    processes = source.table(FAULTS).where("kind = 'broker'")
    fenced = processes.where("state = 'fenced'").join(logged, SESSION, "left_anti")
    process = processes.where("state <> 'fenced'").unionByName(fenced)
    faults = process.select(SESSION, "broker", "kind", "state", "seq", "time_us")
    for changes in (_noticed(source.table(METADATA_RECORDS)), *_sessions(source)):
        faults = faults.unionByName(changes, allowMissingColumns=True)
    before = earlier((SESSION, "broker"))
    after = later((SESSION, "broker"))
    at = F.struct("seq", "time_us", "kind")
    of_process = F.col("kind") == "broker"
    state = F.when(of_process, F.col("state"))
    ended = F.when(F.col("kind").isin("session", "metadata"), at)
    up = F.when(of_process & ~F.col("state").isin(*DOWN), at)
    died = F.when(of_process & F.col("state").isin(*GONE), F.col("seq"))
    registers = (F.col("kind") == "metadata") & F.col("state").isNull()
    registered = F.when(registers, F.col("seq"))
    matched = faults.select(
        SESSION,
        "broker",
        "kind",
        F.col("state").alias("fault"),
        F.col("seq").alias("fault_seq"),
        F.col("time_us").alias("fault_us"),
        "opened_seq",
        F.coalesce(nearest(state, before), F.lit("running")).alias("was"),
        nearest(died, before).alias("died_seq"),
        nearest(registered, before).alias("registered_seq"),
        nearest("own", before).alias("own"),
        nearest(ended, after).alias("ended"),
        nearest(up, after).alias("up"),
        nearest(state, after).alias("next"),
    ).where(~F.col("was").isin(*DOWN))
    never_died = F.col("died_seq").isNull()
    its_own = never_died | (F.col("died_seq") < F.col("opened_seq"))
    lives = never_died | F.coalesce(F.col("died_seq") < F.col("registered_seq"), F.lit(False))
    new = matched.where(
        ((F.col("kind") == "broker") & F.col("fault").isin(*DOWN))
        | ((F.col("fault") == "expired") & F.coalesce(its_own, F.lit(True)))
        | ((F.col("fault") == "fenced") & lives)
    )
    own, seq = F.col("own"), F.col("fault_seq")
    thawed = F.when((F.col("fault") == "frozen") & ~F.col("next").isin(*DOWN), F.col("up"))
    end = F.when(own.isNull(), F.col("ended")).when(own["end"]["seq"] > seq, own["end"])
    late = thawed.isNull() & (own.isNotNull() | (end["kind"] == "metadata"))
    in_time = F.col("up").isNull() | (end["seq"] < F.col("up.seq"))
    at_once = F.struct(seq.alias("seq"), F.col("fault_us").alias("time_us"), "kind")
    of_itself = F.col("kind").isin("session", "metadata")
    noticed = F.when(of_itself, at_once).when(in_time | late, end)
    timed = new.withColumns({"noticed": noticed, "thawed": thawed})
    return _with_controller(timed, source.table(CONTROLLER)).select(
        SESSION,
        "broker",
        "fault",
        "fault_seq",
        "fault_us",
        "was_controller",
        F.col("noticed.seq").alias("detected_seq"),
        F.col("noticed.time_us").alias("detected_us"),
        "thawed",
    )


def _sessions(source: DatasetTables) -> tuple[DataFrame, DataFrame]:
    """Return when brokers' ZooKeeper sessions ended, and when they were opened.

    The rows of the former have ``opened_seq``, those of the latter ``own``, with the session's
    ``end``. A recording that has lost its oldest events may lack that a session was opened.
    """
    rows = source.table(EVENTS).where("type in ('SessionCreated', 'SessionEnded') and broker >= 0")
    ends = F.col("type") == "SessionEnded"
    at = F.struct("seq", "time_us", F.lit("session").alias("kind"))
    terms = rows.groupBy(SESSION, "broker", "zk_session").agg(
        F.min(F.when(~ends, F.col("seq"))).alias("opened_seq"),
        F.max(F.when(ends, at)).alias("end"),
        F.max(F.when(ends, F.col("reason"))).alias("state"),
    )
    kind = F.lit("session").alias("kind")
    ended = terms.where("end is not null").select(
        SESSION, "broker", kind, "state", "end.seq", "end.time_us", "opened_seq"
    )
    opened = terms.where("opened_seq is not null").select(
        SESSION, "broker", F.col("opened_seq").alias("seq"), F.struct("end").alias("own")
    )
    return ended, opened


def _with_controller(faults: DataFrame, controller: DataFrame) -> DataFrame:
    """Add whether the broker was the last elected controller before the fault."""
    elected = controller.where("change = 'elected'").select(
        SESSION, F.col("broker").alias("active_controller"), F.col("seq").alias("fault_seq")
    )
    merged = faults.unionByName(elected, allowMissingColumns=True).withColumn(
        "active_controller", nearest("active_controller", earlier((SESSION,), "fault_seq"))
    )
    was_controller = F.coalesce(F.col("active_controller") == F.col("broker"), F.lit(False))
    return merged.withColumn("was_controller", was_controller).where("fault is not null")


def _elected(source: DatasetTables) -> DataFrame:
    """Return the elections that found a leader, as ``elected``."""
    elections = source.table(ELECTIONS).where("elected")
    election = F.struct("seq", "time_us", "leader", "leader_epoch", "strategy").alias("elected")
    return elections.select(*PARTITION, "seq", election)


def _serving(source: DatasetTables) -> DataFrame:
    """Return when a replica became leader (or got a new leader epoch), as ``serving``."""
    since = F.col("from_seq").alias("seq"), F.col("from_us").alias("us")
    return leader_intervals(source).select(*PARTITION, since[0], F.struct(*since).alias("serving"))


def _followed(line: DataFrame) -> DataFrame:
    """Add to each fault the election and service after it, before the partition's next one.

    An election that leaves the leadership where it is does not count; it has ``resumed``.
    """
    after = later((SESSION, "tp"))
    led_by = nearest(F.coalesce("broker", "elected.leader"), earlier((SESSION, "tp")))
    stays = F.col("elected.leader").eqNullSafe(led_by) & (F.col("elected.strategy") != "New")
    moving = line.withColumns(
        {
            "elected": F.when(~stays, F.col("elected")),
            "resumed": F.when(stays, F.col("elected.seq")),
        }
    )
    looked = moving.select(
        *[name for name in line.columns if name not in ("elected", "serving", "seq")],
        F.min("fault_seq").over(after).alias("next_seq"),
        nearest("elected", after).alias("elected"),
        nearest("serving", after).alias("serving"),
        nearest("resumed", after).alias("resumed"),
    ).where("fault_seq is not null")
    for step, seq in (("elected", "elected.seq"), ("serving", "serving.seq"), ("resumed",) * 2):
        near = F.col("next_seq").isNull() | (F.col(seq) <= F.col("next_seq"))
        looked = looked.withColumn(step, F.when(near, F.col(step)))
    return looked.select(
        "*",
        F.col("elected.seq").alias("elected_seq"),
        F.col("elected.time_us").alias("elected_us"),
        *(F.col(f"elected.{name}") for name in ("leader", "leader_epoch", "strategy")),
        F.col("serving.seq").alias("serving_seq"),
        F.col("serving.us").alias("serving_us"),
    )


def _with_outcome(failovers: DataFrame) -> DataFrame:
    """Add each partition's outcome: an election after its leader's return does not count.

    Nor does a planned one, by which the leadership was moved. When a leader serves is not known of
    a real cluster: there its election tells.
    """
    elected, serving = F.col("elected_seq"), F.col("serving_seq")
    by_elections = F.coalesce("observed", F.lit(False))
    serves = F.when(by_elections, F.coalesce("resumed", "elected_seq")).otherwise(serving)
    thawed = F.col("thawed.seq")
    at_hand = thawed.isNotNull() & F.col("detected_seq").isNull()
    thaws = at_hand & (elected.isNull() | (thawed < elected))
    leads_on = serves.isNotNull() & (elected.isNull() | (serves < elected))
    outcome = (
        F.when(thaws | leads_on, "returned")
        .when(~F.col("strategy").isin(*BY_FAULT), "moved")
        .when(serves.isNotNull(), "failed over")
        .otherwise("open")
    )
    with_outcome = failovers.withColumn("outcome", outcome)
    of_election = ("elected_seq", "elected_us", "leader", "leader_epoch", "strategy")
    none = F.col("outcome").isin(*NONE)
    return with_outcome.withColumns(
        {
            **{name: F.when(~none, F.col(name)) for name in of_election},
            "serving_seq": F.when(thaws, thawed).otherwise(serving),
            "serving_us": F.when(thaws, F.col("thawed.time_us")).otherwise(F.col("serving_us")),
        }
    )


def failover(source: DatasetTables) -> DataFrame:
    """Return the table :data:`FAILOVER`: percentiles by release and kind of fault."""
    every = source.result(FAILOVERS).join(releases(source), SESSION, "left")
    is_one = ~F.col("outcome").isin(*NONE)
    rows = every.where(is_one)
    slowest = F.max(
        F.when(
            F.col("total_us").isNotNull() & is_one,
            F.struct("total_us", SESSION, (-F.col("fault_seq")).alias("first")),
        )
    )
    whole = every.groupBy(*KIND).agg(
        F.count_if(is_one).alias("failovers"),
        F.count_if(F.col("outcome") == "failed over").alias("served"),
        F.count_if(F.col("outcome") == "returned").alias("returned"),
        F.count_if(F.col("outcome") == "moved").alias("moved"),
        F.count_if(F.col("strategy") == "Unclean").alias("unclean"),
        slowest[SESSION].alias("slowest_session"),
        (-slowest["first"]).alias("slowest_seq"),
    )
    counted = whole.join(_percentiles(rows), list(KIND), "left")
    return counted.fillna(0, [f"{part}_n" for part in PARTS]).select(*FAILOVER.names)


def _percentiles(rows: DataFrame) -> DataFrame:
    """Return percentiles of all phases, computed together and then pivoted into columns."""
    times = F.create_map(
        *(argument for part in PARTS for argument in (F.lit(part), F.col(f"{part}_us")))
    )
    long = rows.select(*KIND, F.explode(times).alias("part", "us"))
    by_part = percentiles(long, (*KIND, "part"), "us", "all", "us")
    return by_part.groupBy(*KIND).agg(
        *(
            F.max(F.when(F.col("part") == part, F.col("all_n"))).alias(f"{part}_n")
            for part in PARTS
        ),
        *(
            F.max(F.when(F.col("part") == part, F.col(f"all_{mark}_us"))).alias(f"{part}_{mark}_us")
            for part in PARTS
            for mark, _ in MARKS
        ),
    )


JOB: Final = Job(
    "failover",
    "how long does it take from a leader's fault until the next leader serves?",
    (
        Result(
            FAILOVERS,
            failovers,
            "Failovers",
            shown(
                session=SESSION,
                partition="tp",
                fault=TerminalColumn(
                    "", ("fault", "broker"), lambda *words: " ".join(map(str, words))
                ),
                at_event="fault_seq",
                detected_ms=in_ms("detection_us"),
                elected_ms=in_ms("election_us"),
                taken_over_ms=in_ms("takeover_us"),
                total_ms=in_ms("total_us"),
                leader="leader",
                strategy="strategy",
                serving_at="serving_seq",
                outcome="outcome",
            ),
            ("total_us",),
            (SESSION, "topic", "partition", "fault_seq"),
        ),
        Result(
            FAILOVER,
            failover,
            "Failover by release and fault",
            shown(
                version="version",
                mode="mode",
                fault="fault",
                of_controller="was_controller",
                failovers="failovers",
                served="served",
                returned="returned",
                moved="moved",
                unclean="unclean",
                detection_p50_ms=in_ms("detection_p50_us"),
                election_p50_ms=in_ms("election_p50_us"),
                takeover_p50_ms=in_ms("takeover_p50_us"),
                total_p50_ms=in_ms("total_p50_us"),
                p99_ms=in_ms("total_p99_us"),
                max_ms=in_ms("total_max_us"),
                slowest="slowest_session",
                at_event="slowest_seq",
            ),
            ("total_p50_us",),
            KIND,
        ),
    ),
)
