import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.inputs.conditions import Clause, Subject, Value
from sessions.grammar import clauses as conditions
from sessions.grammar.words import BadWord


def only(text: str) -> Clause:
    (clause,) = conditions.clauses(text.split(" "))
    return clause


@pytest.mark.parametrize(
    ("word", "subject"),
    [
        ("orders-0.leader", Subject("partition", "orders-0", "leader")),
        ("a.b-1-0.isr", Subject("partition", "a.b-1-0", "isr")),
        ("orders-0@2.remote_leo", Subject("replica", "orders-0@2", "remote_leo")),
        ("controller.epoch", Subject("controller", "", "epoch")),
        ("controller.x-0.leader", Subject("partition", "controller.x-0", "leader")),
        ("broker.2.session", Subject("broker", "2", "session")),
        ("zk./brokers/ids/0.exists", Subject("zk", "/brokers/ids/0", "exists")),
        ("zk./a.b.data", Subject("zk", "/a.b", "data")),
        ("zk./.children", Subject("zk", "/", "children")),
        ("producer.p.1.acked", Subject("producer", "p.1", "acked")),
        ("consumer.c1.values", Subject("consumer", "c1", "values")),
        ("audit.unacked_visible", Subject("audit", "", "unacked_visible")),
        ("under_min_isr", Subject("cluster", "", "under_min_isr")),
    ],
)
def test_left_names_a_value(word: str, subject: Subject) -> None:
    assert conditions.subject(word) == subject


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("t-0.leader == -1", -1),
        ("t-0.isr == [1,2]", [1, 2]),
        ("t-0.isr == [1, 2]", [1, 2]),
        ("t-0.isr == []", []),
        ("t-0.under_replicated == true", True),
        ("t-0.state == offline", "offline"),
        ("t-0@1.values == [a-0,7]", ["a-0", "7"]),
        ("t-0@1.values contains 7", "7"),
        ("t-0@1.epochs == [[0,0],[1,120]]", [[0, 0], [1, 120]]),
        ("t-0@1.epochs contains [1, 120]", [1, 120]),
        ("zk./controller_epoch.data == 2", "2"),
        ("zk./a.data == true", "true"),
        ("zk./a.version == 2", 2),
        ("zk./brokers/ids.children == [0,1]", ["0", "1"]),
        ("time >= 1500ms", 1500),
        ("time >= 1500", 1500),
        ("t-0@1.caught_up_ms < 2s", 2000),
        ("broker.2.state in [crashed,stopped]", ["crashed", "stopped"]),
    ],
)
def test_right_is_read_by_what_left_is(text: str, right: Value) -> None:
    assert only(text).right == right
    assert only(text).right_subject is None


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("t-0.hw == t-0@2.leo", Subject("replica", "t-0@2", "leo")),
        ("under_replicated == offline", Subject("cluster", "", "offline")),
        ("zk./a.data == zk./b.data", Subject("zk", "/b", "data")),
    ],
)
def test_right_may_be_another_left(text: str, subject: Subject) -> None:
    assert only(text).right_subject == subject
    assert only(text).right is None


def test_clauses_are_joined_with_and() -> None:
    clauses = conditions.clauses(
        ["t-0.leader", "==", "1", "and", "t-0.isr", "==", "[1,", "2]", "and", "offline", "==", "0"]
    )
    assert [clause.text for clause in clauses] == [
        "t-0.leader == 1",
        "t-0.isr == [1, 2]",
        "offline == 0",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a condition is missing"),
        ("t-0.leader", "'t-0.leader' is not a condition"),
        ("t-0.leader ==", "a value is missing after 't-0.leader =='"),
        ("t-0.leader == 1 && t-0.hw == 2", "'&&' is written 'and' here"),
        ("or t-0.hw == 1", "a condition is missing before 'or'"),
        ("t-0.leader is 1", "'is' is not a comparison"),
        ("t-0.leader == 1 and", "missing after 'and'"),
        ("t-0.leader == 1 and t-0.hw", "'t-0.hw' is not a condition"),
        ("t-0.ledaer == 1", "a partition has no 'ledaer'; did you mean 'leader'"),
        ("t-0@1.leader == 1", r"a replica has no 'leader'"),
        ("broker.1.stat == 1", "a broker has no 'stat'; did you mean 'state'"),
        ("ofline == 1", "'ofline' does not name a value; did you mean 'offline'"),
        ("t.leader == 1", "'t.leader' does not name a value"),
        ("audit == 1", "'audit' does not name a value"),
        ("t-0.isr == [1,2", "is a list that is not closed"),
        ("time >= soon", "'soon' is not a time"),
    ],
)
def test_what_is_no_condition_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadWord, match=message.replace("[", r"\[")):
        conditions.clauses(text.split())


