import pytest

from commands.language.statements.show import Show
from commands.output.grids import Grid, as_text
from commands.output.show_tables import TABLES, events_grid, grids
from emulator import events
from emulator.events import Event
from sessions.grammar.words import BadWord
from sessions.model.cluster_view import ClusterView
from sessions.model.folding import CACHE
from sessions.model.states import (
    Batch,
    Belief,
    BrokerState,
    ConsumerState,
    ControllerState,
    PartitionState,
    ProducerState,
    ReplicaState,
    Run,
    ViewState,
)


@pytest.fixture
def view() -> ClusterView:
    log = [Run(0, 2, 0, 7), Run(2, 1, 1, 9)]
    partition = PartitionState(
        "t",
        0,
        [0, 1],
        state="online",
        leader=0,
        leader_epoch=1,
        zk_version=3,
        isr=[0],
        leader_isr=[0],
        replica_states={
            0: ReplicaState(
                *(0, "leader", 3, 2, 0, [(0, 0), (1, 2)], log),
                leader_epoch=1,
                leader=0,
                isr=[0],
                zk_version=3,
            ),
            1: ReplicaState(1, "offline", 2, 1, 0, None, log[:1]),
        },
        lost=[(2, 9)],
    )
    up = BrokerState(0, "a", "running", session=255, live_brokers=[0])
    return ClusterView(
        ViewState(
            version="3.9",
            brokers={0: up, 1: BrokerState(1)},
            partitions={"t-0": partition, "s-0": PartitionState("s", 0, [1])},
            topic_configs={"t": {"min.insync.replicas": "1"}},
            producers={"p1": ProducerState("p1", 2, 2, 1, 0, ["A", "B", "A"])},
            consumers={"c1": ConsumerState("c1", [(7, 2)], 2)},
            batches=[Batch(7, "p1", "t-0", ["k", None, None], ["a", "b", "c"], -1, 0)],
            controller=ControllerState(0, 3, 3),
            acked=3,
            beliefs={"t-0": {CACHE: Belief(0, 0, [0, 1], 2)}},
            invariants=[(44, "hw_monotonic", "t-0", "it went back", True)],
        )
    )


def only(view: ClusterView, what: str, target: str = "") -> Grid:
    (grid,) = grids(Show(what, target), view)
    return grid


def test_a_partition_shows_the_znode_and_its_leaders_offsets(view: ClusterView) -> None:
    grid = only(view, "partitions")
    assert grid.plain()[1] == {
        "partition": "t-0",
        "state": "online",
        "leader": 0,
        "epoch": 1,
        "replicas": [0, 1],
        "isr": [0],
        "osr": [1],
        "hw": 2,
        "leo": 3,
        "status": view.status(view.partitions["t-0"]).replace("_", " "),
    }


def test_partitions_are_sorted_and_may_be_one_topics(view: ClusterView) -> None:
    assert [row[0] for row in only(view, "partitions").rows] == ["s-0", "t-0"]
    assert [row[0] for row in only(view, "partitions", "t").rows] == ["t-0"]


def test_topics_show_their_size_and_configuration(view: ClusterView) -> None:
    assert only(view, "topics").rows == [
        ("s", 1, 1, []),
        ("t", 1, 2, ["min.insync.replicas=1"]),
    ]


def test_a_broker_shows_its_session_and_its_load(view: ClusterView) -> None:
    assert only(view, "brokers").rows[0] == (
        *(0, "running", "a", "0xff", None),
        *(1, 1, "controller"),
    )


def test_producers_count_their_errors_by_name(view: ClusterView) -> None:
    producers, consumers = grids(Show("producers"), view)
    assert producers.rows == [("p1", 2, 2, 1, 0, ["A x2", "B x1"])]
    assert consumers.rows == [("c1", 2, 2, "NONE")]


def test_the_audit_names_every_record(view: ClusterView) -> None:
    audit, records, violated = grids(Show("audit"), view)
    assert audit.rows == [(3, 1, 0, 0, 0, 1)]
    assert records.rows == [("lost", "t-0", 2, "c")]
    assert violated.rows == [(44, "hw_monotonic", "t-0", "yes", "it went back")]


def test_replicas_show_their_own_offsets_and_what_the_leader_remembers(view: ClusterView) -> None:
    view.partitions["t-0"].replica_states[0].remote_leo = {1: 2}
    grid = only(view, "replicas")
    assert grid.rows == [
        ("t-0", 0, "leader", "yes", 0, 2, 3, None, ["0:0", "1:2"]),
        ("t-0", 1, "offline", "no", 0, 1, 2, 2, []),
    ]
    assert grid.columns[-4:] == ("HW", "LEO", "REMOTE LEO", "EPOCH:START")
    assert only(view, "replicas", "t").rows == only(view, "replicas", "t-0").rows == grid.rows
    assert only(view, "replicas", "s-0").rows == []
    view.partitions["t-0"].replica_states[0].remote_leo = {1: -1}
    assert only(view, "replicas").rows[1][-2] is None
    with pytest.raises(BadWord, match="there is no partition 't-9'; did you mean 't-0'"):
        only(view, "replicas", "t-9")


