"""States as integers, a bit at a time.

The values of each part are numbered as they are met, and each bit of a number has a place of its
own in the integer of the whole state. A packed state names its state exactly: a fingerprint would
now and then take two for one. The parts that a rule reads are a mask, and a step is an addition.

Places are given away as they are needed, so that the low bits of all parts come first, mixed. That
is what Python's sets want, which look for an integer by its low bits.
"""

from collections.abc import Mapping, Sequence

from emulator.explorer.model import Value


class Widened(Exception):
    """A part has got another bit: masks made before are too narrow. Packed states stay as is."""


class Encoding:
    """Numbers the values of so many parts, and packs states of them."""

    def __init__(self, parts: int) -> None:
        self.bits = 0
        self._codes: list[dict[Value, int]] = [{} for _ in range(parts)]
        self._values: list[dict[int, Value]] = [{} for _ in range(parts)]
        self._places: list[list[int]] = [[] for _ in range(parts)]
        self._masks = [0] * parts

    def mask(self, parts: Sequence[int]) -> int:
        """The bits of some parts."""
        return sum(self._masks[part] for part in parts)

    def code(self, part: int, value: Value) -> int:
        """What a part's value adds to a packed state.

        Raises:
            Widened: the part needed another bit for it, and has it now.
        """
        codes = self._codes[part]
        found = codes.get(value)
        if found is None:
            number, places = len(codes), self._places[part]
            if number >> len(places):
                places.append(self.bits)
                self._masks[part] |= 1 << self.bits
                self.bits += 1
                raise Widened
            found = sum(1 << place for bit, place in enumerate(places) if number >> bit & 1)
            codes[value] = found
            self._values[part][found] = value
        return found

    def difference(self, changes: Mapping[int, tuple[Value, Value]]) -> int:
        """What to add to a packed state so that some parts change from one value to another.

        Raises:
            Widened: as :meth:`code`.
        """
        difference = 0
        for part, (before, after) in changes.items():
            difference += self.code(part, after) - self.code(part, before)
        return difference

    def pack(self, state: Sequence[Value]) -> int:
        """The integer of a state."""
        packed = 0
        for part, value in enumerate(state):
            while True:
                try:
                    packed += self.code(part, value)
                    break
                except Widened:
                    continue
        return packed

    def value(self, packed: int, part: int) -> Value:
        """One part of a packed state."""
        return self._values[part][packed & self._masks[part]]

    def unpack(self, packed: int) -> tuple[Value, ...]:
        """The state of an integer."""
        return tuple(self.value(packed, part) for part in range(len(self._values)))

    def distinct(self) -> list[int]:
        """How many values each part has taken."""
        return [len(codes) for codes in self._codes]
