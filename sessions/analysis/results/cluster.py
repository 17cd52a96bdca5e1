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
from sessions.dataset.schema import Column, Table

NO_ISR: Final = "it never had a state znode for any time"
NEVER: Final = "there was none"

ISR_CHURN: Final = Table(
    "isr_churn",
    "a partition of a session: how its ISR changed",
    "",
    (
        *place_columns(),
        count("changes", "changes", "of the ISR in the state znode"),
        count("shrinks", "changes", "that left a replica out"),
        count("expands", "changes", "that took a replica in"),
        count("by_controller", "changes", "that came with a new leader epoch"),
        count("asked_shrinks", "requests", "by its leaders for a smaller ISR"),
        count("asked_expands", "requests", "by its leaders for a larger ISR"),
        count("size_min", "replicas", "the smallest ISR for any time", NO_ISR),
        Column("size_mean", "double", "replicas", "size of the ISR, weighted by time", NO_ISR),
        broker(
            "restless", "the replica that was left out most often (the lowest of several)", NEVER
        ),
        count("restless_shrinks", "changes", "how often", NEVER),
        event("last_shrink_seq", "the last change that left a replica out", NEVER),
    ),
)

LEADER_BALANCE: Final = Table(
    "leader_balance",
    "a broker of a session: how much of leading was its share",
    "",
    (
        session_column(),
        broker("broker", "a broker that was ever assigned a replica"),
        Column(
            "led_mean", "double", "partitions", "that it led, weighted by time", "no time passed"
        ),
        count("led_max", "partitions", "the most that it led for any time", "no time passed"),
        event("led_max_seq", "event with which that began", "no time passed"),
        count("led_at_end", "partitions", "that it led at the session's end"),
        count("preferred_at_end", "partitions", "whose preferred leader it was then"),
        count("strayed_at_end", "partitions", "of these, not led by it then"),
        Column(
            "imbalance_percent",
            "double",
            "percent",
            "share of these: what leader.imbalance.per.broker.percentage is compared with",
            "it was no partition's preferred leader",
        ),
        count("gained", "changes", "how often it became a partition's leader"),
        count("lost", "changes", "how often it ceased to be one"),
    ),
)

CONTROLLER_WORK: Final = Table(
    "controller_work",
    "a controller's time in office",
    "",
    (
        session_column(),
        broker("broker", "the controller"),
        Column("epoch", "int32", "", "controller epoch"),
        event("from_seq", "ControllerElected"),
        time("from_us", "virtual time of it"),
        event("to_seq", "it resigned, or the next one was elected", "until the session's end"),
        time("to_us", "virtual time of that", "until the session's end"),
        time("failover_us", "from its election to the last step of onControllerFailover", NEVER),
        count("steps", "steps", "of all its procedures"),
        count("elections", "elections", "in which it found a leader"),
        count("elections_failed", "elections", "in which it found none"),
        count("unclean", "elections", "outside the ISR"),
        count("leader_and_isr", "requests", "LeaderAndIsrRequest that it sent"),
        count("leader_and_isr_partitions", "partitions", "in these, one counted in each request"),
        count("update_metadata", "requests", "UpdateMetadataRequest that it sent"),
        count("update_metadata_partitions", "partitions", "in these, one counted in each request"),
        count("stop_replica", "requests", "StopReplicaRequest that it sent"),
        count("stop_replica_partitions", "partitions", "in these, one counted in each request"),
        count("unanswered", "requests", "of all these that had no response"),
    ),
)

CONTROLLER_STEPS: Final = Table(
    "controller_steps",
    "a step of a procedure in a controller's time in office",
    "",
    (
        session_column(),
        broker("broker", "the controller"),
        Column("epoch", "int32", "", "its controller epoch"),
        text("procedure", "`onControllerFailover`, .."),
        Column("step", "int32", "", "number of the step in the procedure"),
        text("name", "name of the step"),
        count("times", "steps", "how often it was taken"),
        event("first_seq", "when it was taken first"),
        time("first_us", "virtual time of that"),
        time("last_us", "virtual time at which it was taken last"),
    ),
)
