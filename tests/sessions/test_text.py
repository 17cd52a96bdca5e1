import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.model.states import ReplicaState
from sessions.text import (
    age,
    brackets,
    broker_list,
    clean,
    clock,
    dated_clock,
    hexadecimal,
    json_text,
    natural_key,
    natural_list,
    number,
    plain,
    plural,
    short_clock,
)


@given(st.text())
def test_clean_text_always_prints(text: str) -> None:
    assert clean(text).isprintable()


@given(st.text(alphabet=st.characters(categories=["L", "N"])))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\nb", r"a\nb"),
        ("[bold]x[/]", "[bold]x[/]"),
        ("\u202eabc", r"\u202eabc"),
        ("\ud800", r"\ud800"),
    ],
)
def test_control_characters_become_visible_and_markup_stays_text(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("time_us", "long", "short"),
    [
        (0, "00:00:00.000", "00:00.000"),
        (724_250_000, "00:12:04.250", "12:04.250"),
        (3_661_000_999, "01:01:01.000", "01:01:01.000"),
        (86_399_999_999, "23:59:59.999", "23:59:59.999"),
        (90_061_000_000, "1d 01:01:01.000", "1d 01:01:01.000"),
    ],
)
def test_clock_is_hours_minutes_seconds(time_us: int, long: str, short: str) -> None:
    assert (clock(time_us), short_clock(time_us)) == (long, short)


def test_a_time_of_day_has_the_date_of_its_own_day() -> None:
    zero_us = 1_795_478_400_000_000
    assert dated_clock(7_000, zero_us) == "2026-11-24 00:00:00.007"
    assert dated_clock(90_061_000_000, zero_us) == "2026-11-25 01:01:01.000"


@pytest.mark.parametrize(
    ("duration_us", "shown"),
    [
        (None, "-"),
        (-5, "0ms"),
        (120_000, "120ms"),
        (5_900_000, "5.9s"),
        (59_000_000, "59s"),
        (185_000_000, "3m05"),
        (7_620_000_000, "2h07"),
    ],
)
def test_age_takes_at_most_five_columns(duration_us: int | None, shown: str) -> None:
    assert age(duration_us) == shown
    assert len(shown) <= 5


def test_numbers_are_grouped_and_the_unknown_is_a_dash() -> None:
    assert (number(8131), number(None), plain(8131), plain(None)) == ("8,131", "-", "8131", "-")


def test_lists_of_brokers_are_short() -> None:
    assert (broker_list([2, 3, 1]), brackets([2, 3])) == ("2,3,1", "[2,3]")


def test_things_are_listed_as_in_a_sentence() -> None:
    lists = [natural_list(range(count)) for count in (1, 2, 3)]
    assert lists == ["0", "0 and 1", "0, 1 and 2"]


def test_ids_are_hexadecimal_as_zookeeper_writes_them() -> None:
    assert hexadecimal(0x1F) == "0x1f"


def test_one_thing_is_singular() -> None:
    assert (plural(1, "event"), plural(2_000, "event")) == ("1 event", "2,000 events")


def test_json_names_the_fields_of_structs() -> None:
    text = json_text([ReplicaState(2, remote_leo={3: 4})])
    assert text.startswith('[{"broker":2,"role":"offline"')
    assert '"remote_leo":{"3":4}' in text


def test_numbers_in_names_count_as_numbers() -> None:
    assert sorted(["p10", "p9", "p"], key=natural_key) == ["p", "p9", "p10"]
