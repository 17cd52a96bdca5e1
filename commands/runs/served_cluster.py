"""One cluster that is served to external clients: ports, statements, queries, recording."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from commands.exits import CommandError
from commands.language.parser import AtStatement, Script, ShowStatement, Step, parse_line
from commands.output import streams
from commands.runs.driver import Pace
from commands.runs.json_result import json_object
from commands.runs.narration import told
from commands.runs.recording import new_session, origin_of
from commands.runs.script_runner import ScriptRunner
from emulator.events import Event
from emulator.inputs.statements import Statement, Wait
from emulator.scenario.outcome import Outcome
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.gateway.gateway import Gateway
from sessions.gateway.journal import Journal
from sessions.gateway.served_view import ServedView
from sessions.grammar.event_patterns import looked_up
from sessions.model import clients, summary
from sessions.recording.recorder import Recorder
from sessions.text import clock

KEYS: Final = (
    "statement",
    "result",
    "clients",
    "partition",
    "controller",
    "record",
    "open",
    "close",
)
"""Requests that the control channel accepts."""

Reply = dict[str, Any]


class ServedCluster:
    """One cluster with its gateway; answers requests about it."""

    def __init__(
        self,
        script: Script,
        *,
        recorder: Recorder | None = None,
        keeps_journal: bool = False,
        speed: float = 1.0,
        host: str = "127.0.0.1",
    ) -> None:
        """Create the script's cluster; :meth:`run_script` runs its other statements.

        Raises:
            CommandError: the cluster's configuration is not valid.
        """
        self.script = script
        self.recorder = recorder
        view = ServedView()
        self.run = ScriptRunner(script, Pace(), recorder, view)
        view.look_in(self.run.cluster.ledger)
        self.journal = None
        if recorder is None and keeps_journal:
            self.journal = Journal(self.run.runner, script.cluster)
            self.run.happened = self.journal.events
        elif recorder is not None:
            self.run.happened = partial(recorded_events, recorder)
        self.gateway = Gateway(self.run.runner, self._announce, speed=speed, host=host)
        if recorder is not None:
            self.gateway.looked.append(recorder.tick)

    @property
    def bootstrap_servers(self) -> str:
        """The brokers' addresses, in the format of the clients' configuration."""
        return self.gateway.bootstrap_servers

    def _announce(self, statement: Statement) -> None:
        if self.recorder is not None:
            self.recorder.announce(statement)
        elif self.journal is not None:
            self.journal.note(statement)

    async def start(self, port: int = 0) -> None:
        """Open the ports.

        Raises:
            OSError: a port is in use.
        """
        self.gateway.bind(port)
        await self.gateway.start()

    async def stop(self, outcome: str = "") -> None:
        """Close the ports, and finish the recording."""
        await self.gateway.stop()
        if self.recorder is not None:
            self.recorder.close(outcome)

    # ---- statements

    async def run_script(self, tell: Callable[[str], None] = streams.narrate) -> None:
        """Run the script's statements one after another, at the speed of served time."""
        for step in self.script.steps:
            if isinstance(step, AtStatement):
                left_us = (step.at.time_us or 0) - self.run.cluster.now_us
                if left_us > 0:
                    await self.perform(Statement(Wait(duration_us=left_us), step.text))
            else:
                outcome = await self.perform(step)
                tell(f"{clock(self.run.cluster.now_us)}  {step.text}  {told(outcome)}")

    async def perform(self, step: Step) -> Outcome:
        """Run one statement, and return its outcome."""
        if isinstance(step, ShowStatement):
            outcome = self.run.shown(step)
        else:
            assert isinstance(step, Statement)
            ticket = await self.gateway.perform(looked_up(step, self.run.happened))
            outcome = self.run.performed(step, ticket.outcome or Outcome())
        self.run.tally.note(step, outcome)
        return outcome

    async def run_statement(self, text: str) -> Reply:
        """Run the statements of a line, and return the outcome."""
        try:
            steps = parse_line(text)
        except CommandError as error:
            return refused(error.message)
        response: Reply = {"ok": True, "outcome": "ok"}
        for step in steps:
            printed = len(self.run.outputs)
            outcome = await self.perform(step)
            if outcome.refused or outcome.passed is False:
                message = outcome.message or f"it is {outcome.actual}"
                return {"ok": False, "error": message, "outcome": outcome.error}
            response["outcome"] = "ok" if outcome.error == "NONE" else outcome.error
            if len(self.run.outputs) > printed:
                response["result"] = self.run.outputs[-1].result
        return response

    async def respond(self, asked: Reply) -> Reply:
        """Answer a control request about this cluster."""
        match asked:
            case {"statement": str(text)}:
                return await self.run_statement(text)
            case {"result": True}:
                return self.result()
            case {"clients": True}:
                return self.clients()
            case {"partition": str(tp)}:
                return self.partition(tp)
            case {"controller": True}:
                return self.controller()
            case {"record": str(path)}:
                return self.write_recording(path)
        keys = ", ".join(f'"{key}"' for key in KEYS)
        found = ", ".join(map(repr, asked)) or "nothing"
        return refused(f"a line has one of {keys}, not {found}")

    def result(self) -> Reply:
        """Return the current result as in ``run --json``, and the connected ``clients``."""
        return {"ok": True, "result": {**json_object(self.run), "clients": self._clients()}}

    def _clients(self) -> list[Reply]:
        """Return the clients' connections, oldest first."""
        view = self.run.view
        found = view.state.connections.values()
        return [clients.summary_of(view, each, self.gateway.runner.now_us) for each in found]

    def clients(self) -> Reply:
        """Return the connected clients: cheap, so that a test can poll."""
        return {"ok": True, "clients": self._clients()}

    def partition(self, tp: str) -> Reply:
        """Return the result for one partition: cheap, so that a test can poll."""
        found = self.run.view.state.partitions.get(tp)
        if found is None:
            return refused(f"there is no partition {tp}")
        return {"ok": True, "partition": summary.partition(self.run.view, found)}

    def controller(self) -> Reply:
        """Return the id of the active controller, a broker with ZooKeeper; -1: there is none."""
        found = self.run.cluster.controller_id()
        return {"ok": True, "controller": -1 if found is None else found}

    def write_recording(self, path: str) -> Reply:
        """Write the session of everything so far."""
        if self.journal is None:
            where = "elsewhere" if self.recorder is None else str(self.recorder.path)
            return refused(f"the cluster is already being recorded, in {where}")
        try:
            target = new_session(Path(path))
            self.journal.write(target, origin_of(self.script, target, {}))
        except (CommandError, SessionError) as error:
            return refused(str(error))
        return {"ok": True, "path": str(target)}


def recorded_events(recorder: Recorder) -> list[Event]:
    """Return all events of a recorder.

    Raises:
        SessionError: its file cannot be read.
    """
    recorder.flush()
    with SessionFile(recorder.path, check=False) as session:
        return list(session.all_events())


def refused(error: str) -> Reply:
    """Return the reply that refuses a request."""
    return {"ok": False, "error": error}
