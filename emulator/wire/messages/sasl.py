"""Authentication."""

from typing import Annotated, Final

from emulator.wire.types import Api, Bytes, Int16, Int64, Message, String, since


class SaslHandshakeRequest(Message, frozen=True):
    """Names a SASL mechanism (KIP-43)."""

    mechanism: String = ""


class SaslHandshakeResponse(Message, frozen=True):
    """The mechanisms supported by the broker."""

    error_code: Int16 = 0
    mechanisms: list[String] = []


class SaslAuthenticateRequest(Message, frozen=True):
    """Bytes of the SASL mechanism (KIP-152)."""

    auth_bytes: Bytes = b""


class SaslAuthenticateResponse(Message, frozen=True):
    """Bytes of the SASL mechanism."""

    error_code: Int16 = 0
    error_message: String | None = ""
    auth_bytes: Bytes = b""
    session_lifetime_ms: Annotated[Int64, since(1)] = 0


APIS: Final = (
    Api(17, SaslHandshakeRequest, SaslHandshakeResponse, 1),
    Api(36, SaslAuthenticateRequest, SaslAuthenticateResponse, 2, 2),
)
