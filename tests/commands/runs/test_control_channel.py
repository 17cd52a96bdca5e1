"""What strangers, web pages and wrong lines can do with the control channel: nothing."""

import asyncio
import logging
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from commands.cli.main import run_program
from commands.runs import served_cluster
from commands.runs.serve import TOKEN
from emulator.events import Event
from sessions.gateway import control
from sessions.gateway.control import LINE_BYTES_MAX
from sessions.gateway.journal import Journal, SoFar
from sessions.playback.verify import verify
from tests.support.control_channel import serving

OPEN = {"open": {"brokers": 1}}
PAGE = (
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: http://evil.example\r\n"
    b"Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"
)


@pytest.mark.parametrize(
    "first",
    [
        PAGE,
        b"get / http/1.0\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\n",
        b'{"open": {"brokers": 1}}\n',
        b'{"token": "", "open": {"brokers": 1}}\n',
        b'{"token": null}\n',
        b'{"token": ["x"]}\n',
        b'{"token": "\xff"}\n',
        b'{"token": "\\u0130"}\n',
        b"[" * 100_000 + b"\n",
        b"x" * 100_000,
    ],
    ids=range(12),
)
async def test_without_the_token_the_connection_ends_with_one_answer(
    first: bytes, tmp_path: Path
) -> None:
    async with serving(tmp_path) as served:
        client = await served.stranger()
        client.send(first, OPEN, {"token": served.channel.token}, OPEN)
        answer = await client.answer()
        assert answer is not None
        assert not answer["ok"]
        assert "token" in answer["error"] or "not a web server" in answer["error"]
        assert await client.answer() is None
        assert not served.clusters.by_number


async def test_a_page_that_knows_the_token_still_speaks_http(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        client = await served.client()
        client.send(PAGE, OPEN)
        answer = await client.answer()
        assert answer is not None
        assert answer["error"] == "this is the control channel of tidegauge, not a web server"
        assert await client.answer() is None
        assert not served.clusters.by_number


async def test_the_token_may_come_with_the_first_request(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        client = await served.stranger()
        opened = await client.ask({"token": served.channel.token, **OPEN})
        assert (opened["ok"], opened["cluster"]) == (True, 1)


async def test_those_who_give_no_token_are_closed_the_oldest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "STRANGERS_MAX", 2)
    async with serving(tmp_path) as served:
        friend = await served.client()
        strangers = [await served.stranger() for _ in range(3)]
        assert await strangers[0].answer() is None
        assert (await strangers[2].ask({"token": served.channel.token}))["ok"]
        assert (await friend.ask(OPEN))["ok"]


async def test_those_who_give_no_token_in_time_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "TOKEN_SECONDS", 0.0)
    async with serving(tmp_path) as served:
        assert await (await served.stranger()).answer() is None


