"""One cluster that is served to external clients: ports, statements, queries, recording."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from commands.exits import CommandError
from commands.language.parser import AtStatement, Script, ShowStatement, Step, parse_line
from commands.output import streams
from commands.output.grids import Cell, as_text
from commands.output.show_tables import events_grid
from commands.runs.access import DEFAULT, Access
from commands.runs.driver import Pace
from commands.runs.json_result import json_object
from commands.runs.narration import outcome_text
from commands.runs.recording import new_session, origin_of
from commands.runs.script_runner import ScriptRunner, shows_events, unknown_subject
from emulator.events import Event
from emulator.inputs.statements import ExpectEvents, Statement, Wait
from emulator.scenario.outcome import Outcome
from sessions.file_system import resolve_inside
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.gateway.gateway import Gateway
from sessions.gateway.journal import Journal
from sessions.gateway.served_view import ServedView
from sessions.gateway.spill_file import KEEP_MEMORY, TemporarySpillFile
from sessions.grammar.event_patterns import looked_up
from sessions.grammar.words import BadWord
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
VALUES: Final[dict[str, Any]] = {
    "statement": "broker crash 1",
    "from": 10_001,
    "result": True,
    "clients": True,
    "partition": "orders-0",
    "controller": True,
    "record": "run.tide.db",
}
"""Values of the requests about a cluster, as they are written."""
EVENTS_MAX: Final = 10_000
"""The events of one response to ``show events``; the next page begins with the one after them."""
OUTPUT_CHARACTERS_MAX: Final = 1 << 23
"""How much of what statements have printed is kept for the result; the oldest is forgotten."""
QUOTED_MAX: Final = 100
"""Characters of a wrong request that the refusal quotes."""

Reply = dict[str, Any]
T = TypeVar("T")


class Performed(Struct, frozen=True):
    """A finished statement: its outcome, and the fields that the control channel adds."""

    outcome: Outcome
    printed: Reply = {}


class ServedCluster:
    """One cluster with its gateway; answers requests about it."""

    def __init__(
        self,
        script: Script,
        *,
        recorder: Recorder | None = None,
        keeps_journal: bool = False,
        speed: float = 1.0,
        access: Access = DEFAULT,
        folder: Path = Path(),
        keep_memory: int = KEEP_MEMORY,
    ) -> None:
        """Create the script's cluster; :meth:`run_script` runs its other statements.

        Requests read and write files below ``folder`` only. Of what clients write the latest
        ``keep_memory`` bytes are kept in memory, and older records in temporary files.

        Raises:
            CommandError: the cluster's configuration is not valid.
        """
        self.script = script
        self.recorder = recorder
        self.folder = folder.absolute()
        self.access = access
        self.run = ScriptRunner(script, Pace(), recorder, ServedView())
        ledger = self.run.cluster.ledger
        ledger.encoded.spill(keep_memory, TemporarySpillFile)
        self.journal = None
        if recorder is None and keeps_journal:
            self.journal = Journal(self.run.runner, script.cluster, keep_memory)
        self._searching = asyncio.Lock()
        self.gateway = Gateway(
            self.run.runner,
            self._announce,
            speed=speed,
            endpoints=access.endpoints,
            users=access.users,
            tls=access.tls,
        )
        if recorder is not None:
            recorder.look_in(ledger)
            self.gateway.looked.append(recorder.tick)

    @property
    def bootstrap_servers(self) -> str:
        """The brokers' addresses, in the format of the clients' configuration."""
        return self.gateway.bootstrap_servers

    def where(self) -> Reply:
        """Return the addresses that clients are told, as a response."""
        first, *others = self.gateway.endpoints
        reply: Reply = {"bootstrap_servers": self.gateway.servers_of(first.name)}
        if others:
            reply["listeners"] = {
                endpoint.name: self.gateway.servers_of(endpoint.name)
                for endpoint in self.gateway.endpoints
            }
        if self.access.authority is not None and any(
            endpoint.is_encrypted for endpoint in self.access.endpoints
        ):
            reply["certificate_authority"] = str(self.access.authority)
        return reply

    def _announce(self, statement: Statement) -> None:
        if self.recorder is not None:
            self.recorder.announce(statement)
        elif self.journal is not None:
            self.journal.note(statement)

    async def start(self, port: int = 0) -> None:
        """Open the ports; ``port`` is the first one, if the first endpoint has none itself.

        Raises:
            OSError: a port is in use.
            UnreachableError: clients would be told a meta-address.
        """
        self.gateway.bind(port)
        await self.gateway.start()

    async def stop(self, outcome: str = "") -> None:
        """Close the ports, and finish the recording."""
        if self.journal is not None:
            self.journal.stop()
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
                outcome = (await self.perform(step)).outcome
                tell(f"{clock(self.run.cluster.now_us)}  {step.text}  {outcome_text(outcome)}")

    async def perform(self, step: Step, first: int = 0, events_max: int | None = None) -> Performed:
        """Run one statement.

        ``show events`` prints at most ``events_max`` events, from number ``first`` on.

        Raises:
            ClosedError: the cluster has been closed.
            SessionError: the events of the past are not known.
        """
        if isinstance(step, ShowStatement) and shows_events(step):
            performed = await self._show_events(step, first, events_max)
        elif isinstance(step, ShowStatement):
            show_step = step
            performed = self._printed(lambda: self.run.shown(show_step))
        else:
            assert isinstance(step, Statement)
            if isinstance(step.input, ExpectEvents):
                expected = step
                step = await self._search(lambda events: looked_up(expected, lambda: events))
            ticket = await self.gateway.perform(step)
            outcome = ticket.outcome or Outcome()
            performed = self._printed(lambda: self.run.performed(step, outcome))
        self.run.tally.note(step, performed.outcome)
        return performed

    def _printed(self, perform: Callable[[], Outcome]) -> Performed:
        """Return an outcome with the output that comes with it."""
        before = len(self.run.outputs)
        outcome = perform()
        printed = self.run.outputs[before:]
        self._forget_outputs()
        return Performed(outcome, {"result": printed[-1].result} if printed else {})

    def _forget_outputs(self) -> None:
        """Forget the oldest outputs if they have become too much to keep."""
        outputs = self.run.outputs
        size = 0
        for at in range(len(outputs) - 1, -1, -1):
            size += len(outputs[at].text) + len(outputs[at].statement)
            if size > OUTPUT_CHARACTERS_MAX:
                del outputs[: at + 1]
                return

    async def _show_events(
        self, step: ShowStatement, first: int, events_max: int | None
    ) -> Performed:

        def page(happened: Iterable[Event]) -> tuple[str, list[dict[str, Cell]], Cell]:
            maximum = None if events_max is None else events_max + 1
            grid = events_grid(step.show, happened, first, maximum)
            following = grid.rows.pop()[0] if maximum and len(grid.rows) == maximum else None
            return as_text([grid]), grid.plain(), following

        try:
            text, plain, following = await self._search(page)
        except BadWord as error:
            return Performed(unknown_subject(error))
        self.run.put_out(step, text, plain)
        self._forget_outputs()
        printed = {"result": plain} | ({} if following is None else {"next": following})
        return Performed(Outcome(), printed)

    async def _search(self, compute: Callable[[Iterable[Event]], T]) -> T:
        """Compute something from all events so far in a thread; meanwhile clients are served.

        Raises:
            SessionError: the events are not known.
        """
        async with self._searching:
            journal, recorder = self.journal, self.recorder
            if journal is not None:
                so_far = journal.so_far()
                return await asyncio.to_thread(lambda: compute(journal.events(so_far)))
            if recorder is not None:
                recorder.flush()
                return await asyncio.to_thread(_from_recording, recorder.path, compute)
            happened = tuple(self.run.happened())
            return await asyncio.to_thread(compute, happened)

    async def run_statement(self, text: str, first: int = 0) -> Reply:
        """Run the statements of a line, and return the outcome.

        ``first``: the number of the event with which ``show events`` begins.
        """
        try:
            # Errors may be many, and files may be read.
            steps = await asyncio.to_thread(parse_line, text, None, self.folder)
        except CommandError as error:
            return refused(error.message)
        response: Reply = {"ok": True, "outcome": "ok"}
        for step in steps:
            performed = await self.perform(step, first, EVENTS_MAX)
            outcome = performed.outcome
            if outcome.refused or outcome.passed is False:
                message = outcome.message or f"it is {outcome.actual}"
                return {"ok": False, "error": message, "outcome": outcome.error}
            response["outcome"] = "ok" if outcome.error == "NONE" else outcome.error
            response |= performed.printed
            await asyncio.sleep(0)  # others' turn: most statements end at once
        return response

    async def respond(self, request: Reply) -> Reply:
        """Answer a control request about this cluster."""
        match request:
            case {"statement": str(text), "from": int(first)}:
                return await self.run_statement(text, first)
            case {"statement": str(text)} if "from" not in request:
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
                return await self.write_recording(path)
        return refused(_what_is_wrong(request))

    def result(self) -> Reply:
        """Return the current result as in ``run --json``, and the connected ``clients``."""
        return {"ok": True, "result": {**json_object(self.run), "clients": self._clients()}}

    def _clients(self) -> list[Reply]:
        """Return the clients' connections, oldest first."""
        view = self.run.view
        connections = view.state.connections.values()
        return [
            clients.summary_of(view, connection, self.gateway.runner.now_us)
            for connection in connections
        ]

    def clients(self) -> Reply:
        """Return the connected clients: cheap, so that a test can poll."""
        return {"ok": True, "clients": self._clients()}

    def partition(self, tp: str) -> Reply:
        """Return the result for one partition: cheap, so that a test can poll."""
        state = self.run.view.state.partitions.get(tp)
        if state is None:
            return refused(f"there is no partition {quoted(tp)}")
        return {"ok": True, "partition": summary.partition(self.run.view, state)}

    def controller(self) -> Reply:
        """Return the id of the active controller, a broker with ZooKeeper; -1: there is none."""
        active = self.run.cluster.controller_id()
        return {"ok": True, "controller": -1 if active is None else active}

    async def write_recording(self, name: str) -> Reply:
        """Write the session of everything so far, while clients are served."""
        if self.journal is None:
            where = "elsewhere" if self.recorder is None else str(self.recorder.path)
            return refused(f"the cluster is already being recorded, in {where}")
        try:
            target = new_session(resolve_inside(name, self.folder))
            origin = origin_of(self.script, target, {})
            so_far = self.journal.so_far()
            await asyncio.to_thread(self.journal.write, target, origin, so_far)
        except (CommandError, SessionError) as error:
            return refused(str(error))
        except OSError as error:
            return refused(f"cannot record in '{quoted(name)}': {error.strerror}")
        return {"ok": True, "path": str(target)}


def _what_is_wrong(request: Reply) -> str:
    """Say what is wrong with a request that is none: the value of a key, or its keys."""
    for key, value in request.items():
        example = VALUES.get(key)
        if example is not None and (type(value) is not type(example) or value is False):
            like, text = (msgspec.json.encode(plain).decode() for plain in (example, value))
            return f'"{key}" has a value such as {like}, not {quoted(text)}'
    keys = ", ".join(f'"{key}"' for key in KEYS)
    keys_given = quoted(", ".join(map(repr, request))) or "nothing"
    return f"a line has one of {keys}, not {keys_given}"


def _from_recording(path: Path, compute: Callable[[Iterable[Event]], T]) -> T:
    """Compute something from all events of a recording.

    Raises:
        SessionError: its file cannot be read.
    """
    with SessionFile(path, check=False) as session:
        return compute(session.all_events())


def quoted(text: str) -> str:
    """Return a text as a refusal quotes it: its beginning, if it is long."""
    return text if len(text) <= QUOTED_MAX else f"{text[:QUOTED_MAX]}.."


def refused(error: str) -> Reply:
    """Return the reply that refuses a request."""
    return {"ok": False, "error": error}
