"""The tools of ``tidegauge mcp``, over the Model Context Protocol.

A tool's docstring is what an assistant reads; it says what comes back. Tools that only look are
marked as read-only. What is wrong with a call comes back as one sentence.
"""

import asyncio
import subprocess
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from commands.assistant.workbench import Workbench, WorkbenchError, limited
from commands.exits import ExitCode
from sessions.child_process import environment, python_command

P = ParamSpec("P")
Tool = Callable[..., Coroutine[Any, Any, str]]

INSTRUCTIONS: Final = """\
tidegauge emulates whole Kafka clusters, release by release, in virtual time. Start a cluster with a
script (`start_cluster`), break it (`perform`), look at it (`show_table`, `list_events`), and ask
why (`why`). `what_if` tells what statements would change without changing anything. `open_session`
opens a recording in place of a cluster. `rehearse` answers what a cluster that somebody runs does
when brokers or racks fail. `explore` tries every interleaving within bounds. `statement_help` is
the reference of the language in which scripts and statements are written."""
PROGRAM: Final = "from commands.cli.main import main; main()"
"""What a child process runs."""
PROGRAM_SECONDS_MAX: Final = 120.0
"""Wall-clock time of a command in a child process."""
SEARCH_SECONDS_MAX: Final = 60
"""Wall-clock time of an exploration."""
SEARCH_MEMORY: Final = "1GB"


def server_of(workbench: Workbench) -> MCPServer:
    """Return a server whose tools work on ``workbench``."""
    server: MCPServer = MCPServer("tidegauge", instructions=INSTRUCTIONS, log_level="WARNING")
    tools = Tools(workbench)
    replacing = ToolAnnotations(read_only_hint=False, open_world_hint=False)
    acting = replacing.model_copy(update={"destructive_hint": False})
    looking = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    hints: dict[Tool, ToolAnnotations] = {
        tools.start_cluster: replacing,
        tools.open_session: replacing,
        tools.perform: acting,
        tools.what_if: looking,
        tools.show_table: looking,
        tools.list_events: looking,
        tools.why: looking,
        tools.rehearse: looking,
        tools.explore: looking,
        tools.statement_help: looking,
    }
    for tool, annotations in hints.items():
        server.add_tool(tool, annotations=annotations)
    return server


