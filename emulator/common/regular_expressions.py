"""Regular expressions that come from clients, in the syntax of RE2.

Real coordinators match with RE2/J, in time that grows with the text only. RE2 itself does so here:
Python's own matcher takes exponential time for some, and fails at others. Source:
``com.google.re2j`` and https://github.com/google/re2.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

MAX_MEMORY: Final = 8 << 20
"""RE2's own limit."""


def is_valid(regex: str, max_memory: int = MAX_MEMORY) -> bool:
    """Whether RE2 compiles a regular expression into so many bytes."""
    return _compiled(regex, max_memory) is not None


def matching(regex: str, names: Iterable[str]) -> list[str]:
    """The names that match as a whole, sorted."""
    pattern = _compiled(regex)
    return [] if pattern is None else sorted(name for name in names if pattern.fullmatch(name))


@lru_cache(maxsize=256)
def _compiled(regex: str, max_memory: int = MAX_MEMORY) -> Any:  # noqa: ANN401 - re2 has no types
    import re2  # only served clusters need it: they come with the extra `serve`

    options = re2.Options()
    options.log_errors = False
    options.max_mem = max_memory
    try:
        return re2.compile(regex, options=options)
    except (re2.error, UnicodeError):
        return None
