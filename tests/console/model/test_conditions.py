import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.model.conditions import Search, parse
from sessions.grammar.words import BadWord
from tests.console.fakes import ListSource, failover

CRASHED = 128
"""The event at which broker 1 of the example is down."""


def search(text: str, at: int = 0) -> Search:
    return Search(ListSource(failover(), at=at), parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "urp>5",
        "urp > 5 and offline = 0",
        "orders-0.leader=2",
        "x.y-3.isr<min",
        "broker.1.state=running",
    ],
)
def test_conditions_speak_of_counts_partitions_and_brokers(text: str) -> None:
    assert parse(text).text == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a condition is missing; give one such as urp>5"),
        ("leader", r"column 1: 'leader' is not a condition \(such as leader == 1\)"),
        ("upr>5", "column 1: .* did you mean 'urp'"),
        ("urp>5 and orders-0.leadr=1", "column 11: .* did you mean 'leader'"),
        ("urp>5, offline=0", "column 5: '5,' ends in a comma; conditions are joined by 'and'"),
        ("urp>many", "'many' is neither a number nor a field"),
        ("broker.1.state", "is not a condition"),
    ],
)
def test_what_is_no_condition_is_answered_with_the_nearest(text: str, says: str) -> None:
    with pytest.raises(BadWord, match=says):
        parse(text)


@pytest.mark.parametrize(
    "text", ["offline>0", "orders-5.state=offline", "broker.1.state=crashed", "orders-0.leader=2"]
)
def test_a_search_finds_the_event_at_which_it_begins_to_hold(text: str) -> None:
    source = ListSource(failover())
    found = search(text).work(10_000)
    assert found is not None
    condition = parse(text)
    source.seek_seq(found)
    assert condition.holds(source.view)
    source.seek_seq(found - 1)
    assert not condition.holds(source.view)


def test_what_holds_already_is_looked_for_anew() -> None:
    held = search("brokers=3", at=40)
    assert held.condition.holds(held.view)
    assert held.work(10_000) is None
    assert held.at_end
    assert search("brokers=2", at=40).work(10_000) == CRASHED


def test_the_cursor_stays_where_it_is_and_more_events_are_looked_at_as_they_come() -> None:
    source = ListSource(failover()[: CRASHED - 1], "LIVE", at=5)
    looking = Search(source, parse("broker.1.state=crashed"))
    assert looking.work(10_000) is None
    assert source.seq == 5
    source.feed(failover()[CRASHED - 1])
    assert looking.work(10_000) == CRASHED


@given(st.text(max_size=20))
def test_any_text_is_a_condition_or_refused_in_a_sentence(text: str) -> None:
    try:
        condition = parse(text)
    except BadWord as error:
        sentence = str(error)
    else:
        sentence = condition.text
    assert sentence or not text.strip()
