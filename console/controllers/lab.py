"""Actions of the Lab, on every screen: faults, scripts, scenarios."""

from collections.abc import Callable, Sequence
from functools import partial

from console.controllers.open_sources import Controller, OpenSources
from console.controllers.time_travel import TimeTravel
from console.model.background_job import Job
from console.model.faults import Fault, faults_of, subject_of
from console.model.library import LibraryError
from console.screens.base import ConsoleScreen
from console.screens.faults import FaultsScreen
from console.screens.rehearsal import RehearsalScreen
from console.widgets.fault_list import FaultView


class Lab(Controller):
    """Inflicts faults, and saves what was done as a script."""

    def __init__(self, sources: OpenSources, time_travel: TimeTravel) -> None:
        super().__init__(sources)
        self.time_travel = time_travel

    # ---- faults

    def subject(self) -> Sequence[str]:
        """The names of what is selected, or was last selected: the object of faults."""
        screen = self.app.screen
        chosen = screen.selection() if isinstance(screen, ConsoleScreen) else ()
        if chosen:
            self.stage.subject = tuple(chosen)
        return self.stage.subject

    def action_act_fault(self) -> None:
        """Open the fault palette of the selected object."""
        names = self.subject()
        view = self.stage.present
        faults = faults_of(view, names)
        if not faults:
            self.app.notify("there is no broker yet")
            return
        self.app.push_screen(FaultsScreen(self.stage, subject_of(view, names), faults))

    def inflict(self, palette: FaultView, done: Callable[[], None]) -> None:
        """Inflict the fault under the cursor; a harmful one asks for its object's name first."""
        screen, fault = self.app.screen, palette.fault
        if fault is None or not isinstance(screen, ConsoleScreen):
            return
        if not fault.confirm:
            self._give(fault, done)
            return
        palette.asked = fault
        ask = f"type '{fault.confirm}' to do it"
        submit = partial(self._confirmed, fault, done)
        screen.prompt.ask(ask, submit, hint=palette.warning(fault))

    def _confirmed(self, fault: Fault, done: Callable[[], None], text: str) -> str | None:
        """Inflict the fault if its name was typed; return an error if it is wrong."""
        if not text:
            return None
        if text not in (fault.confirm, fault.confirm.removeprefix("broker ")):
            return f"the name does not match: type '{fault.confirm}', or esc to cancel"
        return self._give(fault, done)

    def _give(self, fault: Fault, done: Callable[[], None]) -> str | None:
        complaint = self.time_travel.submit(fault.statement)
        if complaint:
            self.app.notify(f"{fault.title}: {complaint}", severity="warning")
            return complaint
        self.stage.statements.append(fault.statement)
        self.stage.marked.clear()
        self.app.notify(f"done: {fault.statement}")
        done()
        return None

    # ---- rehearsals

    def action_act_rehearse(self) -> None:
        """Rehearse the loss of each broker, controller and rack on an emulated copy."""
        library, source = self.stage.library, self.stage.source
        if library is None:
            self.app.notify("nothing can be rehearsed: the console was started without a library")
        elif source.image is None:
            self.app.notify(
                "R rehearses a cluster that runs elsewhere (--attach): x breaks this one"
            )
        else:
            job = Job("rehearsal", partial(library.rehearse, source.image))
            self.app.push_screen(RehearsalScreen(self.stage, job))

    # ---- scripts

    def action_act_save(self) -> None:
        """Open the prompt for the name of a script that repeats what was done here."""
        if self.stage.library is None:
            self.app.notify(
                "scripts cannot be saved here: the console was started without a folder"
            )
        elif isinstance(self.app.screen, ConsoleScreen):
            name = str(self.stage.source.name).replace(" ", "-").replace("|", "or")
            hint = f"a new file in {self.stage.library.folder.resolve()}; 'tidegauge run' takes it"
            self.app.screen.prompt.ask("save as script", self._save, text=f"{name}.tide", hint=hint)

    def _save(self, text: str) -> str | None:
        if not text or self.stage.library is None:
            return None
        try:
            self.app.notify(self.stage.library.save_script(self.stage.source, text))
        except LibraryError as error:
            return str(error)
        return None
