"""Errors of session files; each message is one sentence."""


class SessionError(Exception):
    """A session could not be used. ``str()`` is one sentence with the file's name and the cause."""


class SessionMissingError(SessionError):
    """The file does not exist, or cannot be read or written."""


class NotASessionError(SessionError):
    """The file exists but is not a session."""


class SessionNewerError(SessionError):
    """The file was written by a newer program with an unknown schema."""


class SessionOlderError(SessionError):
    """The file was written by an older program whose schema is no longer supported."""


class SessionDamagedError(SessionError):
    """The file is a session, but nothing in it, or not the requested part, can be read."""


class SessionEndedError(SessionDamagedError):
    """The requested part turned out to be damaged: the session ends before it."""


class SessionDroppedError(SessionDamagedError):
    """A recorder with a size limit has dropped the requested part."""


class SessionIncompleteError(SessionError):
    """The session lacks what the task needs, for example the statements to run it again."""
