"""Users, quotas, listeners and the authorizer of a cluster that starts from an image."""

import hmac
import json
from base64 import b64decode, b64encode
from hashlib import pbkdf2_hmac, sha256

import pytest
from msgspec.structs import replace

from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import (
    DEFAULT,
    Broker,
    ClientQuota,
    ClusterImage,
    Listener,
    Mode,
    Partition,
    ScramUser,
    Topic,
)
from emulator.common.errors import ERRORS
from emulator.inputs.statements import AdvertiseListeners
from emulator.releases.config import ConfigError
from emulator.wire.messages import security as wire
from emulator.wire.messages.cluster import MetadataRequest, MetadataRequestTopic
from emulator.wire.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from tests.support.wire_client import WireLab

CLUSTERS: list[tuple[Mode, str]] = [("zk", "2.8"), ("kraft", "4.1")]
AUTHORIZERS = {
    "kraft": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "zk": "kafka.security.authorizer.AclAuthorizer",
}
PUBLIC = Listener("PUBLIC", "kafka.example.org", 9094, "SASL_SSL")
INTERNAL = Listener("INTERNAL", "10.0.0.1", 9092, "PLAINTEXT")


def image(mode: Mode, static: dict[str, str] | None = None) -> ClusterImage:
    """One broker with two listeners, whose properties are ``static``."""
    return ClusterImage(
        mode=mode,
        users=(ScramUser("alice", {"SCRAM-SHA-256": 8_192}), ScramUser("bob", {})),
        quotas=(
            ClientQuota(user="alice", client_id=DEFAULT, values={"producer_byte_rate": 1_024.0}),
            ClientQuota(ip="10.0.0.7", values={"connection_creation_rate": 3.0}),
        ),
        brokers=(Broker(1, up=True, listeners=(PUBLIC, INTERNAL), static_configs=static),),
        topics=(Topic("orders", configs={}, partitions=(Partition(0, (1,), 1, (1,)),)),),
    )


def start(
    mode: Mode,
    version: str,
    static: dict[str, str] | None = None,
    config: dict[str, str] | None = None,
) -> WireLab:
    made = image(mode, static)
    lab = WireLab.made(version=version, mode=mode, image=made, config=config or {})
    lab.pass_time(2_000_000)
    return lab


def admits(lab: WireLab, password: str) -> bool:
    """Whether alice gets in by SCRAM with a password."""
    client = lab.connect(1)
    lab.ask(client, SaslHandshakeRequest("SCRAM-SHA-256"), 1)
    first = lab.ask(client, SaslAuthenticateRequest(b"n,,n=alice,r=mine"), 2)
    fields = dict(part.split("=", 1) for part in first.auth_bytes.decode().split(","))
    assert fields["i"] == "8192"
    salted = pbkdf2_hmac("sha256", password.encode(), b64decode(fields["s"]), 8_192)
    key = hmac.digest(salted, b"Client Key", "sha256")
    final = f"c=biws,r={fields['r']}"
    said = f"n=alice,r=mine,{first.auth_bytes.decode()},{final}".encode()
    signature = hmac.digest(sha256(key).digest(), said, "sha256")
    proof = b64encode(bytes(one ^ other for one, other in zip(key, signature, strict=True)))
    answer = lab.ask(client, SaslAuthenticateRequest(f"{final},p={proof.decode()}".encode()), 2)
    return answer.error_code == 0


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_users_and_quotas_are_those_of_the_image(mode: Mode, version: str) -> None:
    lab = start(mode, version)
    client = lab.connect(1)
    users = lab.ask(client, wire.DescribeUserScramCredentialsRequest(None), 0).results
    assert [(user.user, user.credential_infos) for user in users] == [
        ("alice", [wire.CredentialInfo(1, 8_192)])
    ]
    entries = lab.ask(client, wire.DescribeClientQuotasRequest(), 1).entries
    assert [
        (
            [(part.entity_type, part.entity_name) for part in entry.entity],
            [(value.key, value.value) for value in entry.values],
        )
        for entry in entries
    ] == [
        ([("client-id", None), ("user", "alice")], [("producer_byte_rate", 1_024.0)]),
        ([("ip", "10.0.0.7")], [("connection_creation_rate", 3.0)]),
    ]


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_a_user_gets_in_once_the_password_is_given(mode: Mode, version: str) -> None:
    lab = start(mode, version)
    given = AdvertiseListeners(listeners={1: ("127.0.0.1", 9092)}, protocol="SASL_PLAINTEXT")
    lab.give(given)
    assert not admits(lab, "al-secret")
    lab.give(
        AdvertiseListeners(
            listeners=given.listeners, protocol="SASL_PLAINTEXT", users={"alice": "al-secret"}
        )
    )
    assert not admits(lab, "wrong")
    assert admits(lab, "al-secret")


def test_brokers_register_with_zookeeper_the_listeners_of_the_image() -> None:
    lab = start("zk", "2.8")
    registered = json.loads(lab.cluster.zookeeper.get("/brokers/ids/1").data or "")
    assert registered["endpoints"] == [
        "PUBLIC://kafka.example.org:9094",
        "INTERNAL://10.0.0.1:9092",
    ]
    assert registered["listener_security_protocol_map"] == {
        "PUBLIC": "SASL_SSL",
        "INTERNAL": "PLAINTEXT",
    }
    assert (registered["host"], registered["port"]) == ("10.0.0.1", 9092)


def denied(lab: WireLab) -> bool:
    request = MetadataRequest([MetadataRequestTopic(name="orders")])
    code = lab.ask(lab.connect(1), request, 8).topics[0].error_code
    return bool(code == ERRORS["TOPIC_AUTHORIZATION_FAILED"].code)


@pytest.mark.parametrize(("mode", "version"), CLUSTERS)
def test_an_authorizer_of_the_brokers_has_an_effect(mode: Mode, version: str) -> None:
    static = {"authorizer.class.name": AUTHORIZERS[mode]}
    assert denied(start(mode, version, static))
    assert not denied(start(mode, version, {**static, "super.users": "User:ANONYMOUS"}))
    assert not denied(start(mode, version, static, {"authorizer.class.name": ""}))
    made = complete(replace(image(mode, static), release=version))
    assert [str(assumption) for assumption in made.assumed if "super" in assumption.what] == [
        "allow.everyone.if.no.acl.found and super.users: not set"
    ]


def test_an_authorizer_that_is_not_emulated_is_none_and_named() -> None:
    static = {"authorizer.class.name": "com.example.Rules"}
    assert not denied(start("kraft", "4.1", static))
    assumed = complete(replace(image("kraft", static), release="4.1")).assumed
    assert "authorizer: none, because com.example.Rules is not emulated" in map(str, assumed)
    with pytest.raises(ConfigError, match=r"not 'com\.example\.Rules'"):
        start("kraft", "4.1", config=static)
