from collections.abc import Sequence

from console.model.predicates import Lazy, Node, Term, joined
from sessions.grammar.conditions import Joined

ROWS = [("ab", 1), ("b", 2), ("abc", 3)]


def has(letter: str) -> Term:
    return Term(lambda text: letter in text)


def above(least: int) -> Term:
    return Term(lambda row: row[1] > least, by_row=True)


def selected(node: Node) -> list[int]:
    def texts() -> Sequence[str]:
        return [text for text, _ in ROWS]

    return node.select(range(3), Lazy(texts), Lazy(lambda: ROWS))


def test_terms_are_joined_as_they_were_read() -> None:
    assert selected(joined(Joined("and", [above(1), has("a")]))) == [2]
    assert selected(joined(Joined("or", [above(1), has("a")]))) == [0, 1, 2]
    assert selected(joined(Joined("not", [has("a")]))) == [1]
    assert selected(joined(Joined("or", [Joined("not", [has("a")]), above(2)]))) == [1, 2]
    assert selected(joined(has("c"))) == [2]


def test_rows_are_not_asked_for_while_texts_decide() -> None:
    def never() -> Sequence[object]:
        raise AssertionError

    assert has("c").select(range(3), Lazy(lambda: ["a", "c", "d"]), Lazy(never)) == [1]
