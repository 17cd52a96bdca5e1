"""Kafka's error codes, as far as this cluster returns them.

Names are those of release 3.9 in every profile (``NOT_LEADER_OR_FOLLOWER`` was
``NOT_LEADER_FOR_PARTITION`` up to 2.5). Retriable means that the exception class of the error
descends from ``RetriableException``: a producer retries the batch. Source:
``org.apache.kafka.common.protocol.Errors`` 3.9.
"""

from typing import Final

from msgspec import Struct

NONE: Final = "NONE"
"""The error of a request that succeeded."""
NOT_LEADER: Final = "NOT_LEADER_OR_FOLLOWER"
LOADING: Final = "COORDINATOR_LOAD_IN_PROGRESS"
"""The error of a request that only a partition's leader can handle."""


class KafkaError(Struct, frozen=True):
    """An error: its name, its code on the wire, and whether it is retriable."""

    name: str
    code: int
    retriable: bool = False


_TABLE: Final = (
    KafkaError("UNKNOWN_SERVER_ERROR", -1),
    KafkaError("NONE", 0),
    KafkaError("OFFSET_OUT_OF_RANGE", 1),
    KafkaError("CORRUPT_MESSAGE", 2, retriable=True),
    KafkaError("UNKNOWN_TOPIC_OR_PARTITION", 3, retriable=True),
    KafkaError("LEADER_NOT_AVAILABLE", 5, retriable=True),
    KafkaError("NOT_LEADER_OR_FOLLOWER", 6, retriable=True),
    KafkaError("REQUEST_TIMED_OUT", 7, retriable=True),
    KafkaError("BROKER_NOT_AVAILABLE", 8),
    KafkaError("REPLICA_NOT_AVAILABLE", 9, retriable=True),
    KafkaError("MESSAGE_TOO_LARGE", 10),
    KafkaError("STALE_CONTROLLER_EPOCH", 11),
    KafkaError("OFFSET_METADATA_TOO_LARGE", 12),
    KafkaError("NETWORK_EXCEPTION", 13, retriable=True),
    KafkaError("COORDINATOR_LOAD_IN_PROGRESS", 14, retriable=True),
    KafkaError("COORDINATOR_NOT_AVAILABLE", 15, retriable=True),
    KafkaError("NOT_COORDINATOR", 16, retriable=True),
    KafkaError("INVALID_TOPIC_EXCEPTION", 17),
    KafkaError("NOT_ENOUGH_REPLICAS", 19, retriable=True),
    KafkaError("NOT_ENOUGH_REPLICAS_AFTER_APPEND", 20, retriable=True),
    KafkaError("INVALID_REQUIRED_ACKS", 21),
    KafkaError("ILLEGAL_GENERATION", 22),
    KafkaError("INCONSISTENT_GROUP_PROTOCOL", 23),
    KafkaError("INVALID_GROUP_ID", 24),
    KafkaError("UNKNOWN_MEMBER_ID", 25),
    KafkaError("INVALID_SESSION_TIMEOUT", 26),
    KafkaError("REBALANCE_IN_PROGRESS", 27),
    KafkaError("INVALID_COMMIT_OFFSET_SIZE", 28),
    KafkaError("TOPIC_AUTHORIZATION_FAILED", 29),
    KafkaError("GROUP_AUTHORIZATION_FAILED", 30),
    KafkaError("CLUSTER_AUTHORIZATION_FAILED", 31),
    KafkaError("INVALID_TIMESTAMP", 32),
    KafkaError("UNSUPPORTED_SASL_MECHANISM", 33),
    KafkaError("ILLEGAL_SASL_STATE", 34),
    KafkaError("UNSUPPORTED_VERSION", 35),
    KafkaError("TOPIC_ALREADY_EXISTS", 36),
    KafkaError("INVALID_PARTITIONS", 37),
    KafkaError("INVALID_REPLICATION_FACTOR", 38),
    KafkaError("INVALID_REPLICA_ASSIGNMENT", 39),
    KafkaError("INVALID_CONFIG", 40),
    KafkaError("NOT_CONTROLLER", 41, retriable=True),
    KafkaError("INVALID_REQUEST", 42),
    KafkaError("UNSUPPORTED_FOR_MESSAGE_FORMAT", 43),
    KafkaError("POLICY_VIOLATION", 44),
    KafkaError("OUT_OF_ORDER_SEQUENCE_NUMBER", 45),
    KafkaError("DUPLICATE_SEQUENCE_NUMBER", 46),
    KafkaError("INVALID_PRODUCER_EPOCH", 47),
    KafkaError("INVALID_TXN_STATE", 48),
    KafkaError("INVALID_PRODUCER_ID_MAPPING", 49),
    KafkaError("INVALID_TRANSACTION_TIMEOUT", 50),
    KafkaError("CONCURRENT_TRANSACTIONS", 51, retriable=True),
    KafkaError("TRANSACTION_COORDINATOR_FENCED", 52),
    KafkaError("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", 53),
    KafkaError("SECURITY_DISABLED", 54),
    KafkaError("OPERATION_NOT_ATTEMPTED", 55),
    KafkaError("KAFKA_STORAGE_ERROR", 56, retriable=True),
    KafkaError("LOG_DIR_NOT_FOUND", 57),
    KafkaError("SASL_AUTHENTICATION_FAILED", 58),
    KafkaError("UNKNOWN_PRODUCER_ID", 59),
    KafkaError("REASSIGNMENT_IN_PROGRESS", 60),
    KafkaError("DELEGATION_TOKEN_AUTH_DISABLED", 61),
    KafkaError("DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", 64),
    KafkaError("INVALID_PRINCIPAL_TYPE", 67),
    KafkaError("NON_EMPTY_GROUP", 68),
    KafkaError("GROUP_ID_NOT_FOUND", 69),
    KafkaError("FETCH_SESSION_ID_NOT_FOUND", 70, retriable=True),
    KafkaError("INVALID_FETCH_SESSION_EPOCH", 71, retriable=True),
    KafkaError("TOPIC_DELETION_DISABLED", 73),
    KafkaError("FENCED_LEADER_EPOCH", 74, retriable=True),
    KafkaError("UNKNOWN_LEADER_EPOCH", 75, retriable=True),
    KafkaError("UNSUPPORTED_COMPRESSION_TYPE", 76),
    KafkaError("STALE_BROKER_EPOCH", 77),
    KafkaError("OFFSET_NOT_AVAILABLE", 78, retriable=True),
    KafkaError("MEMBER_ID_REQUIRED", 79),
    KafkaError("PREFERRED_LEADER_NOT_AVAILABLE", 80, retriable=True),
    KafkaError("GROUP_MAX_SIZE_REACHED", 81),
    KafkaError("FENCED_INSTANCE_ID", 82),
    KafkaError("ELIGIBLE_LEADERS_NOT_AVAILABLE", 83, retriable=True),
    KafkaError("ELECTION_NOT_NEEDED", 84, retriable=True),
    KafkaError("NO_REASSIGNMENT_IN_PROGRESS", 85),
    KafkaError("GROUP_SUBSCRIBED_TO_TOPIC", 86),
    KafkaError("INVALID_RECORD", 87),
    KafkaError("UNSTABLE_OFFSET_COMMIT", 88, retriable=True),
    KafkaError("PRODUCER_FENCED", 90),
    KafkaError("RESOURCE_NOT_FOUND", 91),
    KafkaError("DUPLICATE_RESOURCE", 92),
    KafkaError("UNACCEPTABLE_CREDENTIAL", 93),
    KafkaError("INVALID_UPDATE_VERSION", 95),
    KafkaError("FEATURE_UPDATE_FAILED", 96),
    KafkaError("UNKNOWN_TOPIC_ID", 100, retriable=True),
    KafkaError("DUPLICATE_BROKER_REGISTRATION", 101),
    KafkaError("BROKER_ID_NOT_REGISTERED", 102),
    KafkaError("TRANSACTIONAL_ID_NOT_FOUND", 105),
    KafkaError("FETCH_SESSION_TOPIC_ID_ERROR", 106, retriable=True),
    KafkaError("INELIGIBLE_REPLICA", 107),
    KafkaError("NEW_LEADER_ELECTED", 108),
    KafkaError("FENCED_MEMBER_EPOCH", 110),
    KafkaError("UNRELEASED_INSTANCE_ID", 111),
    KafkaError("UNSUPPORTED_ASSIGNOR", 112),
    KafkaError("STALE_MEMBER_EPOCH", 113),
    KafkaError("MISMATCHED_ENDPOINT_TYPE", 114),
    KafkaError("UNSUPPORTED_ENDPOINT_TYPE", 115),
    KafkaError("TRANSACTION_ABORTABLE", 120),
    KafkaError("INVALID_RECORD_STATE", 121),
    KafkaError("SHARE_SESSION_NOT_FOUND", 122, retriable=True),
    KafkaError("INVALID_SHARE_SESSION_EPOCH", 123, retriable=True),
    KafkaError("FENCED_STATE_EPOCH", 124),
    KafkaError("INVALID_REGULAR_EXPRESSION", 128),
    KafkaError("REBOOTSTRAP_REQUIRED", 129),
    KafkaError("SHARE_SESSION_LIMIT_REACHED", 133, retriable=True),
)

ERRORS: Final = {error.name: error for error in _TABLE}
"""Every error by name, in the order of the codes."""

ERROR_NAMES: Final = {error.code: error.name for error in _TABLE}
"""The name of every error by code."""
