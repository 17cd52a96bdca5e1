"""Serve clusters to external clients until ctrl-c, and control them by JSON lines."""

import asyncio
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from commands.exits import CommandError, ExitCode
from commands.language.cluster_options import ClusterOptions
from commands.language.parser import Script
from commands.language.values import PORT_MAX, Setting
from commands.output import streams
from commands.runs.access import DEFAULT, Access, ready
from commands.runs.served_cluster import Reply, ServedCluster, quoted, refused
from commands.runs.served_script import FOR_TESTS, begins_now, script_to_serve, served_script
from emulator.common.extras import missing_extra
from emulator.common.limits import BROKERS_MAX
from sessions.file_system import resolve_inside
from sessions.format.errors import SessionError
from sessions.gateway.control import ControlChannel, new_token
from sessions.gateway.endpoints import Endpoint, UnreachableError
from sessions.gateway.gateway import CONNECTIONS_MAX, ClosedError
from sessions.gateway.spill_file import KEEP_MEMORY
from sessions.recording.recorder import Recorder

TOKEN: Final = "TIDEGAUGE_CONTROL_TOKEN"
"""Environment variable with the control channel's token; without it, each start has a new one."""
TOKEN_LENGTH_MIN: Final = 16
FILES_WANTED: Final = CONNECTIONS_MAX + 1_000
"""Number of files that a server may open: each connection is one."""


class ClusterWish(Struct, frozen=True, forbid_unknown_fields=True):
    """A request for a cluster on the control channel.

    ``image`` is the file of an image, in whose state it starts; the brokers are then the image's.
    """

    brokers: int | None = None
    version: str | None = None
    mode: str | None = None
    seed: int | None = None
    controllers: int | None = None
    config: dict[str, str | int | bool] = {}
    protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] | None = None
    users: dict[str, str] = {}
    image: str | None = None
    port: Annotated[int, Meta(ge=0, le=PORT_MAX)] = 0


