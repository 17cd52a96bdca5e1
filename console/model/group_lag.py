"""The lag of consumer groups in time: since when the record is there that a group reads next."""

from typing import Final

from emulator.events import HighWatermarkChanged
from sessions.sources.source import Source

LOOKS_MAX: Final = 200
"""How many changes of a high watermark are looked at, from the newest back."""


class LagTimes:
    """When high watermarks passed offsets, as far as the source's events say; each found once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: dict[tuple[str, int], tuple[int, bool]] = {}

    def since(self, tp: str, offset: int) -> tuple[int | None, bool]:
        """When the record at ``offset`` was committed (None: not known).

        The second value is whether that was before: the record was there when the first event came.
        """
        known = self._found.get((tp, offset))
        if known is not None and known[0] <= self.source.time_us:
            return known
        seq: int | None = self.source.seq + 1
        earliest: int | None = None
        for _ in range(LOOKS_MAX):
            seq = None if seq is None else self.source.touching((tp,), seq, -1)
            if seq is None:
                break
            (event,) = self.source.events(seq, seq)
            if not isinstance(event, HighWatermarkChanged) or event.high_watermark <= offset:
                continue
            earliest = event.time_us
            if event.previous <= offset:
                is_older = event.previous < 0
                self._found[tp, offset] = (event.time_us, is_older)
                return event.time_us, is_older
        return earliest, earliest is not None
