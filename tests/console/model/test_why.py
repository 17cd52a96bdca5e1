from pathlib import Path

import pytest

from console.model import reader as reader_module
from console.model.reader import EventReader
from console.model.silence import Silence, began
from console.model.why import SHOWN_MAX, Explainer, Fold, chain, folded, moment, state_path
from console.render.cause_chain import chain_lines
from console.render.lines import text_of
from console.styles.glyphs import ASCII
from emulator import events
from sessions.format.allowance import StillReadingError
from sessions.sources.replay import ReplaySource
from tests.console.fakes import ListSource, Script, failover
from tests.sessions.examples import record_story, small_chunks


def test_the_state_znode_explains_a_partition() -> None:
    source = ListSource(failover())
    state = source.view.state
    seq = Explainer(EventReader(source)).seq(state, state.partitions["orders-5"])
    assert isinstance(source.history[seq - 1], events.PartitionStateChanged)


def test_a_loss_is_explained_by_the_last_audit_up_to_the_cursor() -> None:
    history = failover()
    history += [
        events.AuditChanged(171, 9_000_000, 5, "orders-0", [(3, 4)], [], [], []),
        events.HighWatermarkChanged(172, 9_000_000, 5, "orders-0", 2, 11, 10, "fetch"),
        events.AuditChanged(173, 9_000_000, 5, "orders-0", [(3, 4)], [], [(3, 4)], []),
        events.HighWatermarkChanged(174, 9_000_000, 5, "orders-0", 2, 12, 11, "fetch"),
    ]
    source = ListSource(history)
    explainer = Explainer(EventReader(source))
    for cursor, audited in ((174, 173), (172, 171)):
        source.seek_seq(cursor)
        state = source.view.state
        assert explainer.seq(state, state.partitions["orders-0"]) == audited


def test_without_a_state_znode_the_last_touch_explains() -> None:
    source = ListSource(failover(), at=16)
    state = source.view.state
    assert Explainer(EventReader(source)).seq(state, state.partitions["orders-0"]) == 16


def test_a_chain_is_told_from_the_root() -> None:
    reader = EventReader(ListSource(failover()))
    rows = [text_of(row) for row in chain_lines(chain(reader, 170), 70, ASCII)]
    assert rows[0] == "     127 INPUT broker crash 1  (line 7)"
    assert rows[-1] == "     170   <- STATE orders-5 leader none, epoch 1, ISR [1], v1"


def test_a_long_chain_keeps_its_root_and_its_end() -> None:
    script = Script()
    cause = script.add(events.InputReceived, "broker crash 1", 1, 1)
    for _ in range(30):
        cause = script.add(events.ControllerStep, 1, "p", 1, "step", "", cause=cause)
    found = chain(EventReader(ListSource(script.events)), cause)
    assert len(found) == SHOWN_MAX
    begin, between, *end = found
    assert isinstance(between, Fold)
    assert not isinstance(begin, Fold)
    shown = [begin, *between.events, *(each for each in end if not isinstance(each, Fold))]
    assert [event.seq for event in shown] == list(range(1, 32))


def test_paths_and_moments_are_written_out() -> None:
    source = ListSource(failover())
    partition = source.view.state.partitions["orders-5"]
    assert state_path(partition) == "/brokers/topics/orders/partitions/5/state"
    assert moment(source.history[127]) == "00:00:00.128 #128"


def test_a_follower_of_another_partition_that_was_resumed_explains_nothing() -> None:
    script = Script()
    paused = script.add(events.ReplicaFetchPaused, "t-0", 2, True)
    script.add(events.ReplicaFetchPaused, "t-1", 2, True)
    resumed = script.add(events.ReplicaFetchPaused, "t-1", 2, False)
    reader = EventReader(ListSource(script.events))
    event = began(reader, resumed, silence_of(2, "t-0"))
    assert event is not None
    assert event.seq == paused
    assert began(reader, resumed, silence_of(2, "t-1")) is None


