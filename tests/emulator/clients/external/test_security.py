"""What brokers without an authorizer answer, and the credentials and quotas that they keep."""

from collections.abc import Iterator
from hashlib import pbkdf2_hmac
from math import inf, nan

import pytest

from emulator.inputs.statements import AdvertiseListeners
from emulator.wire.messages import security as wire
from emulator.wire.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from tests.support.wire_client import WireLab

SECURITY_DISABLED, NOT_ALLOWED, AUTH_DISABLED = 54, 64, 61
NOT_FOUND, DUPLICATE, UNACCEPTABLE, INVALID_REQUEST = 91, 92, 93, 42
INVALID_PRINCIPAL_TYPE = 67
SHA_256 = 1


@pytest.fixture(params=["2.8", "4.1"])
def lab(request: pytest.FixtureRequest) -> WireLab:
    lab = WireLab.made(brokers=1, version=request.param)
    lab.pass_time(1_000_000)
    return lab


def test_without_an_authorizer_there_are_no_access_control_lists(lab: WireLab) -> None:
    client = lab.connect()
    assert (
        lab.ask(client, wire.DescribeAclsRequest(1, None, 1, None, None, 1, 1), 2).error_code
        == SECURITY_DISABLED
    )
    creations = [wire.AclCreation(2, "t", 3, "User:a", "*", 3, 3)] * 2
    results = lab.ask(client, wire.CreateAclsRequest(creations), 2).results
    assert [each.error_code for each in results] == [SECURITY_DISABLED] * 2
    filters = [wire.DeleteAclsFilter(2, "t", 3, None, None, 1, 1)]
    (result,) = lab.ask(client, wire.DeleteAclsRequest(filters), 2).filter_results
    assert result.error_code == SECURITY_DISABLED
    assert result.error_message == "No Authorizer is configured."


def test_tokens_are_refused(lab: WireLab) -> None:
    client = lab.connect()
    for request in (
        wire.CreateDelegationTokenRequest(),
        wire.RenewDelegationTokenRequest(b"t"),
        wire.ExpireDelegationTokenRequest(b"t"),
        wire.DescribeDelegationTokenRequest(),
    ):
        assert lab.ask(client, request, 2).error_code == NOT_ALLOWED


@pytest.mark.parametrize("principal", ["User:alice", "User:CN=alice,O=Acme"])
def test_clients_that_authenticate_are_told_that_there_are_no_tokens(
    lab: WireLab, principal: str
) -> None:
    """As brokers of 2.8.2 and 4.1.2 answered clients of SASL_PLAINTEXT."""
    protocol = "SSL" if "=" in principal else "SASL_PLAINTEXT"
    addresses = {0: ("127.0.0.1", 9092)}
    subject = principal.removeprefix("User:") if protocol == "SSL" else None
    users = {"alice": "secret"}
    lab.run(AdvertiseListeners(listeners=addresses, name="L", protocol=protocol, users=users))
    client = lab.connect(listener="L", subject=subject)
    if subject is None:
        lab.ask(client, SaslHandshakeRequest("PLAIN"), 1)
        lab.ask(client, SaslAuthenticateRequest(b"\0alice\0secret"), 1)
    name = principal.removeprefix("User:")
    made = lab.ask(client, wire.CreateDelegationTokenRequest(), 2)
    assert (made.error_code, made.principal_type, made.principal_name) == (
        AUTH_DISABLED,
        "User",
        name,
    )
    time_ms = 0 if lab.cluster.kraft is not None else -1
    assert made.issue_timestamp_ms == made.expiry_timestamp_ms == made.max_timestamp_ms == time_ms
    renewers = [wire.KafkaPrincipal("Group", "x")]
    refused = lab.ask(client, wire.CreateDelegationTokenRequest(renewers=renewers), 2)
    assert (refused.error_code, refused.issue_timestamp_ms) == (INVALID_PRINCIPAL_TYPE, -1)
    for kind in (wire.RenewDelegationTokenRequest, wire.ExpireDelegationTokenRequest):
        response = lab.ask(client, kind(b"t"), 2)
        assert (response.error_code, response.expiry_timestamp_ms) == (AUTH_DISABLED, time_ms)
    described = lab.ask(client, wire.DescribeDelegationTokenRequest(), 2)
    assert (described.error_code, described.tokens) == (AUTH_DISABLED, [])


def altered(
    lab: WireLab, *upserted: wire.ScramCredentialUpsertion, deleted: tuple[str, ...] = ()
) -> dict[str, int]:
    deletions = [wire.ScramCredentialDeletion(name, SHA_256) for name in deleted]
    request = wire.AlterUserScramCredentialsRequest(deletions, list(upserted))
    return {each.user: each.error_code for each in lab.ask(lab.connect(), request, 0).results}


