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
    """``broker`` stopped being (or believing to be) controller."""

    broker: int
    epoch: int
    reason: str


class ControllerStep(Event, frozen=True, gc=False):
    """One step of one of the controller's procedures.

    For example step 4 of ``onControllerFailover``, whose ``name`` is
    ``initializeControllerContext``.
    """

    broker: int
    procedure: str
    step: int
    name: str
    detail: str


class PartitionCached(Event, frozen=True, gc=False):
    """The controller ``broker`` remembers another state of a partition, without an election.

    It wrote the ISR, or read what somebody else had written. (It remembers what it elects, and when
    it becomes controller what the ``state`` znodes say.)
    """

    tp: str
    broker: int
    leader: int
    leader_epoch: int
    isr: list[int]
    zk_version: int


class MetadataUpdated(Event, frozen=True, gc=False):
    """``broker`` took over what it tells clients from an UpdateMetadataRequest.

    ``request`` is the ``seq`` of its MessageSent, whose detail lists the partitions;
    ``live_brokers`` are those that clients are sent to.
    """

    broker: int
    controller: int
    controller_epoch: int
    live_brokers: list[int]
    request: int


class LeaderElected(Event, frozen=True, gc=False):
    """The controller chose a leader.

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
    """The controller found no leader for the partition; ``reason`` says why in words."""

    tp: str
    controller: int
    strategy: str
    reason: str


class ElectionHeld(Event, frozen=True, gc=False):
    """How an election went: whom the controller looked at, in that order, and what spoke against.

    ``leader`` is whom it chose (-1: nobody could lead). ``isr`` and ``live`` are the ISR and the
    live brokers that it went by. Each candidate has a verdict: ``elected``, ``not alive``,
    ``shutting down``, ``not in sync``, ``not asked`` (one before it was elected). Of a new
    partition it is stated only if somebody was passed over: else there was no choice to make.
    """

    tp: str
    controller: int
    strategy: str
    leader: int
    isr: list[int]
    live: list[int]
    candidates: list[tuple[int, str]]


class RequestRefused(Event, frozen=True, gc=False):
    """``broker`` refused a request of the cluster's inner life, or one partition of it.

    ``request`` is the ``seq`` of its MessageSent, ``source`` who sent it, ``tp`` the partition
    (empty: the request as a whole) and ``error`` the error in the answer, such as
    ``STALE_CONTROLLER_EPOCH`` or ``INVALID_UPDATE_VERSION``. ``given`` is the epoch or version in
    the request that did not fit (of INELIGIBLE_REPLICA the replica), ``known`` the broker's own.
    """

    broker: int
    source: int
    request: int
    tp: str
    error: str
    given: int
    known: int
