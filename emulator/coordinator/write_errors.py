"""What is told to a client if the coordinator's own write fails.

Source: ``CoordinatorOperationExceptionHelper.handleOperationException``.
"""

from typing import Final

from emulator.common.errors import NONE

UNKNOWN_ERROR: Final = "UNKNOWN_SERVER_ERROR"
"""The error for a failure that is not among :data:`WRITE_ERRORS`."""
WRITE_ERRORS: Final = {
    "UNKNOWN_TOPIC_OR_PARTITION": "COORDINATOR_NOT_AVAILABLE",
    "NOT_ENOUGH_REPLICAS": "COORDINATOR_NOT_AVAILABLE",
    "REQUEST_TIMED_OUT": "COORDINATOR_NOT_AVAILABLE",
    "NOT_LEADER_OR_FOLLOWER": "NOT_COORDINATOR",
    "KAFKA_STORAGE_ERROR": "NOT_COORDINATOR",
}
"""The error for the client, by that of the write."""


def outcome_of(error: str) -> str:
    """The outcome of a coordinator's write by the error of its request.

    A record that is replicated is written, whether or not enough replicas are left in sync: Kafka's
    coordinator waits for the high watermark alone (``CoordinatorRuntime``). So whatever fails has
    failed at once, before any later write, and is undone alone.
    """
    return NONE if error == "NOT_ENOUGH_REPLICAS_AFTER_APPEND" else error
