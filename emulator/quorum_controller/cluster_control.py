"""Broker registration, heartbeats, and fencing of brokers that time out.

Source: ``ClusterControlManager`` and ``ReplicationControlManager`` (processBrokerHeartbeat,
maybeFenceOneStaleBroker), 3.9 to 4.1.
"""

from msgspec import Struct

from emulator.metadata_log.metadata_version import (
    is_controller_registration_supported,
    is_directory_assignment_supported,
)
from emulator.metadata_log.records import (
    AnyRecord,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
)
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.heartbeats import BrokerControlState, Heartbeat
from emulator.quorum_controller.isr_changes import (
    broker_fenced,
    broker_in_controlled_shutdown,
    broker_shut_down,
    broker_unfenced,
    broker_unregistered,
)
from emulator.quorum_controller.result import ApiException, Result, user_operation


class BrokerRegistrationRequest(Struct, frozen=True):
    """A starting broker's request. ``previous_broker_epoch`` is -1 after an unclean shutdown.

    It is written next to the logs when a broker shuts down cleanly, and read and removed when it
    starts (``CleanShutdownFileHandler``, KIP-966). ``directory`` is its log directory.
    """

    broker: int
    incarnation_id: str
    rack: str | None = None
    previous_broker_epoch: int = -1
    directory: int = 0


class BrokerRegistrationReply(Struct, frozen=True):
    """The broker's new broker epoch."""

    broker_epoch: int


class BrokerHeartbeatReply(Struct, frozen=True):
    """The controller's response to a heartbeat."""

    broker: int
    is_caught_up: bool
    is_fenced: bool
    in_controlled_shutdown: bool
    should_shut_down: bool


def register_broker(
    context: Context, request: BrokerRegistrationRequest, new_broker_epoch: int, now_us: int
) -> Result[BrokerRegistrationReply]:
    """Register a broker; its epoch is ``new_broker_epoch``, the offset of the next record.

    An incarnation that is already registered keeps its epoch (KAFKA-16952, 3.9) and stays unfenced
    (KAFKA-16757, 3.7.1).

    Raises:
        ApiException: DUPLICATE_BROKER_REGISTRATION while another incarnation has a session.
    """
    heartbeats = context.state.heartbeats
    broker = request.broker
    earlier = context.image.brokers.get(broker)
    is_amended = earlier is not None and earlier.incarnation_id == request.incarnation_id
    has_session = earlier is not None and heartbeats.has_valid_session(
        broker, earlier.epoch, now_us
    )
    if has_session and not is_amended:
        raise ApiException(
            "DUPLICATE_BROKER_REGISTRATION",
            f"Broker {broker} has a session of an earlier incarnation, which ends"
            " broker.session.timeout.ms after its last heartbeat.",
        )
    *records, record = registration(context, request, new_broker_epoch)
    assert isinstance(record, RegisterBrokerRecord)
    if not is_amended:
        heartbeats.remove(broker)
    heartbeats.register(broker, now_us, fenced=record.fenced)
    return Result([*records, record], BrokerRegistrationReply(record.broker_epoch))


def registration(
    context: Context, request: BrokerRegistrationRequest, new_broker_epoch: int
) -> list[AnyRecord]:
    """Return the records of a broker's registration, which is the last of them."""
    broker, rules = request.broker, context.rules
    has_directories = is_directory_assignment_supported(context.image.metadata_version)
    directory = request.directory if has_directories else 0
    registration = context.image.brokers.get(broker)
    if registration is not None and registration.incarnation_id == request.incarnation_id:
        keeps_fencing = rules.amended_registration_keeps_fencing
        return [
            RegisterBrokerRecord(
                broker,
                request.incarnation_id,
                registration.epoch if rules.amended_registration_keeps_epoch else new_broker_epoch,
                registration.fenced or not keeps_fencing,
                registration.in_controlled_shutdown and keeps_fencing,
                request.rack,
                directory,
            )
        ]
    is_clean = registration is not None and registration.epoch == request.previous_broker_epoch
    return [
        *broker_shut_down(context, broker, is_clean=is_clean),
        RegisterBrokerRecord(
            *(broker, request.incarnation_id, new_broker_epoch),
            rack=request.rack,
            directory=directory,
        ),
    ]


