"""Authentication of clients (KIP-43, KIP-84, KIP-152, KIP-368).

A listener whose security protocol is SASL_PLAINTEXT or SASL_SSL serves a connection once its client
has proved who it is; until then it takes ApiVersions and SASL's own requests only.
Source: ``SaslServerAuthenticator``, ``PlainSaslServer``, ``ScramSaslServer``.
"""

from hashlib import sha256
from typing import Final

from msgspec import Struct

from emulator import events
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external_state import Connection
from emulator.common import scram
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.releases.config import Settings
from emulator.simulation.kernel import Kernel
from emulator.wire.exceptions import WireError
from emulator.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from emulator.wire.types import Message

PLAIN: Final = "PLAIN"
MECHANISMS: Final = (PLAIN, *scram.MECHANISMS)
"""The mechanisms that brokers know here, unless sasl.enabled.mechanisms names some of them."""
CERTIFICATE: Final = "SSL"
"""What stands for a mechanism where a client's certificate says who it is."""
WRAPPED_SINCE: Final = 1
"""The first SaslHandshake version after which tokens come in SaslAuthenticate requests."""
BEFORE: Final = ("ApiVersions", "SaslHandshake", "SaslAuthenticate")
"""The requests of a client that is not authenticated."""
PARTS_OF_PLAIN: Final = 3


class SaslError(Exception):
    """A client is not who it says, or its token is wrong; the message is what it is told."""


