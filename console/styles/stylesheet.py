"""A style sheet that is worked out once: Textual asks three times as it starts, for one theme."""

from textual.app import App
from textual.css.stylesheet import CssSource, Stylesheet
from textual.dom import DOMNode


class ParsedOnce(Stylesheet):
    """Parses anew only what other variables (a theme's colours) or other sources give."""

    _parsed: dict[tuple[str, str], CssSource] | None = None

    def set_variables(self, variables: dict[str, str]) -> None:
        """Take a theme's variables; if they are those it has, what was parsed with them stays."""
        if variables != self._variables:
            self._parsed = None
            super().set_variables(variables)

    def parse(self) -> None:
        super().parse()
        self._parsed = self.source.copy()

    def reparse(self) -> None:
        """Parse all sources, if that can come to anything else than the last time."""
        if self._parsed != self.source:
            super().reparse()
            self._parsed = self.source.copy()

    def _process_component_classes(self, node: DOMNode) -> None:
        """Leave an application's roles until its theme is known: Textual asks again then."""
        if not isinstance(node, App) or node._css_update_count:
            super()._process_component_classes(node)
