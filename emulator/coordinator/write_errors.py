"""What is told to a client if the coordinator's own write fails.

Source: ``CoordinatorOperationExceptionHelper.handleOperationException``.
"""

from typing import Final

UNKNOWN_ERROR: Final = "UNKNOWN_SERVER_ERROR"
"""The error for a failure that is not among :data:`WRITE_ERRORS`."""
WRITE_ERRORS: Final = {
    "UNKNOWN_TOPIC_OR_PARTITION": "COORDINATOR_NOT_AVAILABLE",
    "NOT_ENOUGH_REPLICAS": "COORDINATOR_NOT_AVAILABLE",
    "REQUEST_TIMED_OUT": "COORDINATOR_NOT_AVAILABLE",
    "NOT_LEADER_OR_FOLLOWER": "NOT_COORDINATOR",
    "KAFKA_STORAGE_ERROR": "NOT_COORDINATOR",
    "MESSAGE_TOO_LARGE": UNKNOWN_ERROR,
    "NETWORK_EXCEPTION": "COORDINATOR_LOAD_IN_PROGRESS",
}
"""The error for the client, by that of the write."""
