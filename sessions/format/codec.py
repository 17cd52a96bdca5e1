"""Encode events as bytes: a block holds consecutive events column by column.

Values of one field are stored together, so that they compress to a few bytes per event: sequence
numbers follow from the first one, times and causes are deltas, and each distinct text is stored
once. A whole block is encoded in one call.

A block names the fields of its events. So a type may gain a field with a default, which the events
of older blocks have, or lose a field, whose values in older blocks are ignored. Blocks up to schema
6 do not name fields; their columns are the first fields of each type.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Container, Sequence
from functools import partial
from itertools import accumulate
from operator import attrgetter, sub
from struct import pack
from types import GenericAlias
from typing import Any, Final, NamedTuple, get_type_hints
from zlib import crc32

import msgspec
import zstandard
from msgspec.structs import astuple

from emulator.events import TYPES, Event
from sessions import decoding
from sessions.format import limits

Groups = dict[type[Event], list[Event]]
"""Lists of events by type, each in order."""

Kinds = Container[type[Event]] | None
"""Types of events; None: all of them."""

LEVEL: Final = 3

TIME_MAX_US: Final = (1 << 63) - 1
"""The latest time that SQLite and Parquet can store."""

_ENCODE: Final = msgspec.msgpack.Encoder().encode
_TIME_US: Final = attrgetter("time_us")
_INTS: Final = msgspec.msgpack.Decoder(list[int])


class BlockError(ValueError):
    """The bytes are not a valid block of events."""


class BlockTooLargeError(Exception):
    """A block of these events would be refused when it is read."""


class Block(msgspec.Struct, array_like=True):
    """``order`` has an index into ``kinds`` per event, ``columns`` a MessagePack list per field.

    ``times`` are deltas in microseconds, the first from zero. The first column of each type has the
    distance to the cause, the others have the fields named in ``fields`` (per type, separated by
    spaces); columns of text have indexes into ``strings``.
    """

    first_seq: int
    kinds: list[str]
    order: bytes
    times: list[int]
    strings: list[str]
    columns: list[list[bytes]]
    fields: list[str] = []


class Plan(msgspec.Struct, frozen=True):
    """How one type is encoded and decoded.

    ``decoders`` has one for each field except the first three (None for text), ``defaults`` the
    defaults of fields that an old block may lack.
    """

    kind: type[Event]
    decoders: dict[str, msgspec.msgpack.Decoder[Any] | None]
    defaults: dict[str, Callable[[], Any]]

    @property
    def layout(self) -> str:
        """The names of its fields, in the form that blocks use."""
        return " ".join(self.decoders)

    @property
    def texts(self) -> int:
        """How many of its fields are texts."""
        return sum(decoder is None for decoder in self.decoders.values())


def _plan(kind: type[Event]) -> Plan:
    hints: dict[str, Any] = get_type_hints(kind)
    fields = msgspec.structs.fields(kind)[3:]
    return Plan(
        kind,
        {field.name: _column_decoder(hints[field.name]) for field in fields},
        {field.name: partial(_default, field) for field in fields if not field.required},
    )


def _column_decoder(hint: object) -> msgspec.msgpack.Decoder[Any] | None:
    return None if hint is str else msgspec.msgpack.Decoder(GenericAlias(list, (hint,)))


def _default(field: msgspec.structs.FieldInfo) -> object:
    factory = field.default_factory
    return factory() if callable(factory) else field.default


PLANS: Final = {kind: _plan(kind) for kind in TYPES.values()}


def group(events: Sequence[Event]) -> Groups:
    """Return the events by type, types in order of appearance."""
    groups: Groups = defaultdict(list)
    for event in events:
        groups[type(event)].append(event)
    return dict(groups)


def encode(events: Sequence[Event], groups: Groups) -> bytes:
    """Encode consecutive events (at least one) as a block; ``groups`` has them by type.

    Raises:
        BlockTooLargeError: they take more than is read at once. A single event never does.
    """
    block = _block(events, groups)
    raw = _ENCODE(block)
    if len(events) > 1 and _is_too_large(block, raw):
        raise BlockTooLargeError
    return compress(raw)


def _is_too_large(block: Block, raw: bytes) -> bool:
    if len(raw) > limits.BLOB_BYTES_MAX or _characters_max(block) > limits.CHUNK_TEXT_MAX:
        return True
    if len(raw) < limits.CHUNK_MEMORY_MAX // decoding.CONTAINER_BYTES:
        return False
    memory_max = limits.CHUNK_MEMORY_MAX
    return decoding.memory_of_msgpack(raw, memory_max=memory_max) > memory_max


def _characters_max(block: Block) -> int:
    """Return a bound of the characters of a block's texts, each as often as events have it."""
    longest = max(map(len, block.strings), default=0)
    fields = [PLANS[TYPES[kind]].texts for kind in block.kinds]
    return longest * len(block.order) * max(fields)


