import pytest

from emulator import events
from emulator.events import TYPES, Event
from emulator.inputs.statements import ExpectEvents, Statement
from sessions.grammar.event_patterns import find, looked_up, pattern, since
from sessions.grammar.words import BadWord

HAPPENED: list[Event] = [
    events.BrokerStateChanged(1, 1_000, 0, 1, "running"),
    events.LeaderElected(2, 2_000, 1, "t-0", 1, 1, 0, [1, 2], "New"),
    events.BookmarkSet(3, 3_000, 0, "cut", ""),
    events.LogTruncated(4, 4_000_000, 0, "t-0", 2, 2, 3, "high-watermark"),
    events.LeaderElected(5, 5_000_000, 4, "t-0", 1, 2, 1, [2], "Offline"),
]


def matching(text: str) -> list[int]:
    wanted = pattern(text.split())
    return [event.seq for event in HAPPENED if wanted.matches(event)]


def verdict(*patterns: str, times: int | None = None, mark: str = "") -> tuple[bool | None, str]:
    asked = ExpectEvents(patterns=[each.split() for each in patterns], times=times, since=mark)
    found = looked_up(Statement(asked, ""), lambda: HAPPENED).input
    assert isinstance(found, ExpectEvents)
    return found.passed, found.actual


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("LeaderElected", [2, 5]),
        ("leaderelected LEADER=2", [5]),
        ("LeaderElected isr=[1,2]", [2]),
        ("LeaderElected isr=1,2", [2]),
        ("LeaderElected isr~2 and leader_epoch > 0", [5]),
        ("LeaderElected leader in [2,3]", [5]),
        ("leader = 1,2", [2, 5]),
        ("strategy=New", [2]),
        ("reason ~ watermark", [4]),
        ("broker=2", [4]),
        ("not tp=t-0", [1, 3]),
        ("type ~ elected or type = BookmarkSet", [2, 3, 5]),
        ("time >= 4s", [4, 5]),
        ("cause=1", [2]),
        ("LeaderElected and not (leader=1)", [5]),
        ("LogTruncated or BookmarkSet", [3, 4]),
        ("logtruncated or leaderelected leader=2", [4, 5]),
        ("(LogTruncated or LeaderElected) and cause=1", [2]),
        ("not LeaderElected", [1, 3, 4]),
        ("not(LeaderElected or LogTruncated)", [1, 3]),
        ("time >= 4s and !LogTruncated", [5]),
        ("type in [LogTruncated, BookmarkSet]", [3, 4]),
        ("type in [ LogTruncated , BookmarkSet ]", [3, 4]),
        ("type = LogTruncated", [4]),
        ("LeaderElected leader=1 or leader=2", [2, 5]),
    ],
)
def test_a_pattern_finds_events_by_their_type_and_fields(text: str, found: list[int]) -> None:
    assert matching(text) == found


@pytest.mark.parametrize(
    ("text", "message", "word"),
    [
        (
            "LogTruncted",
            "there is no event 'LogTruncted'; did you mean 'LogTruncated'",
            "LogTruncted",
        ),
        ("LogTruncated brokr=2", "a LogTruncated has no 'brokr'; did you mean 'broker'", "brokr=2"),
        ("brokr=2", "an event has no 'brokr'; did you mean 'broker'", "brokr=2"),
        ("LogTruncated broker", "'broker' is not a condition", "broker"),
        (
            "LeaderElected or LogTruncted",
            "there is no event 'LogTruncted'; did you mean 'LogTruncated'",
            "LogTruncted",
        ),
        ("not LogTruncted", "there is no event 'LogTruncted'; did you mean", "LogTruncted"),
        ("type=LogTruncted", "there is no event 'LogTruncted'; did you mean", "type=LogTruncted"),
    ],
)
def test_what_is_not_a_pattern_is_refused_with_the_nearest(
    text: str, message: str, word: str
) -> None:
    with pytest.raises(BadWord, match=message) as refused:
        pattern(text.split())
    assert refused.value.word == word


def test_every_type_of_event_can_be_named() -> None:
    assert all(pattern([name]).type == name for name in TYPES)
    assert len(TYPES) > 60


def test_an_order_is_found_where_each_comes_after_the_one_before() -> None:
    two = [pattern(["LeaderElected"]), pattern(["LeaderElected"])]
    assert [event.seq for event in find(two, HAPPENED)] == [2, 5]
    late = [pattern(["LogTruncated"]), pattern(["LeaderElected", "leader=1"])]
    assert [event.seq for event in find(late, HAPPENED)] == [4]


def test_a_mark_hides_what_was_before_it() -> None:
    assert [event.seq for event in since("cut", HAPPENED)] == [4, 5]
    with pytest.raises(BadWord, match="there is no mark 'cat' yet"):
        since("cat", HAPPENED)


def test_a_verdict_says_what_was_found() -> None:
    elected = "#2 LeaderElected at 00:00:00.002"
    assert verdict("LeaderElected") == (True, elected)
    assert verdict("LeaderElected leader=3") == (False, "there is no LeaderElected leader=3")
    assert verdict("LeaderElected", "LogTruncated")[0] is True
    assert verdict("LogTruncated", "LeaderElected leader=1") == (
        False,
        "there is no LeaderElected leader=1 after #4 LogTruncated at 00:00:04.000",
    )
    assert verdict("LeaderElected", times=2)[0] is True
    assert verdict("LeaderElected", times=0) == (
        False,
        f"it happened 2 times: {elected}, #5 LeaderElected at 00:00:05.000",
    )
    assert verdict("LeaderElected leader=1", times=0, mark="cut") == (True, "it happened never")
    assert verdict("LeaderElected", mark="x") == (False, "there is no mark 'x' yet")
