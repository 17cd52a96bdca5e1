"""What brokers describe of their configuration, against Kafka's own classes and real brokers.

``described/`` has what brokers with ZooKeeper answered to DescribeConfigs 4 with synonyms: name,
value, whether it is read-only, source, whether it is sensitive, synonyms and type.
"""

import json
from pathlib import Path

import pytest

from emulator.releases.broker_configs import broker_configs
from emulator.releases.config import (
    ConfigError,
    Settings,
    check_dynamic,
    default_of,
    known_settings,
    type_of,
)
from emulator.releases.config_descriptions import STATIC_BROKER, describe_broker, static_values
from emulator.releases.config_names import SETTINGS
from emulator.releases.versions import RELEASES, numbers_of

DESCRIBED = Path(__file__).parent / "described"
OF_THE_FILE = {
    "listeners": "PLAINTEXT://127.0.0.1:19392",
    "log.dirs": "/data/logs",
    "log.retention.hours": "24",
    "num.io.threads": "4",
    "offsets.topic.replication.factor": "1",
    "zookeeper.connect": "127.0.0.1:19393",
    "zookeeper.connection.timeout.ms": "20000",
}
IN_OTHER_UNITS = {"log.retention.ms", "log.roll.ms", "replica.selector.class"}
"""Settings whose default is in another setting, or the same as none."""


@pytest.mark.parametrize("release", [path.stem for path in DESCRIBED.glob("*.json")])
def test_a_broker_describes_all_that_a_real_one_does(release: str) -> None:
    settings = Settings(release, defaults=OF_THE_FILE)
    layers = [(STATIC_BROKER, static_values(settings, 0, in_kraft_mode=False))]
    ours = [
        (
            *(each.name, each.value, each.is_read_only, each.source, each.is_sensitive),
            *(each.synonyms, each.type),
        )
        for each in describe_broker(release, layers)
    ]
    real = json.loads((DESCRIBED / f"{release}.json").read_text("utf-8"))
    assert json.loads(json.dumps(sorted(ours))) == real


def test_settings_with_an_effect_have_kafkas_types_and_defaults() -> None:
    for release in RELEASES:
        keys = broker_configs(numbers_of(release))
        for setting in SETTINGS:
            key = keys.get(setting.name)
            if key is not None and setting.name in known_settings(release):
                assert type_of(setting.name) == key.type
                if setting.name not in IN_OTHER_UNITS:
                    assert default_of(setting, release) == key.default, (release, setting.name)


def test_no_broker_describes_itself_before_0_11() -> None:
    assert not broker_configs(numbers_of("0.10.2.2"))
    assert broker_configs(numbers_of("0.11.0.0"))["num.io.threads"].mode == "read-only"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("log.retention.hours", "2", "cannot be changed while a broker runs"),
        ("num.io.threads", "many", "must be a number"),
        ("log.cleaner.io.buffer.load.factor", "much", "must be a number"),
        ("log.preallocate", "yes", "must be true or false"),
        ("ssl.keystore.password", "secret", "of listeners or security"),
        ("min.insync.replicas", "0", "must be 1 or more"),
    ],
)
def test_a_running_broker_refuses_what_it_cannot_take_over(
    name: str, value: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        check_dynamic({name: value}, "3.9", "0", 0)


def test_what_changes_nothing_here_is_taken_as_kafka_takes_it() -> None:
    for name, value in (("num.io.threads", "16"), ("log.preallocate", "true"), ("my.own", "1")):
        check_dynamic({name: value}, "3.9", "", 0)
    check_dynamic({"log.retention.hours": None}, "3.9", "0", 0)
    check_dynamic({"sasl.kerberos.min.time.before.relogin": "58000"}, "3.9", "0", 0)
