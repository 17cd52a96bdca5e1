import pytest

from commands.exits import CommandError, ExitCode
from commands.output.failures import judged
from sessions.format.errors import (
    NotASessionError,
    SessionDamagedError,
    SessionError,
    SessionMissingError,
    SessionOlderError,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandError(ExitCode.TIME_LIMIT, "x"), ExitCode.TIME_LIMIT),
        (SessionError("x"), ExitCode.UNREACHABLE),
        (SessionMissingError("x"), ExitCode.UNREACHABLE),
        (NotASessionError("x"), ExitCode.BAD_SESSION),
        (SessionDamagedError("x"), ExitCode.BAD_SESSION),
        (SessionOlderError("x"), ExitCode.BAD_SESSION),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_error_has_a_status_and_its_own_sentence(error: Exception, code: ExitCode) -> None:
    assert judged(error) == (code, "x")


def test_what_the_system_refuses_names_the_file() -> None:
    error = PermissionError(13, "Permission denied", "/a/b")
    assert judged(error) == (ExitCode.UNREACHABLE, "permission denied '/a/b'")


def test_a_fault_says_that_it_is_one_and_how_to_see_more() -> None:
    code, message = judged(RuntimeError("odd"))
    assert code is ExitCode.INTERNAL
    assert "a fault of this program: RuntimeError: odd (TIDEGAUGE_TRACEBACK=1" in message
