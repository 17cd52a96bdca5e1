"""Admin requests of external clients in KRaft mode: features, brokers, and what is configured."""

from collections.abc import Sequence
from typing import Final

from emulator import protocol
from emulator.clients.external.call import Call
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.wire.messages import features as wire
from emulator.wire.types import Message

SAFE_DOWNGRADE: Final = 2
UPGRADE_TYPES: Final = (wire.UPGRADE, SAFE_DOWNGRADE, 3)
TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
LISTED: Final = (GROUP, BROKER_LOGGER, BROKER, TOPIC)
"""Types of resources that exist here, in the order of responses."""
TYPES_SINCE: Final = 1
"""The first ListConfigResources version that lists more than client metrics (KIP-1142)."""


class UpdateFeatures:
    """UpdateFeatures: all features, or none (KIP-584, KIP-778)."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Ask the controller."""
        request = call.message
        assert isinstance(request, wire.UpdateFeaturesRequest)
        for update in request.feature_updates:
            if update.upgrade_type not in UPGRADE_TYPES:
                reason = (
                    f"Invalid update version {update.max_version_level} for feature"
                    f" {update.feature}. The controller does not support the given upgrade type."
                )
                error = "INVALID_UPDATE_VERSION"
                return [protocol.UpdateFeaturesResponse(0, error, {}, {"": reason})]
        updates = {
            update.feature: (update.max_version_level, _type_of(update, call.header.api_version))
            for update in request.feature_updates
        }
        return [protocol.UpdateFeaturesRequest(updates, request.validate_only)]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the error, and up to version 1 a row for each feature that was updated."""
        request = call.message
        assert isinstance(request, wire.UpdateFeaturesRequest)
        (response,) = responses
        assert isinstance(response, protocol.UpdateFeaturesResponse)
        if response.error != NONE:
            code = ERRORS[response.error].code
            return wire.UpdateFeaturesResponse(0, code, response.messages.get(""))
        rows = [
            wire.UpdatableFeatureResult(update.feature, 0, NONE)
            for update in request.feature_updates
        ]
        return wire.UpdateFeaturesResponse(0, 0, None, rows)


def _type_of(update: wire.FeatureUpdateKey, version: int) -> int:
    if version >= 1:
        return update.upgrade_type
    return SAFE_DOWNGRADE if update.allow_downgrade else wire.UPGRADE


class UnregisterBroker:
    """UnregisterBroker: the broker is forgotten until it registers again (KIP-631)."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Ask the controller."""
        assert isinstance(call.message, wire.UnregisterBrokerRequest)
        return [protocol.UnregisterBrokerRequest(call.message.broker_id)]

    def respond(self, _call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the error, if any."""
        (response,) = responses
        assert isinstance(response, protocol.UnregisterBrokerResponse)
        return wire.UnregisterBrokerResponse(
            0, ERRORS[response.error].code, response.messages.get("", "")
        )


class ListConfigResources:
    """ListConfigResources: topics, brokers, their loggers, and groups; no client metrics."""

    def ask(self, _call: Call) -> list[AnyMessage]:
        """Ask the broker what there is."""
        return [protocol.ListConfigResourcesRequest()]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the resources of the requested types, all of them if none is named."""
        request = call.message
        assert isinstance(request, wire.ListConfigResourcesRequest)
        (response,) = responses
        assert isinstance(response, protocol.ListConfigResourcesResponse)
        if call.header.api_version < TYPES_SINCE:
            return wire.ListConfigResourcesResponse()
        kinds = request.resource_types or LISTED
        if any(kind not in (*LISTED, CLIENT_METRICS) for kind in kinds):
            return wire.ListConfigResourcesResponse(0, ERRORS["UNSUPPORTED_VERSION"].code)
        brokers = [str(broker) for broker in response.brokers]
        names = {
            GROUP: response.groups,
            BROKER_LOGGER: brokers,
            BROKER: brokers,
            TOPIC: response.topics,
        }
        rows = [
            wire.ConfigResource(name, kind)
            for kind in LISTED
            if kind in kinds
            for name in names[kind]
        ]
        return wire.ListConfigResourcesResponse(0, 0, rows)
