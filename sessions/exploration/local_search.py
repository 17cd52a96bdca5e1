"""A search in this process that is stored in a folder, so that it can resume after a crash."""

import contextlib
from collections.abc import Iterator

from emulator.explorer.question import Question
from emulator.explorer.search import Keep, Search
from sessions.exploration.folder import ExplorationError, StoredQuestion, WorkFolder
from sessions.exploration.journal import Journal


@contextlib.contextmanager
def kept_search(question: Question, path: str, *, resume: bool) -> Iterator[tuple[Search, Keep]]:
    """A search, and what keeps each of its levels in a folder: to be given to its ``run``.

    With ``resume`` it continues after the last level that is there. Raises
    :class:`~sessions.exploration.folder.ExplorationError` for a folder that cannot be used.
    """
    folder = WorkFolder(path)
    if folder.location.path is None:
        raise ExplorationError(f"{path} is not on this machine: only --master searches there")
    stored = StoredQuestion(question, on_spark=False)
    with folder.opened(stored, resume=resume), Journal(folder.location.path) as journal:
        search = Search(question.of.model(), question.properties)
        search.go_on_from(journal.levels())
        yield search, journal.append
