from console.model.workspace import Stage, no_completion
from tests.console.fakes import ListSource, failover


def test_turns_are_counted_and_changes_named() -> None:
    source = ListSource(failover(), at=0)
    stage = Stage(source)
    assert stage.follow() == set()
    source.seek_seq(170)
    assert stage.follow() == {f"orders-{number}" for number in range(6)}
    assert stage.turn == 2
    assert stage.view is source.view


def test_what_changed_since_a_turn_is_known_to_who_was_not_there() -> None:
    source = ListSource(failover(), at=0)
    stage = Stage(source)
    stage.follow()
    turns = []
    for place in (60, 120, 120, 150, 170, 100, 169):
        source.seek_seq(place)
        turns.append(stage.follow())
    for turn in range(1, len(turns) + 2):
        assert stage.changed_since(turn) == set().union(*turns[turn - 1 :])


def test_without_a_completer_nothing_is_completed() -> None:
    assert no_completion("bro") == ()
