"""Access control lists, delegation tokens, SCRAM credentials and quotas."""

from typing import Annotated, Final

from emulator.wire.types import (
    Api,
    Bool,
    Bytes,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    String,
    since,
)

LITERAL = 3
"""The pattern type of a resource that is named (KIP-290)."""


class DescribeAclsRequest(Message, frozen=True):
    """Requests the access control lists that match a filter (KIP-140)."""

    resource_type_filter: Int8 = 0
    resource_name_filter: String | None = ""
    pattern_type_filter: Annotated[Int8, since(1)] = LITERAL
    principal_filter: String | None = ""
    host_filter: String | None = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class AclDescription(Message, frozen=True):
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DescribeAclsResource(Message, frozen=True):
    resource_type: Int8 = 0
    resource_name: String = ""
    pattern_type: Annotated[Int8, since(1)] = LITERAL
    acls: list[AclDescription] = []


class DescribeAclsResponse(Message, frozen=True):
    """The access control lists, by resource."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""
    resources: list[DescribeAclsResource] = []


class AclCreation(Message, frozen=True):
    resource_type: Int8 = 0
    resource_name: String = ""
    resource_pattern_type: Annotated[Int8, since(1)] = LITERAL
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class CreateAclsRequest(Message, frozen=True):
    """Requests the creation of access control lists (KIP-140)."""

    creations: list[AclCreation] = []


class AclCreationResult(Message, frozen=True):
    error_code: Int16 = 0
    error_message: String | None = ""


class CreateAclsResponse(Message, frozen=True):
    """The result of each creation, in the order of the request."""

    throttle_time_ms: Int32 = 0
    results: list[AclCreationResult] = []


class DeleteAclsFilter(Message, frozen=True):
    resource_type_filter: Int8 = 0
    resource_name_filter: String | None = ""
    pattern_type_filter: Annotated[Int8, since(1)] = LITERAL
    principal_filter: String | None = ""
    host_filter: String | None = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DeleteAclsRequest(Message, frozen=True):
    """Requests the deletion of the access control lists that match filters (KIP-140)."""

    filters: list[DeleteAclsFilter] = []


class DeleteAclsMatchingAcl(Message, frozen=True):
    error_code: Int16 = 0
    error_message: String | None = ""
    resource_type: Int8 = 0
    resource_name: String = ""
    pattern_type: Annotated[Int8, since(1)] = LITERAL
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DeleteAclsFilterResult(Message, frozen=True):
    error_code: Int16 = 0
    error_message: String | None = ""
    matching_acls: list[DeleteAclsMatchingAcl] = []


class DeleteAclsResponse(Message, frozen=True):
    """The result for each filter, in the order of the request."""

    throttle_time_ms: Int32 = 0
    filter_results: list[DeleteAclsFilterResult] = []


class KafkaPrincipal(Message, frozen=True):
    """A user in requests and responses about delegation tokens."""

    principal_type: String = ""
    principal_name: String = ""


class CreateDelegationTokenRequest(Message, frozen=True):
    """Requests a delegation token (KIP-48)."""

    owner_principal_type: Annotated[String | None, since(3)] = ""
    owner_principal_name: Annotated[String | None, since(3)] = ""
    renewers: list[KafkaPrincipal] = []
    max_lifetime_ms: Int64 = 0


class CreateDelegationTokenResponse(Message, frozen=True):
    """The token."""

    error_code: Int16 = 0
    principal_type: String = ""
    principal_name: String = ""
    token_requester_principal_type: Annotated[String, since(3)] = ""
    token_requester_principal_name: Annotated[String, since(3)] = ""
    issue_timestamp_ms: Int64 = 0
    expiry_timestamp_ms: Int64 = 0
    max_timestamp_ms: Int64 = 0
    token_id: String = ""
    hmac: Bytes = b""
    throttle_time_ms: Int32 = 0


class RenewDelegationTokenRequest(Message, frozen=True):
    """Requests that a token expires later."""

    hmac: Bytes = b""
    renew_period_ms: Int64 = 0


class RenewDelegationTokenResponse(Message, frozen=True):
    """When the token expires."""

    error_code: Int16 = 0
    expiry_timestamp_ms: Int64 = 0
    throttle_time_ms: Int32 = 0


class ExpireDelegationTokenRequest(Message, frozen=True):
    """Requests that a token expires earlier."""

    hmac: Bytes = b""
    expiry_time_period_ms: Int64 = 0


class ExpireDelegationTokenResponse(Message, frozen=True):
    """When the token expires."""

    error_code: Int16 = 0
    expiry_timestamp_ms: Int64 = 0
    throttle_time_ms: Int32 = 0


class DescribeDelegationTokenRequest(Message, frozen=True):
    """Requests the tokens of owners; null means all."""

    owners: list[KafkaPrincipal] | None = []


class DescribedDelegationToken(Message, frozen=True):
    principal_type: String = ""
    principal_name: String = ""
    token_requester_principal_type: Annotated[String, since(3)] = ""
    token_requester_principal_name: Annotated[String, since(3)] = ""
    issue_timestamp: Int64 = 0
    expiry_timestamp: Int64 = 0
    max_timestamp: Int64 = 0
    token_id: String = ""
    hmac: Bytes = b""
    renewers: list[KafkaPrincipal] = []


class DescribeDelegationTokenResponse(Message, frozen=True):
    """The tokens."""

    error_code: Int16 = 0
    tokens: list[DescribedDelegationToken] = []
    throttle_time_ms: Int32 = 0


class ComponentData(Message, frozen=True):
    entity_type: String = ""
    match_type: Int8 = 0
    match: String | None = ""


class DescribeClientQuotasRequest(Message, frozen=True):
    """Requests the quotas of the entities that match (KIP-546)."""

    components: list[ComponentData] = []
    strict: Bool = False


class QuotaEntity(Message, frozen=True):
    """A part of what a quota is for: a user, a client id or an address."""

    entity_type: String = ""
    entity_name: String | None = ""


class ValueData(Message, frozen=True):
    key: String = ""
    value: Float64 = 0.0


class EntryData(Message, frozen=True):
    entity: list[QuotaEntity] = []
    values: list[ValueData] = []


class DescribeClientQuotasResponse(Message, frozen=True):
    """The quotas of each entity."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""
    entries: list[EntryData] | None = []