def described(lab: WireLab, *users: str) -> list[tuple[str, int, list[tuple[int, int]]]]:
    names = [wire.UserName(each) for each in users] or None
    response = lab.ask(lab.connect(), wire.DescribeUserScramCredentialsRequest(names), 0)
    return [
        (
            each.user,
            each.error_code,
            [(info.mechanism, info.iterations) for info in each.credential_infos],
        )
        for each in response.results
    ]


def credential(
    name: str, iterations: int = 8_192, password: bytes = b"pw"
) -> wire.ScramCredentialUpsertion:
    salted = pbkdf2_hmac("sha256", password, b"salt", iterations)
    return wire.ScramCredentialUpsertion(name, SHA_256, iterations, b"salt", salted)


def test_credentials_are_set_described_and_deleted(lab: WireLab) -> None:
    assert altered(lab, credential("bob"), credential("eve", 1)) == {"bob": 0, "eve": UNACCEPTABLE}
    assert described(lab) == [("bob", 0, [(SHA_256, 8_192)])]
    assert described(lab, "eve", "bob") == [
        ("eve", NOT_FOUND, []),
        ("bob", 0, [(SHA_256, 8_192)]),
    ]
    assert [code for _, code, _ in described(lab, "bob", "bob")] == [DUPLICATE]
    assert altered(lab, deleted=("bob", "eve")) == {"bob": 0, "eve": NOT_FOUND}
    assert described(lab) == []


def test_a_credential_that_was_set_lets_its_user_in(lab: WireLab) -> None:
    altered(lab, credential("bob"))
    addresses = {0: ("127.0.0.1", 9092)}
    lab.give(AdvertiseListeners(listeners=addresses, protocol="SASL_PLAINTEXT"))
    client = lab.connect()
    lab.ask(client, SaslHandshakeRequest("SCRAM-SHA-256"), 1)
    first = lab.ask(client, SaslAuthenticateRequest(b"n,,n=bob,r=mine"), 2)
    assert b"i=8192" in first.auth_bytes


def test_quotas_are_kept_and_described(lab: WireLab) -> None:
    client = lab.connect()
    user, default = wire.QuotaEntity("user", "bob"), wire.QuotaEntity("user", None)
    entries = [
        wire.AlteredEntry([user], [wire.OpData("producer_byte_rate", 1024.0)]),
        wire.AlteredEntry([default], [wire.OpData("consumer_byte_rate", 9.0)]),
        wire.AlteredEntry([user], [wire.OpData("no_rate", 1.0)]),
    ]
    rows = lab.ask(client, wire.AlterClientQuotasRequest(entries), 1).entries
    assert [each.error_code for each in rows] == [INVALID_REQUEST, 0]
    for match, found in ((("user", 0, "bob"), [1024.0]), (("user", 1, None), [9.0])):
        wanted = wire.DescribeClientQuotasRequest([wire.ComponentData(*match)], strict=True)
        response = lab.ask(client, wanted, 1)
        assert [value.value for each in response.entries for value in each.values] == found
    gone = [wire.AlteredEntry([user], [wire.OpData("producer_byte_rate", remove=True)])]
    lab.ask(client, wire.AlterClientQuotasRequest(gone), 1)
    everything = wire.DescribeClientQuotasRequest([wire.ComponentData("user", 2, None)])
    assert len(lab.ask(client, everything, 1).entries) == 1


def in_kraft_mode(lab: WireLab) -> bool:
    return lab.cluster.kraft is not None


@pytest.mark.parametrize(
    ("entity", "ops", "with_zookeeper", "in_kraft"),
    [
        ([], [], 42, 42),
        ([("topic", "t")], [], 42, 42),
        ([("user", "")], [], 42, 42),
        ([("user", "a"), ("ip", "127.0.0.1")], [], 42, 42),
        ([("user", "a"), ("user", "b")], [("producer_byte_rate", 1.0, False)], 0, 0),
        ([("user", "a")], [("connection_creation_rate", 1.0, False)], 42, 42),
        ([("user", "a")], [("connection_creation_rate", 1.0, True)], 0, 0),
        ([("user", "a")], [("request_percentage", 0.0, False)], 0, 42),
        ([("user", "a")], [("request_percentage", 1.5, False)], 0, 0),
        ([("user", "a")], [("producer_byte_rate", 1.5, False)], 42, 42),
        ([("user", "a")], [("producer_byte_rate", 1e20, False)], 42, 42),
        ([("user", "a")], [("producer_byte_rate", float(2**63 - 1), False)], 0, 0),
        ([("user", "a")], [("producer_byte_rate", 0.9999999, False)], 0, 42),
        ([("user", "a")], [("producer_byte_rate", inf, False)], 42, 42),
        ([("user", "a")], [("producer_byte_rate", -inf, False)], 42, 42),
        ([("ip", "127.0.0.1")], [("connection_creation_rate", -inf, False)], 42, 42),
        ([("ip", "127.0.0.1")], [("connection_creation_rate", nan, False)], 0, 0),
        ([("user", "a")], [("request_percentage", inf, False)], 0, 0),
        ([("user", "a")], [("request_percentage", 1.0, False)] * 2, 0, 42),
    ],
)
def test_wrong_quotas_are_refused(
    lab: WireLab,
    entity: list[tuple[str, str]],
    ops: list[tuple[str, float, bool]],
    with_zookeeper: int,
    in_kraft: int,
) -> None:
    """As conversations with brokers of 2.8.2, 3.9.2 and 4.2.0 went."""
    entry = wire.AlteredEntry(
        [wire.QuotaEntity(*part) for part in entity], [wire.OpData(*op) for op in ops]
    )
    (row,) = lab.ask(lab.connect(), wire.AlterClientQuotasRequest([entry]), 1).entries
    assert row.error_code == (in_kraft if in_kraft_mode(lab) else with_zookeeper)
    assert {part.entity_type: part.entity_name for part in row.entity} == dict(entity)


