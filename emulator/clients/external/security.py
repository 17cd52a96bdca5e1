"""Requests about access, credentials and quotas.

Brokers issue no tokens. SCRAM credentials and quotas are kept by the
cluster, and take effect at once; quotas are described and limit nobody.
Source: ``ScramControlManager``, ``ScramImage``, ``ClientQuotaControlManager``.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import Struct

from emulator.clients.external.authorization import ANONYMOUS, Authorizer
from emulator.clients.external.call import AnyCall, Call
from emulator.common import scram
from emulator.common.errors import ERRORS
from emulator.protocol import AnyMessage
from emulator.releases.config import Quota, Settings
from emulator.wire.messages import security as wire
from emulator.wire.types import Message

ITERATIONS_MAX: Final = 16_384
OF_USERS: Final = (
    *("producer_byte_rate", "consumer_byte_rate", "request_percentage"),
    "controller_mutation_rate",
)
OF_ADDRESSES: Final = ("connection_creation_rate",)
"""The quotas of users and client ids, and of addresses (``QuotaConfigs``)."""
EXACT: Final = 0
DEFAULT: Final = 1
"""How a quota's entity is matched by name; 2: whatever its name is."""
NO_ERROR: Final = 0
AUTH_DISABLED: Final = "DELEGATION_TOKEN_AUTH_DISABLED"
NO_TIME: Final = -1
"""The times of a token that there is not (``DelegationTokenManager.ErrorTimestamp``)."""


class Answer(Struct, eq=False):
    """A request that concerns no partition: the connection's broker answers by itself.

    With an ``authorizer``, only to clients that it allows ``operation`` on the cluster.
    """

    answer: Callable[[AnyCall], Message]
    authorizer: Authorizer | None = None
    operation: int = 0

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        """Ask nobody."""
        return []

    def respond(self, call: AnyCall, *_responses: AnyMessage) -> Message:
        if self.authorizer is not None:
            client = self.authorizer.client(call.connection)
            if not client.may_on_cluster(self.operation):
                return _unauthorized(call.message)
        return self.answer(call)


def _unauthorized(request: Message) -> Message:
    """The response to a client that may not do something to the cluster."""
    code, reason = ERRORS["CLUSTER_AUTHORIZATION_FAILED"].code, None
    match request:
        case wire.DescribeUserScramCredentialsRequest():
            return wire.DescribeUserScramCredentialsResponse(0, code, reason)
        case wire.AlterUserScramCredentialsRequest():
            names = [deletion.name for deletion in request.deletions]
            names += [upsertion.name for upsertion in request.upsertions]
            altered = [wire.AlteredUser(name, code, reason) for name in dict.fromkeys(names)]
            return wire.AlterUserScramCredentialsResponse(results=altered)
        case wire.AlterClientQuotasRequest():
            entries = [
                wire.AlteredEntryResult(code, reason, entry.entity) for entry in request.entries
            ]
            return wire.AlterClientQuotasResponse(entries=entries)
        case _:
            return wire.DescribeClientQuotasResponse(0, code, reason, None)


class Tokens:
    """Delegation tokens (KIP-48): refused, as brokers have no secret key for them.

    Source: ``KafkaApis.handleCreateTokenRequest`` and its neighbours, ``DelegationTokenManager``,
    and in KRaft mode ``DelegationTokenControlManager``, which leaves times at 0.
    """

    def __init__(self, settings: Settings, *, in_kraft_mode: bool) -> None:
        """Know the listeners' protocols by ``settings``."""
        self.settings = settings
        self.disabled_ms = 0 if in_kraft_mode else NO_TIME

    def _error(self, call: AnyCall) -> str:
        """Only clients that authenticate may ask for tokens (``allowTokenRequests``)."""
        protocol = self.settings.protocols.get(call.connection.listener, "PLAINTEXT")
        is_known = protocol == "SSL" and bool(call.connection.principal)
        is_allowed = is_known or protocol.startswith("SASL_")
        return AUTH_DISABLED if is_allowed else "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"

    def _refusal(self, error: str) -> tuple[int, int]:
        """An error's code, and the time in the response."""
        return ERRORS[error].code, self.disabled_ms if error == AUTH_DISABLED else NO_TIME

    def create(self, call: Call[wire.CreateDelegationTokenRequest]) -> Message:
        """Refuse; the response names the client, and the owner that it asks for."""
        request = call.message
        kind, _, name = (call.connection.principal or ANONYMOUS).partition(":")
        owner = (kind, name)
        if request.owner_principal_name:
            owner = (request.owner_principal_type or "", request.owner_principal_name)
        error = self._error(call)
        if error == AUTH_DISABLED and any(
            renewer.principal_type != "User" for renewer in request.renewers
        ):
            error = "INVALID_PRINCIPAL_TYPE"
        code, time_ms = self._refusal(error)
        return wire.CreateDelegationTokenResponse(
            code, *owner, kind, name, time_ms, time_ms, time_ms
        )

    def renew(self, call: AnyCall) -> Message:
        """Refuse."""
        return wire.RenewDelegationTokenResponse(*self._refusal(self._error(call)))

    def expire(self, call: AnyCall) -> Message:
        """Refuse."""
        return wire.ExpireDelegationTokenResponse(*self._refusal(self._error(call)))

    def describe(self, call: AnyCall) -> Message:
        """Refuse."""
        return wire.DescribeDelegationTokenResponse(self._refusal(self._error(call))[0])