def _block(events: Sequence[Event], groups: Groups) -> Block:
    number = {kind: index for index, kind in enumerate(groups)}
    times = list(map(_TIME_US, events))
    strings: dict[str, int] = {}
    columns = [_columns(PLANS[kind], members, strings) for kind, members in groups.items()]
    return Block(
        first_seq=events[0].seq,
        kinds=[kind.__name__ for kind in groups],
        order=bytes(map(number.__getitem__, map(type, events))),
        times=[times[0], *map(sub, times[1:], times)],
        strings=list(strings),
        columns=columns,
        fields=[PLANS[kind].layout for kind in groups],
    )


def _columns(plan: Plan, members: list[Event], strings: dict[str, int]) -> list[bytes]:
    seqs, _, causes, *columns = zip(*map(astuple, members), strict=True)
    encoded = [_ENCODE(list(map(sub, seqs, causes)))]
    for column, decoder in zip(columns, plan.decoders.values(), strict=True):
        if decoder is None:
            for text in dict.fromkeys(column):
                strings.setdefault(text, len(strings))
            encoded.append(_ENCODE(list(map(strings.__getitem__, column))))
        else:
            encoded.append(_ENCODE(column))
    return encoded


class Columns(NamedTuple):
    """The events of one type in a block, as lists with one value per event.

    ``places`` are their positions in the block, ascending from 0; ``fields`` has a list for each
    field but the first three.
    """

    kind: type[Event]
    places: list[int]
    causes: list[int]
    fields: Sequence[Sequence[Any]]


class Unpacked(NamedTuple):
    """Consecutive events by column; ``times`` has the times of all events.

    ``columns`` may be limited to some types. ``memory`` is a bound of what the values take.
    """

    first_seq: int
    times: list[int]
    columns: list[Columns]
    memory: int = 0

    @property
    def last_seq(self) -> int:
        """The number of the last event; one below the first if there are none."""
        return self.first_seq + len(self.times) - 1

    def up_to(self, last_seq: int) -> "Unpacked":
        """Return the events up to this one."""
        count = last_seq - self.first_seq + 1
        if count >= len(self.times):
            return self
        columns = []
        for kind, indexes, causes, fields in self.columns:
            end = bisect_left(indexes, count)
            cut = [field[:end] for field in fields]
            columns.append(Columns(kind, indexes[:end], causes[:end], cut))
        return Unpacked(self.first_seq, self.times[:count], columns, self.memory)

    def events(self, kinds: Kinds = None) -> list[Event]:
        """Return the events of some types, or all, in order; types without columns are omitted."""
        placed: list[Any] = [None] * len(self.times)
        first, time_at, count = self.first_seq, self.times.__getitem__, 0
        for kind, indexes, causes, fields in self.columns:
            if kinds is None or kind in kinds:
                seqs = [index + first for index in indexes]
                events = map(kind, seqs, map(time_at, indexes), causes, *fields)
                for index, event in zip(indexes, events, strict=True):
                    placed[index] = event
                count += len(indexes)
        return placed if count == len(placed) else [event for event in placed if event is not None]


def decode(data: bytes) -> list[Event]:
    """Return the events of a block.

    Raises:
        BlockError: the bytes are not a valid block.
    """
    return unpack(data).events()


def unpack(data: bytes, kinds: Kinds = None) -> Unpacked:
    """Return the events of a block by column, for some types or all.

    Raises:
        BlockError: the bytes are not a valid block.
    """
    raw = decompress(data)
    memory = decoding.memory_of_msgpack(raw, memory_max=limits.CHUNK_MEMORY_MAX)
    try:
        block = decoding.decode_msgpack(raw, _BLOCKS, memory, limits.CHUNK_MEMORY_MAX)
        _require_size(block)
        return _unpacked(block, kinds)._replace(memory=memory)
    except (*decoding.FAILURES, LookupError, TypeError, ValueError) as error:
        raise BlockError(decoding.reason(error)) from error


def _require_size(block: Block) -> None:
    """Check the size that a block's numbers announce, and that time does not run backwards."""
    count = len(block.order)
    if not 0 < count <= limits.CHUNK_EVENTS_MAX:
        raise BlockError(f"{count:,} events are not those of a chunk")
    if len(block.times) != count:
        raise BlockError("as many times as events are expected")
    if min(block.times) < 0 or sum(block.times) > TIME_MAX_US:
        raise BlockError("its times are none of a recording")
    if any(len(columns) > limits.COLUMNS_MAX for columns in block.columns):
        raise BlockError("a type of events has too many columns")


