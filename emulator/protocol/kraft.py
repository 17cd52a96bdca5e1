"""What brokers and administrators ask the active controller in KRaft mode.

A broker forwards what administrators ask to the controller in an envelope (KIP-590).
"""

from msgspec import Struct

from emulator.protocol.admin import (
    AdminResponse,
    AlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ElectLeadersRequest,
)
from emulator.protocol.message import Message


class BrokerRegistrationRequest(Message, frozen=True):
    """A broker that has started asks to be registered (KIP-631).

    ``previous_broker_epoch`` is that of the life that ended in order; -1: the last one did not.
    """

    broker: int
    incarnation: str
    previous_broker_epoch: int = -1
    rack: str | None = None


class BrokerRegistrationResponse(Message, frozen=True):
    """The broker epoch of the registration; -1 with an error."""

    request: int
    error: str
    broker_epoch: int = -1


class BrokerHeartbeatRequest(Message, frozen=True):
    """A registered broker is alive; ``metadata_offset`` is how far it has applied the log."""

    broker: int
    broker_epoch: int
    metadata_offset: int
    want_fence: bool
    want_shut_down: bool


class BrokerHeartbeatResponse(Message, frozen=True):
    """What the controller makes of the broker."""

    request: int
    error: str
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool = False


class ControllerRegistrationRequest(Message, frozen=True):
    """A controller that has started asks to be registered (KIP-919)."""

    controller: int
    incarnation: str


class ControllerRegistrationResponse(Message, frozen=True):
    """Whether it is registered."""

    request: int
    error: str


class AllocateProducerIdsRequest(Message, frozen=True):
    """A broker asks for a block of producer ids (KIP-730)."""

    broker: int
    broker_epoch: int


class AllocateProducerIdsResponse(Message, frozen=True):
    """The first id of the block, and how many there are."""

    request: int
    error: str
    start: int = -1
    length: int = 0


class IncrementalAlterConfigsRequest(Message, frozen=True):
    """Asks for configuration values of a topic or broker; None takes one away.

    ``resource_type`` is a number of the metadata log's ConfigRecord.
    """

    resource_type: int
    resource_name: str
    values: dict[str, str | None]


class IncrementalAlterConfigsResponse(AdminResponse, frozen=True):
    """The answer to an :class:`IncrementalAlterConfigsRequest`, by resource name."""


class DescribeQuorumRequest(Message, frozen=True):
    """Asks the active controller how far the members of the metadata quorum are (KIP-595)."""


class QuorumMember(Struct, frozen=True, array_like=True, gc=False):
    """A member as the leader knows it; -1 where it has not fetched yet.

    ``fetched_us`` and ``caught_up_us`` are virtual time: of its last fetch, and of the last moment
    at which it had everything.
    """

    id: int
    log_end: int
    fetched_us: int
    caught_up_us: int


class QuorumDescription(Struct, frozen=True, array_like=True, gc=False):
    """The metadata quorum: the leader, its epoch, what is committed, voters and observers."""

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
)
"""What brokers forward to the active controller."""


class EnvelopeRequest(Message, frozen=True):
    """A broker forwards what somebody asked of it (KIP-590)."""

    wanted: AdminRequest


class EnvelopeResponse(Message, frozen=True):
    """The controller's answer: an error for the whole, or errors by what they are about.

    ``messages`` say of some errors in a sentence what is wrong. ``quorum`` answers
    :class:`DescribeQuorumRequest`.
    """

    request: int
    error: str
    errors: dict[str, str]
    messages: dict[str, str]
    quorum: QuorumDescription | None = None