LINES: list[bytes | dict[str, Any]] = [
    {"cluster": [1], "clients": True},
    {"cluster": {}, "clients": True},
    {"cluster": True, "clients": True},
    {"cluster": 1.0, "clients": True},
    {"cluster": "1", "clients": True},
    {"cluster": 10**400, "clients": True},
    {"cluster": 9, "clients": True},
    {"statement": {"statement": [{}]}},
    {"statement": "show events", "from": "x"},
    {"statement": "show events", "from": []},
    {"statement": "run \0.tide"},
    {"statement": "run ../x.tide"},
    {"statement": "wait \ud800"},
    {"record": "a\0.tide.db"},
    {"record": "../" * 300 + "x.tide.db"},
    {"record": "x" * 5_000 + ".tide.db"},
    {"record": "circle/x.tide.db"},
    {"record": ""},
    {"record": "."},
    {"record": []},
    {"partition": "t-0" * 10_000},
    {"x" * 100_000: 1},
    {"open": []},
    {"open": None},
    {"open": {"port": 70_000}},
    {"open": {"port": -1}},
    {"open": {"port": 65_535, "brokers": 2}},
    {"open": {"port": "9092"}},
    {"open": {"brokers": 1_001}},
    {"open": {"brokers": 10**30}},
    {"open": {"brokers": -1}},
    {"open": {"version": "x" * 10_000}},
    {"open": {"version": "\0"}},
    {"open": {"mode": "--brokers"}},
    {"open": {"seed": 10**30}},
    {"open": {"config": {"no.such": {}}}},
    {"open": {"config": {"": ""}}},
    {"open": {"nested": {"a": {"b": []}}}},
    {"close": [], "cluster": 1},
    {},
    b"[1]\n",
    b"nothing\n",
    b"\xff\xfe\n",
    b'{"a": "\xff"}\n',
    b'{"a": "\\ud800"}\n',
    b'{"a": NaN}\n',
    b'{"a": 1e999}\n',
    b'{"statement": "wait 1ms"} x\n',
    b"[" * 100_000 + b"\n",
    b'{"a":' * 30_000 + b"\n",
    b'{"a":' + b"[" * 900 + b"]" * 900 + b"}\n",
    b"x" * (LINE_BYTES_MAX + 1) + b"\n",
    b" " * (2 * LINE_BYTES_MAX) + b"\n",
]


