"""A case: a scenario with a client on a cluster of a release, and what came of it."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from commands.conformance.scenarios import Scenario


class Case(Struct, frozen=True, kw_only=True):
    """One run: a scenario, the adapter's command, the release, the seed.

    ``patience`` multiplies all timeouts.
    """

    scenario: Scenario
    client: str
    command: Sequence[str]
    environment: dict[str, str]
    version: str
    seed: int
    patience: int = 1
    sessions: str


class Result(Struct, frozen=True, kw_only=True):
    """The result of a case.

    ``reason`` says why it was skipped, or why there is no verdict (``error``). ``at_us`` is the
    virtual time of the first violation, at which ``session`` is to be opened.
    """

    client: str
    version: str
    scenario: str
    verdict: Literal["passed", "failed", "skipped", "error"]
    seconds: float = 0.0
    reason: str = ""
    violations: list[str] = []
    session: str = ""
    at_us: int = 0
