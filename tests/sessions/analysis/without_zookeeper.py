"""Sessions of clusters without ZooKeeper, and what the jobs say of them."""

from random import Random

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs import statements as inputs
from emulator.inputs.statements import CreateCluster
from emulator.scenario.runner import Runner
from tests.sessions.analysis.followed import Row
from tests.sessions.analysis.test_agreement import Told
from tests.support.kraft_faults import CONFIG, end_faults, faults, give, wait

SECOND_US = 1_000_000


def story(version: str, controllers: int = 3) -> tuple[Runner, list[Event]]:
    events: list[Event] = []
    config = {**CONFIG, "log.retention.check.interval.ms": "2000"}
    spec = CreateCluster(version=version, mode="kraft", controllers=controllers, config=config)
    runner = Runner(Cluster(spec, observers=[events.append]))
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2], [1, 2, 0]]))
    return runner, events


def with_faults(version: str, seed: int) -> tuple[list[Event], int]:
    """Random faults of brokers, controllers and links."""
    runner, events = story(version)
    random = Random(f"jobs {version} {seed}")
    for number in range(12):
        for each in faults(random, number):
            give(runner, each)
        wait(runner, random.randrange(50, 2500))
    end_faults(runner)
    wait(runner, 20_000)
    return events, runner.now_us


def told_story() -> tuple[list[Event], int]:
    """Broker 0 is killed, 1 frozen and 2 cut off, one after another; a controller dies."""
    runner, events = story("4.1")
    give(runner, inputs.CrashBroker(broker=0))
    wait(runner, 6_000)
    give(runner, inputs.StartBroker(broker=0))
    wait(runner, 3_000)
    give(runner, inputs.FreezeBroker(broker=1))
    wait(runner, 6_000)
    give(runner, inputs.ThawBroker(broker=1))
    wait(runner, 3_000)
    give(runner, inputs.ChangeController(action="crash", which="active"))
    wait(runner, 8_000)
    for controller in (100, 101, 102):
        give(runner, inputs.CutLink(source=2, destination=controller))
    wait(runner, 12_000)
    return events, runner.now_us


def frozen_story() -> tuple[list[Event], int]:
    """The active controller freezes, and thaws when another one is active."""
    runner, events = story("4.1")
    give(runner, inputs.ChangeController(action="freeze", which="active"))
    wait(runner, 8_000)
    give(runner, inputs.ChangeController(action="thaw", which="last"))
    wait(runner, 3_000)
    return events, runner.now_us


def recreated_story() -> tuple[list[Event], int]:
    """A topic is deleted while a replica is away, and created again; then its minimum changes.

    At that time broker 1, its last leader, is the only eligible replica. Of another topic the
    oldest records are deleted by retention.
    """
    runner, events = story("4.1")
    minimum = "min.insync.replicas"
    again = inputs.CreateTopic(topic="again", assignment=[[1, 2]], config={minimum: "1"})
    give(runner, again)
    give(runner, inputs.Produce(topic="again", value="old", count=2, acks=-1))
    wait(runner, 2_000)
    give(runner, inputs.Consume(topic="again", consumer="k", offset=0))
    wait(runner, 2_000)
    give(runner, inputs.CrashBroker(broker=2))
    wait(runner, 6_000)
    give(runner, inputs.DeleteTopic(topic="again"))
    give(runner, again)
    give(runner, inputs.Produce(topic="again", value="new", acks=-1))
    wait(runner, 2_000)
    give(runner, inputs.Consume(topic="again", consumer="l", offset=0))
    wait(runner, 2_000)
    give(runner, inputs.FreezeBroker(broker=1))
    wait(runner, 6_000)
    give(runner, inputs.ConfigureTopic(topic="again", config={minimum: "2"}))
    short = {"retention.bytes": "300", "segment.bytes": "300", minimum: "1"}
    give(runner, inputs.CreateTopic(topic="short", assignment=[[0]], config=short))
    give(runner, inputs.Produce(topic="short", count=30, acks=-1))
    wait(runner, 40_000)
    return events, runner.now_us


def told_without_zookeeper() -> Told:
    """Sessions of clusters in KRaft mode, by name."""
    told = {"told": told_story(), "recreated": recreated_story(), "frozen": frozen_story()}
    return told | {f"{v}-{n}": with_faults(v, n) for v in ("3.9", "4.0", "4.1") for n in (1, 2)}


def check_known_answers(told: Told, found: dict[str, list[Row]]) -> None:
    """What the jobs say of these sessions, where the answer is plain to see."""
    types = {type(event).__name__ for event in told["recreated"][0]}
    assert {"TopicDeleted", "LogStartOffsetChanged"} <= types
    assert {row["mode"] for row in found["failover"]} == {"zk", "kraft"}
    assert {"KIP-500", "KIP-966"} < {row["generation"] for row in found["durability"]}
    assert [row for row in found["anomalies"] if row["session"] == "recreated"] == []
    mine = {name: [r for r in rows if r.get("session") == "told"] for name, rows in found.items()}
    by_process = {row["process"]: row for row in mine["fencings"]}
    assert [row["process"] for row in mine["fencings"]] == ["crashed", "frozen", "running"]
    # The session is 4 seconds, counted from the last heartbeat, which came every half second.
    assert 3.4 * SECOND_US <= by_process["crashed"]["noticed_us"] <= 4.6 * SECOND_US
    assert by_process["frozen"]["partitions"] == 2
    failed = [row for row in mine["failovers"] if row["fault"] == "crashed"]
    assert {row["outcome"] for row in failed} == {"failed over"}
    assert {row["detected_seq"] for row in failed} <= {
        row["fenced_seq"] for row in mine["fencings"]
    }
    cut_off = [row for row in mine["failovers"] if row["fault"] == "fenced"]
    assert {(row["broker"], row["outcome"], row["detection_us"]) for row in cut_off} == {
        (2, "failed over", 0)
    }
    first, second = sorted(mine["quorum_terms"], key=lambda row: row["epoch"])
    assert first["to_us"] < second["from_us"] == first["to_us"] + second["without_us"]
    of_frozen = [row for row in found["quorum_terms"] if row["session"] == "frozen"]
    # A follower waits for two seconds (controller.quorum.fetch.timeout.ms), from its last fetch on.
    assert [row["epoch"] for row in of_frozen] == [1, 2]
    assert 1.4 * SECOND_US <= of_frozen[1]["without_us"] <= 2.6 * SECOND_US
    assert second["candidacies"] >= 1
