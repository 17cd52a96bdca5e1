"""Connections of external clients: requests in, responses out, in order.

A request is translated into messages to the connection's broker, which handles them like those of
any other client; network faults affect them in the same way. Once all responses have arrived, they
are combined into the response to the client. A broker handles one request of a connection at a
time, so later requests are queued. All of this is determined by the inputs: the connections and the
bytes received on them.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from emulator import events, protocol
from emulator.clients.context import ClientContext
from emulator.clients.external import (
    access_control,
    admin,
    cluster_admin,
    committed_offsets,
    consumer_groups,
    fetch,
    groups,
    log_dirs,
    metadata,
    produce,
    quorum,
    resource_configs,
    sasl,
    security,
    share_groups,
    transaction_states,
    transactions,
)
from emulator.clients.external.authorization import (
    TELLS_OPERATIONS,
    UNREADABLE,
    Authorizer,
    asks_for_all,
    merged,
    split,
    split_fetch,
    visible,
    with_operations,
    without_configs,
)
from emulator.clients.external.call import AnyCall, Call, Translator
from emulator.clients.external.committed_offsets import GROUPS_SINCE
from emulator.clients.external.encoded_records import EncodedRecords
from emulator.clients.external.injection import is_selected
from emulator.clients.external.refusals import refusal
from emulator.clients.external_state import Connection, Injection
from emulator.common import scram
from emulator.common.acls import ALTER, ALTER_CONFIGS, DESCRIBE, DESCRIBE_CONFIGS
from emulator.common.errors import ERROR_NAMES
from emulator.events import CLIENTS
from emulator.inputs.statements import AdvertiseListeners, InjectError, OpenConnection
from emulator.metadata_log.metadata_version import supported_ranges
from emulator.protocol import (
    REQUESTS,
    AnyMessage,
    ConnectionClosed,
    ConnectionLost,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from emulator.releases.config import Settings
from emulator.releases.profiles import Profile
from emulator.releases.versions import has_no_zookeeper
from emulator.wire import codec
from emulator.wire.apis import APIS
from emulator.wire.error_codes import error_codes
from emulator.wire.exceptions import UnsupportedVersion, WireError
from emulator.wire.header import RequestHeader
from emulator.wire.messages.alter_configs import AlterConfigsRequest
from emulator.wire.messages.cluster import ApiVersionsRequest
from emulator.wire.messages.committed_offsets import OffsetFetchRequest
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.fetch import FetchResponse
from emulator.wire.messages.produce import ProduceRequest
from emulator.wire.messages.share_groups import ShareFetchRequest
from emulator.wire.types import API_VERSIONS, Message
from emulator.wire.versions import EARLY_SHARE_GROUPS, versions_of

SIGN_OF_LIFE: Final = DescribeClusterRequest()
"""A probe sent when the response is known: a frozen or partitioned broker must not respond."""
UNANSWERED_MAX: Final = 1_000
"""The number of requests without a response that are kept; older ones have long arrived."""
BATCHES_SINCE: Final = 3
"""The first Produce version that 4.0 accepts, whatever it advertises (KIP-896, KAFKA-18659)."""
DELAYED: Final = "delayed-response"
"""The timer of a response that a fault holds back."""
THROTTLED: Final = "throttled-connection"
"""The timer of a connection from which nothing is read for a while."""
CUT_OFF: Final = "a fault was injected: --close-after"
"""Why a connection is closed in place of a response."""
_REQUESTS: Final = frozenset(REQUESTS)


class Delivery:
    """The server's callbacks for output; they are absent when a recording is replayed."""

    def respond(self, connection: int, frame: bytes) -> None:
        """Send a response."""

    def close(self, connection: int, reason: str) -> None:
        """Close a connection; ``reason`` is empty if the broker is down or disconnects."""

    def fail(self, connection: int, reason: str) -> None:
        """Report that a response cannot be encoded: the server must disconnect, as a new input."""