async def test_every_line_gets_an_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "circle").symlink_to("circle")
    async with serving(tmp_path) as served:
        client, other = await served.client(), await served.client()
        assert (await client.ask(OPEN))["ok"]
        for line in LINES:
            shown = repr(line)[:100]
            answer = await client.ask(line)
            assert not answer["ok"], shown
            assert "internal error" not in answer["error"], (shown, answer)
            assert (await other.ask({"controller": True, "cluster": 1}))["ok"], shown
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_line_without_an_end_gets_an_answer_and_is_skipped(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        client = await served.client()
        for _ in range(LINE_BYTES_MAX // (1 << 16) + 1):
            client.send(b"x" * (1 << 16))
        answer = await client.answer()
        assert answer is not None
        assert answer["error"] == "a line is longer than 262,144 bytes"
        client.send(b"x" * (1 << 16), b"\n\n")
        assert (await client.ask(OPEN))["ok"]


async def test_a_defect_is_the_answer_to_its_line_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path) as served:
        client = await served.client()
        assert (await client.ask(OPEN))["ok"]

        def defective(_: object) -> dict[str, Any]:
            raise ZeroDivisionError("a defect")

        monkeypatch.setattr(served.clusters.by_number[1], "result", lambda: defective(None))
        answer = await client.ask({"result": True})
        assert answer == {"ok": False, "error": "internal error: ZeroDivisionError: 'a defect'"}
        assert (await client.ask({"controller": True}))["ok"]


async def test_files_are_read_and_written_in_the_folder_only(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "s.tide").write_text("cluster\nmark a\n")
    (inside / "linked").symlink_to(outside)
    (inside / "linked.tide").symlink_to(outside / "s.tide")
    (inside / "dangling.tide.db").symlink_to(outside / "made.tide.db")
    (inside / "nested.tide").write_text("cluster\nrun ../outside/s.tide\n")
    async with serving(inside) as served:
        client = await served.client()
        await client.ask(OPEN)
        for name in (
            "../outside/x.tide.db",
            str(outside / "x.tide.db"),
            "linked/x.tide.db",
            "dangling.tide.db",
            "../inside-too.tide.db",
        ):
            answer = await client.ask({"record": name})
            assert not answer["ok"], name
            assert "it is outside of" in answer["error"]
        for name in ("../outside/s.tide", str(outside / "s.tide"), "linked.tide", "linked/s.tide"):
            answer = await client.ask({"statement": f"run {name}"})
            assert not answer["ok"], name
            assert "it is outside of" in answer["error"]
        assert "it is outside of" in (await client.ask({"statement": "run nested.tide"}))["error"]
        assert (await client.ask({"statement": "run s.tide"}))["ok"]
        assert (await client.ask({"record": "made.tide.db"}))["ok"]
        assert "already exists" in (await client.ask({"record": "made.tide.db"}))["error"]
    assert verify(inside / "made.tide.db").same
    assert [path.name for path in outside.iterdir()] == ["s.tide"]


async def test_a_server_has_at_most_as_many_brokers_as_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commands.runs.serve.BROKERS_MAX", 3)
    async with serving(tmp_path) as served:
        client = await served.client()
        assert (await client.ask({"open": {"brokers": 2}}))["ok"]
        answer = await client.ask({"open": {"brokers": 2}})
        assert answer["error"] == "there are 2 brokers; a server has at most 3"
        assert (await client.ask({"close": True}))["ok"]
        assert (await client.ask({"open": {"brokers": 3}}))["ok"]


async def test_a_statement_that_waits_is_answered_when_its_cluster_is_closed(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as served:
        client, other = await served.client(), await served.client()
        await client.ask(OPEN)
        client.send({"statement": "wait 1h"})
        assert (await other.ask({"close": True}))["ok"]
        answer = await client.answer()
        assert answer in (
            {"ok": False, "error": "the cluster has been closed"},
            {"ok": False, "error": "there is no cluster 0; there are: none"},
        )


async def test_events_come_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(tmp_path) as served:
        client = await served.client()
        await client.ask(OPEN)
        await client.ask({"statement": "topic create t --partitions 3"})
        await client.ask({"statement": "mark all"})
        pattern = {"statement": "show events seq < 100"}
        whole = await client.ask(pattern)
        assert len(whole["result"]) == 99
        assert "next" not in whole
        monkeypatch.setattr(served_cluster, "EVENTS_MAX", 40)
        pages = [await client.ask(pattern)]
        while "next" in pages[-1]:
            pages.append(await client.ask({**pattern, "from": pages[-1]["next"]}))
        assert [len(page["result"]) for page in pages] == [40, 40, 19]
        assert [row for page in pages for row in page["result"]] == whole["result"]
        exact = await client.ask({"statement": "show events seq < 41"})
        assert len(exact["result"]) == 40
        assert "next" not in exact


async def test_clients_are_answered_while_events_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, answered = threading.Event(), threading.Event()
    events = Journal.events

    def slow(self: Journal, so_far: SoFar) -> Iterable[Event]:
        begun.set()
        assert answered.wait(60)  # an answer to another client ends this
        return events(self, so_far)

    monkeypatch.setattr(Journal, "events", slow)
    async with serving(tmp_path) as served:
        client, other = await served.client(), await served.client()
        await client.ask(OPEN)
        client.send({"statement": "show events ClusterCreated"})
        assert await asyncio.to_thread(begun.wait, 60)
        assert (await other.ask({"statement": "broker crash 0"}))["ok"]
        assert (await other.ask({"statement": "topic list"}))["outcome"]
        answered.set()
        shown = await client.answer()
        assert shown is not None
        assert shown["ok"]
        found = await client.ask({"statement": "expect event BrokerStateChanged state=crashed"})
        assert found["ok"]


async def test_what_was_printed_is_forgotten_when_it_has_become_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served_cluster, "OUTPUT_CHARACTERS_MAX", 2_000)
    async with serving(tmp_path) as served:
        client = await served.client()
        await client.ask(OPEN)
        for _ in range(50):
            assert (await client.ask({"statement": "show brokers"}))["result"]
        outputs = (await client.ask({"result": True}))["result"]["outputs"]
        assert 1 <= len(outputs) < 50
        assert sum(len(output["text"]) for output in outputs) <= 2_000


def test_a_token_that_can_be_guessed_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TOKEN, "short")
    assert run_program(["serve", "--port", "0", "--control", "0"]) == 2
    assert "at least 16 characters" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["serve", "--control", "0", "--control-folder", "no/where"]) == 3
    assert "there is no folder 'no/where'" in capsys.readouterr().err