class Clusters:
    """The clusters of one server; the control channel creates and queries them."""

    def __init__(
        self,
        make: Callable[[Script, Access], ServedCluster],
        access: Access = DEFAULT,
        folder: Path = Path(),
    ) -> None:
        """Create further clusters with ``make``, which are reached by ``access``.

        Images are read below ``folder`` only.
        """
        self._make = make
        self._folder = folder
        self._access = access
        self._certificates = ExitStack()
        self.by_number: dict[int, ServedCluster] = {}
        self._last = 0
        self._opening = 0

    def add(self, cluster: ServedCluster) -> int:
        """Register a cluster and return its number."""
        self._last += 1
        self.by_number[self._last] = cluster
        return self._last

    async def respond(self, request: Reply) -> Reply:
        """Answer one line of the control channel."""
        try:
            return await self._respond(request)
        except (
            *(CommandError, SessionError, ClosedError, OSError),
            *(UnreachableError, msgspec.ValidationError),
        ) as error:
            return refused(str(error) or type(error).__name__)

    async def _respond(self, request: Reply) -> Reply:
        if "open" in request:
            return await self._open(msgspec.convert(request["open"], ClusterWish))
        number = request.get("cluster", next(iter(self.by_number), 0))
        if type(number) is not int:
            return refused('"cluster" is the number of a cluster')
        cluster = self.by_number.get(number)
        if cluster is None:
            numbers = ", ".join(map(str, self.by_number)) or "none"
            return refused(f"there is no cluster {number}; there are: {quoted(numbers)}")
        if request.get("close") is True:
            del self.by_number[number]
            await cluster.stop()
            return {"ok": True}
        try:
            if cluster.gateway.fault is None:
                return await cluster.respond(request)
        except Exception:
            if cluster.gateway.fault is None:
                raise
        fault = "".join(traceback.format_exception(cluster.gateway.fault)).rstrip()
        return refused(f"the cluster has ended because of an error in the emulator:\n{fault}")

    def _script_of(self, wish: ClusterWish) -> Script:
        """Return the script of a cluster, in the state of an image if one is named.

        Raises:
            CommandError: the image cannot be read, or an option is wrong.
        """
        options = ClusterOptions(
            version=wish.version,
            mode=wish.mode,
            seed=wish.seed,
            brokers=wish.brokers,
            controllers=wish.controllers,
            config=[Setting(name, _word(value)) for name, value in wish.config.items()],
        )
        if wish.image is None:
            return begins_now(served_script(options, FOR_TESTS))
        image = resolve_inside(wish.image, self._folder)
        return script_to_serve(str(image), {}, options)

    async def _open(self, wish: ClusterWish) -> Reply:
        script = await asyncio.to_thread(self._script_of, wish)
        brokers = len(script.spec.broker_ids)
        if wish.port and wish.port + brokers - 1 > PORT_MAX:
            return refused(f"{brokers:,} brokers have no ports from {wish.port:,} to {PORT_MAX:,}")
        if self._brokers() + brokers > BROKERS_MAX:
            return refused(
                f"there are {self._brokers():,} brokers; a server has at most {BROKERS_MAX:,}"
            )
        self._opening += brokers
        try:
            access = await asyncio.to_thread(self._access_of, wish)
            cluster = await asyncio.to_thread(self._make, script, access)
            await cluster.start(wish.port)
        finally:
            self._opening -= brokers
        number = self.add(cluster)
        return {
            "ok": True,
            "cluster": number,
            **cluster.where(),
            "controllers": list(cluster.run.cluster.controllers),
        }

    def _access_of(self, wish: ClusterWish) -> Access:
        """Return how the clients of a cluster reach it; a certificate is made once if one needs it.

        Raises:
            CommandError: it cannot be made.
        """
        access = self._access.at_any_port()
        if wish.protocol is not None:
            endpoint = Endpoint(name=wish.protocol, protocol=wish.protocol)
            access = replace(access, endpoints=[endpoint])
            if endpoint.is_encrypted and not access.tls:
                access = self._certificates.enter_context(ready(access))
                self._access = replace(self._access, tls=access.tls, authority=access.authority)
        return replace(access, users={**access.users, **wish.users})

    def _brokers(self) -> int:
        """Return how many brokers there are, with those of clusters that are being opened."""
        open_ones = (cluster.script.spec.brokers for cluster in self.by_number.values())
        return self._opening + sum(open_ones)

    async def stop(self, outcome: str = "") -> None:
        for cluster in list(self.by_number.values()):
            await cluster.stop(outcome)
        self.by_number.clear()
        self._certificates.close()


