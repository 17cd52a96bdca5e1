"""One script and one seed are one run, whoever lets time pass, how fast, and in which slices.

Every way to run a script is compared with the plainest one, event by event and by the hash of the
state in which it ends: the program at full speed and at a speed, the console's frames, a campaign,
verification, copies that go on from the middle, and forecasts.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import msgspec
import pytest

from commands.runs import driver
from commands.runs.driver import Driver, Pace
from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.scenario.runner import Advance, Runner
from emulator.simulation.kernel import Observer
from sessions.campaign.plan import Around, Variant
from sessions.campaign.run import Emulation
from sessions.format.metadata import Origin
from sessions.model.cluster_view import ClusterView
from sessions.playback.verify import verify
from sessions.recording.recorder import Recorder
from sessions.sources.forecast import StartingPoint
from sessions.sources.live import LiveSource
from tests.support.random_scripts import spec_of, statements, timed_script_of

SEEDS = range(12)
LENGTH = 12
TEXT, LINE = Around("cluster --seed "), 1
MANY_SECONDS = 3_600.0


def script(seed: int) -> list[Statement]:
    """Statements many of which end when something else is due as well."""
    inputs = timed_script_of(seed, LENGTH)
    return [Statement(each, type(each).__name__, line) for line, each in enumerate(inputs, 2)]


def new(seed: int, *observers: Observer) -> Runner:
    return Runner(Cluster(spec_of(seed), observers, TEXT.with_seed(seed), LINE))


def executed(seed: int) -> tuple[list[Event], Runner]:
    """The plainest way: statement by statement, each to its end."""
    events: list[Event] = []
    runner = new(seed, events.append)
    for statement in script(seed):
        runner.execute(statement)
    return events, runner


@cache
def reference(seed: int) -> tuple[list[Event], str]:
    """What happens, and the hash of the state at the end."""
    events, runner = executed(seed)
    return events, runner.state_hash


class WallClock:
    """A clock on which time passes in jumps of any length."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.now = 1_000.0

    def monotonic(self) -> float:
        self.now += self.draw.choice([0.0, 1e-6, 1e-4, 0.003, 0.02])
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds * self.draw.choice([0.5, 1.0, 1.0, 2.5])


# ---- the program


