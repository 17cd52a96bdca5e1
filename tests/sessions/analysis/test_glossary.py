"""The glossary has each word that names a number."""

from pathlib import Path

from sessions.analysis.glossary import glossary_page, sources
from sessions.model.health import STATES
from sessions.model.summary import AUDITS

PAGE = Path(__file__).parents[3] / "docs" / "glossary.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == glossary_page()


def test_every_column_state_and_count_of_the_audit_has_an_entry() -> None:
    page = glossary_page()
    columns = {column.name for table, _ in sources() for column in table.columns}
    assert [name for name in sorted(columns) if f"\n| `{name}` | " not in page] == []
    assert [state.name for state in STATES if f"\n| `{state.name}` | " not in page] == []
    assert [name for name in AUDITS if f"**{name}**" not in page] == []
