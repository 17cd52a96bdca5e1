"""Requests about access, credentials and quotas.

Brokers issue no tokens. SCRAM credentials and quotas are kept by the
cluster, and take effect at once; quotas are described and limit nobody.
Source: ``ScramControlManager``, ``ScramImage``, ``ClientQuotaControlManager``,
``ZkAdminManager``.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from math import isfinite, isnan
from typing import Final

from msgspec import Struct

from emulator.clients.external.authorization import ANONYMOUS, Authorizer
from emulator.clients.external.call import AnyCall, Call
from emulator.common import scram
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.releases.config import Quota, Settings
from emulator.wire.messages import security as wire
from emulator.wire.types import Message

ITERATIONS_MAX: Final = 16_384
INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1
OF_USERS: Final = {
    "producer_byte_rate": LONG_MAX,
    "consumer_byte_rate": LONG_MAX,
    "request_percentage": 0,
    "controller_mutation_rate": 0,
}
OF_ADDRESSES: Final = {"connection_creation_rate": INT_MAX}
"""The quotas of users and client ids, and of addresses (``QuotaConfigs``).

With the largest value of those that are whole numbers, up to ``EPSILON``; 0 for others. Values are
compared with it as doubles, so 2**63 is not too large.
"""
EPSILON: Final = 1e-6
KINDS: Final = ("user", "client-id", "ip")
EXACT: Final = 0
DEFAULT: Final = 1
MATCHES: Final = ("EXACT", "DEFAULT", "SPECIFIED")
"""How a quota's entity is matched by name; 2: whatever its name is."""
INVALID: Final = "INVALID_REQUEST"
NO_ERROR: Final = 0
AUTH_DISABLED: Final = "DELEGATION_TOKEN_AUTH_DISABLED"
NO_TIME: Final = -1
"""The times of a token that there is not (``DelegationTokenManager.ErrorTimestamp``)."""


Altered = wire.ScramCredentialDeletion | wire.ScramCredentialUpsertion
Entity = tuple[tuple[str, str | None], ...]
Error = tuple[str, str]
"""An error and its message."""
TWICE: Final = (
    "DUPLICATE_RESOURCE",
    "A user credential cannot be altered twice in the same request",
)
UNEXPECTED: Final = "The server experienced an unexpected error when processing the request."


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
    in_kraft_mode: bool

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
        errors = self._errors_in_kraft(request) if self.in_kraft_mode else self._errors(request)
        failed = [  # SecretKeySpec takes no empty key
            new.name
            for new in request.upsertions
            if not (new.salted_password or new.name in errors)
        ]
        failure = "UNKNOWN_SERVER_ERROR", "Empty key"
        if failed and not self.in_kraft_mode:
            # For each user the credentials of all are made anew, and nobody is told why it failed.
            failed = [altered.name for altered in _altered(request)]
            failure = "UNKNOWN_SERVER_ERROR", UNEXPECTED
        for user in failed:
            errors.setdefault(user, failure)
        self._apply(request, errors.keys())
        rows = []
        for user in dict.fromkeys(altered.name for altered in _altered(request)):
            code, reason = errors.get(user, ("NONE", ""))
            rows.append(wire.AlteredUser(user, ERRORS[code].code, reason or None))
        return wire.AlterUserScramCredentialsResponse(results=rows)

    def _errors_in_kraft(self, request: wire.AlterUserScramCredentialsRequest) -> dict[str, Error]:
        """The first error of each user; a user is altered only once.

        Source: ``ScramControlManager.alterCredentials``.
        """
        errors: dict[str, Error] = {}
        seen: set[str] = set()
        for altered in _altered(request):
            error = TWICE if altered.name in seen else self._error(altered)
            if altered.name not in errors and error is not None:
                errors[altered.name] = error
            seen.add(altered.name)
        return errors

    def _errors(self, request: wire.AlterUserScramCredentialsRequest) -> dict[str, Error]:
        """The error of each user: what is wrong in itself first; a credential is altered only once.

        Source: ``ZkAdminManager.alterUserScramCredentials``.
        """
        altered = _altered(request)
        errors = {each.name: error for each in altered if (error := _wrong(each)) is not None}
        pairs = Counter((each.name, each.mechanism) for each in altered)
        for (name, _), times in pairs.items():
            if times > 1:
                errors.setdefault(name, TWICE)
        for deletion in request.deletions:
            if (error := self._error(deletion)) is not None:
                errors.setdefault(deletion.name, error)
        return errors

    def _error(self, altered: Altered) -> Error | None:
        """What is wrong with a credential by itself, or in that it does not exist."""
        error = _wrong(altered)
        if error is None and isinstance(altered, wire.ScramCredentialDeletion):
            known = {credential.mechanism for credential in self._of(altered.name)}
            reason = "Attempt to delete a user credential that does not exist"
            error = None if altered.mechanism in known else ("RESOURCE_NOT_FOUND", reason)
        return error

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


