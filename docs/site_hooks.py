"""What the documentation's pages need before MkDocs reads them."""

import re
from typing import Any, Final

FENCE: Final = re.compile(r"^```(\w+) [^\n]*$", re.MULTILINE)
"""A fenced block with words behind its language, which only the tests read."""


def on_page_markdown(markdown: str, **_page: Any) -> str:
    """The page with plain fences."""
    return FENCE.sub(r"```\1", markdown)
