"""The metadata log of a real cluster has millions of records: each is in few keyframes."""

import pytest

from emulator import events
from emulator.events import Event
from sessions.format import keyframes
from sessions.model.cluster_view import ClusterView
from sessions.model.handlers import quorum
from sessions.model.states import LongMetadataLog


def committed(first: int, count: int) -> list[Event]:
    return [
        events.MetadataRecordCommitted(seq, seq, 0, seq, 1, seq, "Topic", 0, '{"name":"t"}')
        for seq in range(first, first + count)
    ]


@pytest.mark.parametrize("long", [4, 1_000_000])
def test_a_keyframe_has_only_the_records_since_its_base(
    long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quorum, "LONG_RECORDS", long)
    view = ClusterView()
    view.apply_all(committed(1, 10))
    first = view.snapshot()
    frame_1 = keyframes.take(view, keyframes.EMPTY, first)
    view.apply_all(committed(11, 1_000))
    second = view.snapshot()
    frame_2 = keyframes.take(view, first, second)
    assert frame_2.kept_records == 10
    assert frame_2.state.quorum is not None
    assert len(frame_2.state.quorum.log) == 1_000
    assert second.state.quorum is not None
    assert len(second.state.quorum.log) == 1_010
    assert isinstance(second.state.quorum.log, LongMetadataLog) == (long == 4)
    frames = [keyframes.decode(keyframes.encode(frame)) for frame in (frame_1, frame_2)]
    rebuilt = keyframes.rebuild(keyframes.EMPTY, frames)
    assert rebuilt.state.quorum is not None
    assert list(rebuilt.state.quorum.log) == list(second.state.quorum.log)
    assert len(first.state.quorum.log if first.state.quorum else []) == 10
