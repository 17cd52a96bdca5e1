"""How JSON is written into znodes."""

import json

import pytest

from emulator.releases.profiles import PROFILES
from emulator.zookeeper.data import broker_json, compact


def test_fields_stay_in_their_order_without_spaces() -> None:
    assert (
        compact({"version": 1, "partitions": {"0": [1, 2]}})
        == '{"version":1,"partitions":{"0":[1,2]}}'
    )


def test_letters_outside_ascii_are_written_as_they_are() -> None:
    assert compact({"t": "größe"}) == '{"t":"größe"}'


REGISTRATIONS = {
    "0.8.2.2": (
        '{"jmx_port":-1,"timestamp":"1795255642619","host":"127.0.0.1","version":1,"port":57113}'
    ),
    "0.9.0.1": (
        '{"jmx_port":-1,"timestamp":"1795257460618",'
        '"endpoints":["PLAINTEXT://127.0.0.1:38493"],"host":"127.0.0.1","version":2,'
        '"port":38493}'
    ),
    "0.10.0.1": (
        '{"jmx_port":-1,"timestamp":"1795258034854",'
        '"endpoints":["PLAINTEXT://127.0.0.1:46755"],"host":"127.0.0.1","version":3,'
        '"port":46755}'
    ),
    "0.10.2.2": (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:37943"],"jmx_port":-1,"host":"127.0.0.1",'
        '"timestamp":"1795255050667","port":37943,"version":4}'
    ),
    "0.11.0.3": (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:54963"],"jmx_port":-1,"host":"127.0.0.1",'
        '"timestamp":"1795255812208","port":54963,"version":4}'
    ),
    "1.1.1": (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:46311"],"jmx_port":-1,"host":"127.0.0.1",'
        '"timestamp":"1795256643301","port":46311,"version":4}'
    ),
    "2.0.0": (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:54991"],"jmx_port":-1,"host":"127.0.0.1",'
        '"timestamp":"1795257259880","port":54991,"version":4}'
    ),
    "2.0.1": (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:59027"],"jmx_port":-1,"host":"127.0.0.1",'
        '"timestamp":"1795255216614","port":59027,"version":4}'
    ),
    "2.1.1": (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:49505"],"jmx_port":-1,"host":"127.0.0.1",'
        '"timestamp":"1795257039741","port":49505,"version":4}'
    ),
    "2.2.2": (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:36537"],"jmx_port":-1,"host":"127.0.0.1",'
        '"timestamp":"1795256017848","port":36537,"version":4}'
    ),
    "2.4.1": (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:51497"],"jmx_port":-1,"host":"127.0.0.1",'
        '"timestamp":"1795256433875","port":51497,"version":4}'
    ),
    "2.5.1": (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:47557"],"jmx_port":-1,"port":47557,'
        '"host":"127.0.0.1","version":4,"timestamp":"1795257832823"}'
    ),
    "2.7.2": (
        '{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:59209"],"jmx_port":-1,"port":59209,'
        '"host":"127.0.0.1","version":5,"timestamp":"1795256851543"}'
    ),
    "2.8.2": (
        '{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:52483"],"jmx_port":-1,"port":52483,'
        '"host":"127.0.0.1","version":5,"timestamp":"1795256228099"}'
    ),
    "3.5.2": (
        '{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:60113"],"jmx_port":-1,"port":60113,'
        '"host":"127.0.0.1","version":5,"timestamp":"1795257632543"}'
    ),
    "3.9.1": (
        '{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://127.0.0.1:41211"],"jmx_port":-1,"port":41211,'
        '"host":"127.0.0.1","version":5,"timestamp":"1795255428699"}'
    ),
}
"""What /brokers/ids/0 held on real brokers, by release."""


@pytest.mark.parametrize("version", REGISTRATIONS)
def test_a_registration_is_byte_for_byte_that_of_the_release(version: str) -> None:
    recorded = REGISTRATIONS[version]
    host, port, timestamp_ms = (
        json.loads(recorded)[name] for name in ("host", "port", "timestamp")
    )
    written = broker_json(PROFILES[version], 0, host, None, int(timestamp_ms))
    assert written.replace("9092", str(port)) == recorded


def test_the_documents_registration_is_written_byte_for_byte() -> None:
    written = broker_json(PROFILES["documents"], 0, "172.17.80.219", None, 1584267365984)
    assert written == (
        '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        '"endpoints":["PLAINTEXT://172.17.80.219:9092"],"jmx_port":-1,"host":"172.17.80.219",'
        '"timestamp":"1584267365984","port":9092,"version":4}'
    )


@pytest.mark.parametrize(
    ("version", "before", "after"),
    [
        ("0.10.0", "port", None),
        ("0.10.2", "endpoints", "jmx_port"),
        ("2.4", "endpoints", "jmx_port"),
        ("2.5", "endpoints", "jmx_port"),
    ],
)
def test_a_rack_has_its_place_in_the_hash_map(version: str, before: str, after: str | None) -> None:
    names = [*json.loads(broker_json(PROFILES[version], 0, "host", "a", 0)), None]
    place = names.index("rack")
    assert (names[place - 1], names[place + 1]) == (before, after)
