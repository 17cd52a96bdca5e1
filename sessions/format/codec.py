"""Encode events as bytes: a block holds consecutive events column by column.

Repeated values are stored together, so they compress to a few bytes per event: sequence numbers
follow from the first one, times and causes are deltas, each distinct text is stored once. A whole
block is encoded in one call.

A block names the fields of its events. So an event type may gain a field that has a default: in
older blocks every event has the default. It may lose a field: its values in older blocks are
ignored. Up to schema 6 blocks name no fields; their columns are the first fields of their types.
"""

from bisect import bisect_left
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

from emulator.events import Event

Groups = dict[type[Event], list[Event]]
"""Events by their type, each list in order."""

Kinds = Container[type[Event]] | None
"""Some types of events; None: all of them."""

RAW_BYTES_MAX: Final = 1 << 28
"""Maximum size of an unpacked block: a larger one is damaged or hostile."""
LEVEL: Final = 3

VOCABULARY: Final = {kind.__name__: kind for kind in Event.__subclasses__()}
"""Every type of event by its name."""

_ENCODE: Final = msgspec.msgpack.Encoder().encode
_INTS: Final = msgspec.msgpack.Decoder(list[int])


class BlockError(ValueError):
    """The bytes are not a valid block of events."""


class Block(msgspec.Struct, array_like=True):
    """``order`` indexes ``kinds`` for each event; ``columns`` has a MessagePack list a field.

    ``times`` are differences of microseconds, the first from zero. The first column of each type
    holds how far back the cause is, the others the fields that ``fields`` names (those of a type
    separated by spaces); columns of text hold indexes into ``strings``.
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

    ``decoders`` has one for each field except the first three, None for text; ``defaults`` those of
    fields that an old block may lack.
    """

    kind: type[Event]
    values: Callable[[Any], tuple[Any, ...]]
    decoders: dict[str, msgspec.msgpack.Decoder[Any] | None]
    defaults: dict[str, Callable[[], Any]]

    @property
    def layout(self) -> str:
        """The names of its fields, as a block has them."""
        return " ".join(self.decoders)


def _plan(kind: type[Event]) -> Plan:
    hints: dict[str, Any] = get_type_hints(kind)
    fields = msgspec.structs.fields(kind)[3:]
    return Plan(
        kind,
        attrgetter("seq", "cause", *(field.name for field in fields)),
        {field.name: _column_decoder(hints[field.name]) for field in fields},
        {field.name: partial(_default, field) for field in fields if not field.required},
    )


def _column_decoder(hint: object) -> msgspec.msgpack.Decoder[Any] | None:
    return None if hint is str else msgspec.msgpack.Decoder(GenericAlias(list, (hint,)))


def _default(field: msgspec.structs.FieldInfo) -> object:
    made = field.default_factory
    return made() if callable(made) else field.default


PLANS: Final = {kind: _plan(kind) for kind in VOCABULARY.values()}


def group(events: Sequence[Event]) -> Groups:
    """The events by type, types in order of appearance."""
    groups: Groups = {}
    for event in events:
        kind = type(event)
        if kind in groups:
            groups[kind].append(event)
        else:
            groups[kind] = [event]
    return groups


def encode(events: Sequence[Event], groups: Groups) -> bytes:
    """Consecutive events (one or more) as a compressed block; ``groups`` has them by type."""
    return compress(_ENCODE(_block(events, groups)))


def _block(events: Sequence[Event], groups: Groups) -> Block:
    number = {kind: index for index, kind in enumerate(groups)}
    times = [event.time_us for event in events]
    strings: dict[str, int] = {}
    columns = [_columns(PLANS[kind], members, strings) for kind, members in groups.items()]
    return Block(
        first_seq=events[0].seq,
        kinds=[kind.__name__ for kind in groups],
        order=bytes([number[type(event)] for event in events]),
        times=[times[0], *map(sub, times[1:], times)],
        strings=list(strings),
        columns=columns,
        fields=[PLANS[kind].layout for kind in groups],
    )


def _columns(plan: Plan, members: list[Event], strings: dict[str, int]) -> list[bytes]:
    seqs, causes, *columns = zip(*map(plan.values, members), strict=True)
    encoded = [_ENCODE(list(map(sub, seqs, causes)))]
    for column, decoder in zip(columns, plan.decoders.values(), strict=True):
        if decoder is None:
            for text in dict.fromkeys(column):
                strings.setdefault(text, len(strings))
            encoded.append(_ENCODE([strings[text] for text in column]))
        else:
            encoded.append(_ENCODE(column))
    return encoded


class Columns(NamedTuple):
    """The events of one type in a block: a value for each in every list.

    ``places`` says where in the block they are, counted from 0 and rising; ``fields`` has a list
    for each field but the first three.
    """

    kind: type[Event]
    places: list[int]
    causes: list[int]
    fields: Sequence[Sequence[Any]]


