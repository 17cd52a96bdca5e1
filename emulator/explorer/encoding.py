"""States as integers, a bit at a time.

The values of each part are numbered as they are met, and each bit of a number has a place of its
own in the integer of the whole state. A packed state names its state exactly: a fingerprint would
now and then take two for one. The parts that a rule reads are a mask, and a step is an addition.

Places are given away as they are needed, so that the low bits of all parts come first, mixed. That
is what Python's sets want, which look for an integer by its low bits.
"""

from collections.abc import Iterable, Mapping, Sequence

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
            found = self._number(part, value)
        return found

    def _number(self, part: int, value: Value) -> int:
        """Give a value that is met first the next number of its part, whose bits have places."""
        codes, places = self._codes[part], self._places[part]
        number = len(codes)
        code = sum(1 << place for bit, place in enumerate(places) if number >> bit & 1)
        codes[value] = code
        self._values[part][code] = value
        return code

    def difference(self, changes: Mapping[int, tuple[Value, Value]]) -> int:
        """What to add to a packed state so that some parts change from one value to another.

        Raises:
            Widened: as :meth:`code`.
        """
        difference = 0
        for part, (before, after) in changes.items():
            difference += self.code(part, after) - self.code(part, before)
        return difference

    def settled(self, part: int, value: Value) -> int:
        """The same as :meth:`code`, whether the part needs another bit or not."""
        while True:
            try:
                return self.code(part, value)
            except Widened:
                continue

    def pack(self, state: Sequence[Value]) -> int:
        """The integer of a state."""
        return sum(self.settled(part, value) for part, value in enumerate(state))

    def value(self, packed: int, part: int) -> Value:
        """One part of a packed state."""
        return self._values[part][packed & self._masks[part]]

    def unpack(self, packed: int) -> tuple[Value, ...]:
        """The state of an integer."""
        return tuple(self.value(packed, part) for part in range(len(self._values)))

    def values(self, part: int) -> list[Value]:
        """The values that a part has taken, in the order of their numbers."""
        return list(self._codes[part])

    def places(self) -> list[list[int]]:
        """The places of the bits of each part's numbers."""
        return [list(places) for places in self._places]

    def restore(self, part: int, values: Iterable[Value], places: Sequence[int]) -> None:
        """Have another encoding's numbers: values that a part took next, and all its places."""
        self._places[part] = list(places)
        self._masks[part] = sum(1 << place for place in places)
        self.bits = max((self.bits, *(place + 1 for place in places)))
        for value in values:
            if value not in self._codes[part]:
                self._number(part, value)

    def distinct(self) -> list[int]:
        """How many values each part has taken."""
        return [len(codes) for codes in self._codes]