def _word(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Service(Struct, frozen=True, kw_only=True):
    """The configuration of ``tidegauge serve``.

    ``script`` None: clusters are requested on the control channel (``--standby``), and the server
    exits when its standard input ends. ``control`` None: there is no control channel; 0: any port.
    Requests must give ``token``, and read and write files below
    ``folder`` only. ``keep_memory`` are the bytes of clients' records in memory, of each cluster.
    """

    script: Script | None
    recorder: Recorder | None = None
    access: Access = Access()
    control: int | None = None
    token: str = ""
    folder: Path = Path()
    speed: float = 1.0
    json: bool = False
    keep_memory: int = KEEP_MEMORY


def serve(service: Service) -> ExitCode:
    """Serve until ctrl-c or termination.

    Raises:
        CommandError: a port cannot be opened, the cluster's configuration is not valid, or there is
            no certificate.
    """
    need_compression("serve")
    allow_many_files()
    _tell_warnings()
    with ready(service.access) as access:
        return asyncio.run(_serve(service, access))


def need_compression(command: str) -> None:
    """Refuse to serve without the packages of the extra ``serve``, as most clients compress.

    Raises:
        CommandError: they are not installed.
    """
    if find_spec("cramjam") is None:
        message = missing_extra(f"'tidegauge {command}'", "cramjam", "serve")
        raise CommandError(ExitCode.UNREACHABLE, message)


def allow_many_files() -> None:
    """Raise the process's file limit as far as the system allows."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
        if soft < limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def token() -> str:
    """Return the token of the control channel.

    Raises:
        CommandError: the environment has one that can be guessed.
    """
    secret = os.environ.get(TOKEN, "")
    if secret and len(secret) < TOKEN_LENGTH_MIN:
        message = f"{TOKEN} must have at least {TOKEN_LENGTH_MIN} characters"
        raise CommandError(ExitCode.USAGE, message)
    return secret or new_token()


def ports_taken(port: int, error: OSError) -> CommandError:
    """Return the error for ports that cannot be opened."""
    reason = error.strerror or str(error)
    message = f"cannot open the ports from {port} on: {reason}; name others by --port"
    return CommandError(ExitCode.UNREACHABLE, message)


async def _serve(service: Service, access: Access) -> ExitCode:
    ended = asyncio.Event()
    with _ended_by_signals(ended.set):
        return await _serve_until(ended, service, access)


async def _serve_until(ended: asyncio.Event, service: Service, access: Access) -> ExitCode:
    def started(script: Script, access: Access) -> ServedCluster:
        return ServedCluster(
            script,
            keeps_journal=True,
            speed=service.speed,
            access=access,
            folder=service.folder,
            keep_memory=service.keep_memory,
        )

    clusters = Clusters(started, access, service.folder)
    control = None if service.control is None else ControlChannel(clusters.respond, service.token)
    script, cluster = service.script, None
    try:
        if script is not None:
            cluster = ServedCluster(
                script,
                recorder=service.recorder,
                keeps_journal=control is not None,
                speed=service.speed,
                access=access,
                folder=service.folder,
                keep_memory=service.keep_memory,
            )
            clusters.add(cluster)
            await cluster.start()
        if control is not None:
            control.bind(service.control or 0)
            await control.start()
    except UnreachableError as error:
        await clusters.stop()
        raise CommandError(ExitCode.USAGE, str(error)) from None
    except OSError as error:
        await clusters.stop()
        raise ports_taken(service.access.endpoints[0].port, error) from None
    _print(service, cluster, control)
    tasks: list[asyncio.Task[Any]] = [asyncio.create_task(ended.wait())]
    if cluster is not None:
        tasks.append(asyncio.create_task(cluster.gateway.wait_for_fault()))
        script_run = asyncio.create_task(cluster.run_script())
    else:
        tasks.append(asyncio.create_task(_end_of_input()))
        script_run = asyncio.create_task(asyncio.sleep(0))
    ended_tasks, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await _cancelled([*tasks, script_run])
    fault = next((task.exception() for task in ended_tasks if task.exception() is not None), None)
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


@contextmanager
def _ended_by_signals(end: Callable[[], None]) -> Iterator[None]:
    """Call ``end`` when a signal asks the process to end."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        try:
            loop.add_signal_handler(number, end)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(end))
    try:
        yield
    finally:
        # The loop would remove them only after it has closed the socket that they write to.
        for number in numbers:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)


async def _end_of_input() -> None:
    """Return at the end of standard input: the parent process has exited."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    with suppress(OSError, ValueError):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while await reader.read(4096):
            pass


def _print(service: Service, cluster: ServedCluster | None, control: ControlChannel | None) -> None:
    """Print where clients connect; with ``--json`` as one line."""
    reply: Reply = {} if cluster is None else cluster.where()
    if control is not None:
        host, port = control.address
        reply |= {"control": f"{host}:{port}", "token": control.token}
    if service.json:
        streams.emit_json(reply)
    else:
        for key, value in reply.items():
            for name, text in value.items() if isinstance(value, dict) else [("", value)]:
                streams.emit(f"{key.replace('_', '.')}{name and '.'}{name}={text}\n")
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
