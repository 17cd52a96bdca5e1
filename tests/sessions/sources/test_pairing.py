"""Two runs of the same statements, paired by what became of records and leaders."""

from collections.abc import Callable, Sequence

from emulator import events
from emulator.events import Event
from sessions.sources.pairing import Pair, Pairing, pairs_of
from tests.console.fakes import Script


def statement(script: Script, text: str, *facts: tuple[object, ...]) -> None:
    script.add(events.InputReceived, text, 1, 0)
    for kind, *fields in facts:
        assert isinstance(kind, type)
        script.add(kind, *fields)
    script.add(events.InputFinished, text, 1, "NONE")


def reading(script: Script) -> Callable[[int, int], Sequence[Event]]:
    return lambda first, last: script.events[first - 1 : last]


def appended(offset: int, broker: int = 1) -> tuple[object, ...]:
    return (events.RecordsAppended, "t-0", broker, offset, 1, 0, offset)


def cut(to: int) -> tuple[object, ...]:
    return (events.LogTruncated, "t-0", 1, to, 2, "to high watermark")


def fired() -> tuple[object, ...]:
    return (events.TimerFired, 1, "isr-expiration")


def paired(left: Script, right: Script) -> Pairing:
    pairing = Pairing(reading(left), reading(right))
    pairing.look(len(left.events), len(right.events))
    return pairing


def test_the_same_done_twice_has_no_difference() -> None:
    left, right = Script(), Script()
    for script in (left, right):
        statement(script, "produce t", appended(0), appended(0, broker=2))
    pairing = paired(left, right)
    assert pairing.first_difference is None
    assert [pair.left for pair in pairing.pairs] == [1, 2, 3]


def test_traffic_of_one_run_only_is_no_difference() -> None:
    left, right = Script(), Script()
    statement(left, "produce t", appended(0))
    statement(right, "produce t", fired(), appended(0), fired())
    assert paired(left, right).pairs == [Pair(1, 1, True), Pair(2, 3, True)]


def test_what_happens_in_one_run_only_is_the_first_difference() -> None:
    left, right = Script(), Script()
    statement(left, "broker start 2", cut(1), appended(5, broker=2))
    statement(right, "broker start 2", appended(5, broker=2))
    pairing = paired(left, right)
    assert pairing.pairs == [Pair(1, 1, True), Pair(2, None, False), Pair(3, 2, True)]
    assert pairing.first_difference == 1


def test_what_comes_in_its_place_stands_beside_it() -> None:
    left, right = Script(), Script()
    statement(left, "produce t", appended(1))
    statement(right, "produce t", appended(2))
    assert paired(left, right).pairs[1] == Pair(2, 2, False)


def test_what_follows_a_difference_in_one_object_is_a_difference_until_the_statements_end() -> None:
    left, right = Script(), Script()
    statement(left, "fetch", appended(1), appended(7), appended(0, broker=3))
    statement(right, "fetch", appended(2), appended(7), appended(0, broker=3))
    statement(left, "fetch", appended(9))
    statement(right, "fetch", appended(9))
    assert [pair.same for pair in paired(left, right).pairs] == [
        *(True, False, False, True),
        *(True, True),
    ]


def test_another_order_between_two_objects_is_no_difference() -> None:
    left, right = Script(), Script()
    statement(left, "fetch", appended(1), appended(1, broker=2))
    statement(right, "fetch", appended(1, broker=2), appended(1))
    assert paired(left, right).first_difference is None


def test_what_only_the_right_run_does_stands_before_what_followed_it() -> None:
    found = pairs_of(
        *(
            _events((events.BrokerStateChanged, 2, "running")),
            _events(cut(1), (events.BrokerStateChanged, 2, "running")),
        )
    )
    assert found == [Pair(None, 1, False), Pair(1, 2, True)]


def _events(*facts: tuple[object, ...]) -> list[Event]:
    script = Script()
    for kind, *fields in facts:
        assert isinstance(kind, type)
        script.add(kind, *fields)
    return script.events


def test_runs_that_go_on_are_paired_further() -> None:
    left, right = Script(), Script()
    pairing = Pairing(reading(left), reading(right))
    for number in range(3):
        for script in (left, right):
            statement(script, "produce t", appended(number))
        assert pairing.look(len(left.events), len(right.events))
        assert len(pairing.pairs) == 2 * (number + 1)
    assert not pairing.look(len(left.events), len(right.events))


def test_both_runs_stand_where_the_same_is_done() -> None:
    left, right = Script(), Script()
    statement(left, "produce t", appended(0), appended(0, broker=2))
    statement(right, "produce t", fired(), appended(0), appended(0, broker=2))
    pairing = paired(left, right)
    assert pairing.pair_at(0) == -1
    assert pairing.reached(-1) == (0, 0)
    assert pairing.reached(pairing.pair_at(2)) == (2, 3)
    assert pairing.reached(pairing.pair_at(99)) == (3, 4)


def test_a_statement_that_one_run_refuses_is_a_difference() -> None:
    left, right = Script(), Script()
    statement(left, "election unclean t-0")
    right.add(events.InputReceived, "election unclean t-0", 1, 0)
    right.add(events.InputFinished, "election unclean t-0", 1, "UNSUPPORTED_VERSION")
    assert paired(left, right).pairs == [Pair(1, 1, True), Pair(None, 2, False)]


def test_what_comes_during_the_wait_after_a_statement_is_paired_with_it() -> None:
    left, right = Script(), Script()
    statement(left, "topic create t")
    statement(left, "wait until t-0.leader == 1", appended(0))
    statement(right, "topic create t", appended(0))
    statement(right, "wait until t-0.leader == 1")
    for script in (left, right):
        statement(script, "produce t", appended(1))
    pairing = paired(left, right)
    assert pairing.first_difference is None
    assert [pairing.reached(number) for number in range(5)] == [
        *((1, 1), (3, 4), (4, 4), (6, 6), (7, 7)),
    ]