@pytest.mark.parametrize("seed", SEEDS)
def test_a_script_at_full_speed_is_the_same_run(seed: int) -> None:
    events: list[Event] = []
    runner = new(seed, events.append)
    with Driver(runner, Pace(), lambda: None) as driving:
        for statement in script(seed):
            driving.execute(statement)
    assert (events, runner.state_hash) == reference(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_script_at_a_speed_is_the_same_run(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = WallClock(seed)
    monkeypatch.setattr(driver, "monotonic", clock.monotonic)
    monkeypatch.setattr(driver, "sleep", clock.sleep)
    monkeypatch.setattr(driver, "EVENTS_BETWEEN_LOOKS", 7)
    events: list[Event] = []
    runner = new(seed, events.append)
    with Driver(runner, Pace(speed=Random(seed).choice([1, 30, 200])), lambda: None) as driving:
        for statement in script(seed):
            driving.execute(statement)
    assert (events, runner.state_hash) == reference(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_cut_into_any_slices_is_the_same_run(seed: int) -> None:
    draw = Random(seed)
    events: list[Event] = []
    runner = new(seed, events.append)
    for statement in script(seed):
        ticket = runner.submit(statement)
        while not ticket.done:
            slice_us = draw.choice([0, 1, 999, 50_000, 1_000_000, 7_000_000])
            runner.advance(runner.now_us + slice_us, draw.choice([0, 1, 2, 50, 1_000]))
    assert (events, runner.state_hash) == reference(seed)


# ---- campaigns


@pytest.mark.parametrize("seed", SEEDS)
def test_a_campaigns_run_is_the_same_run(seed: int) -> None:
    variant = Variant("", {}, {}, spec_of(seed), TEXT, LINE, script(seed), Around(""))
    emulation = Emulation(variant, seed)
    events = list(emulation.events())
    assert (events, emulation.runner.state_hash) == reference(seed)


# ---- recordings


def recorder_of(seed: int, path: Path) -> Recorder:
    spec = spec_of(seed)
    return Recorder(path, Origin("x", "test", spec.version, seed, spec))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_recording_verifies_however_it_was_run(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "x.tide.db"
    with recorder_of(seed, path) as recorder:
        runner = new(seed, recorder)
        recorder.follow(runner)
        for statement in script(seed):
            recorder.announce(statement)
            runner.execute(statement)
    found = verify(path)
    assert found.same, str(found)
    assert found.state_hash == reference(seed)[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_consoles_frames_change_nothing(seed: int, tmp_path: Path) -> None:
    """The whole script as one line, in frames of any length and budget."""
    draw, events = Random(seed), list[Event]()
    with recorder_of(seed, tmp_path / "x.tide.db") as recorder:
        runner = new(seed, recorder, events.append)
        source = LiveSource(runner, recorder, lambda text: script(seed))
        reply = source.submit("everything")
        while reply.pending and not source.replies():
            frame(source, draw)
        source.close()
    expected, plain = executed(seed)
    assert events[: len(expected)] == expected
    plain.return_to(runner.now_us, runner.steps)
    assert plain.state_hash == runner.state_hash


def frame(source: LiveSource, draw: Random) -> None:
    """Time passes as in a console whose frames are long, short, or cut off at once."""
    speed = draw.choice([0.1, 1.0, 16.0, 300.0])
    source.advance(draw.choice([0.0, 0.001, 0.02, 0.3]), speed, draw.choice([0.0, 5.0, 1_000.0]))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_typed_at_any_moment_verifies(seed: int, tmp_path: Path) -> None:
    """Lines that are given while others are under way, between two frames or two events."""
    draw, path = Random(seed), tmp_path / "x.tide.db"

    def typed(_text: str) -> Iterator[Statement]:
        for each in [draw.choice(script(seed)) for _ in range(draw.choice([1, 1, 3]))]:
            yield msgspec.structs.replace(each, line=1)

    with recorder_of(seed, path) as recorder:
        runner = new(seed, recorder)
        recorder.follow(runner)
        source = LiveSource(runner, recorder, lambda text: list(typed(text)))
        source.submit("a line")
        for _ in range(60):
            if draw.random() < 0.3:
                source.submit("a line")
            elif draw.random() < 0.2:
                source.step(draw.choice([1, 3]))
            else:
                frame(source, draw)
        source.close()
    found = verify(path)
    assert found.same, str(found)


# ---- copies


@pytest.mark.parametrize("seed", SEEDS)
def test_a_copy_made_in_the_middle_goes_on_as_the_original(seed: int) -> None:
    """While a statement is under way: the copy ends it, and is given the rest."""
    draw = Random(seed)
    given = script(seed)
    place = draw.randrange(len(given))
    events: list[Event] = []
    runner = new(seed, events.append)
    for statement in given[:place]:
        runner.execute(statement)
    if not runner.submit(given[place]).done:
        runner.advance(budget=draw.choice([0, 1, 5, 60]))
    fork, copied = runner.fork(), len(events)
    later: list[Event] = []
    fork.cluster.subscribe(later.append)
    assert fork.state_hash == runner.state_hash
    for each in (fork, runner):
        while each.state.open and each.advance() is not Advance.IDLE:
            pass
        for statement in given[place + 1 :]:
            each.execute(statement)
    assert events == reference(seed)[0]
    assert later == events[copied:]
    assert fork.state_hash == runner.state_hash == reference(seed)[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_forecast_sees_what_will_happen(seed: int) -> None:
    draw, view = Random(seed), ClusterView()
    runner = new(seed, view.apply)
    given = script(seed)
    for statement in given[: draw.randrange(len(given))]:
        runner.execute(statement)
    asked = [Statement(each, "x") for each in statements(draw, 3)]
    starting_point = StartingPoint(runner, view)
    forecast = starting_point.forecast(asked)
    assert forecast.go_on(MANY_SECONDS)
    runner.run_until(starting_point.until_us)
    assert starting_point.plain.runner.state_hash == runner.state_hash
    assert starting_point.plain.view.seq == view.seq
