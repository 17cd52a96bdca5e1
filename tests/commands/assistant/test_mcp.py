"""``tidegauge mcp``: what an assistant does with its tools, over the protocol's own client.

The protocol's library is imported by tests that run: every worker imports this module.
"""

import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commands.assistant import workbench as limits
from commands.assistant.workbench import Workbench
from commands.cli.main import run_program
from sessions.child_process import environment, python_command

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult

SAFE = """\
cluster --brokers 3
topic create orders --partitions 2 --replication-factor 3 --config min.insync.replicas=2
settle
produce orders --count 10 --acks all
settle
"""
RISKY = """\
cluster --brokers 2
topic create t --replica-assignment 0:1 --config unclean.leader.election.enable=true
settle
broker freeze 1
wait 40s
produce t --count 5 --acks 1
broker crash 0
broker thaw 1
wait 20s
"""
DESCRIBED = """\
Topic: t	PartitionCount: 2	ReplicationFactor: 2	Configs: min.insync.replicas=2
	Topic: t	Partition: 0	Leader: 1	Replicas: 1,2	Isr: 1,2
	Topic: t	Partition: 1	Leader: 2	Replicas: 2,3	Isr: 2,3
"""


class Assistant:
    """Calls tools, and returns their text."""

    def __init__(self, client: "Client") -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: object) -> str:
        """What a tool answers; its call must be right."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, self.text(result)
        return self.text(result)

    async def refused(self, tool: str, **arguments: object) -> str:
        """Why a call is refused."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        return self.text(result)

    @staticmethod
    def text(result: "CallToolResult") -> str:
        from mcp_types import TextContent

        (content,) = result.content
        assert isinstance(content, TextContent)
        return content.text


@asynccontextmanager
async def working() -> AsyncIterator[Assistant]:
    """An assistant with a workbench of its own."""
    from mcp import Client

    from commands.assistant.server import server_of

    workbench = Workbench()
    try:
        async with Client(server_of(workbench)) as client:
            yield Assistant(client)
    finally:
        workbench.close()


async def test_why_did_the_isr_shrink() -> None:
    async with working() as assistant:
        await assistant("start_cluster", script=SAFE, release="2.4")
        answer = await assistant("perform", statements="broker freeze 2; wait 20s")
        assert "orders-0 is at min isr: ISR lost 2: it lost its ZooKeeper session" in answer
        why = await assistant("why", subject="orders-0")
        assert re.search(r"INPUT broker freeze 2", why)
        assert why.rstrip().splitlines()[-1].endswith("ISR [0,1], v1")


async def test_the_page_shows_what_comes_back() -> None:
    page = (Path(__file__).parents[3] / "docs" / "assistants.md").read_text()
    async with working() as assistant:
        await assistant("start_cluster", script=SAFE, release="2.4")
        assert await assistant("perform", statements="broker freeze 2; wait 20s") in page
        assert await assistant("why", subject="orders-0") in page


async def test_why_are_writes_refused() -> None:
    async with working() as assistant:
        await assistant("start_cluster", script=SAFE, release="3.9", mode="kraft")
        await assistant("perform", statements="broker crash 1; broker crash 2; wait 30s")
        answer = await assistant("perform", statements="produce orders --acks all --retries 0")
        assert "NOT_ENOUGH_REPLICAS" in answer
        assert "under min isr" in await assistant("show_table", table="partitions")


async def test_which_records_did_the_unclean_election_lose() -> None:
    async with working() as assistant:
        answer = await assistant("start_cluster", script=RISKY, release="2.0")
        assert "lost  t-0             4  -4" in answer
        elected = await assistant("list_events", matching="LeaderElected", last=5)
        number = re.findall(r"^ *(\d+)  ", elected, re.MULTILINE)[-1]
        assert "broker crash 0" in await assistant("why", subject=f"#{number}")


async def test_what_would_a_crash_do() -> None:
    async with working() as assistant:
        await assistant("start_cluster", script=SAFE, release="3.9")
        before = await assistant("show_table", table="partitions")
        forecast = await assistant("what_if", statements="broker crash 0")
        assert "changes leader" in forecast
        assert await assistant("show_table", table="partitions") == before


