"""Dead-letter queues of share groups: records that were rejected or delivered too often (KIP-1191).

A partition's leader writes them to the topic that the group names, usually with headers alone, and
archives them afterwards, also if they could not be written. Source: ``ShareGroupDLQStateManager``
4.4.0.
"""

from collections.abc import Callable
from typing import Final

from msgspec import field

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE, NOT_LEADER
from emulator.common.names import split
from emulator.coordinator.own_requests import OwnRequests
from emulator.coordinator.retried_requests import TIMEOUT_US, Retried, RetriedRequests, RetryState
from emulator.metadata_log.metadata_version import SHARE_VERSION
from emulator.protocol import ProduceRequest, ProduceResponse, RecordBatch
from emulator.releases.config import TopicValues
from emulator.storage.log import Log
from emulator.storage.record_ledger import LedgerEntry
from emulator.wire.exceptions import WireError
from emulator.wire.records import record_batch
from emulator.wire.records.record import Header, Record

TASK: Final = "dead-letters"
REJECTED: Final = "Offset rejected by client."
TOO_OFTEN: Final = "Offset delivery count exceeded the threshold."
TOPIC_NAME: Final = "errors.deadletterqueue.topic.name"
COPIES: Final = "errors.deadletterqueue.copy.record.enable"
PREFIX: Final = "errors.deadletterqueue.topic.name.prefix"
TOPIC_ENABLED: Final = "errors.deadletterqueue.group.enable"
HEADER: Final = "__dlq.errors."
LEVEL: Final = 2
"""The first level of share.version with dead-letter queues."""


class DeadLetters(Retried, kw_only=True, array_like=True):
    """Neighbouring records of a share-partition that have the same ``cause``.

    ``share`` is the share-partition, ``next`` the first offset that is not written yet, and
    ``request`` what was sent last.
    """

    share: str
    group: str
    tp: str
    first: int
    last: int
    deliveries: int
    cause: str
    next: int = -1
    request: ProduceRequest | None = None


class DeadLetterState(RetryState, array_like=True):
    """The dead letters that are not written yet, by number."""

    pending: dict[int, DeadLetters] = field(default_factory=dict)


