"""Serve clusters to external clients: ports, the control channel, statements, recordings."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct

from commands.exits import CommandError, ExitCode
from commands.language.cluster_options import cluster_options
from commands.language.parser import (
    AtStatement,
    Script,
    ShowStatement,
    Step,
    parse_line,
    parse_script,
    read_text,
)
from commands.language.values import Setting
from commands.output import streams
from commands.runs.driver import Pace
from commands.runs.json_result import json_object
from commands.runs.narration import told
from commands.runs.recording import new_session, origin_of
from commands.runs.script_runner import ScriptRunner
from emulator.events import Event
from emulator.inputs.statements import Statement, Wait
from emulator.releases.config import profile_of
from emulator.scenario.outcome import Outcome
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.gateway.control import ControlChannel
from sessions.gateway.gateway import CONNECTIONS_MAX, Gateway
from sessions.gateway.journal import Journal
from sessions.gateway.served_view import ServedView
from sessions.grammar.event_patterns import looked_up
from sessions.model import clients, summary
from sessions.recording.recorder import Recorder
from sessions.text import clock

LATENCY: Final = "0.00002s"
"""Message delay in a served cluster: external clients have a real network of their own."""
REPLICAS: Final = 3
MIN_ISR: Final = 2
FETCH_WAIT_MS: Final = "30"
"""Maximum time until a follower waiting for other partitions' records sees a new one."""
FOR_TESTS: Final = {
    "broker.heartbeat.interval.ms": "250",
    "broker.session.timeout.ms": "1000",
    "offsets.topic.num.partitions": "5",
    "replica.lag.time.max.ms": "2000",
    "zookeeper.session.timeout.ms": "1000",
}
"""Settings of a test's cluster: it starts immediately and detects broker failures quickly."""
FILES_WANTED: Final = CONNECTIONS_MAX + 1_000
"""Number of files that a server may open: each connection is one."""
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


class ClusterWish(Struct, frozen=True, forbid_unknown_fields=True):
    """A request for a cluster on the control channel."""

    brokers: int | None = None
    version: str | None = None
    seed: int | None = None
    config: dict[str, str | int | bool] = {}
    port: int = 0


def served_script(
    version: str | None = None,
    seed: int | None = None,
    config: Sequence[Setting] = (),
    brokers: int | None = None,
    defaults: Mapping[str, str] = MappingProxyType({}),
) -> Script:
    """Return the script of a cluster for clients: fast links, replicated topics.

    ``defaults`` replace the release's defaults, unless ``config`` sets a value.

    Raises:
        ScriptError: an option is wrong.
    """
    options = cluster_options(version, seed, config, brokers)
    first = parse_script("cluster", "-c", {}, options)
    spec = first.spec
    replicas = str(min(REPLICAS, spec.brokers))
    wanted = {
        "default.replication.factor": replicas,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": str(min(MIN_ISR, spec.brokers)),
        "group.initial.rebalance.delay.ms": "0",
        "replica.fetch.wait.max.ms": FETCH_WAIT_MS,
    }
    words = ["cluster", "--latency", LATENCY]
    known = _settings_of(spec.version)
    for name, value in (wanted | dict(defaults)).items():
        if name not in spec.config and name in known:
            words += ["--config", f"{name}={value}"]
    return parse_script(" ".join(words), "-c", {}, options)


def script_to_serve(
    file: str,
    variables: dict[str, str],
    version: str | None,
    seed: int | None,
    config: Sequence[Setting],
    brokers: int | None,
) -> Script:
    """Return the script in a file, or by default one of a cluster for clients; apply the options.

    Raises:
        CommandError: the file cannot be read, or it or an option is wrong.
    """
    if not file:
        return served_script(version, seed, config, brokers)
    options = cluster_options(version, seed, config, brokers)
    return parse_script(read_text(Path(file)), file, variables, options)


