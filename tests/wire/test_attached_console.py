"""The console on a cluster that runs: it follows, forecasts, rehearses, loses and finds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commands.runs.console_library import ConsoleLibrary
from commands.runs.live import asked
from emulator.inputs.statements import CreateCluster
from sessions.attached.poller import Poller
from sessions.format.errors import SessionIncompleteError
from sessions.format.metadata import Origin
from sessions.model.states import NO_SEED
from sessions.own_cluster.read_only_client import READ_REQUESTS
from sessions.playback.verify import verify
from sessions.recording.recorder import Recorder
from sessions.sources.attached import AttachedSource
from sessions.sources.replay import ReplaySource
from tests.console.driving import Console, console, toasts
from tests.wire.test_running_cluster import filled, recorded
from tidegauge.kafka_cluster import KafkaCluster

pytest.importorskip("kafka")
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@contextmanager
def attached(address: str, path: Path) -> Iterator[AttachedSource]:
    """A source that looks when it is told to."""
    poller = Poller(address, {}, every_s=3_600)
    origin = Origin(
        "prod",
        "test",
        poller.release,
        NO_SEED,
        CreateCluster(version=poller.release),
        sources=[address],
    )
    with Recorder(path, origin) as recorder:
        source = AttachedSource(poller, recorder, lambda text: asked(text, {}), "prod")
        try:
            yield source
        finally:
            source.close()


async def look(driven: Console, source: AttachedSource) -> None:
    """Look at the cluster again, with all that is asked seldom."""
    for part in source.poller._observer._parts:
        part.due_s = 0.0
    source.poller.look()
    await driven.settle()


@pytest.mark.kafka(version="4.1")
async def test_the_console_follows_a_running_cluster(
    kafka_cluster: KafkaCluster, tmp_path: Path
) -> None:
    path = tmp_path / "seen.tide.db"
    with recorded() as keys, attached(filled(kafka_cluster), path) as source:
        library = ConsoleLibrary(tmp_path)
        async with console(source, "L", "2", library=library) as driven:
            assert "READ-ONLY" in driven.lines()[0]
            assert "LIVE" in driven.lines()[0]
            assert "<MIN small-0" in driven.text()

            kafka_cluster.start(2)
            kafka_cluster.wait_until("small-0.isr == [1,2]")
            kafka_cluster.wait_until("orders-0.isr == [0,1,2]")
            await look(driven, source)
            assert "<MIN" not in driven.text()

            await driven.press("x")
            forecasts = driven.app.screen.list.forecasts  # type: ignore[attr-defined]
            while not forecasts.is_settled("broker crash 0") and forecasts._failed == {}:
                await driven.settle()
            assert "nothing is sent to the cluster" in driven.text()
            await driven.press("I")
            assert "nothing is ever sent to a running cluster" in toasts(driven)[-1]
            await driven.press("escape", "R")
            while not driven.app.screen.job.done:  # type: ignore[attr-defined]
                await driven.settle()
            await driven.settle()
            assert "UNSAFE: " in driven.text()
            assert "broker 1" in driven.text()
            await driven.press("escape", "colon")
            assert "nothing is ever sent" in toasts(driven)[-1]
    assert {*keys} <= READ_REQUESTS.keys()


@pytest.mark.kafka(version="4.1")
async def test_a_cluster_is_lost_and_found_and_its_recording_stays(
    kafka_cluster: KafkaCluster, tmp_path: Path
) -> None:
    path = tmp_path / "seen.tide.db"
    with attached(filled(kafka_cluster), path) as source:
        async with console(source, "L", "2") as driven:
            kafka_cluster.start(2)
            kafka_cluster.wait_until("small-0.isr == [1,2]")
            await look(driven, source)
            before = source.seq
            await driven.press("space")
            kafka_cluster.crash(1)
            kafka_cluster.wait_until("small-0.leader == 2")
            await look(driven, source)
            assert (source.seq, source.last_seq > before) == (before, True)
            assert source.view.partitions["small-0"].leader == 1
            await driven.press("L")
            assert source.view.partitions["small-0"].leader == 2

            for broker in (0, 2):
                kafka_cluster.crash(broker)
            source.poller.look()
            assert source.poller.lost
            await driven.settle()
            assert "LOST" in driven.lines()[0]
            kafka_cluster.start(0)
            source.poller.look()
            await driven.settle()
            assert source.poller.lost == ""
            assert "LOST" not in driven.lines()[0]
    with pytest.raises(SessionIncompleteError, match="real cluster"):
        verify(path)
    replay = ReplaySource(path)
    replay.to_tail()
    assert replay.view.state.brokers[1].state == "fenced"
    assert replay.first_time_us > 0
    replay.close()


@pytest.mark.kafka(version="3.9")
async def test_screens_that_make_no_sense_say_so(
    kafka_cluster: KafkaCluster, tmp_path: Path
) -> None:
    with attached(filled(kafka_cluster), tmp_path / "seen.tide.db") as source:
        async with console(source, "L", "4") as driven:
            assert "Clients are not told what is in ZooKeeper." in driven.text()
            await driven.press("O")
            assert "no consumer group" in driven.text()
            await driven.press("A")
            assert "--attach may be given several times" in toasts(driven)[-1]
            await driven.press("1")
            assert "controller 0" in driven.text() or "broker 0" in driven.text()
            assert "Clients are not told what is lost" in driven.text()
