"""Authentication step by step: what is refused, and when a connection is closed."""

import hmac
from base64 import b64decode, b64encode
from hashlib import pbkdf2_hmac, sha256

import pytest

from emulator.inputs.statements import AdvertiseListeners
from emulator.wire.messages.cluster import ApiVersionsRequest, MetadataRequest
from emulator.wire.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from tests.support.wire_client import WireLab

UNSUPPORTED_MECHANISM, ILLEGAL_STATE, FAILED = 33, 34, 58


@pytest.fixture
def lab() -> WireLab:
    lab = WireLab.made(brokers=1)
    addresses = {0: ("127.0.0.1", 9092)}
    users = {"alice": "al-secret"}
    lab.give(AdvertiseListeners(listeners=addresses, protocol="SASL_PLAINTEXT", users=users))
    return lab


def token(password: str) -> SaslAuthenticateRequest:
    return SaslAuthenticateRequest(f"\0alice\0{password}".encode())


def test_who_knows_the_password_is_served(lab: WireLab) -> None:
    client = lab.connect()
    assert lab.ask(client, ApiVersionsRequest(), 0).error_code == 0
    response = lab.ask(client, SaslHandshakeRequest("PLAIN"), 1)
    assert (response.error_code, response.mechanisms[0]) == (0, "PLAIN")
    assert lab.ask(client, token("al-secret"), 2).error_code == 0
    assert len(lab.ask(client, MetadataRequest([]), 9).brokers) == 1
    response = lab.ask(client, token("al-secret"), 2)
    assert response.error_code == ILLEGAL_STATE
    assert client not in lab.closed


def test_a_wrong_password_is_told_and_ends_the_connection(lab: WireLab) -> None:
    client = lab.connect()
    lab.ask(client, SaslHandshakeRequest("PLAIN"), 1)
    response = lab.ask(client, token("wrong"), 2)
    text = "Authentication failed: Invalid username or password"
    assert (response.error_code, response.error_message) == (FAILED, text)
    assert lab.closed[client] == text


def test_an_unknown_mechanism_is_told_and_ends_the_connection(lab: WireLab) -> None:
    client = lab.connect()
    response = lab.ask(client, SaslHandshakeRequest("GSSAPI"), 1)
    assert response.error_code == UNSUPPORTED_MECHANISM
    assert response.mechanisms == ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
    assert client in lab.closed


def test_other_requests_end_the_connection_before_authentication(lab: WireLab) -> None:
    early, between = lab.connect(), lab.connect()
    lab.send(early, MetadataRequest([]), 9)
    assert lab.closed[early] == "Unexpected Kafka request of type Metadata during SASL handshake"
    lab.ask(between, SaslHandshakeRequest("PLAIN"), 1)
    lab.send(between, MetadataRequest([]), 9)
    assert "during SASL authentication" in lab.closed[between]


def test_tokens_are_no_requests_after_the_first_handshake(lab: WireLab) -> None:
    client = lab.connect()
    lab.ask(client, SaslHandshakeRequest("PLAIN"), 0)
    lab.send_frame(client, b"\0alice\0al-secret")
    assert lab.responses[client] == [b""]
    lab.responses[client].clear()
    assert lab.ask(client, MetadataRequest([]), 9).brokers
    wrong = lab.connect()
    lab.ask(wrong, SaslHandshakeRequest("PLAIN"), 0)
    lab.send_frame(wrong, b"\0alice\0wrong")
    assert not lab.responses[wrong]
    assert "Invalid username or password" in lab.closed[wrong]


def test_a_listener_without_sasl_has_no_use_for_it() -> None:
    lab = WireLab.made(brokers=1)
    client = lab.connect()
    response = lab.ask(client, SaslHandshakeRequest("PLAIN"), 1)
    assert (response.error_code, response.mechanisms) == (ILLEGAL_STATE, [])
    assert lab.ask(client, token("al-secret"), 2).error_code == ILLEGAL_STATE
    assert client not in lab.closed


def test_both_sides_of_scram_prove_that_they_know_the_password(lab: WireLab) -> None:
    client = lab.connect()
    lab.ask(client, SaslHandshakeRequest("SCRAM-SHA-256"), 1)
    first = lab.ask(client, SaslAuthenticateRequest(b"n,,n=alice,r=mine"), 2).auth_bytes.decode()
    nonce, salt, iterations = (part[2:] for part in first.split(","))
    assert nonce.startswith("mine")
    assert iterations == "4096"
    salted = pbkdf2_hmac("sha256", b"al-secret", b64decode(salt), int(iterations))
    key = hmac.digest(salted, b"Client Key", "sha256")
    final = f"c=biws,r={nonce}"
    said = f"n=alice,r=mine,{first},{final}".encode()
    signature = hmac.digest(sha256(key).digest(), said, "sha256")
    proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
    request = SaslAuthenticateRequest(f"{final},p={b64encode(proof).decode()}".encode())
    server = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), said, "sha256")
    assert lab.ask(client, request, 2).auth_bytes == b"v=" + b64encode(server)
    assert lab.ask(client, MetadataRequest([]), 9).brokers


def test_whom_scram_does_not_know_is_told_no_more(lab: WireLab) -> None:
    client = lab.connect()
    lab.ask(client, SaslHandshakeRequest("SCRAM-SHA-512"), 1)
    response = lab.ask(client, SaslAuthenticateRequest(b"n,,n=bob,r=mine"), 2)
    assert response.error_code == FAILED
    assert response.error_message.endswith("invalid credentials with SASL mechanism SCRAM-SHA-512")
    assert client in lab.closed
