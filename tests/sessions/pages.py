"""Which pages of a session file hold what, as SQLite itself says (its table ``dbstat``)."""

import sqlite3
from bisect import bisect_right
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import NamedTuple


class Page(NamedTuple):
    """A page: where in the file it begins, its size, whose it is, and what it is."""

    begin: int
    size: int
    table: str
    kind: str

    @property
    def end(self) -> int:
        return self.begin + self.size


class ChunkPages(NamedTuple):
    """A chunk's events, and the pages that hold its row."""

    first_seq: int
    last_seq: int
    own: list[Page]


class PageMap:
    """The pages of a whole file that nobody writes."""

    def __init__(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            stat = "SELECT name, path, pageno, pagetype, pgsize, ncell FROM dbstat"
            rows = database.execute(stat).fetchall()
            order = "SELECT first_seq, last_seq FROM chunks ORDER BY first_seq"
            chunks = database.execute(order).fetchall()
        self.pages = [
            Page((number - 1) * size, size, table, kind) for table, _, number, kind, size, _ in rows
        ]
        self.chunks = list(_chunks(chunks, [row for row in rows if row[0] == "chunks"]))
        self.to_open = [page for page in self.pages if page.table in ("sqlite_schema", "meta")]

    def up_to(self, length: int) -> int:
        """The last event up to which all chunks lie within the first ``length`` bytes."""
        if any(page.end > length for page in self.to_open):
            return 0
        last = 0
        for chunk in self.chunks:
            if any(page.end > length for page in chunk.own):
                break
            last = chunk.last_seq
        return last

    def before(self, at: int) -> int | None:
        """The last event that damage at a byte leaves whole; None: it may hide any."""
        inside = next((page for page in self.pages if page.begin <= at < page.end), None)
        if inside is None:  # a page that nothing is in
            return self.chunks[-1].last_seq
        hit = [chunk for chunk in self.chunks if inside in chunk.own]
        if hit:
            return hit[0].first_seq - 1
        return None if inside in self.to_open else self.chunks[-1].last_seq


def _chunks(
    chunks: list[tuple[int, int]], rows: list[tuple[str, str, int, str, int, int]]
) -> list[ChunkPages]:
    by_path: dict[str, list[Page]] = defaultdict(list)
    leaves: list[tuple[str, int]] = []
    for table, path, number, kind, size, cells in rows:
        page = Page((number - 1) * size, size, table, kind)
        by_path[path.partition("+")[0]].append(page)
        if kind == "leaf":
            leaves.append((path, cells))
    found = []
    first_rows = [0]
    for _, cells in leaves:
        first_rows.append(first_rows[-1] + cells)
    assert first_rows[-1] == len(chunks)
    for number, (first, last) in enumerate(chunks):
        place = bisect_right(first_rows, number) - 1
        path = leaves[place][0]
        overflow = by_path[f"{path}{number - first_rows[place]:03x}"]
        found.append(ChunkPages(first, last, [*by_path[path], *overflow]))
    return found
