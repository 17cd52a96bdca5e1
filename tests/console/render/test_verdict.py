from console.model.why import chain
from console.model.workspace import Stage
from console.render.lines import text_of, width_of
from console.render.verdict import LOOKS, verdict_line
from console.render.why_sentence import sentence
from console.styles.glyphs import ASCII, Glyphs
from emulator.events import Event, LinkChanged, ReplicaFetchPaused
from sessions.model.health import Counts
from sessions.model.verdict import verdicts
from tests.console.fakes import ListSource, failover
from tests.support.script_events import events_of, viewed


def stage_of(script: str, kind: str = "LIVE") -> Stage:
    source = ListSource([], kind)
    source.view = viewed(script)
    return Stage(source, glyphs=ASCII)


def paused_follower() -> list[Event]:
    """Replica 0 is paused, and three records wait for it."""
    return _waiting_for("replica pause orders-0@0", "0s")


def slow_follower() -> list[Event]:
    """What replica 0 asks for takes 90 s, and three records wait for it for 31 s."""
    return _waiting_for("network delay 0 1 90s", "31s")


def _waiting_for(fault: str, duration: str) -> list[Event]:
    return events_of(
        *SCRIPT.splitlines(),
        "produce orders --value a --acks all",
        fault,
        "produce orders --value b --count 3 --acks 1",
        f"wait {duration}",
    )


SCRIPT = """\
cluster --brokers 3 --version 3.9
topic create orders --replica-assignment 1:2:0
wait until orders-0.leader == 1
"""


def test_what_does_not_fit_gives_way_from_the_end() -> None:
    stage = stage_of(SCRIPT + "broker crash 1\n")
    wide, narrow, tiny = (text_of(verdict_line(stage, width)) for width in (160, 80, 40))
    assert wide.startswith(" X WRITES BLOCKED: 1 partition waits for broker 1, until 00:00:21 at")
    assert wide.rstrip().endswith("! shows them")
    assert "1 broker down" in wide
    assert "at the latest" in narrow
    assert tiny.startswith(" X WRITES BLOCKED: 1 partition waits fo~")
    for width in range(20, 200):
        assert width_of(verdict_line(stage, width)) <= width


def test_that_nobody_decides_is_said_in_fewer_words_where_room_is_short() -> None:
    cut = "network cut zk 0\nnetwork cut zk 1\nnetwork cut zk 2\nwait 20s\n"
    stage = stage_of(SCRIPT + cut)
    wide, narrow = (text_of(verdict_line(stage, width)) for width in (160, 66))
    assert "ZOOKEEPER UNREACHABLE: nobody can elect a leader or change an ISR" in wide
    assert "ZOOKEEPER UNREACHABLE: no elections, no changes of ISRs" in narrow


def test_writes_wait_for_a_paused_follower() -> None:
    source = ListSource(paused_follower())
    cause = next(event.seq for event in source.history if isinstance(event, ReplicaFetchPaused))
    headline, why = _headline_and_why(source)
    assert headline.startswith(" w WRITES BLOCKED: 1 partition waits for broker 0 ")
    waits = "writes with acks=all wait for broker 0 of the ISR"
    assert why == f"{waits}: because replica 0 was paused (#{cause})"


def test_records_that_wait_for_a_slow_follower_are_not_called_healthy() -> None:
    source = ListSource(slow_follower())
    causes = [event.seq for event in source.history if isinstance(event, LinkChanged)]
    headline, why = _headline_and_why(source)
    assert "HW stalled: records of 1 partition wait for a follower in the ISR" in headline
    assert why.startswith("the HW stays at 1 until broker 0 fetches: because the link from ")
    assert any(f"(#{cause})" in why for cause in causes)


def _headline_and_why(source: ListSource) -> tuple[str, str]:
    stage = Stage(source, glyphs=ASCII)
    stage.follow()
    headline = text_of(verdict_line(stage, 120))
    assert headline.rstrip().endswith("! shows them")
    partition = source.view.partitions["orders-0"]
    links = chain(stage.reader, stage.explainer.seq(source.view.state, partition))
    return headline, sentence(stage, partition, links)


def test_a_new_live_cluster_offers_three_tasks_and_a_recording_keys() -> None:
    offered = text_of(verdict_line(stage_of(SCRIPT), 100)).rstrip()
    assert offered.endswith(" f2 break a broker  f3 lose a record  f4 why?")
    recording = stage_of(SCRIPT, "REPLAY")
    assert text_of(verdict_line(recording, 100)).rstrip().endswith("? help  ^p find")


def test_every_verdict_has_a_look() -> None:
    fields = Counts.__struct_fields__[3:]
    kinds = {held.kind for name in fields for held in verdicts(Counts(3, 3, 4, **{name: 1}))}
    kinds |= {held.kind for n in range(5) for held in verdicts(Counts(2, 3, 4, trouble=n))}
    assert kinds <= LOOKS.keys()
    assert {glyph for _, glyph in LOOKS.values()} <= set(Glyphs.__struct_fields__)


def test_an_offline_partition_is_the_headline_of_the_demo() -> None:
    stage = Stage(ListSource(failover()), glyphs=ASCII)
    assert text_of(verdict_line(stage, 80)).startswith(" x NO LEADER: 1 partition cannot be")
