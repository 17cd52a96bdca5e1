"""How the program exits: the exit statuses, and the exception that carries one and a message."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Every exit status of ``tidegauge``."""

    OK = 0
    """Success: all expectations hold."""
    FAILED = 1
    """An expectation or an invariant failed, or two recordings that should agree differ."""
    USAGE = 2
    """The command line or a script does not parse; nothing was run."""
    UNREACHABLE = 3
    """A file, a folder, Java, Spark or another dependency is missing or cannot be used.

    Also returned if a file would be overwritten: an existing target is never touched.
    """
    TIME_LIMIT = 4
    """A time limit was reached, or there was not enough memory."""
    BAD_SESSION = 5
    """A session or dataset is damaged, or its version is not supported."""
    INCOMPLETE = 6
    """Everything readable was processed: a session is damaged, or was not closed."""
    INTERNAL = 70
    """An internal error (EX_SOFTWARE in sysexits.h)."""
    INTERRUPTED = 130
    """Stopped by ctrl-c; the recording up to that point is complete."""


class CommandError(Exception):
    """A command cannot do what was requested.

    ``message`` is one sentence (or, for a script, one line per problem) for standard error.
    """

    def __init__(self, code: ExitCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
