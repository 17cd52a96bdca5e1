"""What clients may do where brokers have an authorizer, with ZooKeeper and without."""

from contextlib import nullcontext
from typing import Any, Literal

import pytest

from emulator import protocol
from emulator.clients.external.authorization import SEVERAL, WHOLE, Client, split
from emulator.clients.external.refusals import REFUSALS
from emulator.cluster import Cluster
from emulator.common.acls import ALLOW, ANY, GROUP, LITERAL, PREFIXED, READ, TOPIC, WRITE, Acl
from emulator.common.errors import ERRORS
from emulator.inputs.statements import (
    AdvertiseListeners,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    StartBroker,
)
from emulator.protocol import AnyMessage
from emulator.releases.config import ConfigError
from emulator.wire.messages import configs
from emulator.wire.messages import security as wire
from emulator.wire.messages.cluster import MetadataRequest, MetadataRequestTopic
from emulator.wire.messages.features import ListConfigResourcesRequest
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from emulator.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.support.wire_client import WireLab, batch_of, values_in

AUTHORIZERS = {
    "kraft": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "zk": "kafka.security.authorizer.AclAuthorizer",
}
DENIED = ERRORS["TOPIC_AUTHORIZATION_FAILED"].code
ME = "User:ANONYMOUS"


def made(mode: str, **config: str) -> WireLab:
    lab = WireLab.made(mode=mode, config={"authorizer.class.name": AUTHORIZERS[mode], **config})
    for topic in ("t", "u"):
        lab.run(CreateTopic(topic=topic, assignment=[[0, 1, 2]]))
    lab.pass_time(1_000_000)
    return lab


@pytest.fixture(params=["kraft", "zk"])
def lab(request: pytest.FixtureRequest) -> WireLab:
    return made(request.param, **{"allow.everyone.if.no.acl.found": "true"})


def entry(kind: int, name: str, operation: int, **fields: Any) -> wire.AclCreation:
    given = {"principal": "User:x", "host": "*", "pattern": LITERAL, **fields}
    return wire.AclCreation(
        *(kind, name, given["pattern"], given["principal"], given["host"]), operation, ALLOW
    )


def create(lab: WireLab, here: int, *entries: wire.AclCreation) -> list[int]:
    found = lab.ask(here, wire.CreateAclsRequest(list(entries)), 2)
    lab.pass_time(1_000_000)
    return [each.error_code for each in found.results]


def everything() -> wire.DescribeAclsRequest:
    return wire.DescribeAclsRequest(ANY, None, ANY, None, None, ANY, ANY)


def described(lab: WireLab, here: int) -> dict[tuple[str, int], int]:
    """The number of entries of each resource."""
    found = lab.ask(here, everything(), 2)
    assert not found.error_code
    return {(each.resource_name, each.pattern_type): len(each.acls) for each in found.resources}


def produced(lab: WireLab, here: int, topic: str) -> int:
    rows = [PartitionProduceData(0, batch_of("a"))]
    request = ProduceRequest(None, -1, 30_000, [TopicProduceData(topic, partition_data=rows)])
    code: int = lab.ask(here, request, 9).responses[0].partition_responses[0].error_code
    return code


def fetch(*topics: str, session: int = 0, epoch: int = -1) -> FetchRequest:
    rows = [FetchPartition(0, -1, 0, partition_max_bytes=1 << 20)]
    named = [FetchTopic(topic, partitions=rows) for topic in topics]
    return FetchRequest(
        max_wait_ms=100, min_bytes=1, session_id=session, session_epoch=epoch, topics=named
    )


def fetched(lab: WireLab, here: int, request: FetchRequest) -> tuple[int, dict[str, Any]]:
    """The session, and by topic what was read, or the error's code."""
    found = lab.ask(here, request, 12)
    rows = {each.topic: each.partitions[0] for each in found.responses}
    return found.session_id, {
        topic: row.error_code or [value for _, value in values_in(row.records or b"")]
        for topic, row in rows.items()
    }


def test_entries_reach_every_broker(lab: WireLab) -> None:
    here, there = lab.connect(0), lab.connect(2)
    codes = create(
        lab,
        here,
        entry(TOPIC, "t", WRITE),
        entry(TOPIC, "t", READ),
        entry(TOPIC, "t", READ),
        entry(TOPIC, "te", READ, pattern=PREFIXED),
        entry(GROUP, "", READ),
    )
    assert codes == [0, 0, 0, 0, ERRORS["INVALID_REQUEST"].code]
    told = {("t", LITERAL): 2, ("te", PREFIXED): 1}
    assert described(lab, here) == described(lab, there) == told
    wanted = wire.DeleteAclsFilter(TOPIC, None, PREFIXED, None, None, ANY, ANY)
    found = lab.ask(there, wire.DeleteAclsRequest([wanted]), 2)
    (gone,) = found.filter_results[0].matching_acls
    assert (gone.resource_name, gone.pattern_type) == ("te", PREFIXED)
    lab.pass_time(1_000_000)
    assert described(lab, here) == described(lab, there) == {("t", LITERAL): 2}


