"""Every statement of the language, with every option, and the input that it builds."""

import shlex
from time import process_time
from types import ModuleType

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.cli.options import parsed
from commands.language.grammar import Meaning, leaves, meaning, program
from commands.language.statements import (
    admin,
    cluster,
    controllers,
    expect,
    replication,
    show,
    time,
    topics,
    zookeeper,
)
from commands.language.statements.cluster import Include
from commands.language.statements.show import Show
from commands.language.statements.time import At
from commands.language.values import natural
from emulator.inputs import statements as inputs
from emulator.inputs.conditions import Clause, Subject
from emulator.inputs.statements import (
    OF_CONNECTIONS,
    AbortTransaction,
    AddPartitions,
    AnyInput,
    BeginTransaction,
    CommitTransaction,
    ConfigureTopic,
    Consume,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    DelayLink,
    DeleteTopic,
    DropOnLink,
    ElectPreferred,
    Expect,
    ExpectError,
    ExpectEvents,
    ExpireSession,
    FetchRound,
    FreezeBroker,
    HealLinks,
    HoldMessages,
    InjectError,
    Mark,
    PauseReplica,
    Produce,
    ProduceInTransaction,
    ResumeReplica,
    Settle,
    StartBroker,
    StopBroker,
    Tick,
    Wait,
    WaitUntil,
    ZkCommand,
)

MODULES = (
    *(admin, cluster, controllers, expect),
    *(replication, show, time, topics, zookeeper),
)
LEADS = Clause(Subject("partition", "t-0", "leader"), "==", -1, None, "t-0.leader == -1")
SECOND = 1_000_000