def _altered(request: wire.AlterUserScramCredentialsRequest) -> list[Altered]:
    return [*request.deletions, *request.upsertions]


def _wrong(altered: Altered) -> Error | None:
    """What is wrong with a credential whatever there is; None if nothing is."""
    if not altered.name:
        return "UNACCEPTABLE_CREDENTIAL", "Username must not be empty"
    if altered.mechanism not in scram.BY_NUMBER:
        return "UNSUPPORTED_SASL_MECHANISM", "Unknown SCRAM mechanism"
    if isinstance(altered, wire.ScramCredentialUpsertion):
        if altered.iterations < scram.ITERATIONS_MIN:
            return "UNACCEPTABLE_CREDENTIAL", "Too few iterations"
        if altered.iterations > ITERATIONS_MAX:
            return "UNACCEPTABLE_CREDENTIAL", "Too many iterations"
    return None


class Quotas(Struct, eq=False):
    """Quotas of clients (KIP-546): kept and described."""

    settings: Settings
    in_kraft_mode: bool
    is_strict: bool

    def alter(self, call: Call[wire.AlterClientQuotasRequest]) -> Message:
        """Set and remove the quotas of entities.

        An entity that is named twice is told once; in KRaft mode the second time is an error.
        Source: ``ClientQuotaControlManager``, ``ZkAdminManager.alterClientQuotas``.
        """
        request = call.message
        reasons: dict[Entity, str] = {}
        quotas = {tuple(quota.entity): quota for quota in self.settings.quotas}
        for entry in request.entries:
            entity = tuple(sorted({p.entity_type: p.entity_name for p in entry.entity}.items()))
            keys = [op.key for op in entry.ops]
            is_twice = entity in reasons or len(set(keys)) < len(keys)
            if self.in_kraft_mode and is_twice:
                named = ", ".join(f"{kind}={name or 'null'}" for kind, name in entity)
                reason = f"Ignoring duplicate entity ClientQuotaEntity(entries={{{named}}})"
            else:
                reason = _wrong_entity(entity) or self._wrong_quota(dict(entity), entry.ops)
            reasons[entity] = reason
            if not reason and not request.validate_only:
                self._set(quotas, entity, entry.ops)
        self.settings.quotas = list(quotas.values())
        rows = [
            wire.AlteredEntryResult(
                ERRORS["INVALID_REQUEST" if reason else "NONE"].code,
                reason or None,
                [wire.QuotaEntity(*part) for part in entity],
            )
            for entity, reason in reasons.items()
        ]
        return wire.AlterClientQuotasResponse(entries=rows)

    def _wrong_quota(self, entity: Mapping[str, str | None], ops: Sequence[wire.OpData]) -> str:
        """Why a quota is not valid; empty if all are. What is removed need not be known."""
        known = OF_ADDRESSES if "ip" in entity else OF_USERS
        for op in ops:
            if op.remove:
                continue
            if op.key not in known:
                return f"Invalid configuration key {op.key}"
            largest = known[op.key]
            kind = "INT" if largest == INT_MAX else "LONG"
            if not self.is_strict:
                if self.in_kraft_mode:
                    largest, kind = largest and LONG_MAX, "Long"
                if largest and abs(_whole(op.value, largest) - op.value) > EPSILON:
                    return f"Configuration {op.key} must be a {kind} value"
            elif op.value <= 0:
                return f"Quota {op.key} must be greater than 0"
            elif largest and op.value > float(largest):
                return f"Proposed value for {op.key} is too large for a {kind}."
            elif largest and op.value % 1.0 > EPSILON:
                return f"{op.key} cannot be a fractional value."
        return ""

    def _set(self, quotas: dict[Entity, Quota], entity: Entity, ops: Sequence[wire.OpData]) -> None:
        quota = quotas.setdefault(entity, Quota(list(entity)))
        for op in ops:
            largest = (OF_USERS | OF_ADDRESSES).get(op.key, 0)
            is_whole = largest and not self.in_kraft_mode
            value = _whole(op.value, largest) if is_whole else op.value
            # What is not finite limits nobody, and no document can have it: it is not kept.
            if op.remove or not isfinite(value):
                quota.values.pop(op.key, None)
            else:
                quota.values[op.key] = value
        if not quota.values:
            del quotas[entity]

    def describe(self, call: Call[wire.DescribeClientQuotasRequest]) -> Message:
        """Return the quotas of the entities that match."""
        error, reason = self._wrong_filter(call.message.components)
        if error != NONE:
            code = ERRORS[error].code
            return wire.DescribeClientQuotasResponse(0, code, reason or None, None)
        rows = [
            wire.EntryData(
                [wire.QuotaEntity(*part) for part in quota.entity],
                [wire.ValueData(*value) for value in quota.values.items()],
            )
            for quota in self.settings.quotas
            if _matches(dict(quota.entity), call.message)
        ]
        return wire.DescribeClientQuotasResponse(0, NO_ERROR, None, rows)

    def _wrong_filter(self, components: Sequence[wire.ComponentData]) -> Error:
        """The error of a filter, and why.

        With ZooKeeper names are only looked at where one is needed (``ClientQuotasImage.describe``,
        ``DescribeClientQuotasRequest.filter`` and ``ZkAdminManager.describeClientQuotas``).
        """
        if not self.in_kraft_mode and any(map(_wrong_match, components)):
            return "UNKNOWN_SERVER_ERROR", ""
        seen: set[str] = set()
        for part in components:
            kind = part.entity_type
            if not kind:
                return INVALID, "Invalid empty entity type."
            if kind in seen:
                return INVALID, f"Entity type {kind} cannot appear more than once in the filter."
            if kind not in KINDS:
                return "UNSUPPORTED_VERSION", f"Unsupported entity type {kind}"
            if self.in_kraft_mode and (reason := _wrong_match(part, may_have_name=False)):
                return INVALID, reason
            seen.add(kind)
        if "ip" in seen and len(seen) > 1:
            reason = "Invalid entity filter component combination."
            reason += " IP filter component should not be used with user or clientId filter"
            return INVALID, f"{reason} component."
        return NONE, ""