def silence_of(broker: int, tp: str) -> Silence:
    """A follower of broker 1 does not fetch."""
    return Silence(frozenset({broker}), frozenset({1, events.ZOOKEEPER}), tp)


@pytest.mark.parametrize(("one", "other"), [(2, 3), (3, 2), (2, events.CLIENTS)])
def test_a_link_to_somebody_else_explains_no_silence(one: int, other: int) -> None:
    script = Script()
    cut = script.add(events.LinkChanged, 2, 1, True, 0, 0, ())
    script.add(events.LinkChanged, one, other, True, 0, 0, ())
    healed = script.add(events.LinkChanged, one, other, False, 0, 0, ())
    event = began(EventReader(ListSource(script.events)), healed, silence_of(2, "t-0"))
    assert event is not None, "and its repair ends none"
    assert event.seq == cut


def fetches(script: Script, cause: int, rounds: int, error: str = "NONE") -> int:
    """So many rounds of a follower's fetch and its response, each the cause of the next."""
    for _ in range(rounds):
        cause = script.add(events.MessageSent, "FetchRequest", 3, 2, 0, [], cause=cause)
        said = [["t-0", 0, -1, 0, error]]
        cause = script.add(events.MessageSent, "FetchResponse", 2, 3, cause, said, cause=cause)
    return cause


def test_messages_to_and_fro_are_folded_but_for_the_last_and_for_errors() -> None:
    script = Script()
    cause = script.add(events.InputReceived, "topic create t", 1, 1)
    cause = script.add(events.MessageSent, "LeaderAndIsrRequest", 0, 3, 0, [], cause=cause)
    cause = fetches(script, cause, 10)
    failed = fetches(script, cause, 1, "FENCED_LEADER_EPOCH")
    cause = fetches(script, failed, 4)
    last = script.add(events.HighWatermarkChanged, "t-0", 2, 4, 3, "fetch", cause=cause, after_us=1)
    reader = EventReader(ListSource(script.events))
    links = folded(reader.causes(last))
    kept = [each.seq for each in links if not isinstance(each, Fold)]
    assert kept == [1, 2, failed, cause - 1, cause, last]
    assert [len(each.events) for each in links if isinstance(each, Fold)] == [21, 6]
    unfolded = [e for each in links for e in (each.events if isinstance(each, Fold) else [each])]
    assert unfolded == reader.causes(last)
    rows = [text_of(row) for row in chain_lines(links, 90, ASCII)]
    assert rows[2].strip() == "~ 21 messages between 2 and 3, 20ms: FetchRequest, FetchResponse"


def test_two_messages_that_differ_are_not_folded() -> None:
    script = Script()
    cause = script.add(events.MessageSent, "FetchRequest", 3, 2, 0, [])
    cause = script.add(events.MessageSent, "FetchRequest", 1, 2, 0, [], cause=cause)
    assert len(folded(EventReader(ListSource(script.events)).causes(cause))) == 2


def test_a_long_recording_is_read_for_an_explanation_bit_by_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    source = ReplaySource(path)
    source.to_tail()
    state = source.view.state
    expected = {
        tp: Explainer(EventReader(source, patience=1_000.0)).chain(state, partition)
        for tp, partition in state.partitions.items()
    }
    source.close()

    monkeypatch.setattr(reader_module, "AT_ONCE_MAX", 0)
    source = ReplaySource(path)
    source.to_tail()
    state = source.view.state
    reader = EventReader(source)
    explainer = Explainer(reader)
    for tp, partition in state.partitions.items():
        with reader.painting(0), pytest.raises(StillReadingError):
            explainer.chain(state, partition)
        assert reader.is_behind
        while True:
            with reader.painting(1):
                try:
                    found = explainer.chain(state, partition)
                    break
                except StillReadingError:
                    assert reader.is_behind
        assert found == expected[tp]
        with reader.painting(0):
            assert explainer.chain(state, partition) == found, "it is kept"
    source.close()
