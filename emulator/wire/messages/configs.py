"""Configuration of topics and brokers."""

from typing import Annotated, Final

from emulator.wire.types import Api, Bool, Int8, Int16, Int32, Message, String, since, until


class DescribeConfigsResource(Message, frozen=True):
    resource_type: Int8 = 0
    resource_name: String = ""
    configuration_keys: list[String] | None = []


class DescribeConfigsRequest(Message, frozen=True):
    """Requests configuration values (KIP-133); null keys mean all."""

    resources: list[DescribeConfigsResource] = []
    include_synonyms: Annotated[Bool, since(1)] = False
    include_documentation: Annotated[Bool, since(3)] = False


class DescribeConfigsSynonym(Message, frozen=True):
    name: String = ""
    value: String | None = ""
    source: Int8 = 0


class DescribeConfigsResourceResult(Message, frozen=True):
    name: String = ""
    value: String | None = ""
    read_only: Bool = False
    is_default: Annotated[Bool, until(0)] = False
    config_source: Annotated[Int8, since(1)] = -1
    is_sensitive: Bool = False
    synonyms: Annotated[list[DescribeConfigsSynonym], since(1)] = []
    config_type: Annotated[Int8, since(3)] = 0
    documentation: Annotated[String | None, since(3)] = ""


class DescribeConfigsResult(Message, frozen=True):
    error_code: Int16 = 0
    error_message: String | None = ""
    resource_type: Int8 = 0
    resource_name: String = ""
    configs: list[DescribeConfigsResourceResult] = []


class DescribeConfigsResponse(Message, frozen=True):
    """The values and their sources (KIP-226)."""

    throttle_time_ms: Int32 = 0
    results: list[DescribeConfigsResult] = []


class AlterableConfig(Message, frozen=True):
    name: String = ""
    config_operation: Int8 = 0
    value: String | None = ""


class AlterConfigsResource(Message, frozen=True):
    resource_type: Int8 = 0
    resource_name: String = ""
    configs: list[AlterableConfig] = []


class IncrementalAlterConfigsRequest(Message, frozen=True):
    """Sets, deletes, appends to or subtracts from single values (KIP-339)."""

    resources: list[AlterConfigsResource] = []
    validate_only: Bool = False


class AlterConfigsResourceResponse(Message, frozen=True):
    error_code: Int16 = 0
    error_message: String | None = ""
    resource_type: Int8 = 0
    resource_name: String = ""


class IncrementalAlterConfigsResponse(Message, frozen=True):
    """The result for each resource."""

    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse] = []


APIS: Final = (
    Api(32, DescribeConfigsRequest, DescribeConfigsResponse, 4, 4),
    Api(44, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, 1),
)
