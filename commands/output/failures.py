"""Convert an error to an exit status and one sentence."""

from commands.exits import CommandError, ExitCode

TRACEBACK = "TIDEGAUGE_TRACEBACK"
"""Environment variable that makes unexpected errors print their traceback."""

NO_MEMORY = (
    "there is not enough memory; fewer brokers, partitions or records (--count) at once take less"
)


def judged(error: Exception) -> tuple[ExitCode, str]:
    """Return the exit status and the message of an error."""
    if isinstance(error, CommandError):
        return error.code, error.message
    if isinstance(error, MemoryError):
        return ExitCode.TIME_LIMIT, NO_MEMORY
    if isinstance(error, OSError):
        where = f" '{error.filename}'" if error.filename else ""
        return ExitCode.UNREACHABLE, f"{(error.strerror or str(error)).lower()}{where}"
    from sessions.format.errors import SessionError, SessionMissingError

    if isinstance(error, SessionError):  # itself: a recording that cannot be made or written
        unreachable = type(error) in (SessionError, SessionMissingError)
        return (ExitCode.UNREACHABLE if unreachable else ExitCode.BAD_SESSION), str(error)
    kind = type(error).__name__
    return (
        ExitCode.INTERNAL,
        f"a fault of this program: {kind}: {error} ({TRACEBACK}=1 shows where)",
    )
