"""What can be wrong with a session file; each message is one sentence for people."""


class SessionError(Exception):
    """A session could not be used. ``str()`` is one sentence with the file's name and the cause."""


class SessionMissingError(SessionError):
    """There is no such file, or it cannot be reached or written."""


class NotASessionError(SessionError):
    """The file exists and is something else."""


class SessionNewerError(SessionError):
    """The file was written by a newer program whose schema this one does not know."""


class SessionOlderError(SessionError):
    """The file was written by an older program whose schema this one reads no more."""


class SessionDamagedError(SessionError):
    """The file is a session of which nothing, or not the part that was asked for, can be read."""


class SessionEndedError(SessionDamagedError):
    """The part that was asked for was found to be damaged just now: the session ends before it."""


class SessionDroppedError(SessionDamagedError):
    """The part that was asked for has been dropped since by a recorder that keeps its size."""


class SessionIncompleteError(SessionError):
    """The session lacks what the task needs, for example the statements to run it again."""