class ScramCredentials(Struct, eq=False):
    """SCRAM credentials of users (KIP-554)."""

    settings: Settings

    def _of(self, user: str) -> list[wire.CredentialInfo]:
        altered, has_password = self.settings.scram.get(user, {}), user in self.settings.users
        return [
            wire.CredentialInfo(
                number, altered[name].iterations if name in altered else scram.ITERATIONS_MIN
            )
            for number, name in scram.BY_NUMBER.items()
            if name in altered or has_password
        ]

    def describe(self, call: Call[wire.DescribeUserScramCredentialsRequest]) -> Message:
        """Return the mechanisms and iterations of users."""
        request = call.message
        named = Counter(user.name for user in request.users or ())
        users = dict.fromkeys(named) or {**self.settings.users, **self.settings.scram}
        rows = []
        for user in users:
            credentials = self._of(user)
            if named[user] > 1:
                reason = (
                    "Cannot describe SCRAM credentials for the same user twice in a single request"
                )
                code = ERRORS["DUPLICATE_RESOURCE"].code
                rows.append(wire.DescribedUser(user, code, f"{reason}: {user}"))
            elif credentials:
                rows.append(wire.DescribedUser(user, NO_ERROR, None, credentials))
            elif named:
                reason = "Attempt to describe a user credential that does not exist"
                code = ERRORS["RESOURCE_NOT_FOUND"].code
                rows.append(wire.DescribedUser(user, code, f"{reason}: {user}"))
        return wire.DescribeUserScramCredentialsResponse(0, NO_ERROR, None, rows)

    def alter(self, call: Call[wire.AlterUserScramCredentialsRequest]) -> Message:
        """Set and delete credentials: all of a user's, or none."""
        request = call.message
        names = [(deletion.name, deletion.mechanism) for deletion in request.deletions]
        names += [(upsertion.name, upsertion.mechanism) for upsertion in request.upsertions]
        errors: dict[str, tuple[str, str]] = {}
        for name, mechanism in names:
            if (error := _wrong_name(name, mechanism, names)) is not None:
                errors[name] = error
        for deleted in request.deletions:
            known = {credential.mechanism for credential in self._of(deleted.name)}
            if deleted.name not in errors and deleted.mechanism not in known:
                reason = "Attempt to delete a user credential that does not exist"
                errors[deleted.name] = ("RESOURCE_NOT_FOUND", reason)
        for new in request.upsertions:
            if new.name not in errors and new.iterations < scram.ITERATIONS_MIN:
                errors[new.name] = ("UNACCEPTABLE_CREDENTIAL", "Too few iterations")
            elif new.name not in errors and new.iterations > ITERATIONS_MAX:
                errors[new.name] = ("UNACCEPTABLE_CREDENTIAL", "Too many iterations")
        self._apply(request, errors.keys())
        rows = []
        for user in dict.fromkeys(name for name, _ in names):
            code, reason = errors.get(user, ("NONE", ""))
            rows.append(wire.AlteredUser(user, ERRORS[code].code, reason or None))
        return wire.AlterUserScramCredentialsResponse(results=rows)

    def _apply(
        self, request: wire.AlterUserScramCredentialsRequest, refused: Collection[str]
    ) -> None:
        credentials = self.settings.scram
        for deleted in request.deletions:
            if deleted.name not in refused:
                self._own(deleted.name).pop(scram.BY_NUMBER[deleted.mechanism], None)
        for upsertion in request.upsertions:
            if upsertion.name not in refused:
                mechanism = scram.BY_NUMBER[upsertion.mechanism]
                self._own(upsertion.name)[mechanism] = scram.credential_of_salted(
                    mechanism, upsertion.salted_password, upsertion.salt, upsertion.iterations
                )
        for user in [user for user, own in credentials.items() if not own]:
            del credentials[user]

    def _own(self, user: str) -> dict[str, scram.Credential]:
        """A user's credentials, with those of the password that the brokers' files have."""
        password = self.settings.users.pop(user, None)
        credentials = self.settings.scram.setdefault(user, {})
        if password is not None:
            for mechanism in scram.MECHANISMS:
                credentials.setdefault(mechanism, scram.credential_of(mechanism, password, user))
        return credentials


