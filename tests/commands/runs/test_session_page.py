"""The story of a page: after each event it shows what the read model and ``why`` say."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from commands.runs import session_page
from commands.runs.session_page import Gatherer, story_of
from commands.runs.why import of_partition
from console.model.workspace import Stage
from emulator.cluster_image.image import (
    Broker,
    ClusterImage,
    Controller,
    Partition,
    Quorum,
    Topic,
)
from emulator.events import Event
from emulator.inputs.statements import CreateCluster
from sessions.attached.changes import Changes as ObservedChanges
from sessions.format.metadata import Origin
from sessions.model.states import NO_SEED
from sessions.model.summary import snapshot
from sessions.recording.recorder import Recorder
from sessions.replay_page.page import replay_page
from sessions.replay_page.story import Changes, Key, Story, state_at
from sessions.sources.replay import ReplaySource

SCRIPT = """
cluster --brokers 3 --version {version} --seed 3
topic create t --replica-assignment 0:1:2,1:2:0 --config min.insync.replicas=2
topic create gone --replica-assignment 2
settle
produce t --count 8 --acks all --value v
broker freeze 2
produce t --count 40 --acks 1 --every 300ms --async
wait 35s
topic delete gone
broker crash 0
wait 20s
broker thaw 2
broker start 0
settle
"""
RELEASED = Path(__file__).parents[2] / "sessions" / "format" / "released"


@pytest.fixture(scope="module", params=["3.9 --mode zk", "4.1"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("story")
    script = folder / "story.tide"
    script.write_text(SCRIPT.format(version=request.param))
    file = folder / "story.tide.db"
    assert run_program(["run", str(script), "--record", str(file), "--seed", "1"]) == ExitCode.OK
    return file


@pytest.fixture(scope="module")
def story(recorded: Path) -> Story:
    return told(recorded)


def told(file: Path) -> Story:
    source = ReplaySource(file)
    try:
        return story_of(source, file.name, "tidegauge replay", source.last_seq, lambda _: None)
    finally:
        source.close()


def at_once(source: ReplaySource) -> dict[Key, Any]:
    """What is shown at the cursor, without what came before."""
    gatherer = Gatherer(Stage(source, patience=inf), source.time_us)
    gatherer.take()
    return state_at(gatherer.story, 0)


def present(state: dict[Key, Any]) -> dict[Key, Any]:
    """What there is but the explanations, which another test compares."""
    return {
        key: value for key, value in state.items() if value not in (None, []) and key[0] != "why"
    }


def test_after_any_event_it_shows_what_the_read_model_says(recorded: Path, story: Story) -> None:
    source = ReplaySource(recorded)
    count = len(story.events.times)
    assert count == source.last_seq == len(story.changes) - 1
    for place in {0, 1, count, *range(7, count, count // 20), *story.stops[::2]}:
        source.seek_seq(place)
        assert present(state_at(story, place)) == present(at_once(source)), place
    source.close()


def test_a_row_has_what_json_says_of_the_partition(recorded: Path, story: Story) -> None:
    source = ReplaySource(recorded)
    source.to_tail()
    end = state_at(story, len(story.changes) - 1)
    for partition in snapshot(source.view)["partitions"]:
        row = end["partition", f"{partition['topic']}-{partition['partition']}"]
        values = dict(zip(session_page.COLUMNS, row, strict=True))
        assert values["LEADER"] == partition["leader"]
        assert values["ISR"] == ",".join(map(str, partition["isr"]))
    source.close()


def test_it_says_why_as_the_command_does(recorded: Path, story: Story) -> None:
    source = ReplaySource(recorded)
    explained = 0
    for place in story.stops[::3]:
        source.seek_seq(place)
        stage = Stage(source, patience=inf)
        for key, value in state_at(story, place).items():
            if key[0] == "why" and value is not None:
                partition = source.view.partitions[str(key[1])]
                assert value[0] == of_partition(stage, partition).sentence
                explained += bool(value[0])
    assert explained > 5
    source.close()


def test_a_running_clusters_times_are_times_of_day(tmp_path: Path) -> None:
    image = ClusterImage(
        mode="kraft",
        quorum=Quorum(100, 4, controllers=(Controller(100, up=True, voter=True),)),
        brokers=(Broker(1, up=True, fenced=False),),
        topics=(Topic("t", configs={}, partitions=(Partition(0, (1,), 1, (1,)),)),),
    )
    noon_us = 12 * 3_600 * 1_000_000
    cluster = CreateCluster(version="4.1", mode="kraft")
    origin = Origin("seen", "tidegauge", "4.1", NO_SEED, cluster, wall_clock_us=0)
    file = tmp_path / "seen.tide.db"
    with Recorder(file, origin) as recorder:
        for event in ObservedChanges().look(image, {}, "4.1.2", noon_us):
            recorder(event)
    story = told(file)
    assert story.begins_us + sum(story.events.times) == noon_us
    assert story.facts == ["Kafka 4.1.2, KRaft"]


def test_a_deleted_topic_is_gone(story: Story) -> None:
    end = state_at(story, len(story.changes) - 1)
    assert [value for key, value in end.items() if "gone-0" in key and value] == []


def test_part_of_a_session_keeps_its_numbers(recorded: Path, story: Story, tmp_path: Path) -> None:
    part = tmp_path / "part.tide.db"
    arguments = ["sessions", "trim", str(recorded), "--from", "20s", "--out", str(part)]
    assert run_program(arguments) == ExitCode.OK
    rest = told(part)
    assert rest.first_seq > 1
    shift = rest.first_seq - 1
    for place in range(0, len(rest.changes), 50):
        shown = state_at(story, place + shift)
        now = state_at(rest, place)
        assert partitions_in(now) == partitions_in(shown)


def partitions_in(state: dict[Key, Any]) -> dict[Key, Any]:
    return {key: value for key, value in state.items() if key[0] == "partition" and value}


@pytest.mark.parametrize("schema", ["4-first", "9", "15"])
def test_sessions_of_older_schemas_have_a_page(schema: str) -> None:
    assert len(replay_page(told(RELEASED / f"schema-{schema}.tide.db"))) > 30_000


def test_events_take_less_than_a_hundred_bytes_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "busy.tide.db", tmp_path / "busy.html"
    script = (
        "cluster --brokers 4 --version 4.1; topic create t --partitions 6 --replication-factor 3;"
        " produce t --count 200 --acks all --every 5ms --async; broker crash 1; wait 12s"
    )
    assert run_program(["run", "-c", script, "--record", str(file)]) == ExitCode.OK
    capsys.readouterr()
    assert run_program(["sessions", "html", str(file), "--out", str(page)]) == ExitCode.OK
    wrote = capsys.readouterr().err
    count = int(wrote.split(": ")[1].split(" events")[0].replace(",", ""))
    assert count > 2_000
    assert page.stat().st_size < 100 * count


@pytest.fixture(scope="module")
def three_batches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("batches") / "batches.tide.db"
    statements = (
        "cluster --brokers 1; topic create t --partitions 1 --replication-factor 1; "
        + "; ".join(
            f"produce t --value v --partition 0 --count {count} --batch {count}"
            for count in (8, 5, 2)
        )
    )
    assert run_program(["run", "-c", statements, "--record", str(file)]) == ExitCode.OK
    return file


def test_a_page_has_the_values_of_the_first_records(
    three_batches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_page, "VALUES_MAX", 10)
    assert [len(values) for _, values in told(three_batches).batches] == [8]


def test_events_are_read_one_at_a_time(
    three_batches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their records may not fit in memory together."""
    read, events_of = [], ReplaySource.events

    def events(source: ReplaySource, first: int, last: int) -> Sequence[Event]:
        read.append(last - first + 1)
        return events_of(source, first, last)

    monkeypatch.setattr(ReplaySource, "events", events)
    story = told(three_batches)
    assert len(story.events.words) == read.count(1) > 20
    assert max(read) == 1


