"""A sorted and filtered list of row keys that keeps up with changes row by row.

Sorting 100,000 rows takes milliseconds, but not ten times a second. So the order is worked out
once, and a row that changes is taken out and put in where it now belongs, by bisection; only when
very many change at once is it worked out anew.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

SINGLE_MOVES_MAX: Final = 256
"""With more changed rows than this, sorting again is cheaper than moving each."""


def everything(key: object) -> bool:
    """The filter that all rows pass."""
    return True


class RowOrder(Generic[K]):
    """Keys in ascending order of their values; equal ones in the order they were loaded in.

    Positions count from the top of what is shown, so they are turned round while ``reverse`` is
    set. A rank is a key's place among all that were loaded.
    """

    def __init__(self) -> None:
        self.keys: Sequence[K] = ()
        self.reverse = False
        self._rank: dict[K, int] = {}
        self._values: list[Any] = []
        self._shown: list[int] = []
        self._value_of: Callable[[K], Any] = lambda key: 0
        self._is_shown: Callable[[K], bool] = everything

    def __len__(self) -> int:
        return len(self._shown)

    def __iter__(self) -> Iterator[K]:
        return (self[position] for position in range(len(self)))

    def __getitem__(self, position: int) -> K:
        if not 0 <= position < len(self._shown):
            raise IndexError(position)
        return self.keys[self._shown[self._turned(position)]]

    def __contains__(self, key: K) -> bool:
        return key in self._rank

    def load(self, keys: Sequence[K]) -> None:
        """Load other rows; :meth:`revalue` and :meth:`choose` must follow."""
        self.keys = keys
        self._rank = {key: rank for rank, key in enumerate(keys)}
        self._values = [0] * len(keys)
        self._shown = []

    def revalue(self, value_of: Callable[[K], Any], values: list[Any] | None = None) -> None:
        """Give every row the value it is sorted by; ``values`` saves asking for each one."""
        self._value_of = value_of
        self._values = list(map(value_of, self.keys)) if values is None else values

    def choose(
        self, is_shown: Callable[[K], bool] = everything, ranks: Iterable[int] | None = None
    ) -> None:
        """Show, in order, what ``is_shown`` accepts; ``ranks`` saves asking for each row."""
        self._is_shown = is_shown
        if ranks is None:
            ranks = range(len(self.keys))
            if is_shown is not everything:
                ranks = [rank for rank, key in enumerate(self.keys) if is_shown(key)]
        self._shown = sorted(ranks, key=self._values.__getitem__)

    def update(self, changed: Collection[K]) -> bool:
        """Move changed rows to their new places; return whether the order changed."""
        ranks = [self._rank[key] for key in changed if key in self._rank]
        if len(ranks) > SINGLE_MOVES_MAX:
            before = self._shown
            for rank in ranks:
                self._values[rank] = self._value_of(self.keys[rank])
            self.choose(self._is_shown)
            return before != self._shown
        moved = [self._move(rank) for rank in ranks]
        return any(moved)

    def _move(self, rank: int) -> bool:
        key = self.keys[rank]
        place = self._place(rank)
        was_shown = place < len(self._shown) and self._shown[place] == rank
        value, is_shown = self._value_of(key), self._is_shown(key)
        if value == self._values[rank] and was_shown == is_shown:
            return False
        if was_shown:
            del self._shown[place]
        self._values[rank] = value
        if not is_shown:
            return was_shown
        new_place = self._place(rank)
        self._shown.insert(new_place, rank)
        return not was_shown or new_place != place

    def _place(self, rank: int) -> int:
        values = self._values
        return bisect_left(
            self._shown, (values[rank], rank), key=lambda other: (values[other], other)
        )

    def position(self, key: K) -> int | None:
        """Where a row is shown; None if it is not."""
        rank = self._rank.get(key)
        if rank is None:
            return None
        place = self._place(rank)
        if place < len(self._shown) and self._shown[place] == rank:
            return self._turned(place)
        return None

    def _turned(self, position: int) -> int:
        return len(self._shown) - 1 - position if self.reverse else position
