"""The source that is a running cluster: it is looked at, and nothing is ever sent to change it."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from emulator.cluster import Cluster
from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import ClusterImage
from emulator.events import Event
from emulator.inputs.statements import CreateCluster, Statement
from emulator.scenario.runner import Runner
from emulator.zookeeper.watches import Watches
from sessions.attached.poller import Poller
from sessions.format.errors import SessionIncompleteError
from sessions.model.cluster_view import ClusterView
from sessions.playback.cursor import US_PER_SECOND, Reply
from sessions.recording.recorder import Recorder
from sessions.sources.forecast import Copy, StartingPoint
from sessions.sources.growing import GrowingSource
from sessions.sources.live import Parse

READ_ONLY: Final = "READ_ONLY"
"""The error of a statement that is given to a running cluster."""
SETTLES_US: Final = 5_000_000
"""How long a cluster that starts from an image runs before anything is done to it."""
LATE: Final = 2
"""After how many looks that did not come the cluster counts as lost, beside a failed one."""


class AttachedSource(GrowingSource):
    """A running cluster with the recording of its answers.

    While the cursor is at the end, the screen follows the cluster. While it stands still, or the
    past is shown, looking and recording go on.
    """

    kind = "ATTACHED"
    read_only = True

    def __init__(self, poller: Poller, recorder: Recorder, parse: Parse, name: str) -> None:
        """Begin at the end; ``parse`` turns a line into statements, for forecasts."""
        self.poller = poller
        for event in poller.news():
            recorder(event)
        super().__init__(recorder)
        self.name = name
        self._parse = parse
        self._first_us = poller.began_us

    # ---- time

    @property
    def first_time_us(self) -> int:
        return self._first_us

    @property
    def last_time_us(self) -> int:
        """The time of day (UTC), from midnight before it was attached to, in whole seconds.

        Screens are drawn when it moves.
        """
        second_us = self.poller.now_us // US_PER_SECOND * US_PER_SECOND
        return max(second_us, self.poller.looked_us)

    @property
    def stale_us(self) -> int | None:
        age_us = self.poller.now_us - self.poller.looked_us
        if self.poller.lost or age_us > LATE * self.poller.every_s * US_PER_SECOND + US_PER_SECOND:
            return age_us
        return None

    @property
    def notes(self) -> Sequence[str]:
        """The requests that it does not answer: a permission is missing, or it is too old."""
        return [*([self.poller.lost] if self.poller.lost else ()), *self.poller.notes]

    @property
    def lost(self) -> str:
        """Why it does not answer; empty while it does."""
        return self.poller.lost

    def keep_up(self) -> None:
        for event in self.poller.news():
            self.recorder(event)
        self.recorder.tick()

    def advance(self, wall_seconds: float, speed: float, budget_ms: float) -> int:
        begin = self.last_seq
        self.keep_up()
        if self.at_tail:
            return self.last_seq - begin
        return self.play_past(int(wall_seconds * speed * US_PER_SECOND), budget_ms)

    def stand_still(self) -> None:
        """Hold the cursor where it is; looking and recording go on."""
        if self.at_tail:
            seq = self.last_seq
            self._enter_past().seek_seq(seq)

    def step(self, n: int) -> None:
        """Move by ``n`` events, back if negative; nothing can be stepped at the end."""
        self.stand_still()
        self.seek_seq(self.seq + n)

    # ---- reading

    def watches(self, seq: int, observer: Callable[[Event], None]) -> Watches:
        """Clients cannot ask for watches.

        Raises:
            SessionIncompleteError: always.
        """
        raise SessionIncompleteError("A running cluster tells no client who watches a znode.")

    # ---- what would happen

    def submit(self, text: str) -> Reply:
        """Refuse: nothing is ever sent to a running cluster."""
        return Reply(
            READ_ONLY,
            f"{self.name} is a running cluster: nothing is ever sent to it. "
            "x shows what would happen.",
        )

    @property
    def image(self) -> ClusterImage:
        """The cluster as it was last seen, complete with what is assumed."""
        return complete(self.poller.image).image

    def starting_point(self) -> StartingPoint:
        """The cluster as it was last seen, on a copy that is started for forecasts."""
        return _RestoredStartingPoint(self.image, self.poller.looked_us)

    def statements_of(self, text: str) -> Sequence[Statement]:
        return [part for part in self._parse(text) if isinstance(part, Statement)]

    def close(self) -> None:
        """Look no more, and read no more; the recorder is the caller's."""
        self.keep_up()
        self.poller.close()
        super().close()


class _RestoredStartingPoint(StartingPoint):
    """The starting point of a cluster that is started from an image."""

    def __init__(self, image: ClusterImage, time_us: int) -> None:
        self.time_us = time_us
        self._image = image

    @cached_property
    def begin(self) -> Copy:
        view = ClusterView()
        runner = Runner(Cluster(created_from(self._image), (view.apply,)))
        runner.run_until(runner.now_us + SETTLES_US)
        return Copy(runner, view)


def created_from(image: ClusterImage) -> CreateCluster:
    """Return the statement that starts a cluster from its complete image."""
    return CreateCluster(version=image.release or "", mode=image.mode or "", image=image)
