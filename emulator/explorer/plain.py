"""Values of a model's parts as bytes that mean the same in every process.

Each named tuple is written with the name of its class, so that it is one again when it is read.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from emulator.explorer.model import Value

TUPLE: Final = ""
"""What stands in front of the members of a tuple that has no name."""


class Plain:
    """Writes and reads the values of a model whose named tuples are of these ``kinds``."""

    def __init__(self, kinds: Sequence[type]) -> None:
        self._kinds: dict[str, Any] = {kind.__name__: kind for kind in kinds}
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder()

    def encoded(self, value: Value) -> bytes:
        """A value's bytes; equal values have equal ones.

        Raises:
            TypeError: there is something in it that is no tuple, number or text, or a named tuple
                that the model does not name.
        """
        return self._encoder.encode(self._written(value))

    def decoded(self, content: bytes) -> Value:
        """The value of some bytes."""
        value: Value = self._read(self._decoder.decode(content))
        return value

    def _written(self, value: Any) -> Any:  # noqa: ANN401 - any value
        if not isinstance(value, tuple):
            if value is None or isinstance(value, int | str):
                return value
            raise TypeError(f"{value!r} cannot be kept: {type(value).__name__}")
        kind = type(value)
        if kind is not tuple and self._kinds.get(kind.__name__) is not kind:
            raise TypeError(f"{kind.__name__} is not among the kinds of values of this model")
        name = TUPLE if kind is tuple else kind.__name__
        return [name, *map(self._written, value)]

    def _read(self, written: Any) -> Any:  # noqa: ANN401 - any value
        if not isinstance(written, list):
            return written
        name, *members = written
        values = map(self._read, members)
        return tuple(values) if name == TUPLE else self._kinds[name]._make(values)
