"""Notes of what was touched: never too little, and a reader pays for what changed."""

from hypothesis import given
from hypothesis import strategies as st

from sessions.model.changes import LOOKS_KEPT_MAX, Changes


def test_keys_touched_before_a_look_are_not_told_after_it() -> None:
    changes = Changes(0)
    changes.current.append("a")
    changes.look(5)
    changes.current.append("b")
    assert changes.since(5) == {"b": None}
    assert changes.since(4) == {"a": None, "b": None}


def test_what_is_older_than_the_notes_is_not_known() -> None:
    changes = Changes(7)
    assert changes.since(6) is None
    assert changes.since(7) == {}


def test_only_the_latest_looks_are_kept() -> None:
    changes = Changes(0)
    for seq in range(1, LOOKS_KEPT_MAX + 10):
        changes.current.append(f"key{seq}")
        changes.look(seq)
    assert changes.since(3) is None
    assert changes.since(20) == {f"key{n}": None for n in range(21, LOOKS_KEPT_MAX + 10)}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40), st.integers(0, 40))
def test_every_later_touch_is_told(touches: list[tuple[str, bool]], asked: int) -> None:
    changes = Changes(0)
    for seq, (key, looks) in enumerate(touches, start=1):
        changes.current.append(key)
        if looks:
            changes.look(seq)
    told = changes.since(asked)
    assert told is not None
    assert {key for key, _ in touches[asked:]} <= told.keys()