def test_a_broker_that_was_down_knows_the_entries(lab: WireLab) -> None:
    here = lab.connect(0)
    lab.run(CrashBroker(broker=2))
    create(lab, here, entry(TOPIC, "t", READ))
    lab.pass_time(20_000_000)
    lab.run(StartBroker(broker=2))
    lab.pass_time(2_000_000)
    assert described(lab, lab.connect(2)) == {("t", LITERAL): 1}


def test_topics_of_others_are_refused_and_hidden(lab: WireLab) -> None:
    here = lab.connect(0)
    create(lab, here, entry(TOPIC, "u", READ))
    assert produced(lab, here, "t") == 0
    assert produced(lab, here, "u") == DENIED
    both = [MetadataRequestTopic(name="t"), MetadataRequestTopic(name="u")]
    found = lab.ask(here, MetadataRequest(both), 9)
    assert {each.name: each.error_code for each in found.topics} == {"t": 0, "u": DENIED}
    assert len(found.brokers) == 3
    assert "u" not in {each.name for each in lab.ask(here, MetadataRequest(None), 9).topics}
    assert fetched(lab, here, fetch("t", "u"))[1] == {"t": ["a"], "u": DENIED}


def test_a_fetch_session_says_each_time_what_may_not_be_read(lab: WireLab) -> None:
    here = lab.connect(0)
    create(lab, here, entry(TOPIC, "u", READ))
    session, found = fetched(lab, here, fetch("t", "u", epoch=0))
    assert found == {"t": [], "u": DENIED}
    assert produced(lab, here, "t") == 0
    _, found = fetched(lab, here, fetch(session=session, epoch=1))
    assert found == {"t": ["a"], "u": DENIED}
    create(lab, here, entry(TOPIC, "u", READ, principal=ME))
    create(lab, here, entry(TOPIC, "u", WRITE, principal=ME))
    assert produced(lab, here, "u") == 0
    _, found = fetched(lab, here, fetch(session=session, epoch=2))
    assert found["u"] == ["a"]


def test_nobody_but_super_users_may_do_anything_without_entries() -> None:
    lab = made("kraft")
    here = lab.connect(0)
    assert produced(lab, here, "t") == DENIED
    found = lab.ask(here, everything(), 2)
    assert found.error_code == ERRORS["CLUSTER_AUTHORIZATION_FAILED"].code
    assert create(lab, here, entry(TOPIC, "t", READ)) == [found.error_code]
    lab = made("kraft", **{"super.users": f"User:root;{ME}"})
    assert produced(lab, lab.connect(0), "t") == 0


def test_without_an_authorizer_there_are_no_entries() -> None:
    lab = WireLab.made()
    here = lab.connect(0)
    disabled = ERRORS["SECURITY_DISABLED"].code
    assert lab.ask(here, everything(), 2).error_code == disabled
    assert create(lab, here, entry(TOPIC, "t", READ)) == [disabled]


def test_entries_stand_in_the_znodes_that_kafka_has() -> None:
    lab = made("zk", **{"super.users": ME})
    here = lab.connect(0)
    create(lab, here, entry(TOPIC, "t", READ), entry(TOPIC, "te", READ, pattern=PREFIXED))
    zookeeper = lab.cluster.zookeeper
    acl = '{"principal":"User:x","permissionType":"Allow","operation":"Read","host":"*"}'
    for path in ("/kafka-acl/Topic/t", "/kafka-acl-extended/prefixed/Topic/te"):
        node = zookeeper.find(path)
        assert node is not None
        assert node.data == f'{{"version":1,"acls":[{acl}]}}'
    change = zookeeper.find("/kafka-acl-changes/acl_changes_0000000000")
    assert change is not None
    assert change.data == "Topic:t"


@pytest.mark.parametrize(
    ("version", "mode", "name", "is_known"),
    [
        ("3.9", "kraft", AUTHORIZERS["kraft"], True),
        ("3.9", "kraft", AUTHORIZERS["zk"], False),
        ("3.9", "zk", AUTHORIZERS["zk"], True),
        ("3.9", "zk", "kafka.security.auth.SimpleAclAuthorizer", False),
        ("1.1", "zk", "kafka.security.auth.SimpleAclAuthorizer", True),
        ("1.1", "zk", AUTHORIZERS["zk"], False),
    ],
)
def test_brokers_have_the_authorizers_of_their_release(
    version: str, mode: Literal["zk", "kraft"], name: str, *, is_known: bool
) -> None:
    config = {"authorizer.class.name": name}
    with (
        nullcontext() if is_known else pytest.raises(ConfigError, match=r"authorizer\.class\.name")
    ):
        Cluster(CreateCluster(version=version, mode=mode, config=config))


