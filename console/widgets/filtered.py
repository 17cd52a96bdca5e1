"""The common part of views that hide lines by a filter."""

from typing import Any

from console.model.filters import Filter
from sessions.grammar.words import BadWord


class Filtered:
    """Mixin for a view: keeps its filter, and selects its lines again when it changes."""

    filter: Filter[Any]

    def parse_filter(self, pattern: str) -> Filter[Any]:
        """Parse a pattern as this view understands it."""
        return Filter(pattern)

    def choose(self) -> None:
        raise NotImplementedError

    def filter_text(self) -> str:
        return self.filter.text

    def set_filter(self, text: str) -> str | None:
        """Show only what matches; return why the filter cannot be understood, if it cannot."""
        try:
            self.filter = self.parse_filter(text)
        except BadWord as error:
            return str(error)
        self.choose()
        return None
