"""The console's start, and the memory of an hour of LIVE.

``python -m benchmarks.live [--hours H] [--starts N]`` starts ``tidegauge console`` on a terminal of
its own until the first screen with figures is there, and runs the demo's live cluster under the
console for hours of virtual time, every screen in turn, drawing ten times a second of it.
"""

import argparse
import asyncio
import os
import pty
import statistics
import struct
import sys
import time
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

from commands.live import DEMO, live_source
from console.app import TidegaugeApp
from console.pacer import FRAMES_PER_SECOND
from sessions.collector import collect_seldom

SIZE = (120, 40)
PROGRAM = Path(sys.executable).with_name("tidegauge")
DRAWN = b"brk 3/3"
"""What the first screen says when it has figures."""
SPEED = 16.0
QUARTERS = 4
SCREENS = ("1", "2", "3", "4", "5")
READ = 65_536
HOUR_US = 3_600_000_000
PAGE = os.sysconf("SC_PAGE_SIZE")


def start_seconds() -> float:
    """From the start of the program to the first screen with figures, by the clock."""
    begin = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.execv(PROGRAM, [str(PROGRAM), "console"])
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
    """What the process has in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 2**20


async def memory_over(hours: float) -> list[float]:
    """Memory at the beginning and after each quarter of the time."""
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
    collect_seldom()
    starts = sorted(start_seconds() for _ in range(chosen.starts))
    print(f"start to the first screen: median {statistics.median(starts):.2f} s of {chosen.starts}")
    memory = asyncio.run(memory_over(chosen.hours))
    shown = ", ".join(f"{each:.0f}" for each in memory)
    print(f"memory over {chosen.hours:g} h of LIVE, each quarter: {shown} MiB")


if __name__ == "__main__":
    main()