class Tools:
    """The tools, by name. Calls that need the workbench are made one after the other."""

    def __init__(self, workbench: Workbench) -> None:
        """Work on a workbench, which is the caller's to close."""
        self._workbench = workbench
        self._busy = asyncio.Lock()

    async def _call(self, method: Callable[P, str], *args: P.args, **named: P.kwargs) -> str:
        """Call a method of the workbench in a thread.

        Raises:
            ToolError: what the assistant has to put right, in one sentence.
        """
        async with self._busy:
            try:
                return await asyncio.to_thread(method, *args, **named)
            except WorkbenchError as error:
                raise ToolError(str(error)) from None

    async def start_cluster(
        self, script: str, release: str = "", seed: int = 1, mode: str = ""
    ) -> str:
        """Create an emulated cluster by a script and run it; it replaces what there was.

        A script has one statement a line, such as:
        cluster --brokers 3
        topic create orders --partitions 2 --replication-factor 3 --config min.insync.replicas=2
        settle
        produce orders --count 10 --acks all
        `release` is a Kafka release such as 2.4 or 4.1, `mode` zk or kraft (default: the
        release's). Returns statements that failed, the final tables (partitions, producers, audit
        of lost records) and why partitions are not healthy.
        """
        options = ["--seed", str(seed)]
        options += ["--version", release] if release else []
        options += ["--mode", mode] if mode else []
        return await self._call(self._workbench.start, script, options)

    async def perform(self, statements: str) -> str:
        """Give statements to the emulated cluster, separated by ; or lines.

        Such as `broker crash 1; wait 20s`, `broker freeze 2`, `network isolate 0`, `produce orders
        --count 5 --acks 1`, `config topic orders min.insync.replicas=1`. Time passes only by
        statements (`wait`, `settle`, `wait until CONDITION`). Returns what became of each.
        """
        return await self._call(self._workbench.perform, "; ".join(statements.splitlines()))

    async def what_if(self, statements: str) -> str:
        """Tell what statements would change, on a copy of the cluster; nothing is changed.

        Returns the consequences in words (partitions that go offline or below min ISR, leaders
        that move, records that are lost) and the partitions that end otherwise.
        """
        return await self._call(self._workbench.what_if, statements)

    async def open_session(self, file: str) -> str:
        """Open a recorded session (*.tide.db) at its end; it replaces what there was.

        Returns how it came about, its partitions, the audit of lost records, and why partitions
        are not healthy. Then `show_table`, `list_events` and `why` work on it.
        """
        return await self._call(self._workbench.open, Path(file))

    async def show_table(self, table: str, of: str = "", at: str = "") -> str:
        """Return a table, now or at a moment (`12s`, or `#345`: right after that event).

        Tables: cluster, partitions, brokers, replicas, producers, clients, groups, quorum, audit;
        of something: epochs orders-0, log orders-0@2, truths orders-0, files 1, metadata /topics.
        """
        return await self._call(self._workbench.show, table, of, at)

    async def list_events(self, matching: str = "", last: int = 30, at: str = "") -> str:
        """Return the last events (at most 200), now or up to a moment (`12s`, `#345`).

        `matching` is an event pattern: `IsrChanged`, `LogTruncated broker=2`, `tp=orders-0 and
        broker=1`, `LeaderElected or IsrChanged`. Each event has a number, and its cause's.
        """
        return await self._call(self._workbench.events, matching, last, at)

    async def why(self, subject: str, at: str = "") -> str:
        """Explain the state of a partition (`orders-0`), or an event (`#345`).

        Returns a sentence and the chain of causes, the root first: what was done or timed out,
        which messages it led to, and the change.
        """
        return await self._call(self._workbench.why, subject, at)

    async def rehearse(
        self, sources: list[str] | None = None, described: str = "", lose: str = ""
    ) -> str:
        """Answer whether a cluster that somebody runs survives losing brokers or racks.

        `sources` are files that `tidegauge import` reads (what `kafka-topics --describe` printed,
        a metadata log, an image ..); `described` is such a text itself. `lose` names what fails
        together (`broker=1,broker=4`, `rack=a`); by default each broker, controller and rack fails
        by itself. Returns the verdict and, for each case, partitions at risk. Nothing is sent to
        the cluster.
        """
        if any("://" in source for source in sources or ()):
            raise ToolError("a source is the name of a file: nothing is asked of a running cluster")
        options = [f"--lose={lose}"] if lose else []
        with _file_of(described) as files:
            words = ["rehearse", *options, "--", *(sources or ()), *files]
            return await asyncio.to_thread(_program, words)

    async def explore(
        self,
        release: str,
        replicas: int = 3,
        crashes: int = 1,
        acks: str = "all",
        seconds: int = 20,
    ) -> str:
        """Try every interleaving of a partition's replicas within bounds, at most 60 seconds.

        Returns which guarantees hold, or the shortest sequence of steps that violates one, such as
        the loss of an acknowledged record.
        """
        limit = min(max(seconds, 1), SEARCH_SECONDS_MAX)
        words = [f"--version={release}", f"--replicas={replicas}", f"--crashes={crashes}"]
        words += [f"--acks={acks}", f"--time={limit}s", f"--memory={SEARCH_MEMORY}"]
        return await asyncio.to_thread(_program, ["explore", *words])

    async def statement_help(self, statement: str = "") -> str:
        """Return the help of a statement such as `topic create`; without one, a list of all."""
        return await asyncio.to_thread(_program, ["statements", "--", *statement.split()])


@contextmanager
def _file_of(text: str) -> Iterator[list[str]]:
    """Provide the name of a file with a text; no name if there is no text."""
    if not text:
        yield []
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "described.txt"
        file.write_text(text, encoding="utf-8")
        yield [str(file)]


def _program(arguments: Sequence[str]) -> str:
    """Run a command of the program, and return what it prints.

    Raises:
        ToolError: it was used wrongly, or takes too long.
    """
    try:
        ended = subprocess.run(
            [*python_command("-c", PROGRAM), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environment(),
            timeout=PROGRAM_SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"it takes longer than {PROGRAM_SECONDS_MAX:.0f} s: ask for less") from None
    if ended.returncode in (ExitCode.USAGE, ExitCode.UNREACHABLE):
        raise ToolError(ended.stderr.strip())
    return limited(f"{ended.stdout}\n{ended.stderr}")
