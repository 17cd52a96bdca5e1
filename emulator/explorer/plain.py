"""Portable encoding of a model's part values, equal in every process.

A named tuple is written with the name of its class, so that it can be restored.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from emulator.explorer.model import Value

TUPLE: Final = ""
"""The name written for an unnamed tuple."""


class Plain:
    """Encodes and decodes the values of a model whose named tuples have these ``kinds``."""

    def __init__(self, kinds: Sequence[type]) -> None:
        self._kinds: dict[str, Any] = {kind.__name__: kind for kind in kinds}
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder()

    def encoded(self, value: Value) -> bytes:
        """Encode a value; equal values have equal encodings.

        Raises:
            TypeError: it contains something other than tuples, numbers and text, or a named tuple
                that the model does not list.
        """
        return self._encoder.encode(self._plain(value))

    def decoded(self, content: bytes) -> Value:
        value: Value = self._read(self._decoder.decode(content))
        return value

    def _plain(self, value: Any) -> Any:  # noqa: ANN401 - any value
        if not isinstance(value, tuple):
            if value is None or isinstance(value, int | str):
                return value
            raise TypeError(f"{value!r} cannot be kept: {type(value).__name__}")
        kind = type(value)
        if kind is not tuple and self._kinds.get(kind.__name__) is not kind:
            raise TypeError(f"{kind.__name__} is not among the kinds of values of this model")
        name = TUPLE if kind is tuple else kind.__name__
        return [name, *map(self._plain, value)]

    def _read(self, written: Any) -> Any:  # noqa: ANN401 - any value
        if not isinstance(written, list):
            return written
        name, *members = written
        values = map(self._read, members)
        return tuple(values) if name == TUPLE else self._kinds[name]._make(values)
