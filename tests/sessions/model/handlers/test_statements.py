"""Assertions, bookmarks, broken invariants."""

from emulator.events import BookmarkSet, Event, ExpectationChecked, InvariantViolated
from sessions.model.handlers import statements
from sessions.model.states import Bookmark, Expectations
from tests.sessions.examples import folded


def test_what_failed_is_kept_with_its_line_and_value() -> None:
    view = folded(
        [
            ExpectationChecked(1, 0, 0, "expect a", 3, True, "1"),
            ExpectationChecked(2, 0, 0, "expect b", 4, False, "[1,2]"),
        ]
    )
    assert view.state.expectations == Expectations(1, [(4, "expect b", "[1,2]")])


def test_bookmarks_and_violations_are_kept_in_order() -> None:
    view = folded(
        [
            BookmarkSet(1, 10, 0, "one", "first"),
            InvariantViolated(2, 20, 0, "hw-monotone", "t-0", "5 -> 4", True),
            BookmarkSet(3, 30, 0, "two", ""),
        ]
    )
    assert view.state.bookmarks == [Bookmark("one", "first", 1, 10), Bookmark("two", "", 3, 30)]
    assert view.state.invariants == [(2, "hw-monotone", "t-0", "5 -> 4", True)]


def test_every_handler_is_for_a_type_of_event() -> None:
    assert all(issubclass(kind, Event) for kind in statements.HANDLERS)
