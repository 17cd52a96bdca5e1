from sessions.report.markup import document, element, extend


def test_text_never_becomes_markup() -> None:
    made = element("p", "<b>&", class_="a", data_x='"<>')
    assert document(made) == (
        '<!DOCTYPE html>\n<p class="a" data-x="&quot;<&gt;">&lt;b&gt;&amp;</p>\n'
    )


def test_text_stands_where_it_was_put() -> None:
    made = element("p", "a", element("b", "c"), "d", None, "e")
    extend(made, [element("i"), "f"])
    assert document(made).splitlines()[1] == "<p>a<b>c</b>de<i></i>f</p>"


def test_attributes_are_written_as_svg_and_html_have_them() -> None:
    made = element("svg", viewBox="0 0 1 1", text_anchor="end", x=1 / 3, y=2.0, width=5, z=None)
    assert document(made).splitlines()[1] == (
        '<svg viewBox="0 0 1 1" text-anchor="end" x="0.33" y="2" width="5"></svg>'
    )


def test_what_runs_is_left_as_it_is() -> None:
    assert "a > b && c" in document(element("script", "a > b && c"))
