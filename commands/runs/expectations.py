"""Which expectations held, and what fails a run.

An assertion is counted when it is checked. A rejected statement, or a ``wait until`` that timed
out, counts as failed unless the very next statement is ``expect error`` with its name.
"""

import re
from typing import Any, Final

from msgspec import Struct, field

from commands.language.parser import Step
from emulator.inputs.statements import Expect, ExpectError, ExpectEvents, Statement, WaitUntil
from emulator.scenario.outcome import Outcome

LIMIT: Final = re.compile(r"\s+within\s+\S+$")


class Failure(Struct, frozen=True):
    """A failed expectation: the script's line, the condition or statement, and the actual value."""

    line: int
    text: str
    actual: Any


class Tally(Struct):
    """The count so far; ``pending`` is a failed statement whose next line is not known yet."""

    passed: int = 0
    failed: list[Failure] = field(default_factory=list)
    pending: tuple[Failure, str] | None = None

    def note(self, step: Step, outcome: Outcome) -> None:
        self._settle(step)
        if outcome.refused:
            actual = outcome.error if outcome.passed is None else outcome.actual
            self.pending = Failure(step.line, asserted(step), actual), outcome.error
        elif outcome.passed:
            self.passed += 1
        elif outcome.passed is not None:
            self.failed.append(Failure(step.line, asserted(step), outcome.actual))

    def close(self) -> None:
        """Count the pending statement: no other follows."""
        self._settle(None)

    def _settle(self, step: Step | None) -> None:
        """Count the pending statement as expected or failed, depending on the next one."""
        if self.pending is None:
            return
        failure, error = self.pending
        self.pending = None
        expected = step.input if isinstance(step, Statement) else None
        if not (isinstance(expected, ExpectError) and expected.error == error):
            self.failed.append(failure)


def asserted(step: Step) -> str:
    """Return what an ``expect`` asserts, a ``wait until`` without its limit, or the statement."""
    if isinstance(step, Statement) and isinstance(step.input, Expect | ExpectError | ExpectEvents):
        return step.text.removeprefix("expect").strip()
    if isinstance(step, Statement) and isinstance(step.input, WaitUntil):
        return LIMIT.sub("", step.text)
    return step.text
