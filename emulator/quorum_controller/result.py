"""The result of a request to the controller: records and a response."""

from typing import Final, Generic, TypeVar

from msgspec import Struct

from emulator.common.errors import NONE
from emulator.metadata_log.records import AnyRecord

MAX_RECORDS_PER_BATCH: Final = 10_000
"""The maximum number of records in a batch (``QuorumController``).

It also limits an administrator's request (``MAX_RECORDS_PER_USER_OP``).
"""

ResponseT = TypeVar("ResponseT")


class Result(Struct, Generic[ResponseT]):
    """The result of one request (``ControllerResult``).

    ``is_atomic``: the records must be written as one batch. Others are written in as few batches as
    possible.
    """

    records: list[AnyRecord]
    response: ResponseT
    is_atomic: bool = False

    @property
    def batches(self) -> list[list[AnyRecord]]:
        """The batches to write; empty if there are no records."""
        size = len(self.records) if self.is_atomic else MAX_RECORDS_PER_BATCH
        starts = range(0, len(self.records), size or 1)
        return [self.records[start : start + size] for start in starts]


def user_operation(
    records: list[AnyRecord], response: ResponseT, *, is_atomic: bool = True
) -> Result[ResponseT]:
    """Return the result of an administrator's request.

    Raises:
        ApiException: POLICY_VIOLATION if it needs more than 10,000 records.
    """
    if len(records) > MAX_RECORDS_PER_BATCH:
        raise ApiException(
            "POLICY_VIOLATION",
            f"That takes {len(records)} records, and one request may write"
            f" {MAX_RECORDS_PER_BATCH}: ask for fewer partitions at a time.",
        )
    return Result(records, response, is_atomic)


def take_room(records: list[AnyRecord], more: list[AnyRecord]) -> None:
    """Add records to those of a request whose parts succeed or fail individually.

    If the limit is exceeded, the part fails, but the records up to the limit are written: a real
    controller created 10,000 of 20,000 requested partitions and returned this error.

    Raises:
        ApiException: UNKNOWN_SERVER_ERROR (``BoundedListTooLongException`` within Kafka).
    """
    room = MAX_RECORDS_PER_BATCH - len(records)
    records += more[:room]
    if len(more) > room:
        raise ApiException(
            "UNKNOWN_SERVER_ERROR",
            f"One request may write {MAX_RECORDS_PER_BATCH} records; those beyond were left out,"
            " but not those before.",
        )


class ApiError(Struct, frozen=True):
    """The result for a part of a request: Kafka's error and an explanation."""

    error: str = NONE
    message: str = ""

    @property
    def is_failure(self) -> bool:
        return self.error != NONE


class ApiException(Exception):
    """A request, or a part of it, failed; no records are written for it."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message

    def as_error(self) -> ApiError:
        """Return it as the result for a part of a request."""
        return ApiError(self.error, self.message)
