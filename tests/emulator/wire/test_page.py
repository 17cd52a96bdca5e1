from docs.make_wire_page import PAGE, page


def test_the_page_of_the_wire_protocol_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "run python -m docs.make_wire_page"
