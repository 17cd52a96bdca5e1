"""``tidegauge console --serve``: a served cluster shown in the console."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from commands.exits import CommandError, ExitCode
from commands.language.parser import Script
from commands.output import streams
from commands.runs.access import Access
from commands.runs.live import asked
from commands.runs.recording import recorder
from commands.runs.serve import Clusters, allow_many_files, need_compression, ports_taken, token
from commands.runs.served_cluster import ServedCluster
from emulator.events import Event
from sessions.gateway.control import ControlChannel
from sessions.gateway.endpoints import UnreachableError
from sessions.gateway.spill_file import KEEP_MEMORY
from sessions.recording.recorder import Recorder
from sessions.sources.served import ServedSource


class ConsoleService:
    """A cluster's ports, control channel and script, running alongside the console."""

    def __init__(self, cluster: ServedCluster, control: ControlChannel | None) -> None:
        """Serve ``cluster``; its ports and that of ``control`` are already open."""
        self.cluster = cluster
        self.control = control
        self._script: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the ports, and start the script's statements."""
        await self.cluster.gateway.start()
        if self.control is not None:
            await self.control.start()
        self._script = asyncio.create_task(self.cluster.run_script(lambda _: None))

    async def wait_for_fault(self) -> None:
        """Never return; raise any error inside the emulator."""
        await self.cluster.gateway.wait_for_fault()

    async def stop(self) -> None:
        """Send the pending responses, and close the ports."""
        if self._script is not None:
            self._script.cancel()
            with suppress(asyncio.CancelledError):
                await self._script
        if self.control is not None:
            await self.control.stop()
        await self.cluster.gateway.stop()


def served_console(
    script: Script,
    record: Path | None,
    variables: dict[str, str],
    limit_bytes: int | None,
    *,
    access: Access,
    control: int | None,
    folder: Path = Path(),
    keep_memory: int | None = None,
) -> tuple[ServedSource, Recorder, ConsoleService]:
    """Return a source of the script's cluster, its recorder and its service; print the addresses.

    The caller closes source and recorder.

    Raises:
        CommandError: a port is in use, or the recording cannot be written.
    """
    need_compression("console --serve")
    allow_many_files()
    secret = token()
    logging.getLogger("sessions.gateway").addHandler(logging.NullHandler())
    logging.getLogger("sessions.gateway").propagate = False
    recording = recorder(script, record, variables, limit_bytes)
    cluster = ServedCluster(
        script,
        recorder=recording,
        access=access,
        folder=folder,
        keep_memory=KEEP_MEMORY if keep_memory is None else keep_memory,
    )
    channel = None
    try:
        cluster.gateway.bind()
        if control is not None:
            clusters = Clusters(_no_other, access)
            clusters.add(cluster)
            channel = ControlChannel(clusters.respond, secret)
            address, number = channel.bind(control)
            streams.narrate(f"control={address}:{number}\ntoken={channel.token}")
    except UnreachableError as error:
        recording.close("fault")
        raise CommandError(ExitCode.USAGE, str(error)) from None
    except OSError as error:
        recording.close("fault")
        raise ports_taken(access.endpoints[0].port, error) from None

    streams.narrate(f"bootstrap.servers={cluster.bootstrap_servers}")

    def events() -> Sequence[Event]:
        return source.events(source.first_seq, source.last_seq)

    parse = partial(asked, variables=variables, happened=events)
    source = ServedSource(cluster.run.runner, recording, parse, cluster.gateway)
    return source, recording, ConsoleService(cluster, channel)


def _no_other(_script: Script, _access: Access) -> ServedCluster:
    raise CommandError(
        ExitCode.USAGE, "the console serves only one cluster; use 'tidegauge serve' for more"
    )
