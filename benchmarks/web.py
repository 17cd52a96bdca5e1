"""How long a browser waits for the console's first paint: ``python -m benchmarks.web [--times N]``.

Each time is a page of its own in a headless browser, from the request for the page to the header of
the console in its WebSocket, by the browser's own clock.
"""

import argparse
import asyncio
import statistics

from tests.commands.cli.test_web import HEADER, answering, served
from tests.support.browser import browser_page


async def first_paint(address: str) -> float:
    """Open the console once; return the seconds until its header arrives."""
    async with browser_page() as page:
        await page.open(address)
        await page.until_received(HEADER)
        return page.seconds_until(HEADER)


async def measured(times: int) -> None:
    """Print how long the first paint took."""
    with served() as address:
        await answering(address)
        seconds = [await first_paint(address) for _ in range(times)]
    print(
        f"first paint in a browser: median {statistics.median(seconds):.2f} s, "
        f"slowest of {times} {max(seconds):.2f} s"
    )


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="pages to open")
    asyncio.run(measured(parser.parse_args().times))


if __name__ == "__main__":
    main()
