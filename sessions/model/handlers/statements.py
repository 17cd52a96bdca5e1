"""What was asserted, marked and found broken."""

from typing import Final

from emulator import events
from sessions.model.folding import Handlers, Model
from sessions.model.states import Bookmark


def expectation_checked(model: Model, event: events.ExpectationChecked) -> None:
    """An assertion held or did not."""
    expectations = model.state.expectations
    if event.passed:
        expectations.passed += 1
    else:
        expectations.failed.append((event.line, event.text, event.actual))


def bookmark_set(model: Model, event: events.BookmarkSet) -> None:
    """A named place."""
    bookmark = Bookmark(event.name, event.note, event.seq, event.time_us)
    model.state.bookmarks.append(bookmark)


def invariant_violated(model: Model, event: events.InvariantViolated) -> None:
    """The protocol broke."""
    violation = (event.seq, event.name, event.tp, event.detail, event.known)
    model.state.invariants.append(violation)


HANDLERS: Final[Handlers] = {
    events.ExpectationChecked: expectation_checked,
    events.BookmarkSet: bookmark_set,
    events.InvariantViolated: invariant_violated,
}
