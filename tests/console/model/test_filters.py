import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.model.filters import Filter
from console.model.partition_fields import partition_fields
from sessions.grammar.words import BadWord
from sessions.model.states import PartitionState, ReplicaState

FIELDS = partition_fields(
    lambda partition: ["under_min_isr", "under_replicated"], lambda partition: "refused"
)
PARTITION = PartitionState(
    "orders",
    3,
    [2, 3, 1],
    state="online",
    leader=2,
    leader_epoch=17,
    isr=[2],
    min_isr=2,
    replica_states={2: ReplicaState(2, "leader", 130, 100)},
)
TEXT = "orders-3\n<min"


def matches(text: str) -> bool:
    return Filter(text, FIELDS).matches(TEXT, PARTITION)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ORDERS",
        "orders <min",
        "!payments",
        "re:^orders-[0-9]$",
        "!re:^pay",
        "isr<min",
        "isr < min and lag > 10",
        "lag=30",
        "topic~ord",
        "topic!~pay",
        "osr~3",
        "osr=2",
        "leader=2 epoch>=17",
        "state=online",
        "hw!=leo",
        "leo>1,00",
        "leo=130",
        "ISR<Min AND Lag>10",
        "pay or orders",
        "leader=1 or leader=2",
        "not pay",
        "NOT (pay or users)",
        "!(pay or users)",
        "(pay or orders) and (lag>10 or lag<5)",
        "pay and x or orders",
        "leader=1,2",
        "leader in [1, 2]",
        "leader!=1,3",
        "osr==[1, 3]",
        "osr contains 3",
        "not(pay or users)",
        "isr=1",
        "osr=1,3",
        "osr~1,9",
        "state=under_min_isr",
        "state~under_replicated,offline",
        "state!=offline",
        '"orders-3"',
        '"<min"',
        "re:^(orders|pay)-3$",
    ],
)
def test_these_match(text: str) -> None:
    assert matches(text)


@pytest.mark.parametrize(
    "text",
    [
        "payments",
        "!orders",
        "re:^x",
        "isr>=min",
        "lag>30",
        "osr~30",
        "leader=3",
        "orders !<min",
        "not orders",
        "leader=1,3",
        "leader!=1,2",
        "osr=1",
        "state=unclean",
        "state!=online",
        "orders and (pay or users)",
        '"not"',
    ],
)
def test_these_do_not(text: str) -> None:
    assert not matches(text)


def test_of_what_has_no_value_only_unequal_holds() -> None:
    nowhere = PartitionState("t", 0, [1])
    for text in ("leader<100", "leader>=-1", "leader=epoch", "hw=leo"):
        assert not Filter(text, FIELDS).matches("t-0", nowhere)
    assert Filter("leader!=1", FIELDS).matches("t-0", nowhere)


def test_a_number_is_not_compared_with_a_word() -> None:
    with pytest.raises(BadWord, match="isr is a number, and 'many' is neither"):
        Filter("isr=many", FIELDS)
    with pytest.raises(BadWord, match="topic and isr cannot be compared"):
        Filter("topic=isr", FIELDS)


@given(
    st.lists(
        st.sampled_from(
            ["ord", "!pay", "re:-3$", "isr<min", "lag>40", "not osr~3", "(ord or lag>3)", "(a)"]
        )
    )
)
def test_selecting_from_many_rows_is_matching_each(words: list[str]) -> None:
    chosen = Filter(" ".join(words), FIELDS)
    rows = [PARTITION, PartitionState("pay", 3, [3, 1], isr=[1], min_isr=1)]
    texts = [TEXT, "pay-3\nurp"]
    expected = [place for place in (0, 1) if chosen.matches(texts[place], rows[place])]
    assert chosen.select(lambda: texts, lambda: rows, 2) == expected


def test_an_unknown_field_is_answered_with_the_nearest() -> None:
    with pytest.raises(BadWord, match=r"no field 'leadr'; did you mean 'leader'\?"):
        Filter("leadr=1", FIELDS)


def test_a_broken_pattern_is_answered_with_why() -> None:
    with pytest.raises(BadWord, match="column 1: re:\\( is not a regular expression"):
        Filter("re:(")


def test_without_fields_operators_are_ordinary_text() -> None:
    assert Filter[None]("acks=all").matches("p1 sent acks=all", None)


def test_an_empty_filter_is_none() -> None:
    assert not Filter("  ")
    assert Filter("x")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("isr<", r"column 5: a value is missing after 'isr <'"),
        ("(isr<)", r"column 6: a value is missing after 'isr <'"),
        ("orders leadr=1", r"column 8: there is no field 'leadr'; did you mean 'leader'\?"),
        ("zzz>1", "column 1: there is no field 'zzz'; fields are topic, "),
        ("(isr<min", r"column 1: a parenthesis is not closed"),
        ("isr<min)", r"column 8: a parenthesis is closed that was not opened"),
        ("or isr<min", "column 1: a condition is missing before 'or'; \"or\" in quotes is a word"),
        ("isr<min and", "column 12: a condition is missing after 'and'"),
        ("isr<min && lag>1", "column 9: '&&' is written 'and' here"),
        ("isr<min || lag>1", "column 9: .* is written 'or' here"),
        ("lag=3, leader=1", "column 5: '3,' ends in a comma; conditions are joined by 'and'"),
        ("isr in 1,2", "column 1: isr is a list itself: write isr=1,2 for just these"),
        ("state>offline", "state is a word: = != ~ and !~"),
        ("re:(a+)+b", "repeats a repetition"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(BadWord, match=says):
        Filter(text, FIELDS)


@given(st.text(max_size=30))
def test_any_text_is_a_filter_or_refused_in_a_sentence(text: str) -> None:
    try:
        chosen = Filter(text, FIELDS)
    except BadWord as error:
        sentence = str(error)
    else:
        sentence = f"is {chosen.matches(TEXT, PARTITION)}"
    assert " " in sentence
