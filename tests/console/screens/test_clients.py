"""The screen of connected clients, on a hand-made history."""

from typing import Any, Final

import pytest

from console.model.workspace import Stage
from console.render.lines import text_of
from console.render.overview import control_lines
from emulator import events as ev
from emulator.events import Event
from tests.console.driving import LARGE, SIZES, SMALL, console
from tests.console.fakes import ListSource, failover

HUGE: Final = (200, 60)


def with_clients() -> list[Event]:
    """The failover, at whose end two clients of three connections are there."""
    history = failover()
    seq, time_us = history[-1].seq, history[-1].time_us + 1_000_000
    told: list[tuple[Any, ...]] = [
        (ev.ClientConnected, 3, 1, "127.0.0.1:50001"),
        (ev.ClientIdentified, 3, "librdkafka", "2.10.0"),
        (ev.ClientRequestReceived, 3, 1, "reader", "JoinGroup", 5, "billing"),
        (ev.ClientResponseSent, 3, 1, seq + 3, "JoinGroup", ["REBALANCE_IN_PROGRESS"]),
        (ev.OffsetCommitted, "billing", "orders-0", 1, 0),
        (ev.MemberJoined, "billing", 1, "reader", "reader-1"),
        (ev.ClientConnected, 4, 2, "127.0.0.1:50002"),
        (ev.ClientRequestReceived, 4, 2, "writer", "Produce", 9, ""),
        (ev.ClientConnected, 5, 2, "127.0.0.1:50003"),
    ]
    for number, (kind, *fields) in enumerate(told, 1):
        history.append(kind(seq + number, time_us + number, 0, *fields))
    return history


@pytest.mark.parametrize("size", [*SIZES, HUGE])
async def test_clients_are_listed_with_what_they_ask_and_are_told(size: tuple[int, int]) -> None:
    async with console(ListSource(with_clients()), "C", size=size) as driven:
        assert driven.screen.context == "clients"
        text = driven.text()
        assert "3 connections" in text
        for said in ("reader", "JoinGroup 5", "billing", "writer", "Produce 9", "nothing yet"):
            assert said in text, said
        if size == HUGE:
            assert "librdkafka 2.10.0" in text
            assert "127.0.0.1:50003" in text


async def test_the_inspector_tells_all_of_the_selected_one() -> None:
    async with console(ListSource(with_clients()), "C", size=LARGE) as driven:
        await driven.press("slash")
        await driven.type("client=reader")
        await driven.press("enter")
        text = driven.text()
        for said in ("librdkafka 2.10.0", "ERRORS TOLD", "REBALANCE_IN_PROGRESS", "reader-1"):
            assert said in text, said
        assert "writer" not in text
        await driven.press("enter")
        assert driven.screen.context == "broker"


async def test_it_travels_in_time() -> None:
    source = ListSource(with_clients())
    async with console(source, "C", size=SMALL) as driven:
        source.seek_seq(source.last_seq - 1)
        await driven.settle()
        assert "2 connections" in driven.text()
        source.seek_seq(100)
        await driven.settle()
        assert "No client is connected at this time." in driven.text()
        assert "console --serve" in driven.text()


def test_the_overview_counts_them() -> None:
    stage = Stage(ListSource(with_clients()))
    assert any("3 connected" in text_of(row) for row in control_lines(stage, 80))


async def test_f_keeps_those_that_were_told_an_error() -> None:
    async with console(ListSource(with_clients()), "C", "f", size=LARGE) as driven:
        assert "reader" in driven.text()
        assert "writer" not in driven.text()
