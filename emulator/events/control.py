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
    """One step of the controller's procedures, e.g.

    ``procedure`` ``onControllerFailover``, ``step`` 4, ``name`` ``initializeControllerContext``.
    """

    broker: int
    procedure: str
    step: int
    name: str
    detail: str


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
