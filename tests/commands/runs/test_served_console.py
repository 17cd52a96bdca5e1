"""``tidegauge console --serve``: real connections to a cluster that the console shows."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.exits import CommandError
from commands.language.cluster_options import ClusterOptions
from commands.runs.access import Access
from commands.runs.served_console import ConsoleService, served_console
from commands.runs.served_script import script_to_serve
from console.app import TidegaugeApp
from console.screens.clients import ClientsScreen
from emulator.wire.messages.cluster import ApiVersionsRequest
from sessions.gateway.endpoints import Endpoint
from sessions.playback.verify import verify
from sessions.sources.served import ServedSource
from tests.sessions.gateway.test_gateway import SECONDS, Client

SCRIPT = """cluster --brokers 2 --latency 0.00002s
topic create orders --partitions 2 --replication-factor 1
"""


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[ServedSource, ConsoleService]]:
    script = folder / "served.tide"
    script.write_text(SCRIPT)
    made = script_to_serve(str(script), {}, ClusterOptions())
    path = folder / "served.tide.db"
    source, recorder, service = served_console(made, path, {}, None, access=Access(), control=0)
    try:
        yield source, service
    finally:
        source.close()
        recorder.close("ok")


async def ask(client: Client) -> None:
    assert (await client.ask(ApiVersionsRequest("a-library", "1"), 3)).error_code == 0


async def frames(source: ServedSource, count: int = 5) -> None:
    for _ in range(count):
        source.advance(0.1, 1.0, 40)
        await asyncio.sleep(0.01)


async def test_clients_are_answered_between_frames_and_shown_with_the_next(tmp_path: Path) -> None:
    async with served(tmp_path) as (source, service):
        await service.start()
        source.advance(0.1, 1.0, 40)
        client = await Client.connected(service.cluster.gateway.addresses[1])
        await ask(client)
        assert not source.view.state.connections
        before = source.seq
        assert source.advance(0.1, 1.0, 40) == source.seq - before > 0
        (found,) = source.view.state.connections.values()
        assert (found.broker, found.software) == (1, "a-library")
        assert source.view.state.connections == source.present.state.connections
        client.close()
        await service.stop()
    assert verify(tmp_path / "served.tide.db").same


async def test_while_time_stands_still_clients_wait(tmp_path: Path) -> None:
    async with served(tmp_path) as (source, service):
        await service.start()
        await frames(source)
        client = await Client.connected(service.cluster.gateway.addresses[0])
        await ask(client)
        source.stand_still()
        asked = client.send(ApiVersionsRequest(), 0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.reader.readexactly(4), 0.2)
        stopped_us = source.runner.now_us
        source.seek_seq(100)
        assert source.seq == 100
        source.to_tail()
        assert source.runner.now_us == stopped_us
        source.advance(0.1, 1.0, 40)
        assert (await asyncio.wait_for(client.received(*asked), SECONDS)).error_code == 0
        client.close()
        await service.stop()


async def test_lines_take_effect_and_the_script_was_given(tmp_path: Path) -> None:
    async with served(tmp_path) as (source, service):
        await service.start()
        await frames(source)
        assert source.submit("broker crash 1").error == "NONE"
        assert source.view.state.brokers[1].state == "crashed"
        assert "orders-1" in source.view.partitions
        reply = source.submit("wait 5ms")
        assert reply.pending
        async with asyncio.timeout(SECONDS):
            while not source.replies():
                await frames(source, 1)
        await service.stop()


async def test_the_console_serves_as_long_as_it_is_open(tmp_path: Path) -> None:
    async with served(tmp_path) as (source, service):
        app = TidegaugeApp(source, service=service)
        async with app.run_test(size=(120, 40)) as pilot:
            client = await Client.connected(service.cluster.gateway.addresses[0])
            await ask(client)
            await pilot.press("C")
            await pilot.pause(0.3)
            assert isinstance(app.screen, ClientsScreen)
            table = app.screen.table
            assert table.count() == 1
            assert source.bootstrap_servers.count(":") == 2
        assert await client.is_closed()
        client.close()


async def test_the_control_channel_speaks_of_the_same_cluster(tmp_path: Path) -> None:
    async with served(tmp_path) as (source, service):
        await service.start()
        assert service.control is not None
        source.advance(0.1, 1.0, 40)
        reader, writer = await asyncio.open_connection(*service.control.address)
        first = {"token": service.control.token, "statement": "broker crash 0"}
        writer.write(json.dumps(first).encode() + b'\n{"open": {}}\n')
        done = json.loads(await asyncio.wait_for(reader.readline(), SECONDS))
        refused = json.loads(await asyncio.wait_for(reader.readline(), SECONDS))
        assert done["ok"]
        assert "serves only one cluster" in refused["error"]
        source.advance(0.1, 1.0, 40)
        assert source.view.state.brokers[0].state == "crashed"
        writer.close()
        await service.stop()


def test_a_port_that_is_taken_is_said_before_the_console_opens(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="name others by --port"):
        served_console(
            script_to_serve("", {}, ClusterOptions(brokers=1)),
            tmp_path / "a.tide.db",
            {},
            None,
            access=Access(endpoints=[Endpoint(host="192.0.2.1", port=1)]),
            control=None,
        )


def test_options_of_a_server_need_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["console", "--port", "9092"]) == 2
    assert "--port needs --serve" in capsys.readouterr().err
