import shlex
import string
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.language.lexer import Line, split_lines, split_words
from sessions.grammar.words import BadWord


def pairs(lines: Iterable[Line]) -> list[tuple[int, str]]:
    return [(line.number, line.text) for line in lines]


def test_a_statement_keeps_the_line_on_which_it_starts() -> None:
    text = "# first\ncluster \\\n  --brokers 3\n\nsettle\n"
    assert pairs(split_lines(text)) == [(2, "cluster --brokers 3"), (5, "settle")]


def test_a_comment_starts_only_at_a_words_beginning() -> None:
    text = "produce t --value a#b # it's a comment\nmark 'a # b'"
    assert pairs(split_lines(text)) == [(1, "produce t --value a#b"), (2, "mark 'a # b'")]


def test_a_comment_does_not_go_on_with_a_backslash() -> None:
    assert pairs(split_lines("# a \\\nsettle")) == [(2, "settle")]


def test_space_after_the_continuing_backslash_does_not_matter() -> None:
    assert pairs(split_lines("wait \\  \r\n 2s\r\nsettle")) == [(1, "wait 2s"), (3, "settle")]


def test_a_semicolon_ends_a_statement_only_where_asked() -> None:
    text = "mark 'a;b'; settle ;; wait 1s"
    assert pairs(split_lines(text, semicolons=True)) == [
        (1, "mark 'a;b'"),
        (2, "settle"),
        (3, "wait 1s"),
    ]
    assert pairs(split_lines(text)) == [(1, text)]


def with_values(text: str, variables: dict[str, str]) -> str:
    (line,) = split_lines(text)
    return line.with_values(variables).text


def test_variables_and_defaults_are_put_in() -> None:
    text = "produce t --acks ${ACKS} --value '${V:-a b}' --count ${N:-}1"
    assert with_values(text, {"ACKS": "all"}) == "produce t --acks all --value 'a b' --count 1"


def test_a_given_value_goes_before_the_default() -> None:
    assert with_values("mark ${A:-1}", {"A": "2"}) == "mark 2"


def test_a_variable_in_a_comment_needs_no_value() -> None:
    assert pairs(split_lines("settle # ${X}")) == [(1, "settle")]


def test_a_value_with_a_hash_starts_no_comment() -> None:
    text = with_values("produce t --value ${V}", {"V": "#1"})
    assert split_words(text) == ["produce", "t", "--value", "#1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "${ACK}",
            r"\$\{ACK\} has no value \(give it with --set ACK=VALUE\); did you mean 'ACKS'\?",
        ),
        ("${}", r"'\$\{\}' is not a variable"),
        ("${a b}", r"'\$\{a b\}' is not a variable"),
        ("${a:b}", r"'\$\{a:b\}' is not a variable"),
        ("--value ${ACKS", r"'\$\{ACKS' is not closed with \}"),
    ],
)
def test_a_name_without_a_value_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadWord, match=message):
        with_values(text, {"ACKS": "1"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mark 'a", "a quote is not closed"),
        ("mark a\\", "at the end escapes nothing"),
        ("mark " + "a" * 70_000, "a statement of 70,005 characters is too long"),
        ("mark \udcff", r"'mark \\udcff' is not UTF-8 text"),
    ],
    ids=["quote", "backslash", "length", "text"],
)
def test_a_statement_that_cannot_be_split_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadWord, match=message):
        split_words(text)


@given(st.lists(st.text(string.printable.replace("\n", "").replace("\r", ""), min_size=1)))
def test_quoted_words_read_back_whatever_is_in_them(given_words: list[str]) -> None:
    text = " ".join(map(shlex.quote, given_words))
    lines = list(split_lines(text))
    assert [split_words(line.text) for line in lines] == ([given_words] if given_words else [])
    if given_words:
        assert [split_words(line.text) for line in split_lines(text, semicolons=True)] == [
            given_words
        ]


@given(st.text(string.printable))
def test_every_text_is_split_without_an_error(text: str) -> None:
    numbers = [line.number for line in split_lines(text)]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("text", "wanted", "place"),
    [
        ("wait 5s", "5s", (1, 6)),
        ("# c\n\n  wait  5s # x", "5s", (3, 9)),
        ("wait \\\n   5s", "5s", (2, 4)),
        ("mark ${A} here", "here", (1, 11)),
        ("mark ${A} here", "long", (1, 6)),
        ("mark 'a ${A}' \\\n ${A} z", "z", (2, 7)),
        ("mark 'a' \"b c\" z", "z", (1, 16)),
    ],
)
def test_a_word_knows_its_line_and_column(text: str, wanted: str, place: tuple[int, int]) -> None:
    (line,) = split_lines(text)
    line = line.with_values({"A": "a long one"})
    (word,) = (word for word in split_words(line.text) if word == wanted)
    assert line.position_of(word.at) == place


@given(st.text("ab '\"\\\n#;${}:-X", max_size=30))
def test_every_character_comes_from_where_it_stands(text: str) -> None:
    rows = [*text.split("\n"), ""]
    for line in split_lines(text):
        for at, character in enumerate(line.text):
            number, column = line.position_of(at)
            assert rows[number - 1][column - 1 : column] == character or character == " "
