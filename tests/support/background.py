"""A thread that works while something else is looked at."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def background(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run ``work`` in a thread; the event that it is given is set when the block ends."""
    ended = threading.Event()
    thread = threading.Thread(target=work, args=(ended,))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
