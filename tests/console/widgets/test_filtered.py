"""What all views that hide lines do with a filter."""

from console.model.filters import Filter
from console.widgets.filtered import Filtered


class Numbers(Filtered):
    """A view of a few lines."""

    def __init__(self) -> None:
        self.filter = Filter()
        self.chosen = 0

    def wanted(self, pattern: str) -> "Filter[str]":
        return Filter(pattern)

    def choose(self) -> None:
        self.chosen += 1


def test_another_filter_is_kept_and_chosen_by() -> None:
    view = Numbers()
    assert view.set_filter("orders") is None
    assert (view.filter_text(), view.chosen) == ("orders", 1)


def test_a_filter_that_cannot_be_understood_changes_nothing() -> None:
    view = Numbers()
    view.set_filter("orders")
    assert view.set_filter("re:(")
    assert (view.filter_text(), view.chosen) == ("orders", 1)
