from pathlib import Path

from sessions.campaign.document import campaigns_page

ROOT = Path(__file__).parents[3]


def test_the_page_is_the_one_that_the_declarations_give() -> None:
    page = (ROOT / "docs" / "campaigns.md").read_text(encoding="utf-8")
    assert page == campaigns_page()