class Unpacked(NamedTuple):
    """Consecutive events column by column; ``times`` are those of all, by their place.

    ``columns`` may be those of some types alone.
    """

    first_seq: int
    times: list[int]
    columns: list[Columns]

    @property
    def last_seq(self) -> int:
        """The number of the last event; before the first if there is none."""
        return self.first_seq + len(self.times) - 1

    def up_to(self, last_seq: int) -> "Unpacked":
        """The same without the events after that one."""
        count = last_seq - self.first_seq + 1
        if count >= len(self.times):
            return self
        columns = []
        for kind, places, causes, fields in self.columns:
            kept = bisect_left(places, count)
            cut = [field[:kept] for field in fields]
            columns.append(Columns(kind, places[:kept], causes[:kept], cut))
        return Unpacked(self.first_seq, self.times[:count], columns)

    def events(self, kinds: Kinds = None) -> list[Event]:
        """The events in order, as far as there are columns; those of some types, or all."""
        found: list[Any] = [None] * len(self.times)
        first, time_at, made = self.first_seq, self.times.__getitem__, 0
        for kind, places, causes, fields in self.columns:
            if kinds is None or kind in kinds:
                seqs = [place + first for place in places]
                events = map(kind, seqs, map(time_at, places), causes, *fields)
                for place, event in zip(places, events, strict=True):
                    found[place] = event
                made += len(places)
        return found if made == len(found) else [event for event in found if event is not None]


def unpacked(events: Sequence[Event]) -> Unpacked:
    """Consecutive events (one or more), column by column."""
    first = events[0].seq
    columns = []
    for kind, members in group(events).items():
        seqs, causes, *fields = zip(*map(PLANS[kind].values, members), strict=True)
        columns.append(Columns(kind, [seq - first for seq in seqs], list(causes), fields))
    return Unpacked(first, [event.time_us for event in events], columns)


def decode(data: bytes) -> list[Event]:
    """The events of a block.

    Raises:
        BlockError: it is none.
    """
    return unpack(data).events()


def unpack(data: bytes, kinds: Kinds = None) -> Unpacked:
    """The events of a block column by column, of some types or of all.

    Raises:
        BlockError: it is none.
    """
    try:
        return _unpacked(_BLOCKS.decode(decompress(data)), kinds)
    except (msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
        raise BlockError(str(error)) from error


def _unpacked(block: Block, kinds: Kinds) -> Unpacked:
    order, first_seq = block.order, block.first_seq
    if len(block.times) != len(order):
        raise BlockError("as many times as events are expected")
    places: list[list[int]] = [[] for _ in block.kinds]
    for place, kind in enumerate(order):
        places[kind].append(place)
    layouts = block.fields or [""] * len(block.kinds)
    columns = []
    for name, layout, encoded, mine in zip(
        block.kinds, layouts, block.columns, places, strict=True
    ):
        plan = PLANS[VOCABULARY[name]]
        if kinds is not None and plan.kind not in kinds:
            continue
        backs = _INTS.decode(encoded[0])
        named = _named(plan, layout, encoded[1:])
        fields = [_field(plan, field, named, len(mine), block.strings) for field in plan.decoders]
        if any(len(field) != len(mine) for field in (backs, *fields)):
            raise BlockError(f"a column of {name} is too short or too long")
        causes = [place + first_seq - back for place, back in zip(mine, backs, strict=True)]
        columns.append(Columns(plan.kind, mine, causes, fields))
    return Unpacked(first_seq, list(accumulate(block.times)), columns)


def _named(plan: Plan, layout: str, columns: list[bytes]) -> dict[str, bytes]:
    """The columns of a type by the names of their fields."""
    names = layout.split() if layout else list(plan.decoders)[: len(columns)]
    return dict(zip(names, columns, strict=True))


def _field(
    plan: Plan, name: str, columns: dict[str, bytes], count: int, strings: list[str]
) -> list[Any]:
    """The values of a field: from its column or, where the block has none, its default."""
    column = columns.get(name)
    if column is None:
        if name not in plan.defaults:
            raise BlockError(f"there is no {name} of {plan.kind.__name__}")
        default = plan.defaults[name]
        return [default() for _ in range(count)]
    decoder = plan.decoders[name]
    if decoder is None:
        return [strings[index] for index in _INTS.decode(column)]
    values: list[Any] = decoder.decode(column)
    return values


def checksum(data: bytes, *numbers: int) -> int:
    """Return the checksum that protects bytes and the numbers stored with them.

    A CRC-32 over the numbers, eight bytes each, little-endian, and then the bytes.
    """
    return crc32(data, crc32(pack(f"<{len(numbers)}q", *numbers)))


def checksum_up_to_6(data: bytes, *numbers: int) -> int:
    """Return the checksum of schemas up to 6: numbers count in Python's decimal notation."""
    return crc32(data, crc32(repr(numbers).encode()))


def compress(raw: bytes) -> bytes:
    """Raw bytes, compressed, with their size."""
    return _COMPRESSOR.compress(raw)


def decompress(data: bytes) -> bytes:
    """What :func:`compress` was given.

    Raises:
        BlockError: it is not compressed, or says that it is larger than any block.
    """
    if not isinstance(data, bytes):  # a damaged row may hold anything
        raise BlockError("it is not compressed")
    try:
        size = zstandard.frame_content_size(data)
        if not 0 <= size <= RAW_BYTES_MAX:
            raise BlockError(f"{size} bytes is no size of a block")
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=RAW_BYTES_MAX)
    except zstandard.ZstdError as error:
        raise BlockError(str(error)) from error


_BLOCKS: Final = msgspec.msgpack.Decoder(Block)
_COMPRESSOR: Final = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
