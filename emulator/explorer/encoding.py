"""Encoding of states as integers that grow bit by bit.

The values of each part are numbered as they occur, and each bit of such a code has a fixed position
in the integer of the whole state. A packed state identifies its state exactly, whereas fingerprints
may collide. The parts that a rule reads correspond to a mask, and a step to an addition.

Positions are allocated on demand, so that the low bits of all parts come first, interleaved. This
suits Python's sets, which hash integers by their low bits.
"""

from collections.abc import Iterable, Mapping, Sequence

from emulator.explorer.model import Value


class Widened(Exception):
    """A part has got another bit: earlier masks are too narrow. Packed states remain valid."""


class Encoding:
    """Numbers the values of a given number of parts, and packs states."""

    def __init__(self, parts: int) -> None:
        self.bits = 0
        self._codes: list[dict[Value, int]] = [{} for _ in range(parts)]
        self._values: list[dict[int, Value]] = [{} for _ in range(parts)]
        self._positions: list[list[int]] = [[] for _ in range(parts)]
        self._masks = [0] * parts

    def mask(self, parts: Sequence[int]) -> int:
        return sum(self._masks[part] for part in parts)

    def code(self, part: int, value: Value) -> int:
        """The contribution of a part's value to a packed state.

        Raises:
            Widened: the part needed another bit for it, which it has now.
        """
        codes = self._codes[part]
        code = codes.get(value)
        if code is None:
            number, positions = len(codes), self._positions[part]
            if number >> len(positions):
                positions.append(self.bits)
                self._masks[part] |= 1 << self.bits
                self.bits += 1
                raise Widened
            code = self._number(part, value)
        return code

    def _number(self, part: int, value: Value) -> int:
        """Assign a new value the next number of its part, and allocate bit positions."""
        codes, positions = self._codes[part], self._positions[part]
        number = len(codes)
        code = sum(1 << position for bit, position in enumerate(positions) if number >> bit & 1)
        codes[value] = code
        self._values[part][code] = value
        return code

    def difference(self, changes: Mapping[int, tuple[Value, Value]]) -> int:
        """The difference in a packed state when some parts change from one value to another.

        Raises:
            Widened: as :meth:`code`.
        """
        difference = 0
        for part, (before, after) in changes.items():
            difference += self.code(part, after) - self.code(part, before)
        return difference

    def settled(self, part: int, value: Value) -> int:
        """As :meth:`code`, but without raising if the part needs another bit."""
        while True:
            try:
                return self.code(part, value)
            except Widened:
                continue

    def pack(self, state: Sequence[Value]) -> int:
        return sum(self.settled(part, value) for part, value in enumerate(state))

    def value(self, packed: int, part: int) -> Value:
        """Return one part of a packed state."""
        return self._values[part][packed & self._masks[part]]

    def unpack(self, packed: int) -> tuple[Value, ...]:
        return tuple(self.value(packed, part) for part in range(len(self._values)))

    def values(self, part: int) -> list[Value]:
        """The values that a part has had, in the order of their numbers."""
        return list(self._codes[part])

    def places(self) -> list[list[int]]:
        """The bit positions of each part's numbers."""
        return [list(places) for places in self._positions]

    def restore(self, part: int, values: Iterable[Value], positions: Sequence[int]) -> None:
        """Restore another encoding's numbers: the next values of each part, and all positions."""
        self._positions[part] = list(positions)
        self._masks[part] = sum(1 << position for position in positions)
        self.bits = max((self.bits, *(position + 1 for position in positions)))
        for value in values:
            if value not in self._codes[part]:
                self._number(part, value)

    def distinct(self) -> list[int]:
        """The number of values of each part."""
        return [len(codes) for codes in self._codes]
