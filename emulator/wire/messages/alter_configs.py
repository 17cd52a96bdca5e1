"""Replacing all configs of a resource, superseded by incremental changes (KIP-339)."""

from typing import Final

from emulator.wire.messages.configs import AlterConfigsResourceResponse
from emulator.wire.types import Api, Bool, Int8, Int32, Message, String


class AlterableConfig(Message, frozen=True):
    name: String = ""
    value: String | None = ""


class AlterConfigsResource(Message, frozen=True):
    resource_type: Int8 = 0
    resource_name: String = ""
    configs: list[AlterableConfig] = []


class AlterConfigsRequest(Message, frozen=True):
    """Replaces all values of a resource (KIP-133)."""

    resources: list[AlterConfigsResource] = []
    validate_only: Bool = False


class AlterConfigsResponse(Message, frozen=True):
    """The result for each resource."""

    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse] = []


APIS: Final = (Api(33, AlterConfigsRequest, AlterConfigsResponse, 2, 2),)
