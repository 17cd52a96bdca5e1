"""The page of the documents' statements says what the scenarios show."""

import re
from pathlib import Path

import pytest

from commands.library import documents
from commands.library.documents import Shown, Stated, statements
from tests.test_scenarios import ROWS

ROOT = Path(__file__).parents[3]
RECORDINGS = ROOT / "tests" / "golden" / "recordings"
SHOWN = [
    pytest.param(stated, shown, id=f"{stated.number}-{shown.scenario.name}")
    for stated in statements()
    for shown in stated.shown
]


def test_the_page_is_rendered_from_the_scenarios() -> None:
    """``tidegauge scenarios list --documents --markdown > docs/documents.md`` renders it."""
    assert (ROOT / "docs" / "documents.md").read_text(encoding="utf-8") == documents.page()


def test_every_row_of_the_documents_has_statements_numbered_from_one() -> None:
    numbers: dict[str, list[int]] = {}
    for stated in statements():
        numbers.setdefault(stated.row, []).append(int(stated.number.partition(".")[2]))
    assert sorted(numbers) == sorted(ROWS)
    assert numbers == {row: list(range(1, len(of) + 1)) for row, of in numbers.items()}


@pytest.mark.parametrize(("stated", "shown"), SHOWN)
def test_a_value_is_expected_by_the_scenario(stated: Stated, shown: Shown) -> None:
    expected = [
        line.partition("  # ")[0]
        for line in shown.scenario.text().splitlines()
        if line.startswith(("expect ", "wait until "))
    ]
    for value in shown.values:
        assert any(value in line for line in expected), value


@pytest.mark.parametrize("stated", statements(), ids=lambda stated: stated.number)
def test_a_statement_is_a_sentence_with_a_value(stated: Stated) -> None:
    assert re.fullmatch(r"[A-Z0-9`\"/].*[.)]", stated.text)
    assert any(shown.values for shown in stated.shown)


@pytest.mark.parametrize("stated", statements(), ids=lambda stated: stated.number)
def test_a_difference_names_releases_and_recordings_that_exist(stated: Stated) -> None:
    for difference in stated.differences:
        assert re.match(r"\d[\d.]*(?: to \d[\d.]*|\+)?: \S", difference), difference
        for name in re.findall(r"\brecording (\S+?)[),.;]", difference):
            assert (RECORDINGS / f"{name}.json").exists(), name
