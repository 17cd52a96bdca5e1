"""The table of features: what changed between releases, and when.

A feature holds from the release ``since`` up to and including ``until``; ``label`` is the KIP or
JIRA that brought it, ``ended_by`` the one that took it away. Sources: the Apache Kafka trees from
0.8.0 to 3.9.0, and recorded runs of real brokers.
"""

from typing import Final

from msgspec import Struct


class Feature(Struct, frozen=True):
    """One thing that changed between releases; ``until`` None: it still holds."""

    name: str
    since: str
    until: str | None
    label: str
    meaning: str
    ended_by: str = ""


FEATURES: Final = (
    Feature(
        "cut_to_high_watermark_on_restart",
        "seed",
        "seed",
        "documents",
        "a restarted replica sets its LEO to its HW, even one that then leads",
    ),
    Feature(
        "fetch_recorded_before_read",
        "seed",
        "0.8.1",
        "",
        "a fetch response already carries the HW that this very fetch raised",
    ),
    Feature(
        "lag_in_messages",
        "seed",
        "0.8.2",
        "",
        "a follower more than replica.lag.max.messages behind leaves the ISR",
        ended_by="KIP-16",
    ),
    Feature(
        "lag_since_fetch",
        "seed",
        "0.8.2",
        "",
        "lag time counts from the last recorded fetch, not from being caught up",
        ended_by="KIP-16",
    ),
    Feature(
        "isr_order_elects",
        "seed",
        "0.8.1",
        "",
        "the controller elects the first live member in the order of the ISR",
    ),
    Feature(
        "isr_order_on_shutdown",
        "seed",
        "0.9",
        "",
        "who takes over from a broker that goes is the first in the order of the ISR",
        ended_by="KAFKA-3670",
    ),
    Feature(
        "empty_isr_on_unclean",
        "0.8.2",
        "0.11",
        "",
        "the last member leaves the ISR too when unclean election is on",
        ended_by="KAFKA-5083",
    ),
    Feature(
        "out_of_range_is_fatal",
        "0.8.2",
        "1.1",
        "KAFKA-1028",
        "a follower with a longer log than its leader's halts, unless unclean election is on",
    ),
    Feature("out_of_range_wipes", "seed", "0.8.2", "", "a follower out of range begins a log anew"),
    Feature(
        "isr_change_notifications",
        "0.9",
        "2.5",
        "KAFKA-1367",
        "leaders tell the controller of their ISR writes by sequential znodes",
        ended_by="KIP-497",
    ),
    Feature(
        "consumer_groups",
        "0.9",
        None,
        "KAFKA-1326",
        "consumers form groups by a coordinator and commit to __consumer_offsets",
    ),
    Feature(
        "broker_rack", "0.10.0", None, "KIP-36", "brokers register racks; rack-aware assignment"
    ),
    Feature("message_timestamps", "0.10.0", None, "KIP-32", "messages carry timestamps (format 1)"),
    Feature(
        "half_lag_expiry",
        "0.10.2",
        None,
        "",
        "ISR expiry runs every half of replica.lag.time.max.ms, not every whole",
    ),
    Feature(
        "caught_up_holds_hw",
        "0.10.2",
        None,
        "KAFKA-4485",
        "assigned replicas that are caught up hold the HW back although not in the ISR",
    ),
    Feature(
        "caught_up_by_last_fetch",
        "0.10.2",
        None,
        "KAFKA-4485",
        "reaching the LEO of the fetch before counts as caught up at that fetch",
    ),
    Feature(
        "rebalance_timeout",
        "0.10.2",
        None,
        "KIP-62",
        "a rebalance waits for members for max.poll.interval.ms, not for their session timeout",
    ),
    Feature(
        "waits_for_idle_fetchers",
        "seed",
        "0.11",
        "",
        "LeaderAndIsr is answered only when fetchers without partitions have their last answer",
    ),
    Feature(
        "metadata_first_on_failover",
        "0.10.2",
        None,
        "KAFKA-4443",
        "a new controller sends UpdateMetadata before its state machines start",
    ),
    Feature(
        "leader_epochs",
        "0.11",
        None,
        "KIP-101",
        "records carry leader epochs; followers ask for the end of their epoch and cut there",
    ),
    Feature(
        "offsets_topic_waits",
        "0.11",
        None,
        "KIP-115",
        "__consumer_offsets is not made before offsets.topic.replication.factor brokers live",
    ),
    Feature(
        "offsets_loaded_to_log_end",
        "0.11",
        None,
        "",
        "a new coordinator loads groups up to the LEO of its log, not up to the HW",
    ),
    Feature(
        "idempotence", "0.11", None, "KIP-98", "producer ids and sequence numbers detect duplicates"
    ),
    Feature(
        "five_batch_window", "1.1", None, "KAFKA-5494", "five batches a producer are remembered"
    ),
    Feature(
        "preferred_election_repeats",
        "1.1",
        "2.1",
        "",
        "a preferred election raises the epoch even where the preferred replica leads already",
    ),
    Feature(
        "unknown_producer_error",
        "1.1",
        "2.4",
        "",
        "a producer that nobody knows and that starts in the middle: UNKNOWN_PRODUCER_ID",
        ended_by="KIP-360",
    ),
    Feature(
        "epoch_in_answer",
        "2.0.0",
        None,
        "KIP-279",
        "the leader answers with epoch and offset; the follower may ask again",
    ),
    Feature(
        "epoch_assigned_at_election",
        "2.0.1",
        None,
        "KAFKA-7415",
        "a leader enters its epoch in the cache when it is elected",
    ),
    Feature(
        "expand_needs_epoch_start",
        "2.0.1",
        None,
        "KAFKA-7128",
        "a follower joins the ISR only past the start of the leader's epoch",
    ),
    Feature(
        "below_first_epoch_answered",
        "2.0.1",
        None,
        "",
        "an epoch below the first known one is answered with the first start offset",
    ),
    Feature(
        "truncate_on_each_epoch",
        "2.1",
        None,
        "KAFKA-7164",
        "a follower truncates again on every new leader epoch, same leader or not",
    ),
    Feature(
        "unclean_config_elects",
        "2.1",
        None,
        "KAFKA-6835",
        "turning unclean election on for a topic elects for its offline partitions at once",
    ),
    Feature(
        "cancel_reassignment",
        "2.4",
        None,
        "KIP-455",
        "a reassignment names what it adds and removes, and can be taken back",
    ),
    Feature(
        "elect_leaders",
        "2.4",
        None,
        "KIP-460",
        "administrators can ask for an election of any kind, unclean ones too",
    ),
    Feature(
        "fetch_fencing",
        "2.1",
        None,
        "KIP-320",
        "fetches carry the leader epoch: FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH",
    ),
    Feature(
        "in_sync_at_log_end",
        "2.1",
        None,
        "",
        "a follower that has everything stays in the ISR however long it is silent",
    ),
    Feature(
        "controller_multi",
        "2.1",
        None,
        "KAFKA-6082",
        "election is one multi; each controller write checks /controller_epoch",
    ),
    Feature(
        "broker_epochs", "2.2", None, "KIP-380", "requests carry the broker's registration epoch"
    ),
    Feature(
        "registration_multi",
        "2.2",
        None,
        "KIP-380",
        "/brokers/ids/N is created and set in one multi (dataVersion 1)",
    ),
    Feature(
        "member_id_required",
        "2.2",
        None,
        "KIP-394",
        "a new member is told its id first, and joins with it",
    ),
    Feature(
        "dead_leave_isr_at_failover",
        "2.4",
        None,
        "KAFKA-3143",
        "a new controller takes replicas on dead brokers out of the ISR",
    ),
    Feature(
        "cooperative_rebalance",
        "2.4",
        None,
        "KIP-429",
        "with cooperative-sticky members keep what they own while they join again",
    ),
    Feature(
        "read_from_followers",
        "2.4",
        None,
        "KIP-392",
        "a leader sends a consumer with a rack to a replica there, which answers to its own HW",
    ),
    Feature(
        "high_watermark_in_log",
        "2.4",
        None,
        "KAFKA-8457",
        "the HW lives in the log: it is cut with it and clamped to its range",
    ),
    Feature(
        "quick_high_watermark",
        "2.4",
        "2.5",
        "KIP-392",
        "a parked follower fetch is answered as soon as the HW rises",
        ended_by="KAFKA-9952",
    ),
    Feature(
        "sticky_partitioner",
        "2.4",
        "2.8",
        "KIP-480",
        "records without a key stay on one partition for a batch, not in turn on all",
        ended_by="KIP-794",
    ),
    Feature(
        "unknown_producer_accepted",
        "2.5",
        None,
        "KIP-360",
        "a producer that nobody knows may start with any sequence number",
    ),
    Feature(
        "producer_epoch_bump",
        "2.5",
        None,
        "KIP-360",
        "who lost count goes on in a new epoch",
    ),
    Feature(
        "alter_isr",
        "2.7",
        None,
        "KIP-497",
        "leaders ask the controller for ISR changes; a pending ISR counts at its largest",
    ),
    Feature(
        "epoch_cut_at_log_end",
        "2.7",
        None,
        "KAFKA-10706",
        "cutting at the LEO still drops epoch entries that start there",
    ),
    Feature("topic_ids", "2.8", None, "KIP-516", "topics have ids, which their znodes hold"),
    Feature(
        "truncate_on_fetch",
        "2.8",
        None,
        "KIP-595",
        "the fetch itself reports a diverging epoch; no separate question",
    ),
    Feature(
        "read_in_sync_only",
        "3.5",
        None,
        "KAFKA-14372",
        "consumers are sent to followers in the ISR only",
    ),
    Feature(
        "isr_answer_rechecks_hw",
        "3.5",
        None,
        "KAFKA-13091",
        "the leader re-checks its HW when an ISR change is answered",
    ),
    Feature(
        "built_in_partitioner", "3.5", None, "KIP-794", "keyless records stay for batch.size bytes"
    ),
    Feature(
        "producer_ids_on_demand", "3.5", None, "KIP-730", "no producer ids until one is asked for"
    ),
    Feature(
        "acks_all_by_default", "3.5", None, "KIP-679", "producers use acks=all and are idempotent"
    ),
    Feature(
        "hw_waits_for_min_isr",
        "3.9",
        None,
        "KAFKA-15583",
        "the HW does not move while the ISR is below min.insync.replicas",
    ),
)
"""Everything that the rules ask a profile, in the order of the releases that brought it."""
