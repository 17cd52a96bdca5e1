"""The console's start, and the memory of an hour of LIVE.

``python -m benchmarks.live [--hours H] [--starts N]`` starts ``tidegauge console`` on a terminal of
its own until the first screen with figures is there, and runs the demo's live cluster for hours of
virtual time: alone, and under the console, every screen in turn, drawing ten times a second.
"""

import argparse
import asyncio
import multiprocessing
import os
import pty
import statistics
import struct
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from fcntl import ioctl
from pathlib import Path
from tempfile import TemporaryDirectory
from termios import TIOCSWINSZ

from commands.runs.live import DEMO, live_source
from console.app import TidegaugeApp
from console.model.pacer import FRAMES_PER_SECOND
from sessions.garbage_collection import collect_seldom

SIZE = (120, 40)
PROGRAM = Path(sys.executable).with_name("tidegauge")
DRAWN = b"brk 3/3"
"""Text of the first screen once it has figures."""
SPEED = 16.0
SLICE_MS = 1_000.0
QUARTERS = 4
SCREENS = ("1", "2", "3", "4", "5")
READ = 65_536
HOUR_US = 3_600_000_000
PAGE = os.sysconf("SC_PAGE_SIZE")


def starts_seconds(count: int) -> list[float]:
    """Return the sorted durations of a number of starts; compiled, as for an installed program."""
    with TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        start_seconds(environment)
        return sorted(start_seconds(environment) for _ in range(count))


def start_seconds(environment: dict[str, str]) -> float:
    """From the start of the program to the first screen with figures, by the clock."""
    begin = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.execve(PROGRAM, [str(PROGRAM), "console"], environment)
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    seen = b""
    while DRAWN not in seen:
        seen += os.read(terminal, READ)
    seconds = time.perf_counter() - begin
    os.write(terminal, b"\x11")
    try:
        while os.read(terminal, READ):
            pass
    except OSError:
        pass  # the terminal is closed: the program has ended
    os.waitpid(child, 0)
    return seconds


def memory_mib() -> float:
    """Return the current memory use of the process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 2**20


def memory_alone(hours: float) -> list[float]:
    """Memory of the cluster and its recorder at the beginning and after each quarter."""
    collect_seldom()
    source, recorder = live_source(DEMO, None, {}, ())
    begin = source.time_us
    found = []
    for quarter in range(QUARTERS + 1):
        while source.time_us < begin + hours * HOUR_US * quarter / QUARTERS:
            source.advance(1 / FRAMES_PER_SECOND, SPEED, SLICE_MS)
        found.append(memory_mib())
    recorder.close("benchmark")
    source.close()
    return found


def memory_shown(hours: float) -> list[float]:
    """The same with the console on top."""
    collect_seldom()
    return asyncio.run(_memory_shown(hours))


async def _memory_shown(hours: float) -> list[float]:
    source, recorder = live_source(DEMO, None, {}, ())
    app = TidegaugeApp(source)
    app.stage.settle()
    found = []
    async with app.run_test(size=SIZE) as pilot:
        app.stage.pacer.speed = SPEED
        begin, turn = source.time_us, 0
        for quarter in range(QUARTERS + 1):
            end = begin + hours * HOUR_US * quarter / QUARTERS
            while source.time_us < end:
                app.stage.pacer.frame(1 / FRAMES_PER_SECOND)
                app.paint()
                if turn % FRAMES_PER_SECOND == 0:
                    await pilot.press(SCREENS[turn // FRAMES_PER_SECOND % len(SCREENS)])
                turn += 1
            found.append(memory_mib())
    recorder.close("benchmark")
    source.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--starts", type=int, default=5)
    chosen = parser.parse_args()
    starts = starts_seconds(chosen.starts)
    print(f"start to the first screen: median {statistics.median(starts):.2f} s of {chosen.starts}")
    for name, memory in (("alone", memory_alone), ("with the console", memory_shown)):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            shown = ", ".join(f"{each:.0f}" for each in pool.submit(memory, chosen.hours).result())
        print(f"memory over {chosen.hours:g} h of LIVE {name}, each quarter: {shown} MiB")


if __name__ == "__main__":
    main()