async def test_who_led_at_an_earlier_moment() -> None:
    async with working() as assistant:
        await assistant("start_cluster", script=SAFE, release="2.4")
        await assistant("perform", statements="broker crash 0; wait 20s")
        assert re.search(r"orders-0 +online +1 ", await assistant("show_table", table="partitions"))
        earlier = await assistant("show_table", table="partitions", at="2s")
        assert re.search(r"orders-0 +online +0 ", earlier)


async def test_what_happened_in_a_recorded_session(tmp_path: Path) -> None:
    async with working() as assistant:
        script, session = tmp_path / "risky.tide", tmp_path / "risky.tide.db"
        script.write_text(RISKY)
        assert run_program(["run", str(script), "--version", "2.0", "--record", str(session)]) == 0
        answer = await assistant("open_session", file=str(session))
        assert "lost  t-0             4  -4" in answer
        assert "recorded session" in await assistant.refused("perform", statements="broker start 0")


async def test_is_it_safe_to_lose_a_broker() -> None:
    async with working() as assistant:
        answer = await assistant("rehearse", described=DESCRIBED, lose="broker=2")
        assert re.search("(?i)unsafe", answer)
        refusal = await assistant.refused("rehearse", sources=["kafka://localhost:9092"])
        assert "nothing is asked of a running cluster" in refusal


async def test_can_an_acknowledged_record_be_lost() -> None:
    async with working() as assistant:
        answer = await assistant("explore", release="0.10.2", replicas=2, crashes=2)
        assert "AcknowledgedKept is violated in" in answer


async def test_tools_that_only_look_say_so() -> None:
    async with working() as assistant:
        tools = {tool.name: tool for tool in (await assistant.client.list_tools()).tools}
        acting = {
            name
            for name, tool in tools.items()
            if tool.annotations is None or not tool.annotations.read_only_hint
        }
        assert acting == {"start_cluster", "open_session", "perform"}
        assert all(tool.description for tool in tools.values())


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("why", {"subject": "orders-7"}, "there is no partition 'orders-7'"),
        ("why", {"subject": "#99999999"}, "there is no event 99,999,999"),
        ("perform", {"statements": "brokr crash 1"}, "did you mean 'broker'?"),
        ("show_table", {"table": "prtitions"}, "did you mean 'partitions'?"),
        ("list_events", {"matching": "IsrChange"}, "did you mean 'IsrChanged'?"),
        ("open_session", {"file": "/dev/null"}, "is not a session"),
        ("statement_help", {"statement": "topc"}, "did you mean 'topic"),
        ("start_cluster", {"script": "clutser"}, "did you mean 'cluster'?"),
    ],
)
async def test_a_wrong_call_is_refused_in_a_sentence(
    tool: str, arguments: dict[str, object], sentence: str
) -> None:
    async with working() as assistant:
        await assistant("start_cluster", script=SAFE)
        assert sentence in await assistant.refused(tool, **arguments)
        assert "orders-0" in await assistant("show_table", table="partitions")


async def test_an_answer_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    async with working() as assistant:
        monkeypatch.setattr(limits, "CHARACTERS_MAX", 500)
        await assistant("start_cluster", script=SAFE)
        answer = await assistant("list_events", last=1_000)
        assert len(answer) < 600
        assert "characters more" in answer


async def test_an_endless_statement_gives_the_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async with working() as assistant:
        monkeypatch.setattr(limits, "LIMIT_US", 1)
        await assistant("start_cluster", script=SAFE)
        assert "goes on with the next call" in await assistant("perform", statements="wait 1000h")


async def test_the_program_serves_over_its_standard_streams() -> None:
    from mcp import Client, StdioServerParameters

    command = python_command("-c", "from commands.cli.main import main; main()", "mcp")
    server = StdioServerParameters(command=sys.executable, args=command[1:], env=environment())
    async with Client(server) as client:
        assistant = Assistant(client)
        assert "orders-0" in await assistant("start_cluster", script=SAFE)
        assert "Create a topic" in await assistant("statement_help", statement="topic create")
