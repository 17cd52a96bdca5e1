"""The controller and its elections."""

from emulator.events import fields
from emulator.events.base import CHANGE, FAULT, TRAFFIC, Attribute, Event, Row
from emulator.events.fields import Touched


class ControllerElected(Event, frozen=True, label="CTRL", row=Row("controller", change="elected")):
    """``broker`` became controller with ``epoch``.

    ``epoch_zk_version`` is the dataVersion of /controller_epoch.
    """

    broker: Touched[fields.BrokerId]
    epoch: fields.Epoch
    epoch_zk_version: fields.EpochZkVersion


class ControllerResigned(
    Event,
    frozen=True,
    label="CTRL",
    row=Row("controller", change="resigned", detail=Attribute("reason")),
):
    """``broker`` stopped being the controller, or stopped believing that it was."""

    broker: Touched[fields.BrokerId]
    epoch: fields.Epoch
    reason: fields.Reason


class ControllerStep(Event, frozen=True, label="CTRL", row=Row("controller", change="step")):
    """One step of one of the controller's procedures.

    For example step 4 of ``onControllerFailover``, with ``name``
    ``initializeControllerContext``.
    """

    broker: Touched[fields.BrokerId]
    procedure: fields.Procedure
    step: fields.Step
    name: fields.Name
    detail: fields.Detail


class PartitionCached(Event, frozen=True, label="CACHE", level=TRAFFIC):
    """The controller ``broker`` updated its cached state of a partition without an election.

    It wrote the ISR itself, or read a state written by another broker. (It also caches the result
    of every election and, on becoming controller, the contents of the ``state`` znodes.)
    """

    tp: fields.Tp
    broker: Touched[fields.BrokerId]
    leader: fields.Leader
    leader_epoch: fields.LeaderEpoch
    isr: fields.Isr
    zk_version: fields.ZkVersion


class MetadataUpdated(Event, frozen=True, label="META", level=TRAFFIC):
    """``broker`` updated the metadata that it serves to clients from an UpdateMetadataRequest.

    ``request`` is the ``seq`` of its MessageSent, whose detail lists the partitions;
    ``live_brokers`` are the brokers listed in metadata responses.
    """

    broker: Touched[fields.BrokerId]
    controller: fields.Controller
    controller_epoch: fields.ControllerEpoch
    live_brokers: fields.LiveBrokers
    request: fields.Request


class LeaderElected(Event, frozen=True, label="ELECT", row=Row("elections", elected=True)):
    """The controller chose a leader. In KRaft mode a new epoch of the leader that stays is none.

    ``strategy`` is ``New``, ``Offline``, ``Reassign``, ``Preferred``, ``ControlledShutdown`` or
    ``Unclean``.
    """

    tp: fields.Tp
    controller: Touched[fields.Controller]
    leader: Touched[fields.Leader]
    leader_epoch: fields.LeaderEpoch
    isr: fields.Isr
    strategy: fields.Strategy

    @property
    def level(self) -> int:
        """A fault if the leader may lack records that were acknowledged."""
        return FAULT if self.strategy == "Unclean" else CHANGE


class ElectionFailed(
    Event, frozen=True, label="ELECT", level=FAULT, row=Row("elections", elected=False)
):
    """The controller could not elect a leader for the partition; ``reason`` explains why."""

    tp: fields.Tp
    controller: fields.Controller
    strategy: fields.Strategy
    reason: fields.Reason


class ElectionHeld(Event, frozen=True, label="ELECT"):
    """The course of an election: the candidates in the order considered, each with a verdict.

    ``leader`` is the broker elected (-1: no candidate was eligible). ``isr`` and ``live`` are the
    ISR and the live brokers that the controller used. A verdict is ``elected``, ``not alive``,
    ``shutting down``, ``not in sync`` or ``not asked`` (an earlier candidate was elected). For a
    new partition this event is emitted only if a candidate was passed over.
    """

    tp: fields.Tp
    controller: Touched[fields.Controller]
    strategy: fields.Strategy
    leader: fields.Leader
    isr: fields.Isr
    live: list[int]
    candidates: list[tuple[int, str]]


class RequestRefused(Event, frozen=True, label="REFUSE"):
    """``broker`` rejected an inter-broker request, or one partition in it.

    ``request`` is the ``seq`` of its MessageSent, ``source`` the sender, ``tp`` the partition
    (empty: the entire request) and ``error`` the error in the response, such as
    ``STALE_CONTROLLER_EPOCH`` or ``INVALID_UPDATE_VERSION``. ``given`` is the mismatching epoch or
    version in the request (for INELIGIBLE_REPLICA, the replica), ``known`` the broker's own.
    """

    broker: Touched[fields.BrokerId]
    source: Touched[fields.HostId]
    request: fields.Request
    tp: fields.Tp
    error: fields.Error
    given: int
    known: int