def alter_quotas(lab: WireLab, *quotas: tuple[str, str, float]) -> list[tuple[str, float]]:
    """Set quotas of users; what they all have then."""
    entries = [
        wire.AlteredEntry([wire.QuotaEntity("user", user)], [wire.OpData(key, value)])
        for user, key, value in quotas
    ]
    client = lab.connect()
    lab.ask(client, wire.AlterClientQuotasRequest(entries), 1)
    response = lab.ask(client, wire.DescribeClientQuotasRequest([]), 1)
    return [(value.key, value.value) for entry in response.entries for value in entry.values]


def test_a_quota_that_is_not_a_number_is_not_kept(lab: WireLab) -> None:
    """With ZooKeeper one of bytes is kept as 0, which ``NaN.toLong`` is."""
    alter_quotas(lab, ("a", "request_percentage", 1.0))
    assert alter_quotas(lab, ("a", "request_percentage", nan)) == []
    kept = [] if in_kraft_mode(lab) else [("producer_byte_rate", 0.0)]
    assert alter_quotas(lab, ("b", "producer_byte_rate", nan)) == kept


def test_with_zookeeper_the_quotas_of_bytes_are_kept_as_whole_numbers(lab: WireLab) -> None:
    value = 1.0000001
    kept = value if in_kraft_mode(lab) else 1.0
    assert alter_quotas(lab, ("a", "producer_byte_rate", value)) == [("producer_byte_rate", kept)]


def test_quotas_are_altered_without_a_search_for_each(lab: WireLab) -> None:
    class Counted(list[tuple[str, str | None]]):
        """An entity that counts how often it is read."""

        reads = 0

        def __iter__(self) -> Iterator[tuple[str, str | None]]:
            Counted.reads += 1
            return super().__iter__()

    alter_quotas(lab, *((f"user {n}", "request_percentage", 1.0) for n in range(100)))
    for quota in lab.cluster.settings.quotas:
        quota.entity = Counted(quota.entity)
    entries = [
        wire.AlteredEntry(
            [wire.QuotaEntity("user", f"user {n}")],
            [wire.OpData("request_percentage", remove=True)],
        )
        for n in range(50)
    ]
    lab.ask(lab.connect(), wire.AlterClientQuotasRequest(entries), 1)
    assert len(lab.cluster.settings.quotas) == 50
    assert Counted.reads == 100


def test_an_entity_is_altered_once_in_a_request(lab: WireLab) -> None:
    entries = [
        wire.AlteredEntry(
            [wire.QuotaEntity("user", "a")], [wire.OpData("request_percentage", percentage)]
        )
        for percentage in (1.0, 2.0)
    ]
    client = lab.connect()
    (row,) = lab.ask(client, wire.AlterClientQuotasRequest(entries), 1).entries
    (kept,) = lab.ask(client, wire.DescribeClientQuotasRequest([]), 1).entries
    expected = (INVALID_REQUEST, 1.0) if in_kraft_mode(lab) else (0, 2.0)
    assert (row.error_code, kept.values[0].value) == expected