WORDS = [
    "t-0.leader",
    "t-0@1.values",
    "==",
    "and",
    "[1,",
    "2]",
    "[[1,2]]",
    "true",
    "time",
    "-1",
    "x",
]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("t-0.leader=1", "t-0.leader == 1"),
        ("t-0.leader = 1", "t-0.leader == 1"),
        ("t-0.HW>=2", "t-0.hw >= 2"),
        ("t-0.isr ~ 2", "t-0.isr contains 2"),
        ("t-0.leader = 1,2", "t-0.leader in [1,2]"),
        ("t-0.isr=1,2", "t-0.isr == [1,2]"),
        ("time>=1:00", "time >= 60000"),
        ("t-0.leader==1 AND t-0.hw==2", "t-0.leader == 1 and t-0.hw == 2"),
        ("(t-0.leader == 1)", "t-0.leader == 1"),
        ("not(t-0.leader == 1)", "not (t-0.leader == 1)"),
        ("t-0.isr !~ 2", "not t-0.isr contains 2"),
        ("!t-0.hw=2", "not t-0.hw == 2"),
        ("t-0.hw=1 or t-0.hw=2 and t-0.leo=3", "t-0.hw=1 or (t-0.hw=2 and t-0.leo=3)"),
    ],
)
def test_what_is_written_in_two_ways_means_the_same(text: str, same: str) -> None:
    assert bare(conditions.clauses(text.split())) == bare(conditions.clauses(same.split()))


def bare(found: list[Clause]) -> list[object]:
    """Clauses without their texts."""
    return [
        (each.left, each.op, each.right, each.right_subject, bare(each.parts)) for each in found
    ]


def test_text_with_commas_stays_text() -> None:
    assert only("zk./a.data = 1,2").right == "1,2"
    assert only("t-0@1.values contains a,b").right == "a,b"


EITHER = "(t-0.hw == 1 or not (t-0.hw > 2 and offline = 0))"


def test_clauses_may_be_joined_by_or_and_not() -> None:
    (either,) = conditions.clauses(
        ["(t-0.hw", "==", "1", "or", "not", "(t-0.hw", ">", "2", "and", "offline", "=", "0))"]
    )
    assert either.text == "t-0.hw == 1 or (not (t-0.hw > 2 and offline == 0))"
    assert [each.left.field for each in conditions.leaves([either])] == ["hw", "hw", "offline"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(t-0.hw == 1", "a parenthesis is not closed"),
        ("t-0.hw == 1 )", "a parenthesis is closed that was not opened"),
        ("t-0.hw == 1 or", "a condition is missing"),
        ("not", "a condition is missing after 'not'"),
        ("t-0.hw > 1,2", "'1,2' is a list, which '>' does not compare"),
    ],
)
def test_what_is_joined_wrongly_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadWord, match=message):
        conditions.clauses(text.split())


@given(st.lists(st.sampled_from([*WORDS, "or", "not", "(", ")", "=", "t-0.hw=1)"]), max_size=12))
def test_any_words_of_the_grammar_are_clauses_or_refused(given_words: list[str]) -> None:
    try:
        found = conditions.clauses(given_words)
    except BadWord:
        return
    again = conditions.clauses(" and ".join(f"({each.text})" for each in found).split())
    assert bare(again) == bare(found)


PLAIN = st.text(st.characters(exclude_characters="=<>~!()"), max_size=4)
"""Words without operators and parentheses: a clause writes those in its own way."""


@given(st.lists(st.sampled_from(WORDS) | PLAIN, max_size=9))
def test_any_words_are_clauses_or_refused(given_words: list[str]) -> None:
    try:
        clauses = conditions.clauses(given_words)
    except BadWord:
        return
    assert " and ".join(clause.text for clause in clauses) == " ".join(given_words)
