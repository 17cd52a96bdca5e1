"""The style sheet is parsed when something is new, and only then."""

from textual.css.stylesheet import Stylesheet

from console.styles.stylesheet import ParsedOnce

SHEET = "Label { color: $ink; }"


def ink_of(sheet: Stylesheet) -> str:
    return sheet.rules[0].styles.color.hex


def sheet(ink: str) -> ParsedOnce:
    made = ParsedOnce(variables={"ink": ink})
    made.add_source(SHEET, ("a", ""))
    made.parse()
    return made


def test_what_was_parsed_stays_while_nothing_changes() -> None:
    found = sheet("#ff0000")
    rules = found.rules
    found.set_variables({"ink": "#ff0000"})
    found.reparse()
    assert found.rules is rules
    assert ink_of(found) == "#FF0000"


def test_another_theme_is_parsed_anew() -> None:
    found = sheet("#ff0000")
    found.set_variables({"ink": "#00ff00"})
    found.reparse()
    assert ink_of(found) == "#00FF00"


def test_another_source_is_parsed() -> None:
    found = sheet("#ff0000")
    found.add_source("Button { color: $ink; }", ("b", ""))
    found.reparse()
    assert len(found.rules) == 2
    found.source[("a", "")] = found.source[("a", "")]._replace(content="Label { color: #0000ff; }")
    found.reparse()
    assert ink_of(found) == "#0000FF"