def _settings_of(version: str) -> set[str]:
    """Return the configuration names that a release has."""
    from emulator.releases.config_names import SETTINGS
    from emulator.releases.versions import is_since

    numbers = profile_of(version).numbers
    return {each.name for each in SETTINGS if is_since(numbers, each.since)}


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

    async def answer_statement(self, text: str) -> Reply:
        """Run the statements of a line, and return the outcome."""
        try:
            steps = parse_line(text)
        except CommandError as error:
            return _refused(error.message.removeprefix(":1:1: "))
        answer: Reply = {"ok": True, "outcome": "ok"}
        for step in steps:
            printed = len(self.run.outputs)
            outcome = await self.perform(step)
            if outcome.refused or outcome.passed is False:
                message = outcome.message or f"it is {outcome.actual}"
                return {"ok": False, "error": message, "outcome": outcome.error}
            answer["outcome"] = "ok" if outcome.error == "NONE" else outcome.error
            if len(self.run.outputs) > printed:
                answer["result"] = self.run.outputs[-1].result
        return answer

    async def answer(self, asked: Reply) -> Reply:
        """Answer a control request about this cluster."""
        match asked:
            case {"statement": str(text)}:
                return await self.answer_statement(text)
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
        return _refused(f"a line has one of {keys}, not {found}")

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
            return _refused(f"there is no partition {tp}")
        return {"ok": True, "partition": summary.partition(self.run.view, found)}

    def controller(self) -> Reply:
        """Return the active controller's broker id; -1: there is none."""
        found = self.run.cluster.controller_id()
        return {"ok": True, "controller": -1 if found is None else found}

    def write_recording(self, path: str) -> Reply:
        """Write the session of everything so far."""
        if self.journal is None:
            where = "elsewhere" if self.recorder is None else str(self.recorder.path)
            return _refused(f"the cluster is recorded already, in {where}")
        try:
            target = new_session(Path(path))
            self.journal.write(target, origin_of(self.script, target, {}))
        except (CommandError, SessionError) as error:
            return _refused(str(error))
        return {"ok": True, "path": str(target)}


def recorded_events(recorder: Recorder) -> list[Event]:
    """Return all events of a recorder.

    Raises:
        SessionError: its file cannot be read.
    """
    recorder.flush()
    with SessionFile(recorder.path, check=False) as session:
        return list(session.all_events())


def _refused(error: str) -> Reply:
    return {"ok": False, "error": error}


class Clusters:
    """The clusters of one server; the control channel creates and queries them."""

    def __init__(self, make: Callable[[Script], ServedCluster]) -> None:
        """Create further clusters with ``make``."""
        self._make = make
        self.by_number: dict[int, ServedCluster] = {}
        self._last = 0

    def add(self, cluster: ServedCluster) -> int:
        """Register a cluster and return its number."""
        self._last += 1
        self.by_number[self._last] = cluster
        return self._last

    async def answer(self, asked: Reply) -> Reply:
        """Answer one line of the control channel."""
        try:
            return await self._answer(asked)
        except (CommandError, SessionError, OSError, msgspec.ValidationError) as error:
            return _refused(str(error) or type(error).__name__)

    async def _answer(self, asked: Reply) -> Reply:
        if "open" in asked:
            return await self._open(msgspec.convert(asked["open"], ClusterWish))
        number = asked.get("cluster", next(iter(self.by_number), 0))
        cluster = self.by_number.get(number)
        if cluster is None:
            known = ", ".join(map(str, self.by_number)) or "none"
            return _refused(f"there is no cluster {number!r}; there are: {known}")
        if asked.get("close") is True:
            del self.by_number[number]
            await cluster.stop()
            return {"ok": True}
        return await cluster.answer(asked)

    async def _open(self, wish: ClusterWish) -> Reply:
        config = [Setting(name, _word(value)) for name, value in wish.config.items()]
        script = served_script(wish.version, wish.seed, config, wish.brokers, FOR_TESTS)
        cluster = self._make(script)
        await cluster.start(wish.port)
        number = self.add(cluster)
        return {
            "ok": True,
            "cluster": number,
            "bootstrap_servers": cluster.gateway.bootstrap_servers,
        }

    async def stop(self, outcome: str = "") -> None:
        """Stop all clusters."""
        for cluster in list(self.by_number.values()):
            await cluster.stop(outcome)
        self.by_number.clear()


