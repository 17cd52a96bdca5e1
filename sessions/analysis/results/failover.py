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
from sessions.dataset.schema import Column, Table

NOT_DETECTED: Final = "it was not noticed before the session's end or the broker's return"
NOT_ELECTED: Final = (
    "no leader was chosen after it, before the next fault of the partition's leader"
)
NOT_SERVING: Final = "nobody has begun to lead after it, before the next fault of a leader"

FAILOVERS: Final = Table(
    "failovers",
    "a partition that a broker led when it failed: from the fault to the new leader's service",
    "",
    (
        *place_columns(),
        broker("broker", "the leader that failed"),
        text(
            "fault", "what became of it: `crashed`, `stopped`, `frozen` or `expired` (its session)"
        ),
        Column("was_controller", "bool", "", "whether it was also the controller"),
        event("fault_seq", "event of the fault"),
        time("fault_us", "virtual time of it"),
        event(
            "detected_seq",
            "SessionEnded: ZooKeeper dropped the broker; in KRaft mode the record",
            NOT_DETECTED,
        ),
        time("detected_us", "virtual time of it", NOT_DETECTED),
        event("elected_seq", "LeaderElected: the controller chose who leads next", NOT_ELECTED),
        time("elected_us", "virtual time of it", NOT_ELECTED),
        broker("leader", "who was chosen", NOT_ELECTED),
        Column("leader_epoch", "int32", "", "its leader epoch", NOT_ELECTED),
        text("strategy", "`Offline`, `Unclean`, .. as in `elections`", NOT_ELECTED),
        event("serving_seq", "ReplicaRoleChanged or a thaw: a broker acts as leader", NOT_SERVING),
        time("serving_us", "virtual time of it", NOT_SERVING),
        text(
            "outcome",
            "`failed over`: a leader was elected and serves; `returned`: the broker went on before "
            "another was elected, so nobody took over; `open`: nobody serves yet",
        ),
        time("detection_us", "from the fault to its detection", NOT_DETECTED),
        time("election_us", "from detection to the election", "as `detected_us` or `elected_us`"),
        time("takeover_us", "from the election to service", "as `elected_us` or `serving_us`"),
        time("total_us", "from the fault to service", NOT_SERVING),
    ),
)

NONE_SUCH: Final = "no failover came so far"

FAILOVER: Final = Table(
    "failover",
    "a kind of fault under a release, over all sessions",
    "",
    (
        text("version", "release whose rules the sessions ran by"),
        text("fault", "as in `failovers`"),
        Column("was_controller", "bool", "", "whether the broker was also the controller"),
        count("failovers", "failovers", "partitions whose leader failed so and did not return"),
        count("served", "failovers", "that ended with an elected leader in service"),
        count("returned", "partitions", "whose leader was away and went on itself"),
        count("unclean", "failovers", "for which the new leader was not in the ISR"),
        *percentile_columns("detection", "from the fault to its detection", NONE_SUCH),
        *percentile_columns("election", "from detection to the election", NONE_SUCH),
        *percentile_columns("takeover", "from the election to service", NONE_SUCH),
        *percentile_columns("total", "from the fault to service", NONE_SUCH),
        text("slowest_session", "session of the longest `total_us`", NONE_SUCH),
        event("slowest_seq", "event of its fault", NONE_SUCH),
    ),
)