TABLE: list[tuple[str, Meaning]] = [
    ("cluster", CreateCluster()),
    ("cluster --latency 0.00002s", CreateCluster(latency_us=20)),
    (
        "cluster --brokers 2 --first-id 5 --racks a,b --version 0.10.2 --seed 7 "
        "--config x.y=1 --config z= --stepwise",
        CreateCluster(
            brokers=2,
            first_id=5,
            racks=["a", "b"],
            version="0.10.2",
            seed=7,
            config={"x.y": "1", "z": ""},
            stepwise=True,
        ),
    ),
    (
        "topic create t --partitions 3 --replication-factor 2 --assignment-policy kafka "
        "--config min.insync.replicas=2",
        CreateTopic(
            topic="t",
            partitions=3,
            replication_factor=2,
            policy="kafka",
            config={"min.insync.replicas": "2"},
        ),
    ),
    (
        "topic create t --replica-assignment 0:1:2,1:2:0",
        CreateTopic(
            topic="t", partitions=2, replication_factor=3, assignment=[[0, 1, 2], [1, 2, 0]]
        ),
    ),
    ("topic alter t --partitions 4", AddPartitions(topic="t", partitions=4)),
    ("topic config t a=1 b=", ConfigureTopic(topic="t", config={"a": "1", "b": ""})),
    ("topic config t a=1 --delete b", ConfigureTopic(topic="t", config={"a": "1", "b": None})),
    ("config broker 1 --delete b", inputs.ConfigureBroker(broker=1, config={"b": None})),
    (
        "config group g a=1 --delete b",
        inputs.ConfigureGroup(group="g", config={"a": "1", "b": None}),
    ),
    ("topic delete t", DeleteTopic(topic="t")),
    ("topic list", Show("topics")),
    ("topic describe", Show("partitions")),
    ("topic describe t", Show("partitions", "t")),
    ("produce t", Produce(topic="t")),
    (
        "produce t --partition 1 --key k --value v --count 10 --acks all --retries 0 "
        "--timeout 500ms --batch 5 --in-flight 3 --idempotent --producer P --partitioner sticky "
        "--every 200ms --async",
        Produce(
            topic="t",
            partition=1,
            key="k",
            value="v",
            count=10,
            acks=-1,
            retries=0,
            timeout_us=500_000,
            batch=5,
            in_flight=3,
            idempotent=True,
            producer="P",
            partitioner="sticky",
            every_us=200_000,
            background=True,
        ),
    ),
    ("produce t --acks 0", Produce(topic="t", acks=0)),
    ("produce t --strict-retries", Produce(topic="t", strict_retries=True)),
    ("produce t --count 0", Produce(topic="t", count=0)),
    ("produce --acks 1 t --value -x", Produce(topic="t", acks=1, value="-x")),
    ("transaction begin", BeginTransaction()),
    (
        "transaction begin --producer p2 --transactional-id transfers --timeout 10s",
        BeginTransaction(producer="p2", transactional_id="transfers", timeout_us=10_000_000),
    ),
    (
        "transaction produce t --partition 1 --key k --value v --count 4 --batch 2 --async",
        ProduceInTransaction(
            topic="t", partition=1, key="k", value="v", count=4, batch=2, background=True
        ),
    ),
    ("transaction commit --producer p2", CommitTransaction(producer="p2")),
    ("transaction abort", AbortTransaction()),
    ("consume t --isolation read_committed", Consume(topic="t", isolation="read_committed")),
    ("consume t", Consume(topic="t")),
    (
        "consume t --group g --protocol share --acknowledge release",
        Consume(topic="t", group="g", protocol="share", acknowledge="release"),
    ),
    (
        "consume t --group g --protocol consumer",
        Consume(topic="t", group="g", protocol="consumer"),
    ),
    ("consume t --from-beginning", Consume(topic="t", offset=0)),
    (
        "consume t --partition 1 --offset 7 --max 3 --group g --consumer C",
        Consume(topic="t", partition=1, offset=7, max_records=3, group="g", consumer="C"),
    ),
    (
        "consume t --timeout 5s --min-bytes 100 --max-wait 1s --from-timestamp 1500ms",
        Consume(
            topic="t",
            timeout_us=5_000_000,
            min_bytes=100,
            max_wait_us=1_000_000,
            from_timestamp_us=1_500_000,
        ),
    ),
    ("fetch t-0@2", FetchRound(tp="t-0", broker=2)),
    ("fetch t-0@2 --times 3", FetchRound(tp="t-0", broker=2, times=3)),
    ("tick isr", Tick(task="isr")),
    ("tick checkpoint 1", Tick(task="checkpoint", broker=1)),
    ("tick rebalance", Tick(task="rebalance")),
    ("replica pause t-0@2", PauseReplica(tp="t-0", broker=2)),
    ("replica resume t-0@2", ResumeReplica(tp="t-0", broker=2)),
    ("broker stop 1", StopBroker(broker=1)),
    ("broker crash 1", CrashBroker(broker=1)),
    ("broker crash 1 --lose-unflushed", CrashBroker(broker=1, lose_unflushed=True)),
    ("broker start 1", StartBroker(broker=1)),
    ("broker start 1 --clean", StartBroker(broker=1, clean=True)),
    ("broker freeze 1", FreezeBroker(broker=1)),
    ("broker thaw 1", inputs.ThawBroker(broker=1)),
    ("broker start 1 --no-wait", inputs.StartBroker(broker=1, wait=False)),
    ("controller crash active", inputs.ChangeController(action="crash", which="active")),
    ("controller stop 101", inputs.ChangeController(action="stop", which="101")),
    (
        "controller start all --no-wait",
        inputs.ChangeController(action="start", which="all", wait=False),
    ),
    ("controller freeze standby", inputs.ChangeController(action="freeze", which="standby")),
    ("controller thaw last", inputs.ChangeController(action="thaw", which="last")),
    ("network cut 1 zk", CutLink(source=1, destination=-1)),
    ("network cut clients 0 --one-way", CutLink(source=-2, destination=0, one_way=True)),
    ("network heal", HealLinks()),
    ("network heal 1 2", HealLinks(source=1, destination=2)),
    ("network delay 1 2 50ms", DelayLink(source=1, destination=2, delay_us=50_000)),
    ("network drop 1 2 --percent 2.5", DropOnLink(source=1, destination=2, percent=2.5)),
    ("network isolate 1", inputs.IsolateBroker(broker=1)),
    ("network hold 0 1", HoldMessages(source=0, destination=1)),
    (
        "network hold 0 1 --only LeaderAndIsr",
        HoldMessages(source=0, destination=1, api="LeaderAndIsr"),
    ),
    ("network release 0 1", inputs.ReleaseMessages(source=0, destination=1)),
    (
        "network release 0 1 --count 2 --lose",
        inputs.ReleaseMessages(source=0, destination=1, count=2, lose=True),
    ),
    ("zk ls /brokers", ZkCommand(command="ls", path="/brokers")),
    ("zk ls -R /", ZkCommand(command="ls", path="/", recursive=True)),
    ("zk get /a", ZkCommand(command="get", path="/a")),
    ("zk get -s /a", ZkCommand(command="get", path="/a", with_stat=True)),
    ("zk stat /a", ZkCommand(command="stat", path="/a", with_stat=True)),
    ("zk create /a", ZkCommand(command="create", path="/a")),
    (
        "zk create -e -s /a '{\"x\": 1}'",
        ZkCommand(command="create", path="/a", data='{"x": 1}', ephemeral=True, sequential=True),
    ),
    ("zk set /a d", ZkCommand(command="set", path="/a", data="d")),
    ("zk set -v 3 /a -- -1", ZkCommand(command="set", path="/a", data="-1", version=3)),
    ("zk delete /controller", ZkCommand(command="delete", path="/controller")),
    ("zk delete -v 0 /a", ZkCommand(command="delete", path="/a", version=0)),
    ("zk expire 1", ExpireSession(broker=1)),
    ("zk watches", ZkCommand(command="watches", path="")),
    ("zk watches /a", ZkCommand(command="watches", path="/a")),
    ("election preferred", ElectPreferred()),
    ("election preferred t-0 t-1", ElectPreferred(partitions=["t-0", "t-1"])),
    ("election unclean t-0", inputs.ElectUnclean(tp="t-0")),
    ("reassign t-0 1,2,3", inputs.Reassign(tp="t-0", replicas=[1, 2, 3])),
    ("reassign cancel t-0", inputs.CancelReassignment(tp="t-0")),
    ("config broker 1 a=1", inputs.ConfigureBroker(broker=1, config={"a": "1"})),
    ("config broker default a=1", inputs.ConfigureBroker(broker=None, config={"a": "1"})),
    ("describe t", inputs.DescribeTopic(topic="t")),
    (
        "alterpartition t-0 0 0,1 --leader-epoch -1 --isr-epoch 1:-1",
        inputs.AlterPartition(tp="t-0", broker=0, isr=[0, 1], leader_epoch=-1, isr_epochs={1: -1}),
    ),
    ("wait 2s", Wait(duration_us=2 * SECOND)),
    ("wait until t-0.leader == -1", WaitUntil(clauses=[LEADS])),
    (
        "wait until t-0.leader == -1 within 90s",
        WaitUntil(clauses=[LEADS], within_us=90 * SECOND),
    ),
    ("settle", Settle()),
    ("settle 3s", Settle(quiet_us=3 * SECOND)),
    ("expect t-0.leader == -1", Expect(clauses=[LEADS])),
    (
        "expect event LogTruncated broker=2 and tp = t-0 since cut",
        ExpectEvents(patterns=[["LogTruncated", "broker=2", "and", "tp", "=", "t-0"]], since="cut"),
    ),
    (
        "expect event ControllerElected times 2",
        ExpectEvents(patterns=[["ControllerElected"]], times=2),
    ),
    ("expect no event type~Truncated", ExpectEvents(patterns=[["type~Truncated"]], times=0)),
    (
        "expect order ControllerElected broker=1 then LeaderElected leader=2",
        ExpectEvents(patterns=[["ControllerElected", "broker=1"], ["LeaderElected", "leader=2"]]),
    ),
    ("show events", Show("events")),
    (
        "show events LogTruncated broker=2 since x",
        Show("events", "", ("LogTruncated", "broker=2"), "x"),
    ),
    ("expect error NONE", ExpectError(error="NONE")),
    ("expect error NoNodeError on last", ExpectError(error="NoNodeError")),
    ("mark before", Mark(name="before")),
    ("mark before the leader dies", Mark(name="before", note="the leader dies")),
    ("show cluster", Show("cluster")),
    ("show partitions", Show("partitions")),
    ("show brokers", Show("brokers")),
    ("show producers", Show("producers")),
    ("show clients", Show("clients")),
    ("show faults", Show("faults")),
    ("show groups", Show("groups")),
    ("show quorum", Show("quorum")),
    ("show metadata", Show("metadata", "/")),
    ("show metadata /topics/t/", Show("metadata", "/topics/t")),
    ("show audit", Show("audit")),
    ("show replicas", Show("replicas")),
    ("show replicas t-0", Show("replicas", "t-0")),
    ("show epochs t-0", Show("epochs", "t-0")),
    ("show log t-0@1", Show("log", "t-0@1")),
    ("show truths t-0", Show("truths", "t-0")),
    ("show files 2", Show("files", "2")),
    ("run other.tide", Include("other.tide")),
    (
        "inject Produce NOT_ENOUGH_REPLICAS --times 2",
        InjectError(api="Produce", error="NOT_ENOUGH_REPLICAS", times=2),
    ),
    (
        "inject Fetch NOT_LEADER_OR_FOLLOWER --after 3 --client c --broker 1 --topic t --group g",
        InjectError(
            api="Fetch",
            error="NOT_LEADER_OR_FOLLOWER",
            after=3,
            client="c",
            broker=1,
            topic="t",
            group="g",
        ),
    ),
    ("inject MetadataRequest --drop", InjectError(api="Metadata", drop=True)),
    (
        "inject Fetch --delay 500ms --topic t --partition 2 --name slow",
        InjectError(api="Fetch", delay_us=500_000, topic="t", partition=2, name="slow"),
    ),
    ("inject Fetch --throttle 1s", InjectError(api="Fetch", throttle_us=1_000_000)),
    ("inject EndTxn --close-after", InjectError(api="EndTxn", close_after=True)),
    ("at 4s", At(4_000_000)),
    ("at 4.08s --steps 70", At(4_080_000, 70)),
]


