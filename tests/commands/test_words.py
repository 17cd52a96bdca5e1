from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import words
from commands.words import BadWord
from emulator import events


@pytest.mark.parametrize(
    ("word", "duration_us"),
    [("250ms", 250_000), ("2s", 2_000_000), ("3m", 180_000_000), ("1h", 3_600_000_000), ("0s", 0)],
)
def test_a_time_is_a_number_with_its_unit(word: str, duration_us: int) -> None:
    assert words.duration(word) == duration_us


@given(st.integers(min_value=0, max_value=10**9))
def test_a_time_reads_back_as_it_is_written(milliseconds: int) -> None:
    assert words.duration(words.duration_text(milliseconds * 1000)) == milliseconds * 1000


@pytest.mark.parametrize(
    ("word", "number"), [("zk", -1), ("clients", -2), ("0", 0), ("12", 12)], ids=str
)
def test_a_host_reads_back_as_it_is_written(word: str, number: int) -> None:
    assert words.host(word) == number
    assert words.host_text(number) == word


def test_a_topic_may_itself_end_in_a_number() -> None:
    assert words.topic_partition("orders-2-0") == "orders-2-0"


def test_a_replica_is_a_partition_and_a_broker() -> None:
    assert words.replica("orders-0@2") == ("orders-0", 2)


def test_a_setting_keeps_equals_signs_in_its_value() -> None:
    assert words.setting("a.b=c=d") == ("a.b", "c=d")


def test_an_empty_setting_is_allowed_because_it_removes_one() -> None:
    assert words.setting("a.b=") == ("a.b", "")


def test_errors_of_kafka_and_of_zookeeper_are_known() -> None:
    assert [words.error_name(name) for name in ("NONE", "REQUEST_TIMED_OUT", "NoNodeError")] == [
        "NONE",
        "REQUEST_TIMED_OUT",
        "NoNodeError",
    ]


@pytest.mark.parametrize(
    "word",
    [
        *("LeaderAndIsr", "LeaderAndIsrRequest", "LeaderAndIsrResponse", "FetchResponse"),
        *("AlterIsr", "AlterIsrResponse", "AlterPartition", "JoinGroup"),
    ],
)
def test_requests_and_responses_are_known_by_kafkas_names(word: str) -> None:
    assert words.api(word) == word


def test_hosts_have_the_numbers_that_events_give_them() -> None:
    assert words.HOSTS == {"zk": events.ZOOKEEPER, "clients": events.CLIENTS}


@pytest.mark.parametrize(
    ("parse", "word"),
    [
        (words.duration, "5"),
        (words.duration, "5 s"),
        (words.duration, "1.5s"),
        (words.duration, "-1s"),
        (words.duration, "٣s"),
        (words.positive_duration, "0ms"),
        (words.natural, "-1"),
        (words.natural, "1_000"),
        (words.natural, "9" * 5000),
        (words.count, "0"),
        (words.broker, "-1"),
        (words.broker, "one"),
        (words.host, "zoo"),
        (words.topic_partition, "orders"),
        (words.topic_partition, "orders-"),
        (words.topic_partition, "orders-00"),
        (words.topic_partition, "a b-0"),
        (words.replica, "orders-0"),
        (words.replica, "orders-0@"),
        (words.broker_ids, "1,,2"),
        (words.assignment, "0:1,"),
        (words.setting, "=v"),
        (words.setting, "k"),
        (words.names, "a,,b"),
        (words.acks, "2"),
        (words.percent, "101"),
        (words.percent, "nan"),
        (words.percent, "x"),
        (words.znode_path, "brokers"),
        (words.version, "3.10"),
        (words.znode_version, "-2"),
        (words.error_name, "NOPE"),
        (words.api, "Fetsch"),
        (words.speed, "-1"),
        (words.speed, "nan"),
        (words.choice("a", "b"), "c"),
    ],
)
def test_what_is_no_such_word_is_refused_in_one_sentence(
    parse: Callable[[str], object], word: str
) -> None:
    with pytest.raises(BadWord) as refused:
        parse(word)
    message = str(refused.value)
    assert message.startswith(f"'{word}' is ")
    assert "\n" not in message


def test_the_nearest_word_is_named_whatever_its_case() -> None:
    with pytest.raises(BadWord, match="did you mean 'NOT_ENOUGH_REPLICAS'"):
        words.error_name("not_enough_replica")


def test_a_place_is_a_moment_or_an_event() -> None:
    assert words.place("12s") == words.Place(12_000_000)
    assert words.place("#1,289") == words.Place(seq=1289)
    for word in ("#", "#x", "#-1"):
        with pytest.raises(words.BadWord, match="is no event"):
            words.place(word)
