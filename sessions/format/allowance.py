"""How much of a recording may be read before somebody looks at the keyboard again."""


class Allowance:
    """A limit on reading: :attr:`left` is the number of events that may still be read."""

    def __init__(self, events: int) -> None:
        """Allow this many events; the last block of events may exceed it."""
        self.left = events

    def spend(self, events: int) -> None:
        """Take from what is left.

        Raises:
            StillReadingError: nothing is left.
        """
        if self.left <= 0:
            raise StillReadingError
        self.left -= events


class StillReadingError(Exception):
    """The data has to be read first, and the allowance is used up: ask again later.

    ``reached`` is the last event that a search has examined, if it has examined any.
    """

    def __init__(self, reached: int | None = None) -> None:
        super().__init__(reached)
        self.reached = reached
