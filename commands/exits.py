"""How the program ends: every exit status, and the exception that carries one with its sentence."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Every exit status of ``tidegauge``."""

    OK = 0
    """Done, and all expectations hold."""
    FAILED = 1
    """An expectation or an invariant failed, or two recordings that should agree differ."""
    USAGE = 2
    """The command line or a script does not parse; nothing was run."""
    UNREACHABLE = 3
    """A file, a folder, Java, Spark or another part of the installation cannot be reached or used.

    Also what would have to be overwritten: a target that exists is never touched.
    """
    TIME_LIMIT = 4
    """A time limit ran out."""
    BAD_SESSION = 5
    """A session or dataset is damaged, or of another version of this program."""
    INCOMPLETE = 6
    """Done with all that could be read: a session is damaged, or was not closed."""
    INTERNAL = 70
    """A fault of this program itself (sysexits.h calls it EX_SOFTWARE)."""
    INTERRUPTED = 130
    """Stopped by ctrl-c; what was recorded up to then is complete."""


class CommandError(Exception):
    """A command cannot do what it was asked.

    ``message`` is one sentence (or, of a script, one line a problem) for standard error.
    """

    def __init__(self, code: ExitCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