@pytest.mark.parametrize(
    ("components", "with_zookeeper", "in_kraft"),
    [
        ([("", 2, None)], INVALID_REQUEST, INVALID_REQUEST),
        ([("topic", 2, None)], 35, 35),
        ([("user", 0, "a"), ("user", 1, None)], INVALID_REQUEST, INVALID_REQUEST),
        ([("user", 0, "a"), ("ip", 1, None)], INVALID_REQUEST, INVALID_REQUEST),
        ([("user", 0, None)], -1, INVALID_REQUEST),
        ([("user", 5, None)], -1, INVALID_REQUEST),
        ([("user", 1, "a")], 0, INVALID_REQUEST),
        ([("user", 2, "a")], 0, INVALID_REQUEST),
        ([("user", 2, None), ("client-id", 0, "c")], 0, 0),
    ],
)
def test_quotas_are_described_by_a_sound_filter(
    lab: WireLab,
    components: list[tuple[str, int, str | None]],
    with_zookeeper: int,
    in_kraft: int,
) -> None:
    wanted = wire.DescribeClientQuotasRequest([wire.ComponentData(*part) for part in components])
    response = lab.ask(lab.connect(), wanted, 1)
    assert response.error_code == (in_kraft if in_kraft_mode(lab) else with_zookeeper)
    assert (response.entries is None) == bool(response.error_code)


@pytest.mark.parametrize(
    ("deleted", "upserted", "with_zookeeper", "in_kraft"),
    [
        ([1], [], NOT_FOUND, NOT_FOUND),
        ([1, 1], [], DUPLICATE, NOT_FOUND),
        ([1], [(1, 4096)], DUPLICATE, NOT_FOUND),
        ([], [(1, 4096), (2, 4096)], 0, DUPLICATE),
        ([], [(1, 4096), (1, 4096)], DUPLICATE, DUPLICATE),
        ([], [(1, 1), (1, 4096)], UNACCEPTABLE, UNACCEPTABLE),
        ([9], [(1, 1)], UNACCEPTABLE, 33),
        ([], [(9, 1), (1, 1)], UNACCEPTABLE, 33),
    ],
)
def test_the_error_of_a_user_whose_credentials_are_wrong_in_several_ways(
    lab: WireLab,
    deleted: list[int],
    upserted: list[tuple[int, int]],
    with_zookeeper: int,
    in_kraft: int,
) -> None:
    request = wire.AlterUserScramCredentialsRequest(
        [wire.ScramCredentialDeletion("a", mechanism) for mechanism in deleted],
        [wire.ScramCredentialUpsertion("a", *each, b"salt", b"p" * 32) for each in upserted],
    )
    (row,) = lab.ask(lab.connect(), request, 0).results
    assert row.error_code == (in_kraft if in_kraft_mode(lab) else with_zookeeper)


def test_a_password_is_not_empty(lab: WireLab) -> None:
    request = wire.ScramCredentialUpsertion("a", SHA_256, 4096, b"salt", b"")
    (row,) = lab.ask(lab.connect(), wire.AlterUserScramCredentialsRequest([], [request]), 0).results
    assert row.error_code == -1


def test_with_zookeeper_an_empty_password_fails_all_users_that_are_valid(lab: WireLab) -> None:
    empty = wire.ScramCredentialUpsertion("a", SHA_256, 4096, b"salt", b"")
    told = altered(lab, empty, credential("bob"), credential("eve", 1))
    assert told == {"a": -1, "bob": 0 if in_kraft_mode(lab) else -1, "eve": UNACCEPTABLE}
    assert [user for user, *_ in described(lab)] == (["bob"] if in_kraft_mode(lab) else [])


def test_with_zookeeper_an_empty_password_of_one_that_is_invalid_fails_nobody_else(
    lab: WireLab,
) -> None:
    wrong = wire.ScramCredentialUpsertion("a", SHA_256, 1, b"salt", b"")
    assert altered(lab, wrong, credential("bob")) == {"a": UNACCEPTABLE, "bob": 0}


@pytest.mark.parametrize(("rate", "code"), [(2**31 + 5.0, 0), (1.5, INVALID_REQUEST)])
def test_early_kraft_has_one_limit_for_quotas_that_are_whole(rate: float, code: int) -> None:
    lab = WireLab.made(brokers=1, version="3.4", mode="kraft")
    lab.pass_time(1_000_000)
    ops = [wire.OpData("connection_creation_rate", rate)]
    entry = wire.AlteredEntry([wire.QuotaEntity("ip", "127.0.0.1")], ops)
    (row,) = lab.ask(lab.connect(), wire.AlterClientQuotasRequest([entry]), 1).entries
    reason = "Configuration connection_creation_rate must be a Long value" if code else None
    assert (row.error_code, row.error_message) == (code, reason)


@pytest.mark.parametrize(("version", "code"), [("3.8", 0), ("3.9", INVALID_REQUEST)])
def test_a_principal_needs_a_colon_since_3_9(version: str, code: int) -> None:
    authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    config = {"authorizer.class.name": authorizer, "allow.everyone.if.no.acl.found": "true"}
    lab = WireLab.made(brokers=1, version=version, mode="kraft", config=config)
    lab.pass_time(1_000_000)
    creation = wire.AclCreation(2, "t", 3, "nobody", "*", 3, 3)
    (result,) = lab.ask(lab.connect(), wire.CreateAclsRequest([creation]), 2).results
    assert result.error_code == code
