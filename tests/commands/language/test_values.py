from collections.abc import Callable

import pytest

from commands.language import values
from emulator import events
from sessions.grammar.words import BadWord, duration


@pytest.mark.parametrize(
    ("word", "duration_us"),
    [("250ms", 250_000), ("2s", 2_000_000), ("3m", 180_000_000), ("1h", 3_600_000_000), ("0s", 0)],
)
def test_a_time_is_a_number_with_its_unit(word: str, duration_us: int) -> None:
    assert duration(word) == duration_us


@pytest.mark.parametrize(
    ("word", "number"), [("zk", -1), ("clients", -2), ("0", 0), ("12", 12)], ids=str
)
def test_a_host_is_a_broker_or_one_of_two_names(word: str, number: int) -> None:
    assert values.host(word) == number


def test_a_topic_may_itself_end_in_a_number() -> None:
    assert values.topic_partition("orders-2-0") == "orders-2-0"


def test_a_replica_is_a_partition_and_a_broker() -> None:
    assert values.replica("orders-0@2") == ("orders-0", 2)


def test_a_setting_keeps_equals_signs_in_its_value() -> None:
    assert values.setting("a.b=c=d") == ("a.b", "c=d")


def test_an_empty_setting_is_allowed_because_it_removes_one() -> None:
    assert values.setting("a.b=") == ("a.b", "")


def test_errors_of_kafka_and_of_zookeeper_are_known() -> None:
    assert [values.error_name(name) for name in ("NONE", "REQUEST_TIMED_OUT", "NoNodeError")] == [
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
    assert values.api(word) == word


def test_hosts_have_the_numbers_that_events_give_them() -> None:
    assert values.HOSTS == {"zk": events.ZOOKEEPER, "clients": events.CLIENTS}


@pytest.mark.parametrize(
    ("parse", "word"),
    [
        (duration, "5"),
        (duration, "5 s"),
        (duration, "1.5s"),
        (duration, "-1s"),
        (duration, "٣s"),
        (values.positive_duration, "0ms"),
        (values.natural, "-1"),
        (values.natural, "1_000"),
        (values.natural, "9" * 5000),
        (values.count, "0"),
        (values.broker, "-1"),
        (values.broker, "one"),
        (values.host, "zoo"),
        (values.topic_partition, "orders"),
        (values.topic_partition, "orders-"),
        (values.topic_partition, "orders-00"),
        (values.topic_partition, "a b-0"),
        (values.replica, "orders-0"),
        (values.replica, "orders-0@"),
        (values.broker_ids, "1,,2"),
        (values.assignment, "0:1,"),
        (values.setting, "=v"),
        (values.setting, "k"),
        (values.names, "a,,b"),
        (values.acks, "2"),
        (values.percent, "101"),
        (values.percent, "nan"),
        (values.percent, "x"),
        (values.znode_path, "brokers"),
        (values.version, "3.10"),
        (values.znode_version, "-2"),
        (values.error_name, "NOPE"),
        (values.api, "Fetsch"),
        (values.speed, "-1"),
        (values.speed, "nan"),
        (values.choice("a", "b"), "c"),
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
        values.error_name("not_enough_replica")