def _whole(value: float, largest: int) -> float:
    """A quota as ZooKeeper keeps it: converted as in Java, where NaN is 0 and others saturate."""
    return 0.0 if isnan(value) else float(int(max(-largest - 1, min(value + EPSILON, largest))))


def _wrong_match(part: wire.ComponentData, *, may_have_name: bool = True) -> str:
    """Why a name cannot be matched in the way that is requested; empty if it can."""
    if part.match_type not in range(len(MATCHES)):
        return f"Unknown match type {part.match_type}"
    wanted = f"Request specified MATCH_TYPE_{MATCHES[part.match_type]}, but"
    if part.match_type == EXACT:
        return f"{wanted} set match string to null." if part.match is None else ""
    has_name = part.match is not None and not may_have_name
    return f"{wanted} also specified a match string." if has_name else ""


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


def _wrong_entity(entity: Entity) -> str:
    """Why an entity is not valid; empty if it is. Names of hosts are not resolved."""
    if not entity:
        return "Invalid empty client quota entity"
    for kind, name in entity:
        if kind not in KINDS:
            return f"Unhandled client quota entity type: {kind}"
        if name == "":
            return f"Empty {kind} not supported"
    if "ip" in dict(entity) and len(entity) > 1:
        return (
            "Invalid quota entity combination, IP entity should not be combined with User or"
            " ClientId"
        )
    return ""
