"""What clients were told in a scenario, and what the cluster has: all that a verdict rests on."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

Outcome = Literal["open", "committed", "aborted", "unknown"]


class Sent(Struct, kw_only=True):
    """A record that a producer was given.

    ``transaction`` counts its producer's transactions; 0: it is in none. ``is_acknowledged`` and
    ``error`` are the client's answer, which came at ``at_us``; ``offset`` is -1 if it is not told.
    """

    client: str
    topic: str
    partition: int
    value: str
    transaction: int = 0
    offset: int = -1
    is_acknowledged: bool = False
    error: str = ""
    at_us: int = 0


class Received(Struct, frozen=True, kw_only=True):
    """A record that a consumer returned, at ``at_us``."""

    client: str
    group: str
    topic: str
    partition: int
    offset: int
    value: str
    at_us: int


class Settled(Struct, frozen=True, kw_only=True):
    """A record that a member of a share group accepted or rejected.

    ``received`` counts what had been received by then, by any consumer; None: the client was told
    that its acknowledgement failed, which may have taken effect all the same.
    """

    group: str
    value: str
    received: int | None


class Surprise(Struct, frozen=True, kw_only=True):
    """A request whose answer is not the one that the scenario allows, or that had none."""

    text: str
    at_us: int


class Transaction(Struct, kw_only=True):
    """A transaction and how it ended, as far as its client was told."""

    client: str
    number: int
    outcome: Outcome = "open"
    at_us: int = 0


class History(Struct):
    """Everything that clients were told, in order, and the logs at the end.

    ``readers`` has the topic that each group, and each consumer without one, reads; ``logs`` the
    records of each partition's leader as (offset, value), without control records. Everything ended
    at ``ended_us``.
    """

    sent: list[Sent] = []
    received: list[Received] = []
    settled: list[Settled] = []
    transactions: list[Transaction] = []
    surprises: list[Surprise] = []
    readers: dict[str, str] = {}
    logs: dict[str, list[tuple[int, str]]] = {}
    ended_us: int = 0

    def of_producers(self) -> Iterator[list[Sent]]:
        """Yield what each producer sent to each partition, in order."""
        by_stream: dict[tuple[str, str, int], list[Sent]] = {}
        for sent in self.sent:
            by_stream.setdefault((sent.client, sent.topic, sent.partition), []).append(sent)
        yield from by_stream.values()

    def outcome_of(self, sent: Sent) -> Outcome:
        """How the transaction of a record ended; outside of transactions as committed."""
        if not sent.transaction:
            return "committed"
        return next(
            transaction.outcome
            for transaction in self.transactions
            if (transaction.client, transaction.number) == (sent.client, sent.transaction)
        )

    def written(self, topic: str) -> Iterator[str]:
        """Yield the value of each record in a topic's logs."""
        for tp, log in self.logs.items():
            if tp.rpartition("-")[0] == topic:
                yield from (value for _offset, value in log)
