"""Three tasks for who sees the console for the first time, one key each."""

from typing import Final

from console.controllers.navigation import Navigation
from console.controllers.open_sources import Controller, OpenSources
from console.controllers.time_travel import TimeTravel
from console.model.faults import faults_of, subject_of
from console.screens.faults import FaultsScreen
from sessions.model.quorum import controller_of

TOPIC: Final = "precious"
"""The topic whose record is lost."""


class FirstSteps(Controller):
    """Breaks a broker, loses a record, and says why; the first use is the end of the offer."""

    def __init__(
        self,
        sources: OpenSources,
        navigation: Navigation,
        time_travel: TimeTravel,
    ) -> None:
        super().__init__(sources)
        self.navigation = navigation
        self.time_travel = time_travel

    def _broker(self) -> int | None:
        """A running broker, if possible one that is not the controller."""
        state = self.stage.present.state
        running = [broker.id for broker in state.brokers.values() if broker.state == "running"]
        others = [broker for broker in running if broker != controller_of(state)]
        return next(iter([*others, *running]), None)

    def _begin(self) -> int | None:
        self.stage.is_new = False
        broker = self._broker()
        if broker is None:
            self.app.notify("no broker is running")
        return broker

    def action_try_break(self) -> None:
        """List what can be broken at a broker, each with its predicted effect."""
        broker = self._begin()
        if broker is None:
            return
        view, names = self.stage.present, [f"broker.{broker}"]
        screen = FaultsScreen(self.stage, subject_of(view, names), faults_of(view, names))
        self.app.push_screen(screen)

    def action_try_lose(self) -> None:
        """Offer statements after which an acknowledged record is gone."""
        broker = self._begin()
        if broker is not None:
            self.time_travel.ask_statement(losing(broker))

    def action_try_why(self) -> None:
        """Open the event that set the state of the worst partition, with its causes."""
        stage = self.stage
        stage.is_new = False
        severity = stage.index.severity
        tp = min(stage.index.keys, key=severity.__getitem__, default=None)
        if tp is None:
            self.app.notify("there are no partitions yet")
        else:
            state = stage.view.state
            seq = stage.explainer.seq(state, state.partitions[tp])
            self.navigation.open("event", str(seq))


def losing(broker: int) -> str:
    """Statements that lose a record: its only copy was acknowledged before it was on disk."""
    return "; ".join(
        (
            f"topic create {TOPIC} --replica-assignment {broker}",
            f"wait until {TOPIC}-0.leader == {broker}",
            f"produce {TOPIC} --value gone --acks all",
            f"broker crash {broker} --lose-unflushed",
            f"broker start {broker}",
        )
    )