class OpData(Message, frozen=True):
    key: String = ""
    value: Float64 = 0.0
    remove: Bool = False


class AlteredEntry(Message, frozen=True):
    entity: list[QuotaEntity] = []
    ops: list[OpData] = []


class AlterClientQuotasRequest(Message, frozen=True):
    """Sets and removes quotas (KIP-546)."""

    entries: list[AlteredEntry] = []
    validate_only: Bool = False


class AlteredEntryResult(Message, frozen=True):
    error_code: Int16 = 0
    error_message: String | None = ""
    entity: list[QuotaEntity] = []


class AlterClientQuotasResponse(Message, frozen=True):
    """The result for each entity."""

    throttle_time_ms: Int32 = 0
    entries: list[AlteredEntryResult] = []


class UserName(Message, frozen=True):
    name: String = ""


class DescribeUserScramCredentialsRequest(Message, frozen=True):
    """Requests which users have SCRAM credentials (KIP-554); null or none means all."""

    users: list[UserName] | None = []


class CredentialInfo(Message, frozen=True):
    mechanism: Int8 = 0
    iterations: Int32 = 0


class DescribedUser(Message, frozen=True):
    user: String = ""
    error_code: Int16 = 0
    error_message: String | None = ""
    credential_infos: list[CredentialInfo] = []


class DescribeUserScramCredentialsResponse(Message, frozen=True):
    """The credentials of each user, without secrets."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""
    results: list[DescribedUser] = []


class ScramCredentialDeletion(Message, frozen=True):
    name: String = ""
    mechanism: Int8 = 0


class ScramCredentialUpsertion(Message, frozen=True):
    name: String = ""
    mechanism: Int8 = 0
    iterations: Int32 = 0
    salt: Bytes = b""
    salted_password: Bytes = b""


class AlterUserScramCredentialsRequest(Message, frozen=True):
    """Sets and deletes SCRAM credentials (KIP-554)."""

    deletions: list[ScramCredentialDeletion] = []
    upsertions: list[ScramCredentialUpsertion] = []


class AlteredUser(Message, frozen=True):
    user: String = ""
    error_code: Int16 = 0
    error_message: String | None = ""


class AlterUserScramCredentialsResponse(Message, frozen=True):
    """The result for each user."""

    throttle_time_ms: Int32 = 0
    results: list[AlteredUser] = []


APIS: Final = (
    Api(29, DescribeAclsRequest, DescribeAclsResponse, 3, 2),
    Api(30, CreateAclsRequest, CreateAclsResponse, 3, 2),
    Api(31, DeleteAclsRequest, DeleteAclsResponse, 3, 2),
    Api(38, CreateDelegationTokenRequest, CreateDelegationTokenResponse, 3, 2),
    Api(39, RenewDelegationTokenRequest, RenewDelegationTokenResponse, 2, 2),
    Api(40, ExpireDelegationTokenRequest, ExpireDelegationTokenResponse, 2, 2),
    Api(41, DescribeDelegationTokenRequest, DescribeDelegationTokenResponse, 3, 2),
    Api(48, DescribeClientQuotasRequest, DescribeClientQuotasResponse, 1, 1),
    Api(49, AlterClientQuotasRequest, AlterClientQuotasResponse, 1, 1),
    Api(50, DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse, 0, 0),
    Api(51, AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse, 0, 0),
)
