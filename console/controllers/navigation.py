"""Where lines lead: one method for each kind of page that ``enter`` opens."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from console.screens.broker import BrokerScreen
from console.screens.events import EventScreen
from console.screens.partition import PartitionScreen
from console.screens.partitions import PartitionsScreen
from console.screens.record import RecordScreen
from console.screens.znode import ZnodeScreen
from console.widgets.event_log import EventView
from console.widgets.links import Link

if TYPE_CHECKING:
    from textual.screen import Screen

    from console.model.workspace import Stage


class Openers:
    """Mixed into the application: drills into an object by its name."""

    stage: "Stage"

    if TYPE_CHECKING:

        @property
        def screen(self) -> Screen[Any]: ...

        def show_screen(self, screen: Screen[Any]) -> None: ...

        def tell(self, text: str) -> None: ...

        def seek(self, seq: int) -> None: ...

        def go(self, mode: str) -> None: ...

        def when_shown(self, do: Callable[[], None]) -> None: ...

    def open_link(self, link: Link | None) -> None:
        """Open what a line leads to; a line that leads nowhere says nothing."""
        match link:
            case Link("partition", tp):
                self.open_partition(tp)
            case Link("broker", broker):
                self.open_broker(int(broker))
            case Link("znode", path):
                self.open_znode(path)
            case Link("event", seq):
                self.open_event(int(seq))
            case Link("moment", seq):
                self.seek(int(seq))
            case Link("record", record_id):
                self.open_record(int(record_id))
            case Link("mode", mode):
                self.go(mode)
            case Link("partitions", text):
                self.open_partitions(text)

    def open_partition(self, tp: str) -> None:
        """Drill into a partition."""
        self.show_screen(PartitionScreen(self.stage, tp))

    def open_broker(self, broker: int) -> None:
        """Drill into a broker; negative numbers are other hosts."""
        if broker >= 0:
            self.show_screen(BrokerScreen(self.stage, broker))

    def open_znode(self, path: str) -> None:
        """Drill into a znode."""
        self.show_screen(ZnodeScreen(self.stage, path))

    def open_record(self, record_id: int) -> None:
        """Drill into a record."""
        batch = self.stage.view.batch(record_id)
        if batch is None:
            self.tell(f"nobody knows record {record_id:,} at this time")
        else:
            self.show_screen(RecordScreen(self.stage, batch.tp, record_id))

    def open_event(self, seq: int) -> None:
        """Drill into an event."""
        if self.stage.reader.get(seq) is not None:
            self.show_screen(EventScreen(self.stage, seq))

    def open_selected(self, log: EventView) -> None:
        """Drill into the event that is selected in a log."""
        if (event := log.selected) is not None:
            self.open_event(event.seq)

    def open_partitions(self, text: str) -> None:
        """Screen 2, with a filter."""
        self.go("partitions")
        self.when_shown(partial(self._narrow, text))

    def _narrow(self, text: str) -> None:
        if isinstance(self.screen, PartitionsScreen):
            self.screen.narrow(text)
