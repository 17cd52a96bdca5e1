"""Symmetry reduction: one state for all states that differ only in replica names."""

from emulator.explorer.encoding import Encoding
from emulator.explorer.model import Symmetry, Value


class Canonical:
    """Maps a packed state to the canonical representative of its renamings.

    Replicas are sorted by the least value they have under any name; only ties are tried in every
    order. Source: Ip and Dill, "Better verification through symmetry", 1996.
    """

    def __init__(self, encoding: Encoding, symmetry: Symmetry) -> None:
        self.encoding = encoding
        self.symmetry = symmetry
        parts = range(len(symmetry.places[0]))
        self._moving = [part for part in parts if any(to[part] != part for to in symmetry.places)]
        self._masks = [0 for _ in parts]
        self.widen()
        self._ranks: list[dict[int, int]] = [{} for _ in parts]
        self._orders: dict[tuple[int, ...], list[int]] = {}
        self._renamed: list[list[dict[int, int]]] = [[{} for _ in parts] for _ in symmetry.places]

    def __call__(self, packed: int) -> int:
        """Return the canonical representative of a state.

        Raises:
            Widened: as :meth:`Encoding.code`; :meth:`widen` and try again.
        """
        masks = self._masks
        ranks = tuple([self._ranks[part].get(packed & masks[part], -1) for part in self._moving])
        if -1 in ranks:
            ranks = tuple([self._rank(part, packed & masks[part]) for part in self._moving])
        orders = self._orders.get(ranks)
        if orders is None:
            orders = self._orders[ranks] = self._sorting(ranks)
        best = -1
        for number in orders:
            renamed = 0
            for part, cached in enumerate(self._renamed[number]):
                code = packed & masks[part]
                renamed_code = cached.get(code)
                if renamed_code is None:
                    renamed_code = cached[code] = self._rename(number, part, code)
                renamed += renamed_code
            if best < 0 or renamed < best:
                best = renamed
        return best

    def widen(self) -> None:
        """Update the masks to the current encoding."""
        self._masks = [self.encoding.mask((part,)) for part in range(len(self._masks))]

    def _rename(self, number: int, part: int, code: int) -> int:
        symmetry = self.symmetry
        value = symmetry.rename(number, part, self.encoding.value(code, part))
        return self.encoding.code(symmetry.places[number][part], value)

    def _rank(self, part: int, code: int) -> int:
        """The least code of a part's value when renamed to the first of the symmetric parts."""
        first = self._moving[0]
        names = [
            self._rename(number, part, code)
            for number, to in enumerate(self.symmetry.places)
            if to[part] == first
        ]
        rank = self._ranks[part][code] = min(names)
        return rank

    def _sorting(self, ranks: tuple[int, ...]) -> list[int]:
        """The renamings that sort the symmetric parts by rank."""
        numbers = []
        for number, to in enumerate(self.symmetry.places):
            placed = sorted(zip((to[part] for part in self._moving), ranks, strict=True))
            inorder = [rank for _place, rank in placed]
            if inorder == sorted(ranks):
                numbers.append(number)
        return numbers


def renamings(symmetry: Symmetry, state: tuple[Value, ...]) -> list[tuple[Value, ...]]:
    """A state under every renaming."""
    states = []
    for number, to in enumerate(symmetry.places):
        renamed: list[Value] = list(state)
        for part, value in enumerate(state):
            renamed[to[part]] = symmetry.rename(number, part, value)
        states.append(tuple(renamed))
    return states
