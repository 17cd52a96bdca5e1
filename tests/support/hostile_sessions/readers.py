"""Call the program on files, one after the other, in one process with little memory.

``python -m tests.support.hostile_sessions.readers MEMORY_MAX`` reads a JSON list of arguments a
line, and answers each with a JSON line: an :class:`Answer`.
"""

import contextlib
import io
import resource
import sys
import traceback
from pathlib import Path
from time import perf_counter

import msgspec

from commands.cli import main


class Answer(msgspec.Struct):
    """What a command did; ``failure`` is the traceback of what it raised.

    ``memory_max`` is the process's memory at its highest so far.
    """

    arguments: list[str]
    status: int
    output: str
    error: str
    seconds: float
    memory_max: int
    failure: str = ""


def answer(arguments: list[str]) -> Answer:
    """Call the program."""
    output, error, failure = io.StringIO(), io.StringIO(), ""
    began = perf_counter()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        try:
            status = main.run_program(arguments)
        except BaseException:
            status, failure = 70, traceback.format_exc()
    status_lines = Path("/proc/self/status").read_text().split("\n")
    (peak,) = (line.split()[1] for line in status_lines if line.startswith("VmHWM:"))
    seconds = perf_counter() - began
    texts = [stream.getvalue()[:4_096] for stream in (output, error)]
    return Answer(arguments, status, texts[0], texts[1], seconds, int(peak) * 1024, failure)


if __name__ == "__main__":
    limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    out = sys.stdout
    for line in sys.stdin:
        print(msgspec.json.encode(answer(msgspec.json.decode(line))).decode(), file=out, flush=True)
