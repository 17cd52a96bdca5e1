from console.model.links import Link
from console.render.effects import (
    change_rows,
    columns_that_fit,
    effect_cells,
    effect_words,
    is_harmful,
    title_cells,
)
from console.render.lines import text_of
from sessions.model.health import Counts
from sessions.sources.forecast import Change, Effect

NOW = Counts(brokers_up=3, brokers=3, partitions=9)


def effect(**changes: object) -> Effect:
    fields: dict[str, object] = {"now": NOW, "after": NOW, "worst": NOW, "seconds": 60, **changes}
    return Effect(**fields)  # type: ignore[arg-type]


def test_what_stays_as_it_is_goes_without_saying() -> None:
    assert effect_words(effect()) == "no partition is affected"
    assert not is_harmful(effect())


def test_the_worst_counts_and_one_is_no_plural() -> None:
    worst = Counts(brokers_up=2, brokers=3, partitions=9, under_min_isr=1, offline=2)
    assert effect_words(effect(worst=worst)).startswith("1 partition loses min ISR, 2 go offline")
    assert is_harmful(effect(worst=worst))


def test_what_was_so_before_is_no_effect() -> None:
    bad = Counts(brokers_up=3, brokers=3, partitions=9, under_min_isr=4, offline=1)
    assert effect_words(effect(now=bad, after=bad, worst=bad)) == effect_words(effect())


def test_everything_else_is_said_if_it_happens() -> None:
    said = effect_words(
        effect(
            worst=Counts(under_replicated=3),
            unserved=2,
            unserved_us=13_400_000,
            moved=2,
            lost=1,
            duplicated=2,
            diverged=3,
            controller=1,
        )
    )
    assert said == (
        "3 under-replicated, 2 change leader, 2 unserved for 13.4 s, controller moves to 1, "
        "1 record lost, 2 records duplicated, 3 records diverged"
    )


def test_what_is_over_at_once_is_not_worth_a_word() -> None:
    assert "unserved" not in effect_words(effect(unserved=2, unserved_us=400))
    assert "unserved to the end" in effect_words(effect(unserved=2, unserved_us=None))


def test_what_gets_better_is_said() -> None:
    bad = Counts(
        brokers_up=2,
        brokers=3,
        partitions=9,
        under_min_isr=4,
        under_replicated=6,
        offline=1,
        non_preferred=2,
    )
    assert effect_words(effect(now=bad, worst=bad)) == (
        "1 is back online, 4 have min ISR again, 6 are fully in sync again, "
        "2 have their preferred leader back"
    )


def test_the_partitions_that_end_otherwise_are_listed_with_their_leaders() -> None:
    changes = (
        Change("t-1", "healthy", "offline", 2, -1),
        Change("orders-10", "at_min_isr", "at_min_isr", 1, 3),
    )
    rows = change_rows(effect(changes=changes))
    assert [text_of(row.line) for row in rows] == [
        "PARTITION      LEADER  STATE",
        "t-1          2 > none  healthy > offline",
        "orders-10       1 > 3  at min ISR",
    ]
    assert [row.link for row in rows[1:]] == [Link("partition", each.tp) for each in changes]
    assert change_rows(effect()) == []


def test_a_refusal_is_told_with_its_reason() -> None:
    assert effect_words(effect(refused="it is down")) == "it would be refused: it is down"


def cells(room: int, **changes: object) -> dict[str, str]:
    """What stands under each title of the table."""
    shown = columns_that_fit(room)
    titles = text_of(title_cells(shown)).split()
    row = text_of(effect_cells(effect(**changes), shown))
    assert len(row) == len(text_of(title_cells(shown))) <= room
    return dict(zip(titles, row.replace(" s ", "_s ").split(), strict=True))


def test_each_consequence_has_a_column_of_its_own() -> None:
    worst = Counts(offline=2, under_min_isr=1_200, under_replicated=3)
    changes = {"moved": 4, "unserved": 1, "unserved_us": None, "controller": 0, "lost": 5}
    found = cells(80, worst=worst, **changes)
    assert found == {
        "OFFLINE": "+2",
        "<MIN": "+1,200",
        "LOST": "5",
        "UNSERVED": "always",
        "MOVED": "4",
        "CTRL": "0",
        "URP": "+3",
    }
    assert cells(80, unserved=1, unserved_us=13_400_000)["UNSERVED"] == "13.4_s"
    assert cells(80, unserved=1, unserved_us=400)["UNSERVED"] == "."


def test_what_gets_better_counts_down_and_what_stays_is_a_dot() -> None:
    before = Counts(offline=3, under_replicated=5)
    found = cells(80, now=before, worst=before, after=Counts(offline=1))
    assert (found["OFFLINE"], found["URP"], found["<MIN"]) == ("-2", "-5", ".")


def test_the_first_columns_stay_where_there_is_little_room() -> None:
    assert list(cells(16)) == ["OFFLINE", "<MIN"]


def test_who_is_unserved_to_the_end_is_counted_apart() -> None:
    effect = Effect(Counts(), Counts(), Counts(), 30, unserved=6, unserved_us=None, unserved_left=2)
    assert effect_words(effect) == "6 unserved at first, 2 to the end"
    effect = Effect(Counts(), Counts(), Counts(), 30, unserved=6, unserved_us=None, unserved_left=6)
    assert effect_words(effect) == "6 unserved to the end"
