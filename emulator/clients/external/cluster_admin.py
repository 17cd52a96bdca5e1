"""Admin requests of external clients in KRaft mode: features, brokers, and what is configured."""

from collections.abc import Sequence
from typing import Final

from emulator import protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.resource_configs import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
)
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.releases.versions import has_no_zookeeper
from emulator.wire.messages import features as wire
from emulator.wire.types import Message

SAFE_DOWNGRADE: Final = 2
OF_ALL: Final = ("CLUSTER_AUTHORIZATION_FAILED", "NOT_CONTROLLER")
"""Errors of a whole request before 4.0."""
UPGRADE_TYPES: Final = (wire.UPGRADE, SAFE_DOWNGRADE, 3)
LISTED: Final = (GROUP, CLIENT_METRICS, BROKER_LOGGER, BROKER, TOPIC)
"""Types of resources, in the order of responses."""
TYPES_SINCE: Final = 1
"""The first ListConfigResources version that lists more than client metrics (KIP-1142)."""


class UpdateFeatures:
    """UpdateFeatures (KIP-584, KIP-778): from 4.0 on all features, or none.

    In KRaft mode before 4.0 each is updated by itself; with ZooKeeper there is no feature. Source:
    ``QuorumController.updateFeatures``, ``KafkaController.validateFeatureUpdate``; brokers of
    2.8.2, 3.9.2 and 4.1.2 were asked.
    """

    def __init__(self, context: ClientContext) -> None:
        self.in_kraft_mode = context.in_kraft_mode
        self.is_atomic = has_no_zookeeper(context.profile.numbers)
        self.has_types = context.profile.has("feature_updates_have_types")

    def ask(self, call: Call[wire.UpdateFeaturesRequest]) -> list[AnyMessage]:
        request = call.message
        if not self.in_kraft_mode:
            return [protocol.UpdateFeaturesRequest({}, request.validate_only)]
        if self.is_atomic or not request.feature_updates:
            return [_asked(request.feature_updates, request)]
        return [_asked([update], request) for update in _sorted(request)]

    def respond(self, call: Call[wire.UpdateFeaturesRequest], *responses: AnyMessage) -> Message:
        """Return the error, and up to version 1 a row for each feature."""
        request = call.message
        found = [
            response
            for response in responses
            if isinstance(response, protocol.UpdateFeaturesResponse)
        ]
        whole = next((each for each in found if self.is_atomic or each.error in OF_ALL), None)
        if whole is not None and whole.error != NONE:
            code = ERRORS[whole.error].code
            return wire.UpdateFeaturesResponse(0, code, whole.messages.get(""))
        if not self.in_kraft_mode:
            rows = [
                wire.UpdatableFeatureResult(
                    update.feature, ERRORS["INVALID_REQUEST"].code, self._unsupported(update, call)
                )
                for update in request.feature_updates
            ]
            return wire.UpdateFeaturesResponse(0, 0, None, rows)
        if self.is_atomic:
            rows = [
                wire.UpdatableFeatureResult(update.feature, 0, NONE)
                for update in request.feature_updates
            ]
            return wire.UpdateFeaturesResponse(0, 0, None, rows)
        rows = [
            wire.UpdatableFeatureResult(
                update.feature, ERRORS[response.error].code, response.messages.get("")
            )
            for update, response in zip(_sorted(request), found, strict=False)
        ]
        return wire.UpdateFeaturesResponse(0, 0, "", rows)

    def _unsupported(self, update: wire.FeatureUpdateKey, call: AnyCall) -> str:
        """Why a cluster with ZooKeeper does not update a feature: its brokers support none."""
        level, kind = update.max_version_level, update.upgrade_type
        if call.header.api_version == 0:
            kind = SAFE_DOWNGRADE if update.allow_downgrade else wire.UPGRADE
        if not update.feature:
            return "Feature name can not be empty."
        if kind not in UPGRADE_TYPES:
            return "Received unknown upgrade type."
        if level > 0:
            return (
                "Could not apply finalized feature update because the provided feature is not "
                "supported."
            )
        if kind != wire.UPGRADE:
            return "Can not delete non-existing finalized feature."
        if self.has_types:
            return (
                f"Can not provide versionLevel: {level} less than 1 without setting the SAFE "
                "downgradeType in the request."
            )
        return (
            f"Can not provide maxVersionLevel: {level} less than 1 without setting the "
            "allowDowngrade flag to true in the request."
        )


def _sorted(request: wire.UpdateFeaturesRequest) -> list[wire.FeatureUpdateKey]:
    return sorted(request.feature_updates, key=lambda update: update.feature)


def _asked(
    updates: Sequence[wire.FeatureUpdateKey], request: wire.UpdateFeaturesRequest
) -> AnyMessage:
    """The message to a controller in KRaft mode, which never looks at ``allow_downgrade``."""
    for update in updates:
        if update.upgrade_type not in UPGRADE_TYPES:
            reason = (
                f"Invalid update version {update.max_version_level} for feature"
                f" {update.feature}. The controller does not support the given upgrade type."
            )
            error = "INVALID_UPDATE_VERSION"
            return protocol.UpdateFeaturesResponse(0, error, {}, {"": reason})
    levels = {update.feature: (update.max_version_level, update.upgrade_type) for update in updates}
    return protocol.UpdateFeaturesRequest(levels, request.validate_only)


class UnregisterBroker:
    """UnregisterBroker: the broker is forgotten until it registers again (KIP-631)."""

    def ask(self, call: Call[wire.UnregisterBrokerRequest]) -> list[AnyMessage]:
        return [protocol.UnregisterBrokerRequest(call.message.broker_id)]

    def respond(self, _call: AnyCall, response: protocol.UnregisterBrokerResponse) -> Message:
        return wire.UnregisterBrokerResponse(
            0, ERRORS[response.error].code, response.messages.get("", "")
        )


class ListConfigResources:
    """ListConfigResources: topics, brokers, their loggers, groups, and clients' metrics."""

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        return [protocol.ListConfigResourcesRequest()]

    def respond(
        self,
        call: Call[wire.ListConfigResourcesRequest],
        response: protocol.ListConfigResourcesResponse,
    ) -> Message:
        """Return the resources of the requested types, all of them if none is named."""
        if response.error != NONE:
            return wire.ListConfigResourcesResponse(0, ERRORS[response.error].code)
        if call.header.api_version < TYPES_SINCE:
            metrics = [wire.ConfigResource(name) for name in response.subscriptions]
            return wire.ListConfigResourcesResponse(0, 0, metrics)
        kinds = call.message.resource_types or LISTED
        if any(kind not in LISTED for kind in kinds):
            return wire.ListConfigResourcesResponse(0, ERRORS["UNSUPPORTED_VERSION"].code)
        brokers = [str(broker) for broker in response.brokers]
        names = {
            GROUP: response.groups,
            CLIENT_METRICS: response.subscriptions,
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
