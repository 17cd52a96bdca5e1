"""States as bytes that are equal in every process, and their successors.

A distributed search exchanges these. A packed state (:mod:`emulator.explorer.encoding`) is only
meaningful in the process that numbered its values.
"""

from array import array
from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from emulator.explorer.expansion import Checker, Expansion
from emulator.explorer.model import Model, Value
from emulator.explorer.plain import Plain

FINGERPRINT_BYTES: Final = 16
"""Enough to make a collision among a billion states unlikely (1 in 10^20)."""


def fingerprint(state: bytes) -> bytes:
    """Return the fingerprint by which states are compared."""
    return blake2b(state, digest_size=FINGERPRINT_BYTES).digest()


class Reached(Struct, gc=False):
    """A successor state: its bytes, its parent's index, and the properties it violates."""

    state: bytes
    parent: int
    by_fault: bool
    broken: list[str]


class Portable:
    """Encodes, decodes and expands a model's states, checking properties of new ones.

    If the model has a symmetry, states that differ only in replica names have the same encoding.
    """

    def __init__(self, model: Model, properties: Collection[str] = ()) -> None:
        self.model = model
        self._expansion = Expansion(replace(model, symmetry=None))
        self._encoding = self._expansion.encoding
        checked = [prop for prop in model.properties if prop.name in properties]
        self._checker = Checker(self._encoding, checked)
        self._plain = Plain(model.kinds)
        self._parts = range(len(model.parts))
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(list[bytes])
        self._positions = [tuple(self._parts)] if model.symmetry is None else model.symmetry.places
        self._codes: list[dict[bytes, int]] = [{} for _ in self._parts]
        self._contents: list[list[dict[int, bytes]]] = [
            [{} for _ in self._parts] for _ in self._positions
        ]

    @property
    def first(self) -> tuple[bytes, list[str]]:
        """The initial state, and the properties it violates."""
        packed = self._expansion.first
        return self._encoded([packed])[0], [name for _, name in self._checker.broken([packed])]

    def after(self, states: Sequence[bytes]) -> tuple[list[Reached], int]:
        """The distinct successors of some states, and the number of states generated."""
        packed = [self._packed(state) for state in states]
        self._expansion.widen()  # decoding may have added values
        indexes, seen = range(len(packed)), set[int]()
        reached, parents = list[int](), array("I")
        generated = self._expansion.reach(packed, indexes, seen, reached, parents)
        steps = len(reached)
        faulty, faulty_parents, more = self._expansion.reach_by_faults(packed, indexes, seen)
        reached += faulty
        parents += faulty_parents
        broken: dict[int, list[str]] = {}
        for index, name in self._checker.broken(reached):
            broken.setdefault(index, []).append(name)
        by_state: dict[bytes, Reached] = {}
        for index, state in enumerate(self._encoded(reached)):
            if state not in by_state:
                names = broken.get(index, [])
                by_state[state] = Reached(state, parents[index], index >= steps, names)
        return list(by_state.values()), generated + more

    def read(self, state: bytes) -> tuple[Value, ...]:
        return tuple(self._plain.decoded(content) for content in self._decoder.decode(state))

    def _packed(self, state: bytes) -> int:
        packed = 0
        for part, content in enumerate(self._decoder.decode(state)):
            code = self._codes[part].get(content)
            if code is None:
                value = self._plain.decoded(content)
                code = self._codes[part][content] = self._encoding.settled(part, value)
            packed += code
        return packed

    def _encoded(self, states: Sequence[int]) -> list[bytes]:
        masks = [self._encoding.mask((part,)) for part in self._parts]
        encoded_states = []
        for packed in states:
            renamings = []
            for number, positions in enumerate(self._positions):
                contents: list[bytes] = [b""] * len(positions)
                for part, contents_by_code in enumerate(self._contents[number]):
                    code = packed & masks[part]
                    content = contents_by_code.get(code)
                    if content is None:
                        content = contents_by_code[code] = self._content(number, part, code)
                    contents[positions[part]] = content
                renamings.append(self._encoder.encode(contents))
            encoded_states.append(min(renamings))
        return encoded_states

    def _content(self, number: int, part: int, code: int) -> bytes:
        """The encoding of a part's value under a renaming."""
        value = self._encoding.value(code, part)
        if self.model.symmetry is not None:
            value = self.model.symmetry.rename(number, part, value)
        return self._plain.encoded(value)