class DeadLetterQueues(RetriedRequests[DeadLetters]):
    """Writes dead letters to the topics of their groups."""

    def __init__(
        self,
        context: BrokerContext,
        state: DeadLetterState,
        own: OwnRequests,
        append: Callable[[int, int, ProduceRequest], None],
        log_of: Callable[[str], tuple[Log, int]],
    ) -> None:
        """Act in ``context``.

        ``append`` handles a ProduceRequest as if a client had sent it; ``log_of`` returns this
        broker's log of a partition and its high watermark.
        """
        super().__init__(TASK, context, state, own, state.pending)
        self._append = append
        self._log_of = log_of
        self._last_decoded: tuple[int, list[Record]] = (-1, [])
        self.on_end: Callable[[DeadLetters], None] = lambda letters: None

    def is_asked(self, group: str) -> bool:
        """Whether a group's dead letters are to be written."""
        level = self.context.metadata.feature_level(SHARE_VERSION)
        return level >= LEVEL and bool(self._topic_of(group))

    def write(self, letters: DeadLetters) -> None:
        """Write dead letters; ``on_end`` is called when they are written, or cannot be."""
        number = self.number()
        letters.next = letters.first
        self.pending[number] = letters
        self.attempt(number)

    def attempt(self, number: int) -> None:
        """Send dead letters, unless their group's topic may not be its queue."""
        if self._is_valid(self.pending[number].group):
            super().attempt(number)
        else:
            self._end(number)

    def _topic_of(self, group: str) -> str:
        return self.context.metadata.group_config(group).get(TOPIC_NAME, "")

    def _is_valid(self, group: str) -> bool:
        """Whether a group's topic may be its queue: by its name, and by what it or brokers say."""
        name, context = self._topic_of(group), self.context
        if not name or not name.startswith(context.settings.defaults.get(PREFIX, "dlq.")):
            return False
        if context.metadata.topic(name) is None:
            return context.config.dead_letter_topics_created
        return context.process.topic_configs.get(name, {}).get(TOPIC_ENABLED) == "true"

    # ---- requests

    def broker_of(self, number: int) -> int | None:
        """The leader of the partition; its topic is made if need be."""
        tp = self._queue_of(self.pending[number])
        return None if tp is None else self.context.metadata.leader(tp)

    def _queue_of(self, letters: DeadLetters) -> str | None:
        """The partition with the number of the records' own, modulo how many there are."""
        context, name = self.context, self._topic_of(letters.group)
        topic = context.metadata.topic(name)
        if topic is None:
            config = {TOPIC_ENABLED: "true", "message.timestamp.type": "CreateTime"}
            counts = context.config.num_partitions, context.config.default_replication_factor
            context.metadata.create(name, *counts, config)
            return None
        return f"{name}-{split(letters.tp)[1] % topic.partitions}"

    def message_of(self, number: int) -> ProduceRequest:
        """The records with their headers, and the records themselves if the group wants them."""
        letters = self.pending[number]
        tp = self._queue_of(letters)
        assert tp is not None
        if letters.request is None or letters.request.tp != tp:
            letters.request = self._request(tp, letters)
        return letters.request

    def _request(self, tp: str, letters: DeadLetters) -> ProduceRequest:
        context, ledger = self.context, self.context.ledger
        encoded, count = self._batch(letters, context.topic_values(split(tp)[0]))
        writer, now_us = f"share group {letters.group}", context.kernel.now
        first = ledger.enter_encoded(writer, tp, encoded, count, acks=-1, now_us=now_us)
        fields = (tp, context.id, letters.group, first, *ledger.texts_of(first))
        context.emit(events.GroupRecordsWritten, *fields)
        batch = RecordBatch(0, count, -1, first, size_bytes=len(encoded))
        return ProduceRequest(tp, batch, -1, TIMEOUT_US, len(encoded))

    def _batch(self, letters: DeadLetters, topic: TopicValues) -> tuple[bytes, int]:
        """The next records, as many as the topic takes in a batch but at least one."""
        copies = self.context.metadata.group_config(letters.group).get(COPIES) == "true"
        records: list[Record] = []
        size_bytes = record_batch.HEADER_BYTES
        for offset in range(letters.next, letters.last + 1):
            original = self._original(letters.tp, offset) if copies else Record()
            if record_batch.record_bytes(original) > topic.max_message_bytes:
                original = Record()
            headers = _headers(letters, offset)
            record = Record(original.key, original.value, self.context.timestamp_ms, headers)
            size_bytes += record_batch.record_bytes(record, len(records))
            if records and size_bytes > topic.max_message_bytes:
                break
            records.append(record)
        return record_batch.build(records), len(records)

    def _original(self, tp: str, offset: int) -> Record:
        """The record that a log has at an offset; an empty one if it is gone, or damaged."""
        for batch in self._log_of(tp)[0].read(offset, offset + 1):
            if not batch.base_offset <= offset < batch.end_offset or batch.is_empty:
                continue
            number = batch.first_record + offset - batch.base_offset
            entry = self.context.ledger.entry_of(number)
            index = number - entry.first_record
            if not entry.encoded:
                key, value = entry.keys[index] if entry.keys else None, entry.values[index]
                return Record(None if key is None else key.encode(), value.encode())
            if entry.first_record in self.context.ledger.encoded:
                return self._decoded(entry)[index]
        return Record()

    def _decoded(self, entry: LedgerEntry) -> list[Record]:
        """The records of a batch received as bytes; those of the last one are kept."""
        if self._last_decoded[0] != entry.first_record:
            try:
                records = self.context.ledger.decoded(entry.first_record)
            except WireError:
                records = [Record()] * entry.encoded
            self._last_decoded = entry.first_record, records
        return self._last_decoded[1]

    def handle(self, number: int, message: ProduceRequest) -> None:
        self._append(self.context.id, number, message)

    def is_retriable(self, error: str) -> bool:
        return error == NOT_LEADER

    def failed(self, number: int, error: str) -> None:
        self._end(number)

    def answered(self, number: int, response: ProduceResponse) -> None:
        letters = self.pending[number]
        assert letters.request is not None
        letters.next += letters.request.batch.count
        if response.error != NONE or letters.next > letters.last:
            self._end(number)
            return
        letters.request, letters.attempts = None, 0
        self.attempt_after(number, 0)

    def _end(self, number: int) -> None:
        self.on_end(self.pending.pop(number))


def _headers(letters: DeadLetters, offset: int) -> tuple[Header, ...]:
    topic, partition = split(letters.tp)
    texts = {
        "topic": topic,
        "partition": partition,
        "offset": offset,
        "group": letters.group,
        "delivery.count": letters.deliveries,
        "message": letters.cause,
    }
    return tuple(Header(f"{HEADER}{name}", str(text).encode()) for name, text in texts.items())