def test_what_cannot_be_a_page_is_refused(
    recorded: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = recorded.read_bytes()
    arguments = ["sessions", "html", str(recorded), "--out"]
    assert run_program([*arguments, str(recorded)]) == ExitCode.USAGE
    assert recorded.read_bytes() == before
    assert (
        "--out: a page is called 'story.tide.html', not 'story.tide.db'" in capsys.readouterr().err
    )
    missing = tmp_path / "missing" / "a.html"
    assert run_program([*arguments, str(missing)]) == ExitCode.UNREACHABLE
    assert "cannot write" in capsys.readouterr().err
    monkeypatch.setattr(session_page, "EVENTS_MAX", 100)
    assert run_program([*arguments, str(tmp_path / "a.html")]) == ExitCode.USAGE
    assert "a page holds 100: take a part of it first" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "change"),
    [
        ([[1, 2], [1, 2, 3]], [0, 0, 0, [3]]),
        ([[1, 2, 3], [1, 4]], [0, 0, 2, [4]]),
        ([[1, 2, 3], [2, 3]], [0, 1, 0, []]),
        ([[1, 2, 3], [2, 4]], [0, 1, 1, [4]]),
        ([[1, 2], [5]], [0, [5]]),
        ([[1, 2], []], [0, []]),
        ([[], [1]], [0, [1]]),
    ],
)
def test_a_list_changes_at_its_ends(values: list[list[int]], change: list[Any]) -> None:
    changes = Changes()
    for value in values:
        changes.begin()
        changes.put_list(("k",), value, lambda item: item)
    assert changes.steps[-1] == [change]
    story = Story("", [], "", 1, 0, [], [], keys=changes.keys, changes=changes.steps)
    assert state_at(story, 1) == {("k",): values[-1]}
