"""What tests that run the console share."""

from collections.abc import Iterator
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet


@pytest.fixture(scope="session", autouse=True)
def rules_parsed_once() -> Iterator[None]:
    """The style sheets of all consoles are parsed once for each theme: no test changes a rule."""
    parse = Stylesheet._parse_rules
    parsed: dict[tuple[Any, ...], list[RuleSet]] = {}

    def rules(sheet: Stylesheet, *given: Any, **named: Any) -> list[RuleSet]:
        key = (given, *named.items(), *sheet._variables.items())
        if key not in parsed:
            parsed[key] = parse(sheet, *given, **named)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", rules)
        patch.setattr(RuleSet, "__hash__", object.__hash__)  # Textual's says the same, in Python
        yield
