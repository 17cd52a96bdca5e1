"""What the page holds: the events, and everything that it shows as changes from event to event.

What is shown is a table of keys and values. A change gives a key its next value, or changes a list
at its ends. The page's script applies the changes forwards and backwards and knows nothing of what
they mean, so that a partition's state is computed in one place only.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec import Struct, field

Key = tuple[str | int, ...]
"""What a value is of: ``("partition", "orders-0")``, ``("log", "orders-0", 1)``."""
Change = list[Any]
"""``[key, value]``, or of a list ``[key, dropped from the front, from the end, what is added]``."""
Item = TypeVar("Item")


class Events(Struct):
    """The events, column by column; the columns are as long as each other.

    ``times`` are microseconds since the event before, ``causes`` how many events before the cause
    is (0: it has none), ``words`` places in :attr:`Story.words`, ``levels`` a digit each.
    """

    times: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    causes: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


class Story(Struct):
    """A recording, or part of it.

    ``first_seq`` is the number of the first event and ``begins_us`` the time before it.
    ``changes`` has one list more than there are events: the first leads from nothing to the state
    before them. ``stops`` are the places in ``changes`` at which somebody gave a statement, or a
    partition's or broker's state changed. ``batches`` are the values of records: the id of the
    first one, and the values. ``states`` names the states of partitions, the worst first, with
    label and meaning. ``command`` opens the recording in the console, and ``opens_at`` is the place
    in ``changes`` that is shown first. ``notes`` are sentences about what is not in the page.
    """

    title: str
    facts: list[str]
    command: str
    first_seq: int
    begins_us: int
    columns: list[str]
    states: list[tuple[str, str, str]]
    events: Events = field(default_factory=Events)
    words: list[str] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    changes: list[list[Change]] = field(default_factory=list)
    stops: list[int] = field(default_factory=list)
    batches: list[tuple[int, list[str]]] = field(default_factory=list)
    opens_at: int = 0
    notes: list[str] = field(default_factory=list)


class Changes:
    """Collects the changes of a story, one step at a time."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.steps: list[list[Change]] = []
        self._indexes: dict[Key, int] = {}
        self._last: dict[Key, Any] = {}

    def begin(self) -> None:
        self.steps.append([])

    def last(self, key: Key) -> Any:  # noqa: ANN401 - any JSON
        """Return the value of a key; None if it has none."""
        return self._last.get(key)

    def put(self, key: Key, value: Any) -> bool:  # noqa: ANN401 - any JSON
        """Give a key its value (None: there is nothing any more); False if it has it already."""
        if self._last.get(key) == value:
            return False
        self._last[key] = value
        self.steps[-1].append([self._index(key), value])
        return True

    def put_list(self, key: Key, items: Sequence[Item], plain: Callable[[Item], Any]) -> None:
        """Give a key a list that mostly grows and shrinks at its ends."""
        new = list(items)
        old: list[Item] = self._last.get(key) or []
        if new == old and key in self._last:
            return
        self._last[key] = new
        front = old.index(new[0]) if new and new[0] in old else 0
        shared = 0
        for before, after in zip(old[front:], new, strict=False):
            if before != after:
                break
            shared += 1
        index = self._index(key)
        if shared:
            added = [plain(item) for item in new[shared:]]
            self.steps[-1].append([index, front, len(old) - front - shared, added])
        else:
            self.steps[-1].append([index, [plain(item) for item in new]])

    def _index(self, key: Key) -> int:
        index = self._indexes.get(key)
        if index is None:
            index = self._indexes[key] = len(self.keys)
            self.keys.append(key)
        return index


def state_at(story: Story, step_index: int) -> dict[Key, Any]:
    """Return what the page shows at a place in ``changes``, as its script computes it."""
    state: dict[Key, Any] = {}
    for step in story.changes[: step_index + 1]:
        for change in step:
            key = story.keys[change[0]]
            if len(change) == 2:  # noqa: PLR2004 - key and value
                state[key] = change[1]
            else:
                _, front, back, added = change
                old = state[key]
                state[key] = [*old[front : len(old) - back], *added]
    return state
