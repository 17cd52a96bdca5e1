"""Requests of brokers and administrators to the active controller in KRaft mode.

A broker forwards administrators' requests to the controller in an envelope (KIP-590).
"""

from msgspec import Struct, field

from emulator.common.acls import Acl
from emulator.common.errors import NONE
from emulator.protocol.admin import (
    AdminResponse,
    AlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ElectLeadersRequest,
    TopicCreated,
)
from emulator.protocol.message import ControllerRequest, Message


class BrokerRegistrationRequest(ControllerRequest, frozen=True):
    """A starting broker registers (KIP-631).

    ``previous_broker_epoch`` is the epoch of its last clean shutdown; -1 after an unclean one.
    ``directory`` is its log directory: how many others it had before.
    """

    broker: int
    incarnation: str
    previous_broker_epoch: int = -1
    rack: str | None = None
    directory: int = 0


class BrokerRegistrationResponse(Message, frozen=True):
    """The broker epoch of the registration; -1 with an error."""

    request: int
    error: str
    broker_epoch: int = -1


class BrokerHeartbeatRequest(ControllerRequest, frozen=True):
    """A registered broker's heartbeat; ``metadata_offset`` is the end of the log it has applied.

    ``cordoned_log_dirs``: None if the metadata version does not support them (KIP-1066).
    """

    broker: int
    broker_epoch: int
    metadata_offset: int
    want_fence: bool
    want_shut_down: bool
    cordoned_log_dirs: tuple[str, ...] | None = None


class BrokerHeartbeatResponse(Message, frozen=True):
    """The broker's state according to the controller."""

    request: int
    error: str
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool = False


class ControllerRegistrationRequest(ControllerRequest, frozen=True):
    """A starting controller registers (KIP-919)."""

    controller: int
    incarnation: str


class ControllerRegistrationResponse(Message, frozen=True):
    """Whether it is registered."""

    request: int
    error: str


class AllocateProducerIdsRequest(ControllerRequest, frozen=True):
    """A broker requests a block of producer ids (KIP-730)."""

    broker: int
    broker_epoch: int


class AllocateProducerIdsResponse(Message, frozen=True):
    """The first id of the block and its size."""

    request: int
    error: str
    start: int = -1
    length: int = 0


class AssignReplicasToDirsRequest(ControllerRequest, frozen=True):
    """A broker says in which log directory it has replicas (KIP-858).

    ``partitions`` has the number of each and the id of its topic.
    """

    broker: int
    broker_epoch: int
    directory: int
    partitions: list[tuple[str, int]]


class AssignReplicasToDirsResponse(Message, frozen=True):
    """Whether the request was valid; ``refused`` are the partitions with an error of their own."""

    request: int
    error: str
    refused: list[tuple[str, int]] = field(default_factory=list)


class IncrementalAlterConfigsRequest(Message, frozen=True):
    """Sets configuration values of a topic, broker or group; None removes one.

    ``resource_type`` is a number of the metadata log's ConfigRecord; the name '' means all brokers.
    ``replaces``: values not included are removed (AlterConfigs, KIP-133).
    """

    resource_type: int
    resource_name: str
    values: dict[str, str | None]
    validate_only: bool = False
    replaces: bool = False


class IncrementalAlterConfigsResponse(AdminResponse, frozen=True):
    """The response to an :class:`IncrementalAlterConfigsRequest`, by resource name."""


class CreateAclsRequest(Message, frozen=True):
    """Creates access control entries (KIP-140)."""

    acls: list[Acl]


class DeleteAclsRequest(Message, frozen=True):
    """Deletes the access control entries that match filters (KIP-140)."""

    filters: list[Acl]


class AclsResponse(AdminResponse, frozen=True):
    """The result of each creation or filter, by its number; ``acls`` are those of each filter."""

    acls: list[list[Acl]] = field(default_factory=list)


class UpdateFeaturesRequest(Message, frozen=True):
    """Sets the levels of finalized features, all or none (KIP-584).

    ``updates`` are the level and the type of the change of each: 1 upgrade, 2 safe downgrade, 3
    unsafe downgrade.
    """

    updates: dict[str, tuple[int, int]]
    validate_only: bool = False


class UpdateFeaturesResponse(AdminResponse, frozen=True):
    """The response to an :class:`UpdateFeaturesRequest`: a top-level error, if any."""


class UnregisterBrokerRequest(Message, frozen=True):
    """Removes a broker from the cluster for good (KIP-631)."""

    broker: int


class UnregisterBrokerResponse(AdminResponse, frozen=True):
    """The response to an :class:`UnregisterBrokerRequest`: a top-level error, if any."""


class ListConfigResourcesRequest(Message, frozen=True):
    """Requests the topics, brokers and configured groups that a broker knows (KIP-1142)."""


class ListConfigResourcesResponse(Message, frozen=True):
    """Topics by name, the ids of registered brokers, and groups and subscriptions with values."""

    request: int
    topics: list[str]
    brokers: list[int]
    groups: list[str] = field(default_factory=list)
    subscriptions: list[str] = field(default_factory=list)
    error: str = NONE


class DescribeQuorumRequest(Message, frozen=True):
    """Requests the progress of the quorum's members from the active controller (KIP-595)."""


class QuorumMember(Struct, frozen=True, array_like=True, gc=False):
    """A member as known to the leader; -1 if it has not fetched yet.

    ``fetched_us`` and ``caught_up_us`` are the virtual times of its last fetch, and of the last
    moment at which it had the whole log.
    """

    id: int
    log_end: int
    fetched_us: int
    caught_up_us: int


class QuorumDescription(Struct, frozen=True, array_like=True, gc=False):
    """The metadata quorum: leader, epoch, high watermark, voters and observers."""

    leader: int
    epoch: int
    high_watermark: int
    voters: list[QuorumMember]
    observers: list[QuorumMember]


class DescribeQuorumResponse(Message, frozen=True):
    """The quorum; None with an error."""

    request: int
    error: str
    quorum: QuorumDescription | None


AdminRequest = (
    CreateTopicsRequest
    | DeleteTopicsRequest
    | CreatePartitionsRequest
    | AlterConfigsRequest
    | IncrementalAlterConfigsRequest
    | ElectLeadersRequest
    | AlterPartitionReassignmentsRequest
    | DescribeQuorumRequest
    | CreateAclsRequest
    | DeleteAclsRequest
    | UpdateFeaturesRequest
    | UnregisterBrokerRequest
)
"""The requests that brokers forward to the active controller."""


class EnvelopeRequest(ControllerRequest, frozen=True):
    """A broker forwards a request (KIP-590)."""

    enveloped: AdminRequest


class EnvelopeResponse(Message, frozen=True):
    """The controller's response: a top-level error, or errors by resource.

    ``messages`` explain some errors in a sentence; that of the top-level error has an empty name.
    ``created`` describes created topics, ``quorum`` is the response to a
    :class:`DescribeQuorumRequest`, ``acls`` are those of :class:`AclsResponse`.
    """

    request: int
    error: str
    errors: dict[str, str]
    messages: dict[str, str]
    quorum: QuorumDescription | None = None
    created: dict[str, TopicCreated] = field(default_factory=dict)
    acls: list[list[Acl]] = field(default_factory=list)
