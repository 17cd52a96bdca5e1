from hypothesis import given
from hypothesis import strategies as st

from console.render.lines import (
    Span,
    cells,
    cut,
    data,
    fit,
    join_ends,
    line,
    text_of,
    width_of,
    wrap,
)

texts = st.text(alphabet=st.characters(categories=["L", "N", "P"], max_codepoint=0x9FFF))
widths = st.integers(1, 40)


@given(texts, widths, st.booleans())
def test_fitted_text_takes_exactly_its_width(text: str, width: int, right: bool) -> None:
    assert cells(fit(text, width, right=right)) == width


@given(st.lists(texts.map(Span), max_size=5), widths)
def test_a_cut_line_is_never_too_wide(spans: list[Span], width: int) -> None:
    assert width_of(cut(spans, width)) <= width


@given(st.lists(texts.map(Span), max_size=5), widths)
def test_what_fits_is_not_cut(spans: list[Span], width: int) -> None:
    if width_of(spans) <= width:
        assert text_of(cut(spans, width)) == text_of(spans)


@given(texts, texts, widths)
def test_two_ends_fill_the_width(left: str, right: str, width: int) -> None:
    joined = join_ends((Span(left),), (Span(right),), width)
    assert width_of(joined) == width or cells(right) >= width


@given(st.text(alphabet="ab \u4e16", max_size=60), st.integers(4, 20))
def test_wrapped_text_keeps_its_words_and_its_width(text: str, width: int) -> None:
    rows = wrap(text, width)
    assert all(cells(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_a_truncation_is_marked() -> None:
    assert fit("orders-12345", 8) == "orders-~"
    assert text_of(cut((Span("orders"), Span("-12345")), 8)) == "orders-~"


def test_numbers_stand_right() -> None:
    assert fit("12", 5, right=True) == "   12"


def test_empty_spans_vanish_and_data_is_made_safe() -> None:
    assert line("", Span(""), data("a\x1b")) == (Span(r"a\x1b"),)


def test_text_is_wrapped_where_there_is_no_room() -> None:
    assert wrap("ab 日c", 0) == ["ab", "日", "c"]