def unregister_broker(context: Context, broker: int) -> Result[None]:
    """Unregister a broker permanently.

    Raises:
        ApiException: BROKER_ID_NOT_REGISTERED if it is not registered; POLICY_VIOLATION if more
            than 10,000 partitions would change.
    """
    if broker not in context.image.brokers:
        raise ApiException(
            "BROKER_ID_NOT_REGISTERED",
            f"Broker {broker} is not registered; {_registered(context)}.",
        )
    return user_operation(broker_unregistered(context, broker), None, is_atomic=False)


def register_controller(context: Context, controller: int, incarnation_id: str) -> Result[None]:
    """Register a controller that has started (KIP-919); a no-op before 3.7-IV0."""
    if not is_controller_registration_supported(context.image.metadata_version):
        return Result([], None)
    return Result([RegisterControllerRecord(controller, incarnation_id)], None, is_atomic=True)


def process_broker_heartbeat(
    context: Context, broker: int, broker_epoch: int, heartbeat: Heartbeat, now_us: int
) -> Result[BrokerHeartbeatReply]:
    """Handle a heartbeat: fence, unfence or shut down the broker as requested, if possible.

    Raises:
        ApiException: STALE_BROKER_EPOCH if it is registered with another epoch, or not at all.
    """
    heartbeats = context.state.heartbeats
    heartbeats.track(broker, broker_epoch, now_us)
    registration = context.check_broker_epoch(broker, broker_epoch)
    before = heartbeats.brokers[broker].state
    after = heartbeats.next_state(
        broker,
        heartbeat,
        registration.record_offset,
        has_leaderships=context.state.partitions.has_leaderships(broker),
    )
    records: list[AnyRecord] = []
    if after is not before:
        match after:
            case BrokerControlState.UNFENCED:
                records = broker_unfenced(context, broker, broker_epoch)
            case BrokerControlState.CONTROLLED_SHUTDOWN:
                records = broker_in_controlled_shutdown(context, broker, broker_epoch)
            case _:
                records = broker_fenced(context, broker)
    if heartbeat.cordoned_log_dirs not in (None, registration.cordoned_log_dirs):
        records.append(
            BrokerRegistrationChangeRecord(
                broker, broker_epoch, cordoned_log_dirs=heartbeat.cordoned_log_dirs
            )
        )
    is_fenced = after in (BrokerControlState.FENCED, BrokerControlState.SHUTDOWN_NOW)
    heartbeats.touch(broker, now_us, fenced=is_fenced, metadata_offset=heartbeat.metadata_offset)
    reply = BrokerHeartbeatReply(
        broker,
        is_caught_up=heartbeat.metadata_offset >= registration.record_offset,
        is_fenced=is_fenced,
        in_controlled_shutdown=after is BrokerControlState.CONTROLLED_SHUTDOWN,
        should_shut_down=after is BrokerControlState.SHUTDOWN_NOW,
    )
    return Result(records, reply)


def maybe_fence_one_stale_broker(context: Context, now_us: int) -> Result[bool]:
    """Fence a broker whose session has timed out; the response is whether there was one.

    Only one broker is fenced at a time, so that the partitions of the first are already updated
    when the next is fenced. From 4.0 on the session of a fenced broker also times out, and the
    broker is fenced again.
    """
    heartbeats = context.state.heartbeats
    expired = heartbeats.expired(now_us)
    if expired is None:
        return Result([], False)
    broker, epoch = expired
    if epoch is not None:
        heartbeats.forget_session(broker, epoch)
        registration = context.image.brokers.get(broker)
        if registration is None:
            heartbeats.remove(broker)
        if registration is None or registration.epoch != epoch:
            return Result([], True)
    return Result(broker_fenced(context, broker), True)


def _registered(context: Context) -> str:
    ids = ", ".join(str(broker) for broker in sorted(context.image.brokers))
    return f"registered are {ids}" if ids else "no broker is"
