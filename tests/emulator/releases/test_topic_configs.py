"""What brokers describe of a topic's configuration: every name of the release, and its sources."""

import pytest

from emulator.releases.config_descriptions import (
    DEFAULT,
    STATIC_BROKER,
    TOPIC,
    ConfigEntry,
    describe_topic,
)


def described(release: str, own: dict[str, str], of_file: dict[str, str]) -> dict[str, ConfigEntry]:
    return {each.name: each for each in describe_topic(release, own, [(STATIC_BROKER, of_file)])}


@pytest.mark.parametrize(
    ("release", "count"),
    [("0.11.0.3", 24), ("2.8.2", 26), ("3.9.2", 36), ("4.1.2", 33), ("4.4.0", 37)],
)
def test_topics_have_all_that_the_release_has(release: str, count: int) -> None:
    found = described(release, {}, {})
    assert len(found) == count
    assert {each.source for each in found.values()} == {DEFAULT}
    assert (found["segment.jitter.ms"].value, found["retention.ms"].value) == ("0", "604800000")
    assert found["min.cleanable.dirty.ratio"].synonyms == [
        ("log.cleaner.min.cleanable.ratio", "0.5", DEFAULT)
    ]


def test_a_value_comes_from_the_topic_the_broker_or_the_release() -> None:
    found = described("3.9", {"flush.ms": "5"}, {"log.index.interval.bytes": "64"})
    assert (found["flush.ms"].value, found["flush.ms"].source) == ("5", TOPIC)
    assert found["flush.ms"].synonyms[0] == ("flush.ms", "5", TOPIC)
    index = found["index.interval.bytes"]
    assert (index.value, index.source) == ("64", STATIC_BROKER)
    assert index.synonyms == [
        ("log.index.interval.bytes", "64", STATIC_BROKER),
        ("log.index.interval.bytes", "4096", DEFAULT),
    ]


def test_hours_of_the_broker_are_milliseconds_of_the_topic() -> None:
    retention = described("3.9", {}, {"log.retention.hours": "2"})["retention.ms"]
    assert (retention.value, retention.source, retention.synonyms) == ("7200000", DEFAULT, [])
