import pytest

from docs.make_wire_page import FOLDER, TABLES, page


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_of_the_wire_protocol_are_current(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == page(name), "run python -m docs.make_wire_page"
