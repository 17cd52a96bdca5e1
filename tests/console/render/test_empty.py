from console.render.empty import nothing_lines
from console.render.lines import text_of, width_of


def test_the_reason_stands_before_the_key_that_helps() -> None:
    texts = [text_of(row).strip() for row in nothing_lines("Nothing is wrong.", "f shows all", 40)]
    assert texts == ["", "Nothing is wrong.", "f shows all"]


def test_long_reasons_are_wrapped() -> None:
    rows = nothing_lines("No partition matches a very long filter indeed.", "esc clears it", 24)
    assert all(width_of(row) <= 24 for row in rows)
    assert len(rows) > 3
