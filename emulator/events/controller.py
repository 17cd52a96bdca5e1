"""The controller and its elections."""

from emulator.events.base import Event


class ControllerElected(Event, frozen=True, gc=False):
    """``broker`` became controller with ``epoch``.

    ``epoch_zk_version`` is the dataVersion of /controller_epoch.
    """

    broker: int
    epoch: int
    epoch_zk_version: int


class ControllerResigned(Event, frozen=True, gc=False):
    """``broker`` stopped being the controller, or stopped believing that it was."""

    broker: int
    epoch: int
    reason: str


class ControllerStep(Event, frozen=True, gc=False):
    """One step of one of the controller's procedures.

    For example step 4 of ``onControllerFailover``, with ``name``
    ``initializeControllerContext``.
    """

    broker: int
    procedure: str
    step: int
    name: str
    detail: str


class PartitionCached(Event, frozen=True, gc=False):
    """The controller ``broker`` updated its cached state of a partition without an election.

    It wrote the ISR itself, or read a state written by another broker. (It also caches the result
    of every election and, on becoming controller, the contents of the ``state`` znodes.)
    """

    tp: str
    broker: int
    leader: int
    leader_epoch: int
    isr: list[int]
    zk_version: int


class MetadataUpdated(Event, frozen=True, gc=False):
    """``broker`` updated the metadata that it serves to clients from an UpdateMetadataRequest.

    ``request`` is the ``seq`` of its MessageSent, whose detail lists the partitions;
    ``live_brokers`` are the brokers listed in metadata responses.
    """

    broker: int
    controller: int
    controller_epoch: int
    live_brokers: list[int]
    request: int


class LeaderElected(Event, frozen=True, gc=False):
    """The controller chose a leader. In KRaft mode a new epoch of the leader that stays is none.

    ``strategy`` is ``New``, ``Offline``, ``Reassign``, ``Preferred``, ``ControlledShutdown`` or
    ``Unclean``.
    """

    tp: str
    controller: int
    leader: int
    leader_epoch: int
    isr: list[int]
    strategy: str


class ElectionFailed(Event, frozen=True, gc=False):
    """The controller could not elect a leader for the partition; ``reason`` explains why."""

    tp: str
    controller: int
    strategy: str
    reason: str


class ElectionHeld(Event, frozen=True, gc=False):
    """The course of an election: the candidates in the order considered, each with a verdict.

    ``leader`` is the broker elected (-1: no candidate was eligible). ``isr`` and ``live`` are the
    ISR and the live brokers that the controller used. A verdict is ``elected``, ``not alive``,
    ``shutting down``, ``not in sync`` or ``not asked`` (an earlier candidate was elected). For a
    new partition this event is emitted only if a candidate was passed over.
    """

    tp: str
    controller: int
    strategy: str
    leader: int
    isr: list[int]
    live: list[int]
    candidates: list[tuple[int, str]]


class RequestRefused(Event, frozen=True, gc=False):
    """``broker`` rejected an inter-broker request, or one partition in it.

    ``request`` is the ``seq`` of its MessageSent, ``source`` the sender, ``tp`` the partition
    (empty: the entire request) and ``error`` the error in the response, such as
    ``STALE_CONTROLLER_EPOCH`` or ``INVALID_UPDATE_VERSION``. ``given`` is the mismatching epoch or
    version in the request (for INELIGIBLE_REPLICA, the replica), ``known`` the broker's own.
    """

    broker: int
    source: int
    request: int
    tp: str
    error: str
    given: int
    known: int
