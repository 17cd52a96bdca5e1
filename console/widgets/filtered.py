"""What the views have in common that hide the lines which do not match a filter."""

from typing import Any

from console.model.filters import Filter
from sessions.grammar.words import BadWord


class Filtered:
    """Mixin for a view: keeps its filter, and selects its lines again when it changes."""

    filter: Filter[Any]

    def wanted(self, pattern: str) -> Filter[Any]:
        """What a pattern means in this view."""
        return Filter(pattern)

    def choose(self) -> None:
        """Find out which lines match now."""
        raise NotImplementedError

    def filter_text(self) -> str:
        """The filter as it was typed."""
        return self.filter.text

    def set_filter(self, text: str) -> str | None:
        """Show only what matches; what cannot be understood is answered with why."""
        try:
            self.filter = self.wanted(text)
        except BadWord as error:
            return str(error)
        self.choose()
        return None