def _wrong_name(
    name: str, mechanism: int, names: Sequence[tuple[str, int]]
) -> tuple[str, str] | None:
    """The error of a credential by its user and mechanism, and why; None if there is none."""
    if not name:
        return "UNACCEPTABLE_CREDENTIAL", "Username must not be empty"
    if mechanism not in scram.BY_NUMBER:
        return "UNSUPPORTED_SASL_MECHANISM", "Unknown SCRAM mechanism"
    if names.count((name, mechanism)) > 1:
        reason = "A user credential cannot be altered twice in the same request"
        return "DUPLICATE_RESOURCE", reason
    return None


class Quotas(Struct, eq=False):
    """Quotas of clients (KIP-546): kept and described."""

    settings: Settings

    def alter(self, call: Call[wire.AlterClientQuotasRequest]) -> Message:
        """Set and remove the quotas of entities."""
        request = call.message
        rows = []
        for entry in request.entries:
            reason = _wrong_quota(entry)
            if not reason and not request.validate_only:
                self._set(entry)
            code = ERRORS["INVALID_REQUEST" if reason else "NONE"].code
            rows.append(wire.AlteredEntryResult(code, reason or None, entry.entity))
        return wire.AlterClientQuotasResponse(entries=rows)

    def _set(self, entry: wire.AlteredEntry) -> None:
        entity = sorted((part.entity_type, part.entity_name) for part in entry.entity)
        quotas = self.settings.quotas
        quota = next((quota for quota in quotas if quota.entity == entity), None)
        if quota is None:
            quota = Quota(entity)
            quotas.append(quota)
        for op in entry.ops:
            if op.remove:
                quota.values.pop(op.key, None)
            else:
                quota.values[op.key] = op.value
        if not quota.values:
            quotas.remove(quota)

    def describe(self, call: Call[wire.DescribeClientQuotasRequest]) -> Message:
        """Return the quotas of the entities that match."""
        rows = [
            wire.EntryData(
                [wire.QuotaEntity(*part) for part in quota.entity],
                [wire.ValueData(*value) for value in quota.values.items()],
            )
            for quota in self.settings.quotas
            if _matches(dict(quota.entity), call.message)
        ]
        return wire.DescribeClientQuotasResponse(0, NO_ERROR, None, rows)


def _matches(entity: dict[str, str | None], request: wire.DescribeClientQuotasRequest) -> bool:
    for part in request.components:
        if part.entity_type not in entity:
            return False
        name = entity[part.entity_type]
        if part.match_type == EXACT and name != part.match:
            return False
        if part.match_type == DEFAULT and name is not None:
            return False
    return not request.strict or len(entity) == len(request.components)


def _wrong_quota(entry: wire.AlteredEntry) -> str:
    """Why an entity or a quota is not valid; empty if both are."""
    kinds = [part.entity_type for part in entry.entity]
    if not kinds:
        return "Invalid empty client quota entity"
    for kind in kinds:
        if kind not in ("user", "client-id", "ip"):
            return f"Unhandled client quota entity type: {kind}"
    if "ip" in kinds and len(kinds) > 1:
        return (
            "Invalid quota entity combination, IP entity should not be combined with User or"
            " ClientId"
        )
    known = OF_ADDRESSES if "ip" in kinds else OF_USERS
    for op in entry.ops:
        if op.key not in known:
            return f"Invalid configuration key {op.key}"
    return ""
