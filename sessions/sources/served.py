"""The source that is a live cluster with clients outside: they are served while it is shown."""

from typing import Final

from emulator.events import Event
from emulator.scenario.runner import Runner
from sessions.gateway.gateway import Gateway
from sessions.model.cluster_view import ClusterView
from sessions.model.states import Batch
from sessions.playback.cursor import Reply
from sessions.recording.recorder import Recorder
from sessions.sources.live import LiveSource, Parse

LEASE_SECONDS: Final = 0.3
"""Time stands still if nobody has asked for it to pass for so long: some frames of the console."""


class ServedSource(LiveSource):
    """A cluster whose time the gateway lets pass between frames, so that clients need not wait.

    What has happened meanwhile comes into the view with the next frame: like that of any source it
    changes only when the cursor is moved. Where a :class:`LiveSource` stands still, so does this:
    while it is paused, or its past is shown, clients wait for their responses.
    """

    def __init__(self, runner: Runner, recorder: Recorder, parse: Parse, gateway: Gateway) -> None:
        """Serve by ``gateway``, which is the caller's to start and to stop."""
        super().__init__(runner, recorder, parse)
        self.gateway = gateway
        gateway.guard = self._still
        gateway.looked.append(self._go_on)
        self._view = recorder.view.copy()
        self._view.older_batches = self._recorded_batch
        self._shown_us = runner.now_us
        self._unseen: list[Event] = []
        runner.kernel.subscribe(self._unseen.append)

    @property
    def bootstrap_servers(self) -> str:
        return self.gateway.bootstrap_servers

    @property
    def view(self) -> ClusterView:
        return self._view if self._past is None else self._past.replay.view

    @property
    def time_us(self) -> int:
        return self._shown_us if self._past is None else self._past.replay_us

    def _recorded_batch(self, record_id: int) -> Batch | None:
        return self.recorder.view.batch(record_id)

    def _follow(self) -> int:
        """Bring the view to the end, if the cursor is there; says how many events that are."""
        if self._past is not None:
            return 0
        count = len(self._unseen)
        self._view.apply_all(self._unseen)
        self._view.state.batches.clear()  # the recorder's view knows them
        self._unseen.clear()
        self._shown_us = self.runner.now_us
        return count

    def advance(self, wall_seconds: float, speed: float, budget_ms: float) -> int:
        """Let the gateway run; return how many events there have been since the last call."""
        if not self.at_tail or self.is_held:
            return super().advance(wall_seconds, speed, budget_ms)
        self.recorder.tick()
        self.gateway.go_on(speed, LEASE_SECONDS)
        return self._follow()

    def stand_still(self) -> None:
        """Let no more time pass until :meth:`advance` is called again."""
        self.gateway.stand_still()
        self._follow()

    def step(self, n: int) -> None:
        """Stand still, and move by ``n`` events: clients are answered step by step."""
        self.stand_still()
        super().step(n)

    def seek_seq(self, seq: int) -> None:
        """Go to right after an event; the cluster is paused meanwhile."""
        self.stand_still()
        super().seek_seq(seq)

    def seek_time(self, time_us: int) -> None:
        """Go to a virtual time; the cluster is paused meanwhile."""
        self.stand_still()
        super().seek_time(time_us)

    def to_tail(self) -> None:
        """Go to the end, where the cluster runs."""
        super().to_tail()
        self._follow()

    def submit(self, text: str) -> Reply:
        """Give a line to the cluster; see :meth:`LiveSource.submit`."""
        reply = super().submit(text)
        self._follow()
        return reply
