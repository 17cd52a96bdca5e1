"""What a request to the controller comes to: records to write, and what to answer."""

from typing import Final, Generic, TypeVar

from msgspec import Struct

from emulator.metadata_log.records import AnyRecord
from emulator.protocol.errors import NONE

MAX_RECORDS_PER_BATCH: Final = 10_000
"""How many records are written as one batch at most (``QuorumController``).

What an administrator asks for may take no more either (``MAX_RECORDS_PER_USER_OP``).
"""

ResponseT = TypeVar("ResponseT")


class Result(Struct, Generic[ResponseT]):
    """The outcome of one request (``ControllerResult``).

    ``is_atomic``: the records count only together, so they go into one batch. Others go into as few
    batches as hold them.
    """

    records: list[AnyRecord]
    response: ResponseT
    is_atomic: bool = False

    @property
    def batches(self) -> list[list[AnyRecord]]:
        """The records as they are to be written; none if there are none."""
        size = len(self.records) if self.is_atomic else MAX_RECORDS_PER_BATCH
        starts = range(0, len(self.records), size or 1)
        return [self.records[start : start + size] for start in starts]


def user_operation(
    records: list[AnyRecord], response: ResponseT, *, is_atomic: bool = True
) -> Result[ResponseT]:
    """Return the outcome of what an administrator asked for.

    Raises:
        ApiException: POLICY_VIOLATION if it takes more than 10,000 records.
    """
    if len(records) > MAX_RECORDS_PER_BATCH:
        raise ApiException(
            "POLICY_VIOLATION",
            f"That takes {len(records)} records, and one request may write"
            f" {MAX_RECORDS_PER_BATCH}: ask for fewer partitions at a time.",
        )
    return Result(records, response, is_atomic)


def take_room(records: list[AnyRecord], more: list[AnyRecord]) -> None:
    """Add records to those of a request that is answered part by part.

    Where the list is full the part fails, but what found room stays, and is written: a real
    controller that was asked for 20,000 more partitions made 10,000 and answered with this error.

    Raises:
        ApiException: UNKNOWN_SERVER_ERROR (``BoundedListTooLongException`` within Kafka).
    """
    room = MAX_RECORDS_PER_BATCH - len(records)
    records += more[:room]
    if len(more) > room:
        raise ApiException(
            "UNKNOWN_SERVER_ERROR",
            f"One request may write {MAX_RECORDS_PER_BATCH} records; {len(more) - room} more were"
            " left out, but not those before.",
        )


class ApiError(Struct, frozen=True):
    """How a part of a request fared: Kafka's error, and one sentence for people."""

    error: str = NONE
    message: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether it failed."""
        return self.error != NONE


class ApiException(Exception):
    """A request, or a part of one, is refused; nothing is written for it."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message

    def as_error(self) -> ApiError:
        """Return it as the answer for a part of a request."""
        return ApiError(self.error, self.message)