def test_events_are_sentences_for_people_and_fields_for_programs() -> None:
    happened: list[Event] = [
        events.LogTruncated(4, 4_000_000, 3, "t-0", 2, 2, 3, "high-watermark"),
        events.LeaderElected(5, 5_000_000, 0, "t-0", 1, 2, 1, [2], "Offline"),
    ]
    grid = events_grid(Show("events", pattern=("LogTruncated", "or", "BookmarkSet")), happened)
    (event,) = grid.plain()
    assert event["what"] == ("t-0@2 truncated 1 record (offset 2): LEO 3 > 2 (high-watermark)")
    assert event["fields"] == ("tp=t-0 broker=2 log_end_offset=2 previous=3 reason=high-watermark")
    assert as_text([grid]).splitlines()[1:] == [
        "EVENT  TIME          TYPE          CAUSE  WHAT",
        "    4  00:00:04.000  LogTruncated      3"
        "  t-0@2 truncated 1 record (offset 2): LEO 3 > 2 (high-watermark)",
    ]


def test_epoch_caches_stand_side_by_side(view: ClusterView) -> None:
    assert only(view, "epochs", "t-0").rows == [
        (0, "leader", ["0:0", "1:2"]),
        (1, "offline", "leader epochs exist since 0.11"),
    ]


def test_a_log_shows_each_record_and_the_hw(view: ClusterView) -> None:
    grid = only(view, "log", "t-0@0")
    assert grid.title == "log of t-0@0: HW 2, LEO 3"
    assert grid.rows == [
        (0, 0, "yes", "k", "a"),
        (1, 0, "yes", None, "b"),
        (2, 1, "no", None, "c"),
    ]


def test_the_truths_of_a_partition_stand_apart(view: ClusterView) -> None:
    grid = only(view, "truths", "t-0")
    assert grid.rows == [
        ("znode", 0, 1, [0], 3, None, None, []),
        ("controller 0", 0, 0, [0, 1], 2, None, None, ["epoch", "isr", "version"]),
        ("broker 0 (leader)", 0, 1, [0], 3, 2, 3, []),
        ("broker 1 (offline)", None, None, None, None, 1, 2, []),
        ("clients of 0", 0, 1, [0], 3, None, None, []),
    ]
    assert grid.plain()[1]["disagrees"] == ["epoch", "isr", "version"]


def test_the_cluster_is_a_few_facts(view: ClusterView) -> None:
    facts = {str(name): value for name, value in only(view, "cluster").rows}
    assert facts["version"] == "3.9"
    assert facts["controller epoch"] == 3
    assert facts["brokers up"] == "1 of 2"


@pytest.mark.parametrize(
    ("what", "target", "message"),
    [
        ("partitions", "tt", "there is no topic 'tt'; did you mean 't'?"),
        ("epochs", "t-1", "there is no partition 't-1'; did you mean 't-0'?"),
        ("log", "t-0@5", "broker 5 has no log of t-0"),
        ("truths", "x-0", "there is no partition 'x-0'"),
        ("files", "9", "there is no broker 9"),
    ],
)
def test_what_is_not_there_is_told_with_the_nearest(
    view: ClusterView, what: str, target: str, message: str
) -> None:
    with pytest.raises(BadWord) as refused:
        grids(Show(what, target), view)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    "what",
    [
        each
        for each in TABLES
        if each not in ("epochs", "log", "truths", "files", "quorum", "metadata")
    ],
)
def test_an_empty_cluster_has_every_table(what: str) -> None:
    assert grids(Show(what), ClusterView())


def test_groups_of_the_new_protocols_have_members_and_records_in_flight() -> None:
    told: list[tuple[type[Event], tuple[object, ...]]] = [
        (events.MemberJoined, ("g", 1, "c1", "id1")),
        (events.MemberJoined, ("g", 1, "c2", "id2")),
        (events.GroupEpochBumped, ("g", 1, 2, "a member joined")),
        (
            events.TargetAssignmentComputed,
            ("g", 1, 2, "uniform", {"id1": ["t-0"], "id2": ["t-1"]}),
        ),
        (
            events.MemberAssignmentChanged,
            ("g", 1, "c1", "id1", 1, "UNREVOKED_PARTITIONS", ["t-0"], ["t-1"], []),
        ),
        (
            events.MemberAssignmentChanged,
            ("g", 1, "c2", "id2", 2, "UNRELEASED_PARTITIONS", [], [], ["id1"]),
        ),
        (events.SharePartitionLoaded, ("s", "t-0", 0, 3, [(3, 3, "archived", 5)])),
        (events.RecordsAcquired, ("s", "t-0", 0, "m1", "id3", 4, 5, 2, 61_000_000)),
    ]
    view = ClusterView(ViewState())
    view.apply_all(
        kind(number, number, 0, *fields) for number, (kind, fields) in enumerate(told, 1)
    )
    first, members, partitions, records = grids(Show("groups"), view)
    assert [row["group"] for row in first.plain()] == ["g", "s"]
    c1, c2 = members.plain()
    assert (c1["epoch"], c1["group_epoch"], c1["target_epoch"]) == (1, 2, 2)
    assert (c1["has"], c1["target"], c1["gives_up"]) == (["t-0"], ["t-0"], ["t-1"])
    assert (c2["has"], c2["target"], c2["waits_for"]) == ([], ["t-1"], ["c1 t-1"])
    (share,) = partitions.plain()
    assert (share["broker"], share["start"], share["acquired"]) == (0, 3, 2)
    archived, acquired = records.plain()
    assert (archived["state"], archived["deliveries"], archived["consumer"]) == (
        "archived",
        5,
        None,
    )
    assert (acquired["first"], acquired["last"], acquired["consumer"]) == (4, 5, "m1")
    assert acquired["locked_until"] == "00:01:01.000"
