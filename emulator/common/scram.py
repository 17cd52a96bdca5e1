"""SCRAM (RFC 5802), the server's side, as pure functions.

Source: ``ScramFormatter``, ``ScramMessages`` and ``ScramSaslServer`` of Kafka.
"""

import hmac
from base64 import b64decode, b64encode
from binascii import Error
from hashlib import new, pbkdf2_hmac, sha256
from typing import Final

from msgspec import Struct

MECHANISMS: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
"""The mechanisms and their hash functions."""
BY_NUMBER: Final = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
"""The mechanisms by their number on the wire (``ScramMechanism``)."""
ITERATIONS_MIN: Final = 4_096
"""The fewest iterations of a credential, and those of one that is made of a password."""
_NO_BINDING: Final = ("biws", "eSws")
"""``n,,`` and ``y,,`` in base 64: no channel binding, which is all that Kafka takes."""


class ScramError(Exception):
    """A client's message is wrong, or does not prove that it knows the password."""


class Credential(Struct, frozen=True, array_like=True):
    """What a broker knows of a user's password.

    Without keys (:func:`unknown`), nobody can prove to know the password.
    """

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes


class Exchange(Struct, frozen=True, array_like=True):
    """What both sides have said before the client's last message, and the credential."""

    client_first_bare: str
    server_first: str
    nonce: str
    credential: Credential


def unknown(iterations: int) -> Credential:
    """Return a credential of which only the iterations are known."""
    return Credential(b"", iterations, b"", b"")


def credential_of(
    mechanism: str, password: str, name: str, iterations: int = ITERATIONS_MIN
) -> Credential:
    """Return the credential of a password; the salt follows from the user's ``name``."""
    salt = sha256(f"salt of {name}".encode()).digest()
    salted = pbkdf2_hmac(MECHANISMS[mechanism], password.encode(), salt, iterations)
    return credential_of_salted(mechanism, salted, salt, iterations)


def credential_of_salted(mechanism: str, salted: bytes, salt: bytes, iterations: int) -> Credential:
    """Return the credential of a salted password, as clients send it (KIP-554)."""
    name = MECHANISMS[mechanism]
    stored = _hash(name, hmac.digest(salted, b"Client Key", name))
    return Credential(salt, iterations, stored, hmac.digest(salted, b"Server Key", name))


def user_of(client_first: str) -> tuple[str, str, str]:
    """Return a client's first message as user, nonce, and the part without its header.

    Raises:
        ScramError: it is not one.
    """
    header, _, bare = client_first.partition(",,") if ",," in client_first else ("", "", "")
    fields = _fields(bare)
    if header[:1] not in ("n", "y") or not fields.get("n") or not fields.get("r"):
        raise ScramError("Invalid SCRAM client first message")
    return fields["n"].replace("=2C", ",").replace("=3D", "="), fields["r"], bare


def challenge(bare: str, nonce: str, credential: Credential) -> Exchange:
    """Return the state after the server's first message; ``nonce`` is that of both sides."""
    salt = b64encode(credential.salt).decode()
    return Exchange(bare, f"r={nonce},s={salt},i={credential.iterations}", nonce, credential)


def verify(mechanism: str, exchange: Exchange, client_final: str) -> str:
    """Return the server's last message to a client that knows the password.

    Raises:
        ScramError: it does not, or its message is wrong.
    """
    without_proof, _, proof_text = client_final.rpartition(",p=")
    fields = _fields(without_proof)
    if fields.get("c") not in _NO_BINDING or fields.get("r") != exchange.nonce:
        raise ScramError("Invalid client nonce in the final client message.")
    name, credential = MECHANISMS[mechanism], exchange.credential
    said = f"{exchange.client_first_bare},{exchange.server_first},{without_proof}".encode()
    signature = hmac.digest(credential.stored_key, said, name)
    try:
        proof = b64decode(proof_text, validate=True)
    except Error:
        raise ScramError("Invalid SCRAM client final message") from None
    if len(proof) != len(signature):
        raise ScramError("Invalid client credentials")
    key = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
    if not hmac.compare_digest(_hash(name, key), credential.stored_key):
        raise ScramError("Invalid client credentials")
    return f"v={b64encode(hmac.digest(credential.server_key, said, name)).decode()}"


def _hash(name: str, data: bytes) -> bytes:

    return new(name, data).digest()


def _fields(text: str) -> dict[str, str]:
    return {part[0]: part[2:] for part in text.split(",") if part[1:2] == "="}
