"""A replica's leader-epoch cache: the start offset of each epoch in its log.

Since KIP-101 it replaces the high watermark as the basis for truncation. Source:
``kafka.server.epoch.LeaderEpochFileCache`` 0.11 to 3.9.
"""

from typing import Final

from msgspec import Struct, field

from emulator.releases.profiles import Profile

UNDEFINED: Final = -1
"""An unknown epoch or offset."""


class LeaderEpochCache(Struct, array_like=True, gc=False):
    """Entries of (epoch, start offset), oldest first; epochs strictly increase.

    The file ``leader-epoch-checkpoint`` is written on every change, so this is on disk as well.
    Methods that modify it return whether they changed anything.
    """

    entries: list[tuple[int, int]] = field(default_factory=list)

    @property
    def latest(self) -> int:
        """The newest epoch known, :data:`UNDEFINED` if there is none."""
        return self.entries[-1][0] if self.entries else UNDEFINED

    def assign(self, epoch: int, start_offset: int, repair: bool) -> bool:
        """Record that ``epoch`` begins at ``start_offset``.

        With ``repair`` (2.0.1 on) the new entry replaces those that contradict it: every entry with
        at least its epoch or start offset. Without, an entry that does not continue the cache is
        ignored.
        """
        last_epoch, last_start = self.entries[-1] if self.entries else (UNDEFINED, UNDEFINED)
        if not repair:
            if epoch <= last_epoch or start_offset < last_start:
                return False
        elif epoch == last_epoch and start_offset >= last_start:
            return False
        elif epoch <= last_epoch or start_offset <= last_start:
            self.entries = [
                entry for entry in self.entries if entry[0] < epoch and entry[1] < start_offset
            ]
        self.entries.append((epoch, start_offset))
        return True

    def end_offset_for(self, epoch: int, log_end_offset: int, profile: Profile) -> tuple[int, int]:
        """Return where ``epoch`` ends in this log: (epoch, end offset), both undefined if unknown.

        The latest epoch ends at the LEO, an earlier one at the start of the next larger. From 2.0
        on (KIP-279) the returned epoch is the largest known one that is not larger than ``epoch``;
        before, it is undefined (the response had an offset only).
        """
        if epoch == UNDEFINED:
            return UNDEFINED, UNDEFINED
        entries = self.entries
        if entries and epoch == entries[-1][0]:
            known_epoch, end = epoch, log_end_offset
        else:
            known_epoch, end = self._end_of_earlier(epoch)
            if known_epoch == UNDEFINED and end != UNDEFINED:
                if not profile.has("epoch_end_offset_below_first_epoch"):
                    return UNDEFINED, UNDEFINED
                known_epoch = epoch
        return (known_epoch if profile.has("epoch_end_offset_has_epoch") else UNDEFINED), end

    def truncate_from_end(self, end_offset: int) -> bool:
        """Remove entries that start at ``end_offset`` or later."""
        entries = self.entries
        if not entries or entries[-1][1] < end_offset:
            return False
        self.entries = [entry for entry in entries if entry[1] < end_offset]
        return True

    def truncate_from_start(self, start_offset: int) -> bool:
        """Move the log start: the last entry before it now starts there, older ones are removed."""
        entries = self.entries
        if not entries or entries[0][1] >= start_offset:
            return False
        earlier = [entry for entry in entries if entry[1] <= start_offset]
        self.entries = [(earlier[-1][0], start_offset), *entries[len(earlier) :]]
        return True

    def clear(self) -> bool:
        """Remove all entries (the log was deleted)."""
        had_entries = bool(self.entries)
        self.entries = []
        return had_entries

    def _end_of_earlier(self, epoch: int) -> tuple[int, int]:
        """Return the largest epoch not above ``epoch``, and the start of the next one above it."""
        largest = UNDEFINED
        for entry_epoch, start_offset in self.entries:
            if entry_epoch > epoch:
                return largest, start_offset
            largest = entry_epoch
        return UNDEFINED, UNDEFINED
