"""What administrators ask of brokers: who is controller, and work that only the controller does."""

from emulator.protocol.message import Message


class DescribeClusterRequest(Message, frozen=True):
    """Asks any broker which one is the controller (before KIP-700, 2.8, a Metadata request)."""


class DescribeClusterResponse(Message, frozen=True):
    """The controller as the broker knows it; -1: it knows of none."""

    request: int
    controller: int


class ElectLeadersRequest(Message, frozen=True):
    """Asks the controller for elections, unclean or ``preferred`` ones (KIP-460, 2.4+).

    No partitions: all.
    """

    partitions: list[str]
    preferred: bool = False


class AlterPartitionReassignmentsRequest(Message, frozen=True):
    """Asks the controller to move partitions (KIP-455, 2.4+); None takes a move back."""

    partitions: dict[str, list[int] | None]


class AdminResponse(Message, frozen=True):
    """The controller's answer: an error for the whole, or one for each partition."""

    request: int
    error: str
    errors: dict[str, str]


class ElectLeadersResponse(AdminResponse, frozen=True):
    """The answer to an :class:`ElectLeadersRequest`."""


class AlterPartitionReassignmentsResponse(AdminResponse, frozen=True):
    """The answer to an :class:`AlterPartitionReassignmentsRequest`."""
