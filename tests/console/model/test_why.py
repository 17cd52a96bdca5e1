from console.model.reader import EventReader
from console.model.why import SHOWN_MAX, Explainer, chain, moment, state_path
from console.render.cause_chain import chain_lines
from console.render.lines import text_of
from console.styles.glyphs import ASCII
from emulator import events
from tests.console.fakes import ListSource, Script, failover


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
    assert (found[0].seq, found[-1].seq) == (1, 31)


def test_paths_and_moments_are_written_out() -> None:
    source = ListSource(failover())
    partition = source.view.state.partitions["orders-5"]
    assert state_path(partition) == "/brokers/topics/orders/partitions/5/state"
    assert moment(source.history[127]) == "00:00:00.128 #128"