@pytest.mark.parametrize(("text", "expected"), TABLE, ids=[text[:90] for text, _ in TABLE])
def test_a_statement_builds_its_input(text: str, expected: Meaning) -> None:
    assert meaning(shlex.split(text)) == expected


def test_the_table_has_every_statement() -> None:
    texts = {text for text, _ in TABLE}
    missing = [
        name
        for name, _ in leaves(program())
        if not any(text == name or text.startswith(f"{name} ") for text in texts)
    ]
    assert missing == []


def test_the_table_builds_every_input() -> None:
    built = {type(expected) for _, expected in TABLE}
    assert set(AnyInput.__args__) - built == set(OF_CONNECTIONS)


@pytest.mark.parametrize("expected", [e for _, e in TABLE if isinstance(e, inputs.Input)], ids=repr)
def test_every_input_that_is_built_is_valid_when_decoded(expected: inputs.Input) -> None:
    assert msgspec.json.decode(msgspec.json.encode(expected), type=AnyInput) == expected


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_module_names_the_statements_that_it_defines(module: ModuleType) -> None:
    spoken = (module.__doc__ or "").partition(":")[2]
    apps = [getattr(module, name) for name in vars(module) if name.endswith("app")]
    defined = [name for app in apps for name in app.commands]
    names = defined if len(apps) == 1 else [app.name for app in apps if app.name]
    assert names
    assert [name for name in names if name not in spoken and module is not show] == []