class ExternalClients:
    """All external clients."""

    def __init__(self, context: ClientContext, settings: Settings) -> None:
        """Use ``context``; brokers have ``settings``."""
        self.context = context
        self.kernel = context.kernel
        self.network = context.network
        self.state = context.state.external
        self.versions: dict[int, range] = {}
        self.delivery: Delivery | None = None
        self._calls: dict[int, AnyCall] = {}
        self._takes_batches_only = has_no_zookeeper(context.profile.numbers)
        self._mutes_after_response = context.profile.has("throttled_clients_told_at_once")
        self._settings = settings
        self._known_ids = metadata.TopicIds(self.state)
        self._authenticator = sasl.Authenticator(settings, context.kernel)
        self._authorizer = Authorizer(settings, context)
        self.tasks = {DELAYED: self.delayed, THROTTLED: self.unmuted}
        self._translators = self._table(settings.racks)
        advertised = versions_of(context.profile.version, without_zookeeper=context.in_kraft_mode)
        if context.profile.has("share_group_early_access"):
            advertised = advertised | EARLY_SHARE_GROUPS
        for key, versions in advertised.items():
            if APIS[key].name in self._translators:
                self.versions[key] = versions

    def _table(self, racks: dict[int, str]) -> Mapping[str, Translator]:
        context = self.context
        addresses = metadata.Addresses(self._settings)
        known_ids = self._known_ids
        magic = _format_of_logs(context.profile)
        supported = supported_ranges(context.profile.version) if context.in_kraft_mode else {}
        return {
            "ApiVersions": metadata.ApiVersions(self.versions, supported),
            "SaslHandshake": sasl.SaslHandshake(self._authenticator),
            "SaslAuthenticate": sasl.SaslAuthenticate(self._authenticator),
            **self._security(in_kraft_mode=context.in_kraft_mode),
            "DescribeAcls": access_control.DescribeAcls(self._authorizer),
            "CreateAcls": access_control.CreateAcls(
                self._authorizer, context.profile.has("user_resources")
            ),
            "DeleteAcls": access_control.DeleteAcls(self._authorizer),
            "Metadata": metadata.Metadata(addresses, racks, known_ids),
            "DescribeCluster": metadata.DescribeCluster(addresses, racks),
            "DescribeTopicPartitions": quorum.DescribeTopicPartitions(),
            "DescribeQuorum": quorum.DescribeQuorum(context.kernel.state),
            "UpdateFeatures": cluster_admin.UpdateFeatures(context),
            "UnregisterBroker": cluster_admin.UnregisterBroker(),
            "ListConfigResources": cluster_admin.ListConfigResources(),
            "FindCoordinator": metadata.FindCoordinator(addresses, context.profile),
            "Produce": produce.Produce(context, magic, known_ids),
            "InitProducerId": transactions.InitProducerId(),
            "AddPartitionsToTxn": transactions.AddPartitionsToTxn(),
            "AddOffsetsToTxn": transactions.AddOffsetsToTxn(),
            "EndTxn": transactions.EndTxn(),
            "WriteTxnMarkers": transactions.WriteTxnMarkers(),
            "TxnOffsetCommit": transactions.TxnOffsetCommit(known_ids),
            "DescribeTransactions": transaction_states.DescribeTransactions(context.kernel),
            "ListTransactions": transaction_states.ListTransactions(context.kernel),
            "DescribeProducers": transaction_states.DescribeProducers(
                context.profile.has("producers_of_valid_topics")
            ),
            "Fetch": fetch.Fetch(context, EncodedRecords(context.ledger, magic), known_ids),
            "ListOffsets": fetch.ListOffsets(context.profile),
            "OffsetForLeaderEpoch": fetch.OffsetForLeaderEpoch(context.profile),
            "JoinGroup": groups.JoinGroup(context.profile),
            "SyncGroup": groups.SyncGroup(),
            "Heartbeat": groups.Heartbeat(),
            "LeaveGroup": groups.LeaveGroup(),
            "OffsetCommit": committed_offsets.OffsetCommit(known_ids),
            "OffsetFetch": committed_offsets.OffsetFetch(known_ids),
            "DescribeGroups": groups.DescribeGroups(context.profile),
            "ListGroups": groups.ListGroups(),
            "DeleteGroups": groups.DeleteGroups(),
            "ConsumerGroupHeartbeat": consumer_groups.ConsumerGroupHeartbeat(known_ids),
            "ConsumerGroupDescribe": consumer_groups.ConsumerGroupDescribe(known_ids),
            **self._share_groups(magic),
            "CreateTopics": admin.CreateTopics(context, known_ids),
            "DeleteTopics": admin.DeleteTopics(context, known_ids),
            "DeleteRecords": admin.DeleteRecords(),
            "CreatePartitions": admin.CreatePartitions(context),
            "DescribeConfigs": resource_configs.DescribeConfigs(context, self._authorizer),
            "IncrementalAlterConfigs": resource_configs.IncrementalAlterConfigs(
                context, self._authorizer
            ),
            "AlterConfigs": resource_configs.AlterConfigs(context, self._authorizer),
            "DescribeLogDirs": log_dirs.DescribeLogDirs(context.profile),
            "AlterReplicaLogDirs": log_dirs.AlterReplicaLogDirs(),
            "OffsetDelete": committed_offsets.OffsetDelete(),
            "ElectLeaders": admin.ElectLeaders(context),
            "ListPartitionReassignments": admin.ListPartitionReassignments(),
            "AlterPartitionReassignments": admin.AlterPartitionReassignments(),
        }

    def _share_groups(self, magic: int) -> Mapping[str, Translator]:
        """The translators of requests about share groups."""
        context, ids = self.context, self._known_ids
        encoded = EncodedRecords(context.ledger, magic)
        return {
            "ShareGroupHeartbeat": share_groups.ShareGroupHeartbeat(ids),
            "ShareGroupDescribe": share_groups.ShareGroupDescribe(ids),
            "ShareFetch": share_groups.ShareFetch(context, encoded, ids),
            "ShareAcknowledge": share_groups.ShareAcknowledge(ids),
            "DescribeShareGroupOffsets": share_groups.DescribeShareGroupOffsets(ids),
            "AlterShareGroupOffsets": share_groups.AlterShareGroupOffsets(ids),
            "DeleteShareGroupOffsets": share_groups.DeleteShareGroupOffsets(ids),
        }

    def _security(self, *, in_kraft_mode: bool) -> Mapping[str, Translator]:
        """The translators of requests about access, credentials and quotas."""
        tokens = security.Tokens(self._settings, in_kraft_mode=in_kraft_mode)
        credentials = security.ScramCredentials(self._settings, in_kraft_mode)
        quotas = security.Quotas(
            self._settings,
            in_kraft_mode,
            in_kraft_mode and self.context.profile.has("quotas_checked_strictly"),
        )
        answers = {
            "CreateDelegationToken": tokens.create,
            "RenewDelegationToken": tokens.renew,
            "ExpireDelegationToken": tokens.expire,
            "DescribeDelegationToken": tokens.describe,
        }
        on_cluster: dict[str, tuple[Callable[[AnyCall], Message], int]] = {
            "DescribeUserScramCredentials": (credentials.describe, DESCRIBE),
            "AlterUserScramCredentials": (credentials.alter, ALTER),
            "DescribeClientQuotas": (quotas.describe, DESCRIBE_CONFIGS),
            "AlterClientQuotas": (quotas.alter, ALTER_CONFIGS),
        }
        return {
            **{api: security.Answer(answer) for api, answer in answers.items()},
            **{
                api: security.Answer(answer, self._authorizer, operation)
                for api, (answer, operation) in on_cluster.items()
            },
        }

    # ---- inputs

    def advertise(self, advertised: AdvertiseListeners) -> None:
        """Set the advertised listeners of brokers, which their configurations have, and users."""
        self._settings.protocols[advertised.name] = advertised.protocol
        self._settings.users.update(advertised.users)
        for user, password in advertised.users.items():
            own = self._settings.scram.get(user, {})
            for mechanism, known in own.items():
                if not known.stored_key:  # it is an image's, and the password was not known
                    own[mechanism] = scram.credential_of(
                        mechanism, password, user, known.iterations
                    )
        for broker, address in advertised.listeners.items():
            listeners = self._settings.listeners.setdefault(broker, {})
            listeners[advertised.name] = (advertised.bound.get(broker, address), address)

    def open(self, opening: OpenConnection) -> None:
        """Open a connection; a broker that is not serving requests refuses the first one."""
        number, broker = opening.connection, opening.broker
        self.state.connections[number] = Connection(
            broker, listener=opening.listener, host=opening.address.rpartition(":")[0]
        )
        self.kernel.emit(events.ClientConnected, number, broker, opening.address)
        if opening.subject is not None:
            self._authenticator.identify(number, self.state.connections[number], opening.subject)

    def close(self, number: int, reason: str) -> None:
        """Close a connection: its pending requests get no response but may still take effect."""
        connection = self.state.connections.pop(number, None)
        if connection is None:
            return
        connection.waiting.clear()
        self.kernel.emit(events.ClientDisconnected, number, connection.broker, reason)
        self._calls.pop(number, None)
        asked = [seq for seq in connection.asked if self.state.requests.pop(seq, None) is not None]
        self.network.withdraw(CLIENTS, connection.broker, asked)
        if connection.shares:
            # its share session ends with it
            self.network.send(CLIENTS, connection.broker, ConnectionClosed(str(number)))

    def receive(self, number: int, frame: bytes) -> None:
        """Receive a request; it is ignored if the connection has been closed."""
        connection = self.state.connections.get(number)
        if connection is None:
            return
        connection.waiting.append(frame)
        if not connection.frame:
            self._go_on(number, connection)

    def inject(self, fault: InjectError) -> None:
        """Inject a fault into the next requests of an API that match."""
        state = self.state
        name = fault.name or str(len(state.faults) + 1)
        state.faults[name] = 0
        state.injected.append(Injection(name, fault, fault.times, fault.after))
        self.kernel.emit(
            events.FaultPrepared, name, fault.api, fault.effect, fault.times, fault.after
        )

    # ---- a request

    def _go_on(self, number: int, connection: Connection) -> None:
        """Process queued requests until one has to wait for its response."""
        cause = self.kernel.cause
        while connection.waiting and not connection.frame:
            self.kernel.cause = cause
            frame = connection.waiting.pop(0)
            if self._authenticator.is_raw(connection):
                self._take_token(number, connection, frame)
                continue
            try:
                call = self._call(number, connection, frame)
            except WireError as error:
                self._hang_up(number, str(error))
                return
            except (MemoryError, RecursionError) as error:  # nothing has changed yet
                reason = f"a request of {len(frame):,} bytes cannot be decoded"
                self._hang_up(number, f"{reason}: {type(error).__name__}")
                return
            self._begin(call, frame)
        self.kernel.cause = cause

    def _take_token(self, number: int, connection: Connection, token: bytes) -> None:
        """Handle a token that is no request, as after SaslHandshake 0 (up to 0.11)."""
        try:
            answer = self._authenticator.evaluate(number, connection, token)
        except sasl.SaslError as error:
            connection.waiting.clear()
            self._hang_up(number, str(error))
            return
        if self.delivery is not None:
            self.delivery.respond(number, answer)

    def _call(self, number: int, connection: Connection, frame: bytes) -> AnyCall:
        """Decode a request; an unsupported version of ApiVersions is decoded as version 0.

        Raises:
            WireError: it cannot be decoded, or the broker's release does not support the version.
        """
        try:
            header, message = codec.decode_request(frame)
        except UnsupportedVersion as error:
            if error.header.api_key != API_VERSIONS or API_VERSIONS not in self.versions:
                raise
            return Call(number, connection, error.header, ApiVersionsRequest())
        api = APIS[header.api_key]
        known = self.versions.get(header.api_key)
        if known is None:
            raise WireError(f"{api.name} is no request that this broker takes")
        is_known = header.api_version in known
        if isinstance(message, ProduceRequest) and self._takes_batches_only:
            is_known = is_known and header.api_version >= BATCHES_SINCE
        self._authenticator.check(connection, api.name)
        if not is_known and header.api_key != API_VERSIONS:
            raise WireError(f"{api.name} {header.api_version} is no version that this broker takes")
        if reason := self._unreadable(header, message):
            raise WireError(f"{api.name} cannot be read: {reason}")
        return Call(number, connection, header, message)

    def _unreadable(self, header: RequestHeader, message: Message) -> str:
        """Why the request that a frame was decoded to cannot be made of it; empty if it can."""
        profile = self.context.profile
        if isinstance(message, FindCoordinatorRequest) and header.api_version > 0:
            is_early = not profile.has("coordinator_types_read_late")
            is_known = message.key_type in (metadata.GROUP, metadata.TRANSACTION)
            return "it is about an unknown type" if is_early and not is_known else ""
        return access_control.why_unreadable(message, profile)

    def _is_never_answered(self, header: RequestHeader, message: Message) -> bool:
        """Whether a broker fails at a request, so that nothing is read any more."""
        has = self.context.profile.has
        if isinstance(message, OffsetFetchRequest):
            names_none = header.api_version >= GROUPS_SINCE and not message.groups
            return names_none and has("nameless_offset_fetches_unanswered")
        if not isinstance(message, AlterConfigsRequest):
            return False
        known = resource_configs.TYPES
        named = {
            (row.resource_type if row.resource_type in known else None, row.resource_name)
            for row in message.resources
        }
        return len(named) < len(message.resources) and has("alter_configs_named_once")

    def _begin(self, call: AnyCall, frame: bytes) -> None:
        number, connection, header, message = call
        connection.client = call.client
        if isinstance(message, ShareFetchRequest):
            connection.shares = True
        api = APIS[header.api_key].name
        self._note_received(call, api)
        fault = self._injected(api, call)
        if self._is_never_answered(header, message) or (fault is not None and fault.drop):
            connection.frame = frame  # as a broker that never gets to it, nor to what follows it
            return
        messages = self._authorized(api, connection, self._translators[api].ask(call))
        connection.delay_us, connection.throttle_us, connection.is_cut_off = 0, 0, False
        if fault is not None:
            connection.delay_us, connection.is_cut_off = fault.delay_us, fault.close_after
            connection.throttle_us = fault.throttle_us
            if not self._mutes_after_response:
                connection.delay_us += fault.throttle_us
            if fault.error:
                messages = [refusal(translated, fault.error) for translated in messages]
        if all(type(translated) not in _REQUESTS for translated in messages):
            messages.append(SIGN_OF_LIFE)
        if isinstance(message, ProduceRequest) and not message.acks:
            self._send_without_response(call, messages)
            return
        connection.frame = frame
        self._calls[number] = call
        requests = self.state.requests
        for at, translated in enumerate(messages):
            if type(translated) in _REQUESTS:
                seq = self.network.send(CLIENTS, connection.broker, translated)
                requests[seq] = number
            else:
                seq = -1 - at
                connection.responses[seq] = translated
            connection.asked.append(seq)

    def _authorized(
        self, api: str, connection: Connection, messages: list[AnyMessage]
    ) -> list[AnyMessage]:
        """Return what a client may do of what it asks for, and refuse the rest."""
        if not self._authorizer.is_there:
            return messages
        client = self._authorizer.client(connection)
        connection.refused.clear()
        connection.asks_for_all = False
        allowed: list[AnyMessage] = []
        for at, message in enumerate(messages):
            if isinstance(message, protocol.FetchRequest):
                allowed.append(split_fetch(message, connection, client))
                rows = replace(message, partitions=connection.unreadable)
                if rows.partitions:
                    connection.refused[at] = refusal(rows, UNREADABLE)
                continue
            parts = split(api, message, client)
            connection.asks_for_all |= asks_for_all(message)
            if parts.message is not None:
                allowed.append(parts.message)
                if parts.refused is not None:
                    connection.refused[at] = parts.refused
            elif parts.refused is not None:
                allowed.append(parts.refused)
        return allowed

    def _with_refused(self, connection: Connection, at: int, response: AnyMessage) -> AnyMessage:
        """Return a response with what was refused, and without what its client may not see."""
        if not self._authorizer.is_there:
            return response
        client = self._authorizer.client(connection)
        if connection.asks_for_all:
            response = visible(response, client)
        return merged(without_configs(response, client), connection.refused.get(at))

    def _note_received(self, call: AnyCall, api: str) -> None:
        """Emit the receipt of a request, which is the cause of all that follows."""
        message, kernel = call.message, self.kernel
        if isinstance(message, ApiVersionsRequest) and message.client_software_name:
            named = (message.client_software_name, message.client_software_version)
            kernel.emit(events.ClientIdentified, call.number, *named)
        kernel.cause = call.connection.received = kernel.emit(
            events.ClientRequestReceived,
            call.number,
            call.connection.broker,
            call.client,
            api,
            call.header.api_version,
            _group_of(message),
        )

    def _note_response(self, call: AnyCall, response: Message) -> None:
        """Emit a response; the errors in it are only collected if there are observers."""
        errors: list[str] = []
        if self.kernel.observed(events.ClientResponseSent):
            codes = dict.fromkeys(error_codes(response))
            errors = [ERROR_NAMES.get(code, f"error {code}") for code in codes]
        connection, api = call.connection, APIS[call.header.api_key].name
        fields = (call.number, connection.broker, connection.received, api, errors)
        self.kernel.emit(events.ClientResponseSent, *fields)

    def _injected(self, api: str, call: AnyCall) -> InjectError | None:
        """The fault to inject into a request now; None if there is none."""
        state = self.state
        for injection in state.injected:
            fault = injection.fault
            if fault.api != api or not is_selected(fault, call, self._known_ids):
                continue
            if injection.after:
                injection.after -= 1
                continue
            injection.times -= 1
            if not injection.times:
                state.injected.remove(injection)
            state.faults[injection.name] += 1
            connection = call.connection
            fields = (call.number, connection.broker, connection.received)
            self.kernel.cause = self.kernel.emit(
                events.FaultInjected, injection.name, *fields, fault.effect
            )
            return fault
        return None

    def is_deaf_to(self, number: int) -> bool:
        """Whether a connection waits for a response that a fault has taken away for good."""
        connection = self.state.connections.get(number)
        return connection is not None and bool(connection.frame) and not connection.asked

    def _send_without_response(self, call: AnyCall, messages: list[AnyMessage]) -> None:
        """Send records with acks=0: who is refused them has its connection closed instead."""
        connection, unanswered = call.connection, self.state.unanswered
        entered = iter(connection.entered)
        for message in messages:
            if type(message) in _REQUESTS:
                seq = self.network.send(CLIENTS, connection.broker, message)
                unanswered[seq] = call.number
                if len(unanswered) > UNANSWERED_MAX:
                    del unanswered[next(iter(unanswered))]
            records = next(entered, produce.NOT_ENTERED)
            if isinstance(message, protocol.ProduceRequest) and records != produce.NOT_ENTERED:
                fields = (call.client, message.tp, *records, -1)
                self.kernel.emit(events.ProduceAcknowledged, *fields)
        connection.entered.clear()
        if connection.is_cut_off:
            self._hang_up(call.number, CUT_OFF)
        elif any(isinstance(message, protocol.ProduceResponse) for message in messages):
            self._hang_up(call.number, "")

    # ---- responses

    def take(self, message: AnyMessage) -> bool:
        """Handle a response to an external client's message; return False if it is for another."""
        if isinstance(message, ConnectionLost):
            return False  # it names a request, too, but is no response to it
        request: int = getattr(message, "request", 0)
        number = self.state.requests.pop(request, None)
        if number is None:
            return False
        connection = self.state.connections[number]
        connection.responses[request] = message
        if len(connection.responses) == len(connection.asked):
            if connection.delay_us:
                received = connection.received
                self.kernel.timer(CLIENTS, connection.delay_us, DELAYED, str(received), number)
                connection.delay_us = 0
            else:
                self._respond(number, connection)
        return True

    def delayed(self, received: str, number: int) -> None:
        """Send a response that a fault has held back, if its client still waits for it."""
        connection = self.state.connections.get(number)
        if connection is not None and str(connection.received) == received:
            self._respond(number, connection)

    def _respond(self, number: int, connection: Connection) -> None:
        """All responses have arrived: answer the request, and go on with the next one."""
        frame = connection.frame
        self._conclude(number, connection)
        if number not in self.state.connections:
            return
        if connection.throttle_us and self._mutes_after_response:
            connection.frame = frame  # nothing is read until the time has passed
            self.kernel.timer(
                CLIENTS, connection.throttle_us, THROTTLED, str(connection.received), number
            )
        else:
            self._go_on(number, connection)

    def unmuted(self, received: str, number: int) -> None:
        """Read again from a connection that was throttled."""
        connection = self.state.connections.get(number)
        if connection is not None and str(connection.received) == received:
            connection.frame = b""
            self._go_on(number, connection)

    def _conclude(self, number: int, connection: Connection) -> None:
        """All responses have arrived: combine them and respond."""
        call = self._calls.pop(number, None) or self._call(number, connection, connection.frame)
        responses = [
            self._with_refused(connection, at, connection.responses[seq])
            for at, seq in enumerate(connection.asked)
        ]
        if isinstance(responses[-1], DescribeClusterResponse):
            del responses[-1]
        header = call.header
        response = self._translators[APIS[header.api_key].name].respond(call, *responses)
        connection.frame = b""
        connection.asked.clear()
        connection.responses.clear()
        connection.entered.clear()
        if connection.is_cut_off:
            self._hang_up(number, CUT_OFF)
            return
        if response is None:
            return
        if isinstance(call.message, TELLS_OPERATIONS):
            client = self._authorizer.client(connection)
            response = with_operations(call.message, response, client)
        if connection.throttle_us and "throttle_time_ms" in response.__struct_fields__:
            response = throttled(response, connection.throttle_us, empty=self._mutes_after_response)
        self._note_response(call, response)
        if self.delivery is not None:
            self._deliver(self.delivery, call, response)
        if connection.refusal:
            self._hang_up(number, connection.refusal)

    def _deliver(self, delivery: Delivery, call: AnyCall, response: Message) -> None:
        """Encode a response and hand it to the server."""
        header = call.header
        key, version = header.api_key, header.api_version
        if key == API_VERSIONS and version not in self.versions[API_VERSIONS]:
            version = 0
        try:
            frame = codec.encode_response(key, version, header.correlation_id, response)
        except WireError as error:  # a name that is too long for the version, for example
            delivery.fail(call.number, str(error))
        else:
            delivery.respond(call.number, frame)

    def connection_lost(self, message: ConnectionLost) -> None:
        """Handle a broken or refused connection, or those that a broker closed."""
        state = self.state
        if message.request:
            number = state.requests.get(message.request)
            if number is None:
                number = state.unanswered.pop(message.request, None)
            if number is not None:
                self._hang_up(number, "")
            return
        gone = [
            n for n, connection in state.connections.items() if connection.broker == message.peer
        ]
        for number in gone:
            self._hang_up(number, "")

    def _hang_up(self, number: int, reason: str) -> None:
        if number not in self.state.connections:
            return
        self.close(number, reason or "closed by the broker")
        if self.delivery is not None:
            self.delivery.close(number, reason)


def throttled(response: Message, throttle_us: int, *, empty: bool) -> Message:
    """Return a response that tells of an exceeded quota; a fetch is then ``empty`` (KIP-219)."""
    changes: dict[str, object] = {"throttle_time_ms": throttle_us // 1_000}
    if empty and isinstance(response, FetchResponse):
        changes["responses"] = []
    return replace(response, **changes)


def _group_of(message: Message) -> str:
    """The group of which the requester must be a member; empty if none."""
    if isinstance(message, OffsetFetchRequest) and message.groups:
        return message.groups[0].group_id
    return getattr(message, "group_id", "")


def _format_of_logs(profile: Profile) -> int:
    """The message format of a release's logs (log.message.format.version)."""
    if profile.has("idempotence"):
        return 2
    return 1 if profile.has("message_timestamps") else 0
