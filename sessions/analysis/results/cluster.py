"""Results of the jobs ``isr``, ``leaders`` and ``controller``."""

from typing import Final

from sessions.analysis.results.columns import (
    broker,
    count,
    event,
    place_columns,
    session_column,
    text,
    time,
)
from sessions.dataset.schema import Column, Example, Table

NO_ISR: Final = "it never had a state znode"
NEVER: Final = "there was none"

ISR_CHURN: Final = Table(
    "isr_churn",
    "a partition of a session, with the changes of its ISR",
    "",
    (
        *place_columns(),
        count("changes", "changes", "changes of the ISR in the state znode"),
        count("shrinks", "changes", "changes that removed a replica"),
        count("expands", "changes", "changes that added a replica"),
        count("by_controller", "changes", "changes with a new leader epoch"),
        count("asked_shrinks", "requests", "requests of its leaders to shrink the ISR"),
        count("asked_expands", "requests", "requests of its leaders to expand the ISR"),
        count("size_min", "replicas", "smallest size of the ISR for more than an instant", NO_ISR),
        Column("size_mean", "double", "replicas", "time-weighted mean size of the ISR", NO_ISR),
        broker("restless", "the replica removed most often (of several, the lowest id)", NEVER),
        count("restless_shrinks", "changes", "number of times it was removed", NEVER),
        event("last_shrink_seq", "the last change that removed a replica", NEVER),
    ),
    example=Example(
        "Which replicas were removed from the ISR most often?",
        """\
SELECT session, tp, restless, restless_shrinks, changes
FROM isr_churn
ORDER BY changes DESC, session, tp
LIMIT 10
""",
    ),
)

LEADER_BALANCE: Final = Table(
    "leader_balance",
    "a broker of a session, with its share of leaders",
    "",
    (
        session_column(),
        broker("broker", "a broker that was assigned a replica at any time"),
        Column(
            "led_mean", "double", "partitions", "time-weighted mean number led", "no time passed"
        ),
        count(
            "led_max", "partitions", "largest number led for more than an instant", "no time passed"
        ),
        event("led_max_seq", "event with which that began", "no time passed"),
        count("led_at_end", "partitions", "partitions led at the session's end"),
        count("preferred_at_end", "partitions", "partitions whose preferred leader it was then"),
        count("strayed_at_end", "partitions", "those of them that it did not lead"),
        Column(
            "imbalance_percent",
            "double",
            "percent",
            "their share, which Kafka compares with leader.imbalance.per.broker.percentage",
            "it was no partition's preferred leader",
        ),
        count("gained", "changes", "number of times it became a partition's leader"),
        count("lost", "changes", "number of times it stopped being one"),
    ),
    example=Example(
        "Which broker led the most partitions at a time?",
        """\
SELECT session, broker, led_max, led_mean, imbalance_percent
FROM leader_balance
ORDER BY led_max DESC, session, broker
LIMIT 10
""",
    ),
)

CONTROLLER_WORK: Final = Table(
    "controller_work",
    "a controller epoch, with the work of its controller",
    "",
    (
        session_column(),
        broker("broker", "the controller"),
        Column("epoch", "int32", "", "controller epoch"),
        event("from_seq", "ControllerElected"),
        time("from_us", "virtual time of that event"),
        event("to_seq", "it resigned, or the next one was elected", "until the session's end"),
        time("to_us", "virtual time of that event", "until the session's end"),
        time("failover_us", "from its election to the last step of onControllerFailover", NEVER),
        count("steps", "steps", "steps of all its procedures"),
        count("elections", "elections", "elections that found a leader"),
        count("elections_failed", "elections", "elections that found no leader"),
        count("unclean", "elections", "elections of a replica outside the ISR"),
        count("leader_and_isr", "requests", "LeaderAndIsrRequests sent"),
        count("leader_and_isr_partitions", "partitions", "partitions in all of them, added up"),
        count("update_metadata", "requests", "UpdateMetadataRequests sent"),
        count("update_metadata_partitions", "partitions", "partitions in all of them, added up"),
        count("stop_replica", "requests", "StopReplicaRequests sent"),
        count("stop_replica_partitions", "partitions", "partitions in all of them, added up"),
        count("unanswered", "requests", "those of all these requests that had no response"),
    ),
    example=Example(
        "How long did the failover to each controller take, and what did that controller do then?",
        """\
SELECT session, epoch, broker, failover_us, elections, elections_failed, leader_and_isr
FROM controller_work
ORDER BY session, epoch
""",
    ),
)

CONTROLLER_STEPS: Final = Table(
    "controller_steps",
    "a step of a procedure in a controller epoch",
    "",
    (
        session_column(),
        broker("broker", "the controller"),
        Column("epoch", "int32", "", "its controller epoch"),
        text("procedure", "`onControllerFailover`, .."),
        Column("step", "int32", "", "number of the step in the procedure"),
        text("name", "name of the step"),
        count("times", "steps", "number of times it was executed"),
        event("first_seq", "its first execution"),
        time("first_us", "virtual time of that event"),
        time("last_us", "virtual time of its last execution"),
    ),
    example=Example(
        "What are the steps of a controller failover?",
        """\
SELECT procedure, step, name, sum(times) AS times
FROM controller_steps
WHERE procedure = 'onControllerFailover'
GROUP BY procedure, step, name
ORDER BY step, name
""",
    ),
)