@pytest.mark.parametrize("name", [name for name, _ in leaves(program())])
def test_every_statement_says_what_it_does_and_what_its_words_are(name: str) -> None:
    command = dict(leaves(program()))[name]
    assert command.help
    assert all(param.metavar or getattr(param, "is_flag", False) for param in command.params)


@given(
    st.builds(
        Produce,
        topic=st.text("abc.-_", min_size=1).filter(lambda topic: topic[0] != "-"),
        partition=st.none() | st.integers(0, 99),
        key=st.none() | st.text(),
        value=st.text(),
        count=st.integers(1, 10**9),
        acks=st.none() | st.sampled_from([-1, 0, 1]),
        timeout_us=st.integers(1, 10**6).map(lambda ms: ms * 1000),
        in_flight=st.integers(1, 99),
        idempotent=st.booleans(),
    )
)
def test_whatever_is_produced_reads_back_as_it_is_written(produce: Produce) -> None:
    words = ["produce", produce.topic, "--value", produce.value, "--count", str(produce.count)]
    words += ["--timeout", f"{produce.timeout_us // 1000}ms"]
    words += ["--in-flight", str(produce.in_flight)]
    words += ["--partition", str(produce.partition)] if produce.partition is not None else []
    words += ["--key", produce.key] if produce.key is not None else []
    words += ["--acks", str(produce.acks)] if produce.acks is not None else []
    words += ["--idempotent"] if produce.idempotent else []
    assert meaning(words) == produce


def test_a_default_passes_a_parser_untouched() -> None:
    assert parsed(natural)(None) is None


def test_parsing_a_statement_is_quick_once_it_has_been_parsed() -> None:
    words = ["produce", "t", "--count", "3", "--value", "a", "--acks", "all", "--retries", "5"]
    meaning(words)
    spent = []
    for _ in range(5):
        started = process_time()
        for _ in range(20):
            meaning(words)
        spent.append((process_time() - started) / 20)
    assert min(spent) < 0.001
