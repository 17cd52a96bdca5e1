"""Features, brokers that leave for good, and what is configured."""

from typing import Any

import pytest

from emulator.common.errors import ERRORS
from emulator.inputs.statements import CrashBroker, CreateTopic, StartBroker
from emulator.wire.messages import alter_configs
from emulator.wire.messages import features as wire
from emulator.wire.messages.cluster import ApiVersionsRequest, MetadataRequest
from emulator.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsResource,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.wire_client import WireLab

INVALID = ERRORS["INVALID_UPDATE_VERSION"].code
INVALID_REQUEST, NOT_CONTROLLER = 42, 41
SAFE_DOWNGRADE = 2
SUBTRACT = 3


@pytest.fixture
def lab() -> WireLab:
    made = WireLab.made(version="4.1")
    made.run(CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    made.pass_time(1_000_000)
    return made


def update(lab: WireLab, *rows: tuple[str, int, int], version: int = 1, check: bool = False) -> int:
    keys = [wire.FeatureUpdateKey(name, level, upgrade_type=kind) for name, level, kind in rows]
    request = wire.UpdateFeaturesRequest(1_000, keys, check)
    found = lab.ask(lab.connect(0), request, version)
    lab.pass_time(1_000_000)
    names = [name for name, _, _ in rows] if version < 2 and not found.error_code else []
    assert [each.feature for each in found.results] == names
    code: int = found.error_code
    return code


def finalized(lab: WireLab) -> dict[str, int]:
    found = lab.ask(lab.connect(0), ApiVersionsRequest("a", "1"), 4)
    return {each.name: each.max_version_level for each in found.finalized_features}


@pytest.mark.parametrize("version", [1, 2])
def test_features_are_updated_all_or_none(lab: WireLab, version: int) -> None:
    assert finalized(lab)["group.version"] == 1
    assert update(lab, ("group.version", 0, wire.UPGRADE), version=version) == INVALID
    down = ("group.version", 0, SAFE_DOWNGRADE)
    assert update(lab, down, ("nope", 1, wire.UPGRADE), version=version) == INVALID
    assert update(lab, down, version=version, check=True) == 0
    assert finalized(lab)["group.version"] == 1
    assert update(lab, down, version=version) == 0
    assert "group.version" not in finalized(lab)
    assert update(lab, ("group.version", 1, wire.UPGRADE), version=version) == 0
    assert finalized(lab)["group.version"] == 1


@pytest.mark.parametrize(
    "row", [("metadata.version", 99, 1), ("group.version", -1, 1), ("group.version", 1, 9)], ids=str
)
def test_levels_and_types_that_do_not_exist_are_refused(
    lab: WireLab, row: tuple[str, int, int]
) -> None:
    assert update(lab, row) == INVALID


def results(lab: WireLab, broker: int, version: int, *keys: wire.FeatureUpdateKey) -> Any:  # noqa: ANN401
    response = lab.ask(lab.connect(broker), wire.UpdateFeaturesRequest(1_000, list(keys)), version)
    lab.pass_time(1_000_000)
    rows = [(row.feature, row.error_code, row.error_message) for row in response.results]
    return response.error_code, response.error_message, rows


Key = wire.FeatureUpdateKey
UNSUPPORTED = (
    "Could not apply finalized feature update because the provided feature is not supported."
)
LOW_2_8 = (
    "Can not provide maxVersionLevel: 0 less than 1 without setting the allowDowngrade flag to true"
    " in the request."
)
LOW_3_9 = (
    "Can not provide versionLevel: 0 less than 1 without setting the SAFE downgradeType in the "
    "request."
)


@pytest.mark.parametrize(("version", "api", "low"), [("2.8", 0, LOW_2_8), ("3.9", 1, LOW_3_9)])
def test_with_zookeeper_there_is_no_feature_to_update(version: str, api: int, low: str) -> None:
    """As brokers of 2.8.2 and 3.9.2 answered."""
    lab = WireLab.made(version=version)
    lab.pass_time(1_000_000)
    controller = lab.cluster.controller_id() or 0
    rows = [
        (Key("", 1), "Feature name can not be empty."),
        (Key("metadata.version", 21), UNSUPPORTED),
        (Key("nope", 0), low),
        (Key("nope", 0, True, SAFE_DOWNGRADE), "Can not delete non-existing finalized feature."),
    ]
    if api:
        rows.append((Key("nope", 1, upgrade_type=9), "Received unknown upgrade type."))
    for key, reason in rows:
        expected = (0, None, [(key.feature, INVALID_REQUEST, reason)])
        assert results(lab, controller, api, key) == expected
    assert results(lab, controller, api) == (0, None, [])
    elsewhere = (controller + 1) % 3
    assert results(lab, elsewhere, api, Key("nope", 1)) == (NOT_CONTROLLER, None, [])


def test_before_4_0_each_feature_is_updated_by_itself() -> None:
    """As a broker of 3.9.2 answered, whose words differ."""
    lab = WireLab.made(version="3.9", mode="kraft")
    lab.pass_time(1_000_000)
    nope, level = Key("nope", 1), finalized(lab)["metadata.version"]
    down = Key("metadata.version", level - 1, upgrade_type=SAFE_DOWNGRADE)
    code, reason, rows = results(lab, 0, 1, nope, down, Key("x", 1, upgrade_type=9))
    assert (code, reason) == (0, "")
    assert [row[:2] for row in rows] == [
        ("metadata.version", 0),
        ("nope", INVALID),
        ("x", INVALID),
    ]
    assert finalized(lab)["metadata.version"] == level - 1
    up = Key("metadata.version", level, allow_downgrade=True)
    assert [row[:2] for row in results(lab, 0, 0, up)[2]] == [("metadata.version", 0)]
    (row,) = results(lab, 0, 0, Key("metadata.version", level - 1, allow_downgrade=True))[2]
    assert row[1] == INVALID


def brokers(lab: WireLab) -> list[int]:
    return sorted(
        each.node_id for each in lab.ask(lab.connect(0), MetadataRequest(None), 9).brokers
    )


def test_a_broker_is_forgotten_until_it_registers_again(lab: WireLab) -> None:
    unknown = ERRORS["BROKER_ID_NOT_REGISTERED"].code
    lab.run(CrashBroker(broker=2))
    lab.pass_time(30_000_000)
    request = wire.UnregisterBrokerRequest(2)
    assert lab.ask(lab.connect(0), request, 0).error_code == 0
    assert lab.ask(lab.connect(0), request, 0).error_code == unknown
    lab.pass_time(1_000_000)
    assert listed(lab, 4) == ["0", "1"]
    lab.run(StartBroker(broker=2))
    lab.pass_time(2_000_000)
    assert brokers(lab) == [0, 1, 2]


def listed(lab: WireLab, *types: int, version: int = 1) -> list[str]:
    found = lab.ask(lab.connect(0), wire.ListConfigResourcesRequest(list(types)), version)
    assert not found.error_code
    return [each.resource_name for each in found.config_resources]


def test_what_is_configured_is_listed_by_type(lab: WireLab) -> None:
    assert listed(lab, 2) == ["t"]
    assert listed(lab) == ["0", "1", "2", "0", "1", "2", "t"]
    assert listed(lab, 32) == []
    assert listed(lab, version=0) == []
    wrong = lab.ask(lab.connect(0), wire.ListConfigResourcesRequest([99]), 1)
    assert wrong.error_code == ERRORS["UNSUPPORTED_VERSION"].code


@pytest.mark.parametrize("version", ["4.1", "2.8"])
def test_a_list_from_which_everything_is_subtracted_is_empty(version: str) -> None:
    lab = WireLab.made(version=version)
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    lab.pass_time(1_000_000)
    here = lab.connect(0)
    change = AlterableConfig("cleanup.policy", SUBTRACT, "delete")
    altered = IncrementalAlterConfigsRequest([AlterConfigsResource(2, "t", [change])])
    assert lab.ask(here, altered, 1).responses[0].error_code == 0
    lab.pass_time(1_000_000)
    wanted = DescribeConfigsRequest([DescribeConfigsResource(2, "t", ["cleanup.policy"])])
    (entry,) = lab.ask(here, wanted, 2).results[0].configs
    assert (entry.value, entry.config_source) == ("", 1)


@pytest.mark.parametrize(
    ("first", "second", "is_answered"), [(2, 2, False), (98, 99, False), (2, 99, True)]
)
def test_types_that_no_broker_knows_are_one(first: int, second: int, is_answered: bool) -> None:
    lab = WireLab.made(brokers=1, version="2.8")
    lab.pass_time(1_000_000)
    client = lab.connect()
    rows = [alter_configs.AlterConfigsResource(kind, "t", []) for kind in (first, second)]
    lab.send(client, alter_configs.AlterConfigsRequest(rows), 1)
    lab.pass_time(1_000_000)
    assert bool(lab.responses[client]) == is_answered


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("3.5", "Unexpected broker id, expected 0, but received 7"),
        ("3.9", "Unexpected node id. Expected 0, but received 7"),
    ],
)
def test_loggers_of_another_broker_are_refused(version: str, reason: str) -> None:
    lab = WireLab.made(brokers=1, version=version)
    lab.pass_time(1_000_000)
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(8, "7", [])])
    (row,) = lab.ask(lab.connect(), request, 0).responses
    assert row.error_message == reason