def test_users_are_told_apart(lab: WireLab) -> None:
    lab.give(
        AdvertiseListeners(
            listeners={0: ("127.0.0.1", 9092)}, protocol="SASL_PLAINTEXT", users={"x": "secret"}
        )
    )
    here = lab.connect(0)
    lab.external.state.connections[here].principal = "User:x"
    create(lab, here, entry(TOPIC, "u", WRITE))
    assert produced(lab, here, "u") == 0
    there = lab.connect(0)
    lab.external.state.connections[there].principal = "User:y"
    assert produced(lab, there, "u") == DENIED


OPEN_TO_ALL = {
    protocol.ApiVersionsRequest,
    protocol.DescribeClusterRequest,
    protocol.MetadataRequest,
    protocol.InitProducerIdRequest,
}
"""What needs no permission, or another one for each case."""
OF_BROKERS = {
    protocol.LeaderAndIsrRequest,
    protocol.StopReplicaRequest,
    protocol.UpdateMetadataRequest,
    protocol.ControlledShutdownRequest,
    protocol.AlterPartitionRequest,
    *(each for each in protocol.REQUESTS if "ShareGroupState" in each.__name__),
}


def test_nothing_that_clients_send_is_forgotten() -> None:
    known = WHOLE.keys() | SEVERAL.keys() | OPEN_TO_ALL | OF_BROKERS
    assert [each.__name__ for each in protocol.REQUESTS if each not in known] == []


def refused(message: AnyMessage, *acls: Acl) -> Any:  # noqa: ANN401 - one of several responses
    """The response to a message of which nothing is left."""
    me = Client(acls, "User:x", "127.0.0.1", False, False, True, True, ())
    found = split("", message, me)
    assert found.message is None
    return found.refused


@pytest.mark.parametrize(
    "message",
    [
        protocol.ShareFetchRequest("g", "m", 0, 0, 0, 0, 0, 0, ["t-0"], [], {}),
        protocol.ShareAcknowledgeRequest("g", "m", 1, {"t-0": []}),
    ],
    ids=lambda message: type(message).__name__,
)
def test_share_groups_and_topics_of_others_are_refused(message: AnyMessage) -> None:
    assert refused(message).error == "GROUP_AUTHORIZATION_FAILED"
    acl = Acl(GROUP, "g", LITERAL, "User:x", "*", READ, ALLOW)
    row = refused(message, acl).partitions["t-0"]
    assert row.error == "TOPIC_AUTHORIZATION_FAILED"


@pytest.mark.parametrize("version", [0, 1])
def test_who_may_not_describe_configurations_is_told_no_names(version: int) -> None:
    lab = WireLab.made(version="4.1", config={"authorizer.class.name": AUTHORIZERS["kraft"]})
    lab.pass_time(1_000_000)
    found = lab.ask(lab.connect(0), ListConfigResourcesRequest(), version)
    assert found.error_code == ERRORS["CLUSTER_AUTHORIZATION_FAILED"].code
    assert found.config_resources == []


@pytest.mark.parametrize(
    ("kind", "name", "operation"),
    [(8, "0", 0), (8, "7", 0), (8, "none", 0), (16, "m", 0), (16, "m", 2), (16, "m", 9)],
)
def test_who_may_not_alter_the_cluster_learns_nothing_of_loggers_and_subscriptions(
    kind: int, name: str, operation: int
) -> None:
    lab = WireLab.made(version="4.1", config={"authorizer.class.name": AUTHORIZERS["kraft"]})
    lab.pass_time(1_000_000)
    here, refused_code = lab.connect(0), ERRORS["CLUSTER_AUTHORIZATION_FAILED"].code
    change = configs.AlterableConfig("root", operation, "INFO")
    resource = configs.AlterConfigsResource(kind, name, [change])
    altered = lab.ask(here, configs.IncrementalAlterConfigsRequest([resource]), 1)
    wanted = configs.DescribeConfigsResource(kind, name, None)
    described = lab.ask(here, configs.DescribeConfigsRequest([wanted]), 4)
    assert [row.error_code for row in altered.responses] == [refused_code]
    assert [row.error_code for row in described.results] == [refused_code]


def test_what_can_be_refused_has_a_response() -> None:
    assert (WHOLE.keys() | SEVERAL.keys()) - REFUSALS.keys() == set()
