"""Changes of finalized features, and brokers that leave for good."""

from typing import Annotated, Final

from emulator.wire.types import Api, Bool, Int8, Int16, Int32, Message, String, since, until

UPGRADE = 1
"""The type of a change that does not lower a level (KIP-778)."""


class FeatureUpdateKey(Message, frozen=True):
    feature: String = ""
    max_version_level: Int16 = 0
    allow_downgrade: Annotated[Bool, until(0)] = False
    upgrade_type: Annotated[Int8, since(1)] = UPGRADE


class UpdateFeaturesRequest(Message, frozen=True):
    """Requests other levels of finalized features (KIP-584)."""

    timeout_ms: Int32 = 60_000
    feature_updates: list[FeatureUpdateKey] = []
    validate_only: Annotated[Bool, since(1)] = False


class UpdatableFeatureResult(Message, frozen=True):
    feature: String = ""
    error_code: Int16 = 0
    error_message: String | None = ""


class UpdateFeaturesResponse(Message, frozen=True):
    """Whether all features were updated, or none."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""
    results: Annotated[list[UpdatableFeatureResult], until(1)] = []


class UnregisterBrokerRequest(Message, frozen=True):
    """Requests that a broker is forgotten (KIP-631)."""

    broker_id: Int32 = 0


class UnregisterBrokerResponse(Message, frozen=True):
    """Whether the broker is forgotten."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""


class ListConfigResourcesRequest(Message, frozen=True):
    """Requests the names of what is configured (KIP-1142), up to 4.0 of client metrics only."""

    resource_types: Annotated[list[Int8], since(1)] = []


class ConfigResource(Message, frozen=True):
    resource_name: String = ""
    resource_type: Annotated[Int8, since(1)] = 16


class ListConfigResourcesResponse(Message, frozen=True):
    """The resources, by type and name."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    config_resources: list[ConfigResource] = []


APIS: Final = (
    Api(57, UpdateFeaturesRequest, UpdateFeaturesResponse, 2, 0),
    Api(64, UnregisterBrokerRequest, UnregisterBrokerResponse, 0, 0),
    Api(74, ListConfigResourcesRequest, ListConfigResourcesResponse, 1, 0),
)
