"""Changes to producers, consumers and their groups."""

from typing import Final

from emulator.releases.features.base import Feature

CLIENTS: Final = (
    Feature(
        "offsets_expire_when_group_empty",
        "2.1",
        None,
        "KIP-211",
        "a group's positions begin to grow old when it is empty, not when they are committed",
    ),
    Feature(
        "consumer_groups",
        "0.9",
        None,
        "KAFKA-1326",
        "consumers form groups by a coordinator and commit to __consumer_offsets",
        also=("documents",),
    ),
    Feature(
        "fetch_tells_last_stable_offset",
        "2.1",
        None,
        "KAFKA-7395",
        "fetch responses tell the last stable offset to all, not only to who reads committed",
    ),
    Feature(
        "completing_rebalance_state",
        "1.1",
        None,
        "KAFKA-5565",
        "a group that waits for its leader is told as CompletingRebalance, not as AwaitingSync",
    ),
    Feature("message_timestamps", "0.10.0", None, "KIP-32", "messages carry timestamps (format 1)"),
    Feature(
        "rebalance_timeout",
        "0.10.1",
        None,
        "KIP-62",
        "a rebalance waits for members for max.poll.interval.ms, not for their session timeout",
    ),
    Feature(
        "offsets_topic_needs_replication_factor",
        "0.11",
        None,
        "KIP-115",
        "__consumer_offsets is not made before offsets.topic.replication.factor brokers live",
    ),
    Feature(
        "offsets_loaded_to_log_end",
        "0.11",
        None,
        "KAFKA-5059",
        "a new coordinator loads groups up to the LEO of its log, not up to the HW",
    ),
    Feature(
        "idempotence", "0.11", None, "KIP-98", "producer ids and sequence numbers detect duplicates"
    ),
    Feature(
        "transactional_offsets_need_epoch",
        "0.11",
        "3.9",
        "KIP-98",
        "offsets in a transaction without producer id or epoch fail with UNKNOWN_SERVER_ERROR",
        ended_by="KIP-848",
    ),
    Feature(
        "transaction_partition_verification",
        "3.6",
        None,
        "KIP-890",
        "a leader asks the coordinator whether it is part of a transaction before it appends",
    ),
    Feature(
        "transaction_abortable_error",
        "3.8",
        None,
        "KIP-890",
        "what is not part of a transaction: TRANSACTION_ABORTABLE, not INVALID_TXN_STATE",
    ),
    Feature(
        "producer_state_keeps_five_batches",
        "1.0",
        None,
        "KAFKA-5494",
        "five batches a producer are remembered",
    ),
    Feature(
        "unknown_producer_id_error",
        "1.0",
        "2.4",
        "KAFKA-5793",
        "a producer that nobody knows and that starts in the middle: UNKNOWN_PRODUCER_ID",
        ended_by="KIP-360",
    ),
    Feature(
        "delivery_timeout",
        "2.1",
        None,
        "KIP-91",
        "delivery.timeout.ms bounds a batch's time; retries without end",
    ),
    Feature(
        "member_id_required",
        "2.2",
        None,
        "KIP-394",
        "a new member is told its id first, and joins with it",
    ),
    Feature(
        "cooperative_rebalance",
        "2.4",
        None,
        "KIP-429",
        "with cooperative-sticky members keep what they own while they join again",
    ),
    Feature(
        "fetch_from_followers",
        "2.4",
        None,
        "KIP-392",
        "a leader sends a consumer with a rack to a replica there, which answers to its own HW",
    ),
    Feature(
        "sticky_partitioner",
        "2.4",
        "3.2",
        "KIP-480",
        "records without a key stay on one partition for a batch, not in turn on all",
        ended_by="KIP-794",
    ),
    Feature(
        "unknown_producer_id_accepted",
        "2.5",
        None,
        "KIP-360",
        "a producer that nobody knows may start with any sequence number",
    ),
    Feature("producer_epoch_bump", "2.5", None, "KIP-360", "who lost count goes on in a new epoch"),
    Feature(
        "preferred_read_replica_in_isr",
        "3.3.2",
        None,
        "KAFKA-14372",
        "consumers are sent to followers in the ISR only",
    ),
    Feature(
        "built_in_partitioner", "3.3", None, "KIP-794", "keyless records stay for batch.size bytes"
    ),
    Feature("acks_all_by_default", "3.0", None, "KIP-679", "producers use acks=all"),
    Feature(
        "idempotence_by_default",
        "3.2",
        None,
        "KAFKA-13598",
        "producers are idempotent unless told otherwise (KIP-679)",
        also=("3.0.1", "3.1.1"),
    ),
    Feature(
        "session_timeout_45s", "3.0", None, "KIP-735", "session.timeout.ms of group members is 45 s"
    ),
    Feature(
        "fetch_response_max_bytes",
        "0.10.1",
        None,
        "KIP-74",
        "a fetch limits its whole response too, and is given a first batch however large it is",
    ),
    Feature(
        "offsets_for_times",
        "0.10.1",
        None,
        "KIP-79",
        "consumers find the offset of the first record that is not older than a timestamp",
    ),
    Feature(
        "newest_record_has_own_epoch",
        "3.8",
        None,
        "KAFKA-16310",
        "ListOffsets for the largest timestamp returns the record's leader epoch, not the newest",
    ),
    Feature(
        "offset_not_available_error",
        "2.2",
        None,
        "KIP-207",
        "a new leader does not tell its latest offset until its HW has reached the epoch's start",
    ),
)
