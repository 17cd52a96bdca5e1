"""The page on results says what the jobs declare."""

from pathlib import Path

from sessions.analysis.document import analysis_page

PAGE = Path(__file__).parents[3] / "docs" / "analysis.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == analysis_page()