def _unpacked(block: Block, kinds: Kinds) -> Unpacked:
    order, first_seq = block.order, block.first_seq
    indexes: list[list[int]] = [[] for _ in block.kinds]
    for index, kind in enumerate(order):
        indexes[kind].append(index)
    layouts = block.fields or [""] * len(block.kinds)
    texts = _Texts(block.strings)
    columns = []
    for name, layout, encoded, own_indexes in zip(
        block.kinds, layouts, block.columns, indexes, strict=True
    ):
        plan = PLANS[TYPES[name]]
        if kinds is not None and plan.kind not in kinds:
            continue
        backs = _INTS.decode(encoded[0])
        by_name = _columns_by_name(plan, layout, encoded[1:])
        fields = [_field(plan, field, by_name, len(own_indexes), texts) for field in plan.decoders]
        if any(len(field) != len(own_indexes) for field in (backs, *fields)):
            raise BlockError(f"a column of {name} is too short or too long")
        causes = [index + first_seq - back for index, back in zip(own_indexes, backs, strict=True)]
        if min(backs, default=0) < 0 or min(causes, default=0) < 0:
            raise BlockError(f"the cause of a {name} is not an earlier event")
        columns.append(Columns(plan.kind, own_indexes, causes, fields))
    return Unpacked(first_seq, list(accumulate(block.times)), columns)


def _columns_by_name(plan: Plan, layout: str, columns: list[bytes]) -> dict[str, bytes]:
    """Return the columns of a type by the names of their fields."""
    names = layout.split() if layout else list(plan.decoders)[: len(columns)]
    return dict(zip(names, columns, strict=True))


def _field(
    plan: Plan, name: str, columns: dict[str, bytes], count: int, texts: "_Texts"
) -> list[Any]:
    """Return the values of a field; if the block lacks its column, the default."""
    column = columns.get(name)
    if column is None:
        if name not in plan.defaults:
            raise BlockError(f"there is no {name} of {plan.kind.__name__}")
        default = plan.defaults[name]
        return [default() for _ in range(count)]
    decoder = plan.decoders[name]
    if decoder is None:
        return texts.at(_INTS.decode(column))
    values: list[Any] = decoder.decode(column)
    return values


class _Texts:
    """The texts of a block, each of which any number of events may have."""

    def __init__(self, strings: list[str]) -> None:
        self._strings = strings
        self._characters_left = limits.CHUNK_TEXT_MAX

    def at(self, indexes: list[int]) -> list[str]:
        """Return the texts at these positions."""
        texts = list(map(self._strings.__getitem__, indexes))
        self._characters_left -= sum(map(len, texts))
        if self._characters_left < 0:
            raise BlockError("its texts are too long")
        return texts


def checksum(data: bytes, *numbers: int) -> int:
    """Return the checksum that protects bytes and the numbers stored with them.

    It is the CRC-32 of the numbers, eight bytes each in little-endian order, followed by the bytes.
    """
    return crc32(data, crc32(pack(f"<{len(numbers)}q", *numbers)))


def checksum_up_to_6(data: bytes, *numbers: int) -> int:
    """Return the checksum of schemas up to 6: numbers count in Python's decimal notation."""
    return crc32(data, crc32(repr(numbers).encode()))


def compress(raw: bytes) -> bytes:
    """Return the bytes compressed, with their size."""
    return _COMPRESSOR.compress(raw)


def decompress(data: bytes) -> bytes:
    """Return the bytes that :func:`compress` was given.

    Raises:
        BlockError: the data is not compressed, or claims to be larger than any block.
    """
    if not isinstance(data, bytes):  # a damaged row may contain anything
        raise BlockError("it is not compressed")
    try:
        size = zstandard.frame_content_size(data)
        if not 0 <= size <= limits.BLOB_BYTES_MAX:
            raise BlockError(f"{size} bytes is no size of a block")
        if size == 0:  # zstandard does not look at what follows
            empty = zstandard.ZstdDecompressor().decompressobj()
            if empty.decompress(data) or empty.unused_data or not empty.eof:
                raise BlockError("there is more behind nothing")
            return b""
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
    except (zstandard.ZstdError, MemoryError) as error:
        raise BlockError(str(error)) from error


_BLOCKS: Final = msgspec.msgpack.Decoder(Block)
_COMPRESSOR: Final = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