class Authenticator(Struct, eq=False):
    """Authenticates the clients of listeners that ask for it."""

    settings: Settings
    kernel: Kernel

    def is_needed(self, connection: Connection) -> bool:
        """Return whether a connection's listener serves authenticated clients only."""
        protocol = self.settings.protocols.get(connection.listener, "")
        return protocol.startswith("SASL_")

    def identify(self, number: int, connection: Connection, subject: str) -> None:
        """Take a client for the owner of its certificate, unless it has to authenticate by SASL.

        Source: ``DefaultKafkaPrincipalBuilder``, without ``ssl.principal.mapping.rules``.
        """
        if not self.is_needed(connection):
            connection.principal = f"User:{subject}"
            fields = (connection.principal, CERTIFICATE, NONE)
            self.kernel.emit(events.ClientAuthenticated, number, *fields)

    def check(self, connection: Connection, api: str) -> None:
        """Refuse the requests of a client that is not authenticated yet.

        Raises:
            WireError: the client must authenticate first; its connection is closed.
        """
        if not self.is_needed(connection) or connection.principal:
            return
        is_begun = bool(connection.mechanism)
        if api not in BEFORE or is_begun != (api == "SaslAuthenticate"):
            doing = "authentication" if is_begun else "handshake"
            raise WireError(f"Unexpected Kafka request of type {api} during SASL {doing}")

    @property
    def mechanisms(self) -> list[str]:
        """The mechanisms that brokers take (sasl.enabled.mechanisms)."""
        enabled = self.settings.defaults.get("sasl.enabled.mechanisms", "")
        return [mechanism.strip() for mechanism in enabled.split(",") if mechanism.strip()] or list(
            MECHANISMS
        )

    def is_raw(self, connection: Connection) -> bool:
        """Return whether the next bytes of a client are a token, not a request (up to 0.11)."""
        return connection.is_raw and not connection.principal

    def begin(self, call: AnyCall) -> str:
        """Handle a handshake, and return its error."""
        request, connection = call.message, call.connection
        assert isinstance(request, SaslHandshakeRequest)
        if not self.is_needed(connection):
            return "ILLEGAL_SASL_STATE"
        if request.mechanism not in self.mechanisms:
            connection.refusal = f"it asks for the SASL mechanism {request.mechanism!r}"
            return "UNSUPPORTED_SASL_MECHANISM"
        connection.mechanism, connection.exchange = request.mechanism, None
        connection.is_raw = call.header.api_version < WRAPPED_SINCE
        return NONE

    def evaluate(self, number: int, connection: Connection, token: bytes) -> bytes:
        """Return the response to a token; the last one authenticates the client.

        Raises:
            SaslError: the client is not authenticated; its connection is to be closed.
        """
        mechanism = connection.mechanism
        try:
            if mechanism == PLAIN:
                user, answer = self._plain(token), b""
            else:
                user, answer = self._scram(number, connection, token)
        except (scram.ScramError, UnicodeDecodeError, ValueError):
            text = (
                "Authentication failed during authentication due to invalid credentials with SASL"
                f" mechanism {mechanism}"
            )
            self._fail(number, connection, text)
            raise SaslError(text) from None
        except SaslError as error:
            self._fail(number, connection, str(error))
            raise
        if user:
            connection.principal, connection.mechanism = f"User:{user}", ""
            self.kernel.emit(
                events.ClientAuthenticated, number, connection.principal, mechanism, NONE
            )
        return answer

    def _fail(self, number: int, connection: Connection, text: str) -> None:
        connection.refusal = text
        error = "SASL_AUTHENTICATION_FAILED"
        self.kernel.emit(events.ClientAuthenticated, number, "", connection.mechanism, error)

    def _plain(self, token: bytes) -> str:
        """Return the user of a token of PLAIN (RFC 4616)."""
        parts = token.decode().split("\0")
        if len(parts) != PARTS_OF_PLAIN:
            raise ValueError
        authorized, user, password = parts
        if not user or not password:
            what = "password" if user else "username"
            raise SaslError(f"Authentication failed: {what} not specified")
        if self.settings.users.get(user) != password:
            raise SaslError("Authentication failed: Invalid username or password")
        if authorized not in ("", user):
            raise SaslError(
                "Authentication failed: Client requested an authorization id that is different "
                "from username"
            )
        return user

    def _scram(self, number: int, connection: Connection, token: bytes) -> tuple[str, bytes]:
        """Return the user, if it has proved who it is, and the server's message."""
        mechanism, exchange, text = connection.mechanism, connection.exchange, token.decode()
        if exchange is None:
            user, nonce, bare = scram.user_of(text)
            credential = self.credential(user, mechanism)
            if credential is None:
                raise scram.ScramError
            seed = f"{self.kernel.state.random_state} {number} {connection.received}"
            nonce += sha256(seed.encode()).hexdigest()[:26]
            connection.user = user
            connection.exchange = scram.challenge(bare, nonce, credential)
            return "", connection.exchange.server_first.encode()
        return connection.user, scram.verify(mechanism, exchange, text).encode()

    def credential(self, user: str, mechanism: str) -> scram.Credential | None:
        """Return a user's credential: as altered by a client, or of the password given."""
        altered = self.settings.scram.get(user, {})
        if mechanism in altered:
            return altered[mechanism]
        password = self.settings.users.get(user)
        if password is None:
            return None
        return scram.credential_of(mechanism, password, user)


class SaslHandshake(Struct, eq=False):
    """SaslHandshake: choose a mechanism (KIP-43)."""

    authenticator: Authenticator

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        return []

    def respond(self, call: AnyCall, *_responses: AnyMessage) -> Message:
        """Return the mechanisms; on a listener without SASL there are none."""
        error = self.authenticator.begin(call)
        known = [] if error == "ILLEGAL_SASL_STATE" else self.authenticator.mechanisms
        return SaslHandshakeResponse(ERRORS[error].code, known)


class SaslAuthenticate(Struct, eq=False):
    """SaslAuthenticate: a token of the mechanism (KIP-152)."""

    authenticator: Authenticator

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        return []

    def respond(self, call: Call[SaslAuthenticateRequest], *_responses: AnyMessage) -> Message:
        """Return the broker's token, or the error with which the connection is closed."""
        request = call.message
        if not call.connection.mechanism:
            code = ERRORS["ILLEGAL_SASL_STATE"].code
            text = "SaslAuthenticate request received after successful authentication"
            return SaslAuthenticateResponse(code, text)
        try:
            token = self.authenticator.evaluate(call.number, call.connection, request.auth_bytes)
        except SaslError as error:
            code = ERRORS["SASL_AUTHENTICATION_FAILED"].code
            return SaslAuthenticateResponse(code, str(error))
        return SaslAuthenticateResponse(0, "", token)
