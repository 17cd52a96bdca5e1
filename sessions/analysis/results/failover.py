"""Results of the job ``failover``."""

from typing import Final

from sessions.analysis.results.columns import (
    broker,
    count,
    event,
    percentile_columns,
    place_columns,
    text,
    time,
)
from sessions.dataset.schema import Column, Example, Table

NOT_DETECTED: Final = "not detected before the session's end or the broker's return"
NOT_ELECTED: Final = "no failover to another broker before the next fault of the partition's leader"
NOT_SERVING: Final = "no broker acted as leader before the next fault of the partition's leader"

FAILOVERS: Final = Table(
    "failovers",
    "a partition whose leader failed, from the fault until a new leader serves",
    "",
    (
        *place_columns(),
        broker("broker", "the leader that failed"),
        text(
            "fault",
            "its fault: `crashed`, `stopped`, `frozen`, `expired` (its ZooKeeper session) or "
            "`fenced` (by KRaft's controller, while its process was running)",
        ),
        Column("was_controller", "bool", "", "whether it was also the controller"),
        event("fault_seq", "event of the fault"),
        time("fault_us", "virtual time of that event"),
        event(
            "detected_seq",
            "SessionEnded: ZooKeeper expired the session; in KRaft mode the record",
            NOT_DETECTED,
        ),
        time("detected_us", "virtual time of that event", NOT_DETECTED),
        event("elected_seq", "LeaderElected: the controller elected a new leader", NOT_ELECTED),
        time("elected_us", "virtual time of that event", NOT_ELECTED),
        broker("leader", "the new leader", NOT_ELECTED),
        Column("leader_epoch", "int32", "", "its leader epoch", NOT_ELECTED),
        text("strategy", "`Offline`, `Unclean`, .. as in `elections`", NOT_ELECTED),
        event("serving_seq", "ReplicaRoleChanged or a thaw: a broker acts as leader", NOT_SERVING),
        time("serving_us", "virtual time of that event", NOT_SERVING),
        text(
            "outcome",
            "`failed over`: a new leader was elected and serves; `returned`: the broker continued "
            "before another one was elected; `moved`: a planned election, or the topic's deletion, "
            "took the leadership from it first; `open`: no broker serves yet. Of a real cluster "
            "its elections tell, since nobody knows when a leader served",
        ),
        time("detection_us", "from the fault to its detection", NOT_DETECTED),
        time("election_us", "from detection to the election", "as `detected_us` or `elected_us`"),
        time("takeover_us", "from the election to service", "as `elected_us` or `serving_us`"),
        time("total_us", "from the fault to service", NOT_SERVING),
    ),
    example=Example(
        "Where did the time of the slowest failovers go?",
        """\
SELECT session, tp, fault, detection_us, election_us, takeover_us, total_us
FROM failovers
WHERE outcome = 'failed over'
ORDER BY total_us DESC, session, tp
LIMIT 10
""",
    ),
)

NONE_SUCH: Final = "no failover reached this point"

FAILOVER: Final = Table(
    "failover",
    "a kind of fault in a release, over all sessions",
    "",
    (
        text("version", "the emulated release"),
        text("mode", "`zk`, or `kraft`: without ZooKeeper"),
        text("fault", "as in `failovers`"),
        Column("was_controller", "bool", "", "whether the broker was also the controller"),
        count(
            "failovers", "failovers", "partitions whose leadership left a failed broker, or is to"
        ),
        count("served", "failovers", "failovers in which an elected leader began to serve"),
        count("returned", "partitions", "partitions whose leader returned and continued"),
        count("moved", "partitions", "partitions whose leadership was moved by a planned election"),
        count("unclean", "failovers", "failovers to a leader from outside the ISR"),
        *percentile_columns("detection", "from the fault to its detection", NONE_SUCH),
        *percentile_columns("election", "from detection to the election", NONE_SUCH),
        *percentile_columns("takeover", "from the election to service", NONE_SUCH),
        *percentile_columns("total", "from the fault to service", NONE_SUCH),
        text("slowest_session", "session of the longest `total_us`", NONE_SUCH),
        event("slowest_seq", "event of its fault", NONE_SUCH),
    ),
    example=Example(
        "How long does a failover take in each release?",
        """\
SELECT version, fault, was_controller, total_n, total_p50_us, total_p99_us
FROM failover
ORDER BY version, fault, was_controller
""",
    ),
)