def _word(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Service(Struct, frozen=True, kw_only=True):
    """The configuration of ``tidegauge serve``.

    ``script`` None: clusters are requested on the control channel (``--standby``), and the server
    exits when its standard input ends. ``control`` None: there is no control channel; 0: any port.
    """

    script: Script | None
    recorder: Recorder | None = None
    port: int = 9092
    host: str = "127.0.0.1"
    control: int | None = None
    speed: float = 1.0
    json: bool = False


def serve(service: Service) -> ExitCode:
    """Serve until ctrl-c or termination.

    Raises:
        CommandError: a port cannot be opened, or the cluster's configuration is not valid.
    """
    need_checksums("serve")
    allow_many_files()
    _tell_warnings()
    return asyncio.run(_serve(service))


def need_checksums(command: str) -> None:
    """Refuse to serve without the packages of the extra ``serve``.

    Raises:
        CommandError: they are not installed.
    """
    if find_spec("crc32c") is None:
        message = f"'tidegauge {command}' needs crc32c: pip install 'tidegauge[serve]'"
        raise CommandError(ExitCode.UNREACHABLE, message)


def allow_many_files() -> None:
    """Raise the process's file limit as far as the system allows."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def ports_taken(port: int, error: OSError) -> CommandError:
    """Return the error for ports that cannot be opened."""
    reason = error.strerror or str(error)
    message = f"cannot open the ports from {port} on: {reason}; name others by --port"
    return CommandError(ExitCode.UNREACHABLE, message)


async def _serve(service: Service) -> ExitCode:
    ended = asyncio.Event()
    _on_end(ended.set)

    def made(script: Script) -> ServedCluster:
        return ServedCluster(script, keeps_journal=True, speed=service.speed, host=service.host)

    clusters = Clusters(made)
    control = None if service.control is None else ControlChannel(clusters.answer)
    script, cluster = service.script, None
    try:
        if script is not None:
            cluster = ServedCluster(
                script,
                recorder=service.recorder,
                keeps_journal=control is not None,
                speed=service.speed,
                host=service.host,
            )
            clusters.add(cluster)
            await cluster.start(service.port)
        address = None
        if control is not None:
            address = control.bind(service.control or 0)
            await control.start()
    except OSError as error:
        await clusters.stop()
        raise ports_taken(service.port, error) from None
    _tell(service, cluster, address)
    tasks: list[asyncio.Task[Any]] = [asyncio.create_task(ended.wait())]
    if cluster is not None:
        tasks.append(asyncio.create_task(cluster.gateway.wait_for_fault()))
        script_run = asyncio.create_task(cluster.run_script())
    else:
        tasks.append(asyncio.create_task(_end_of_input()))
        script_run = asyncio.create_task(asyncio.sleep(0))
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await _cancelled([*tasks, script_run])
    fault = next((each.exception() for each in done if each.exception() is not None), None)
    if control is not None:
        await control.stop()
    await clusters.stop("fault" if fault else "ok")
    if fault is not None:
        raise fault
    if service.recorder is not None:
        streams.narrate(f"recorded: {service.recorder.path}")
    return ExitCode.OK


async def _cancelled(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _on_end(end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, end)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(end))


async def _end_of_input() -> None:
    """Return at the end of standard input: the parent process has exited."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    with suppress(OSError, ValueError):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while await reader.read(4096):
            pass


def _tell(service: Service, cluster: ServedCluster | None, control: tuple[str, int] | None) -> None:
    """Print the first line of standard output: where clients connect."""
    address = "" if control is None else f"{control[0]}:{control[1]}"
    if service.json:
        line: Reply = {} if cluster is None else {"bootstrap_servers": cluster.bootstrap_servers}
        line |= {"control": address} if address else {}
        streams.emit(msgspec.json.encode(line).decode() + "\n")
    else:
        if cluster is not None:
            streams.emit(f"bootstrap.servers={cluster.bootstrap_servers}\n")
        if address:
            streams.emit(f"control={address}\n")
    sys.stdout.flush()


def _tell_warnings() -> None:
    """Write a line to standard error for each connection that is closed for a bad request."""

    class Narration(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            streams.narrate(record.getMessage())

    logger = logging.getLogger("sessions.gateway")
    logger.setLevel(logging.WARNING)
    logger.handlers = [Narration()]
    logger.propagate = False
