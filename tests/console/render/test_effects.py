import re

from msgspec.structs import replace

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
from sessions.model.authority import TROUBLES
from sessions.model.health import Counts
from sessions.sources.forecast import Change, Effect

NOW = Counts(brokers_up=3, brokers=3, partitions=9)


def effect(**changes: object) -> Effect:
    fields: dict[str, object] = {"now": NOW, "after": NOW, "worst": NOW, "seconds": 60, **changes}
    return Effect(**fields)  # type: ignore[arg-type]


def test_what_stays_as_it_is_goes_without_saying() -> None:
    assert effect_words(effect()) == "no partition is affected"
    assert not is_harmful(effect())


def held_up(tp: str, writes: str, writes_us: int | None, after: str = "ok") -> Change:
    return Change(tp, "healthy", "healthy", 1, 1, writes, writes_us, 0, after)


def test_the_numbers_add_up_by_partition_and_one_is_no_plural() -> None:
    changes = (
        held_up("a-0", "nobody", 6_100_000, "refused"),
        held_up("a-1", "nobody", None, "nobody"),
        held_up("a-2", "refused", None, "refused"),
        held_up("a-3", "waiting", 9_000_000),
    )
    assert effect_words(effect(changes=changes)) == (
        "2 partitions have no leader for up to 6.1 s, 1 of them to the end, "
        "2 partitions refuse acks=all to the end, "
        "1 partition keeps acks=all waiting for up to 9.0 s"
    )
    assert is_harmful(effect(changes=changes))


def test_what_was_so_before_is_no_effect() -> None:
    bad = Counts(brokers_up=3, brokers=3, partitions=9, under_min_isr=4, offline=1)
    assert effect_words(effect(now=bad, after=bad, worst=bad)) == effect_words(effect())


def test_everything_else_is_said_if_it_happens() -> None:
    said = effect_words(
        effect(
            worst=Counts(under_replicated=3),
            changes=(held_up("a-0", "nobody", 13_400_000), held_up("a-1", "nobody", 200_000)),
            moved=2,
            lost=1,
            duplicated=2,
            diverged=3,
            controller=1,
        )
    )
    assert said == (
        "2 partitions have no leader for up to 13.4 s, 3 under-replicated, 2 change leader, "
        "controller moves to 1, 1 record lost, 2 records duplicated, 3 records diverged"
    )


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
        Change("orders-10", "at_min_isr", "at_min_isr", 1, 3, "nobody", 6_100_000, 2, "refused"),
    )
    rows = change_rows(effect(changes=changes))
    assert [text_of(row.line) for row in rows] == [
        "PARTITION      LEADER  WRITES                      LOST  STATE",
        "t-1          2 > none  ok                                healthy > offline",
        "orders-10       1 > 3  nobody 6.1 s, then refused     2  at min ISR",
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
    joined = re.sub(r"(\d) (s|nobody|waiting)\b", r"\1_\2", row)
    return dict(zip(titles, joined.split(), strict=True))


def test_each_consequence_has_a_column_of_its_own() -> None:
    worst = Counts(offline=2, under_min_isr=1_200, under_replicated=3)
    always = (held_up("a-0", "nobody", None, "nobody"),)
    changes = {"moved": 4, "changes": always, "controller": 0, "lost": 5}
    found = cells(90, worst=worst, **changes)
    assert found == {
        "WRITES": "1_nobody",
        "FOR": "always",
        "OFFLINE": "+2",
        "<MIN": "+1,200",
        "LOST": "5",
        "MOVED": "4",
        "CTRL": "0",
        "URP": "+3",
    }
    assert cells(90, changes=(held_up("a-0", "waiting", 13_400_000),))["FOR"] == "13.4_s"


def test_what_gets_better_counts_down_and_what_stays_is_a_dot() -> None:
    before = Counts(offline=3, under_replicated=5)
    found = cells(90, now=before, worst=before, after=Counts(offline=1))
    assert (found["OFFLINE"], found["URP"], found["<MIN"]) == ("-2", "-5", ".")


def test_the_first_columns_stay_where_there_is_little_room() -> None:
    assert list(cells(22)) == ["WRITES", "FOR"]


def test_that_nobody_controls_the_cluster_any_more_is_an_effect() -> None:
    lost = replace(NOW, trouble=TROUBLES.index("quorum lost"))
    assert effect_words(effect(after=lost)) == "the quorum of controllers is lost"
    assert effect_words(effect(now=lost, after=lost)) == "no partition is affected"
    shown = columns_that_fit(200)
    titles = text_of(title_cells(shown)).split()
    cells = text_of(effect_cells(effect(after=lost), shown)).split()
    assert cells[titles.index("CTRL")] == "none"
