"""A library for tests: three scenarios, real clusters, and a folder of one's own."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from commands.runs.console_library import ConsoleLibrary
from console.model.library import Card, Finding, LibraryError
from sessions.sources.live import LiveSource
from sessions.sources.twin import TwinSource

NAMES = ("A4-long-poll", "V7-stale-hw-restart", "E8-broker-failover")


class SmallLibrary(ConsoleLibrary):
    """The library with three scenarios, and without Spark."""

    def __init__(self, folder: Path = Path()) -> None:
        super().__init__(folder)
        self.analysed: list[tuple[str, str]] = []
        self.exported: list[tuple[Path, str]] = []

    def cards(self) -> Sequence[Card]:
        return [card for card in super().cards() if card.name in NAMES]

    def export(self, path: Path, dataset: str, tell: Callable[[str], None]) -> str:
        tell("exporting 3 of 9 events")
        if dataset == "full":
            raise LibraryError("there is no room on the disk")
        self.exported.append((path, dataset))
        return f"{path.name}: 9 events"

    def analyse(self, dataset: str, out: str, tell: Callable[[str], None]) -> list[Finding]:
        self.analysed.append((dataset, out))
        path = self.folder / "E8-broker-failover.tide.db"
        return [
            Finding("availability"),
            Finding("PARTITION  OFFLINE"),
            Finding("t-0        3.2 s", path, 41),
            Finding("t-1        9.9 s", self.folder / "gone.tide.db", 43),
        ]


@contextmanager
def failing_over(version: str = "2.4") -> Iterator[LiveSource]:
    """A cluster of four brokers, of which broker 1 has died, at its end."""
    opened = ConsoleLibrary().open_scenario("E8-broker-failover", version)
    assert isinstance(opened.source, LiveSource)
    opened.source.to_tail()
    try:
        yield opened.source
    finally:
        opened.close()


@contextmanager
def side_by_side() -> Iterator[TwinSource]:
    """V7 on the last release that loses a record, and on the first that does not."""
    opened = ConsoleLibrary().open_scenario("V7-stale-hw-restart", "0.10.2", "0.11")
    assert isinstance(opened.source, TwinSource)
    try:
        yield opened.source
    finally:
        opened.close()
