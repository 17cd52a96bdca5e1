"""Attack what the program opens and receives, for as long as wanted.

``python -m benchmarks.fuzz TARGET [--seed SEED] [--seconds S] [--attempt SEED/NUMBER]`` makes
attempts at a target of :mod:`tests.support.fuzzing` for S seconds (3600), or one attempt by its
name. Each attempt must end within 10 s, without a traceback, and with at most 1 GiB of memory in
the target's process and its children. Time in which they wait for a processor does not count, so
that a busy machine fails none. Prints each attempt that fails; then, how many were made, the
longest time and the most memory. Exits with 1 if one failed. Needs ``/proc``.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from sessions.child_process import environment, python_command
from tests.support.fuzzing import chance_of, target_named, targets

SECONDS = 3_600
ATTEMPT_SECONDS_MAX = 10.0
START_SECONDS_MAX = 120.0
MEMORY_BYTES_MAX = 1 << 30
LOOK_SECONDS = 0.05
PROGRAM = "benchmarks.fuzz"
READY = "ready"
DONE = "done"


@dataclass
class Figures:
    """What was measured over all attempts."""

    attempts: int = 0
    failed: list[str] = field(default_factory=list)
    longest_s: float = 0.0
    memory_bytes: int = 0

    def fail(self, attempt: str, reason: str) -> None:
        """Note and print an attempt that failed."""
        self.failed.append(attempt)
        print(f"{attempt}: {reason}", flush=True)


class Child:
    """The process in which a target and its attempts run; it reports on a pipe of its own."""

    def __init__(self, target: str, attempts: list[str]) -> None:
        self._reading, writing = os.pipe()
        os.set_blocking(self._reading, False)
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True)
        child = ("--child", str(writing), self._folder.name)
        self.process = subprocess.Popen(
            python_command("-m", PROGRAM, target, *attempts, *child),
            env=environment(),
            stdout=subprocess.DEVNULL,
            pass_fds=(writing,),
            start_new_session=True,
        )
        os.close(writing)
        self._buffer = b""
        self._waited_ns: dict[int, int] = {}
        self._selector = DefaultSelector()
        self._selector.register(self._reading, EVENT_READ)

    def line(self) -> str | None:
        """Return the next line that it reported; None: there is none yet, or it has ended."""
        if b"\n" not in self._buffer and self._selector.select(LOOK_SECONDS):
            self._buffer += os.read(self._reading, 1 << 16)
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline:
            return None
        self._buffer = rest
        return line.decode()

    def memory_bytes(self) -> int:
        """Return the sum of the peaks of memory of the process and its children."""
        return sum(map(_peak_bytes, _family(self.process.pid)))

    def time_s(self) -> float:
        """Return the time without that in which threads of the process and its children waited."""
        for pid in _family(self.process.pid):
            self._waited_ns |= _waited_ns(pid)  # threads that have ended have waited, too
        return time.monotonic() - sum(self._waited_ns.values()) / 1e9

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        """End it with its children."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._folder.cleanup()
        self._selector.close()
        os.close(self._reading)


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return
    for child in children:
        yield from _family(child)


def _waited_ns(pid: int) -> dict[int, int]:
    """Return how long each thread was ready to run, and no processor was free for it."""
    waited = {}
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                waited[int(thread.name)] = int((thread / "schedstat").read_text().split()[1])
    return waited


def _peak_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM")), 0)


def watch(child: Child, attempts: Iterator[str], figures: Figures, end: float) -> None:
    """Follow a child through its attempts until one takes too much or the time is over."""
    attempt, limit_s, begun = "", START_SECONDS_MAX, child.time_s()
    while time.monotonic() < end:
        line, elapsed = child.line(), child.time_s() - begun
        memory = child.memory_bytes()
        figures.memory_bytes = max(figures.memory_bytes, memory)
        if reason := _excess(child, line, elapsed, limit_s, memory):
            figures.fail(attempt or "the start", reason)
            return
        if line is None:
            continue
        if attempt:
            figures.attempts += 1
            figures.longest_s = max(figures.longest_s, elapsed)
        if line not in (READY, DONE):
            figures.fail(attempt or "the start", line)
        following = next(attempts, None)
        if following is None:
            return
        attempt, limit_s, begun = following, ATTEMPT_SECONDS_MAX, child.time_s()


def _excess(child: Child, line: str | None, elapsed: float, limit_s: float, memory: int) -> str:
    """Return what an attempt has too much of, or that its process has ended; empty: nothing."""
    if memory > MEMORY_BYTES_MAX:
        return f"takes {memory >> 20:,} MiB"
    if line is None and child.process.poll() is not None:
        return f"ended with status {child.process.returncode}"
    if elapsed > limit_s:
        return f"takes {elapsed:.0f} s"
    return ""


class Attempts:
    """The names of a seed's attempts in order: ``SEED/0``, ``SEED/1``, .."""

    def __init__(self, seed: str, first: int = 0) -> None:
        self._seed = seed
        self.following = first

    def __iter__(self) -> "Attempts":
        return self

    def __next__(self) -> str:
        self.following += 1
        return f"{self._seed}/{self.following - 1}"


def fuzz(target: str, seed: str, seconds: float) -> Figures:
    """Make attempts for so many seconds; after one that takes too much, in a new process."""
    figures, attempts, end = Figures(), Attempts(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        with Child(target, ["--seed", seed, "--first", str(attempts.following)]) as child:
            watch(child, attempts, figures, end)
        if not attempts.following:
            break  # it does not even start
    return figures


def fuzz_one(target: str, attempt: str) -> Figures:
    """Make one attempt."""
    figures = Figures()
    end = time.monotonic() + START_SECONDS_MAX + ATTEMPT_SECONDS_MAX
    with Child(target, ["--attempt", attempt]) as child:
        watch(child, iter([attempt]), figures, end)
    return figures


def attack(target: str, attempts: Iterable[str], folder: Path, pipe: int) -> None:
    """Make attempts and report the end of each on a pipe: what a child does."""
    with os.fdopen(pipe, "w", buffering=1) as report, target_named(target)(folder) as attempt_at:
        report.write(f"{READY}\n")
        for attempt in attempts:
            try:
                attempt_at(chance_of(attempt))
            except Exception as error:  # whatever it is: nothing may be raised
                traceback.print_exc()
                report.write(" ".join(f"{type(error).__name__}: {error}".split()) + "\n")
            else:
                report.write(f"{DONE}\n")


def main() -> int:
    """Run the program; 1 if an attempt failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("target", choices=targets())
    parser.add_argument("--seed", default="0")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--attempt")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        pipe, folder = given.child
        one = [given.attempt] if given.attempt else Attempts(given.seed, given.first)
        attack(given.target, one, Path(folder), int(pipe))
        return 0
    if given.attempt is not None:
        figures = fuzz_one(given.target, given.attempt)
    else:
        figures = fuzz(given.target, given.seed, given.seconds)
    print(
        f"{given.target}: {figures.attempts:,} attempts, {len(figures.failed)} failed, "
        f"longest {figures.longest_s:.2f} s, memory {figures.memory_bytes >> 20:,} MiB"
    )
    return int(bool(figures.failed))


if __name__ == "__main__":
    sys.exit(main())
