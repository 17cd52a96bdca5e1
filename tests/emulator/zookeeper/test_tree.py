"""The server's requests: what they do, what they refuse, in which order they say so."""

from collections.abc import Callable

import msgspec
import pytest

from emulator.zookeeper.errors import (
    BadArgumentsError,
    BadVersionError,
    NoChildrenForEphemeralsError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    SessionExpiredError,
    ZooKeeperError,
)
from emulator.zookeeper.operations import Check, Create, Delete, SetData
from emulator.zookeeper.tree import ZooKeeper
from tests.emulator.zookeeper.surroundings import Notes, notes


@pytest.fixture
def env() -> Notes:
    return notes()


@pytest.fixture
def zookeeper() -> ZooKeeper:
    return ZooKeeper.fresh()


def test_a_fresh_tree_holds_zookeepers_own_znodes() -> None:
    assert ZooKeeper.fresh().children("/zookeeper") == ["config", "quota"]
    old = ZooKeeper.fresh(has_config_node=False)
    assert (old.children("/"), old.children("/zookeeper")) == (["zookeeper"], ["quota"])
    assert old.get("/").cversion == -1


def test_suffixes_and_cversion_count_every_child_ever(env: Notes, zookeeper: ZooKeeper) -> None:
    for path in ("/d", "/d/a", "/d/b"):
        zookeeper.create(env, 0, path, None)
    zookeeper.delete(env, "/d/a")
    assert zookeeper.create(env, 0, "/d/x-", None, sequential=True) == "/d/x-0000000002"
    stat = zookeeper.get("/d").stat()
    assert (stat.num_children, stat.cversion, stat.version) == (2, 4, 0)
    before = (zookeeper.zxid, zookeeper.get("/d").stat())
    with pytest.raises(NodeExistsError):
        zookeeper.create(env, 0, "/d/b", None)
    assert (zookeeper.zxid, zookeeper.get("/d").stat()) == (before[0] + 1, before[1])


def test_zxids_count_writes_within_an_epoch(env: Notes) -> None:
    zookeeper = ZooKeeper.fresh(zxid=3 << 32)
    zookeeper.create(env, 0, "/a", "x")
    assert zookeeper.get("/a").czxid == (3 << 32) + 1
    zookeeper.exists("/a")
    zookeeper.children("/")
    assert zookeeper.zxid == (3 << 32) + 1


def test_a_new_znodes_stat_is_all_of_one_write(env: Notes, zookeeper: ZooKeeper) -> None:
    env.now = 5_000
    session = zookeeper.open_session(env, 1, 6000)
    zookeeper.create(env, session, "/e", "né", ephemeral=True)
    stat = zookeeper.get("/e").stat()
    assert stat.czxid == stat.mzxid == stat.pzxid == zookeeper.zxid
    assert (stat.ctime_us, stat.mtime_us) == (5_000, 5_000)
    assert (stat.version, stat.cversion, stat.aversion) == (0, 0, 0)
    assert (stat.ephemeral_owner, stat.data_length, stat.num_children) == (session, 3, 0)


def test_setting_data_moves_version_and_mzxid_only(env: Notes, zookeeper: ZooKeeper) -> None:
    zookeeper.create(env, 0, "/a", "x")
    created = zookeeper.get("/a").stat()
    env.now = 9
    assert zookeeper.set_data(env, "/a", None) == 1
    assert zookeeper.set_data(env, "/a", "y", 1) == 2
    changed = zookeeper.get("/a").stat()
    assert (changed.czxid, changed.pzxid, changed.ctime_us) == (created.czxid, created.pzxid, 0)
    assert (changed.mzxid, changed.mtime_us, changed.version) == (created.mzxid + 2, 9, 2)


Request = Callable[[ZooKeeper, Notes], object]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (lambda z, env: z.create(env, 0, "/no/a", None), NoNodeError),
        (lambda z, env: z.create(env, 0, "/p", None), NodeExistsError),
        (lambda z, env: z.create(env, 0, "/", None), NodeExistsError),
        (lambda z, env: z.create(env, 0, "/e/a", None), NoChildrenForEphemeralsError),
        (lambda z, env: z.create(env, 7, "/a", None), SessionExpiredError),
        (lambda z, env: z.create(env, 0, "/a", None, ephemeral=True), SessionExpiredError),
        (lambda z, env: z.set_data(env, "/no", "x"), NoNodeError),
        (lambda z, env: z.set_data(env, "/p", "x", 3), BadVersionError),
        (lambda z, env: z.delete(env, "/no"), NoNodeError),
        (lambda z, env: z.delete(env, "/p", 3), BadVersionError),
        (lambda z, env: z.delete(env, "/p"), NotEmptyError),
        (lambda z, env: z.delete(env, "/zookeeper/quota"), BadArgumentsError),
        (lambda z, env: z.close_session(env, 7), SessionExpiredError),
    ],
    ids=range(13),
)
def test_a_refused_request_uses_a_zxid_and_changes_nothing(
    request_: Request, error: type[ZooKeeperError], env: Notes, zookeeper: ZooKeeper
) -> None:
    session = zookeeper.open_session(env, 1, 6000)
    zookeeper.create(env, 0, "/p", None)
    zookeeper.create(env, 0, "/p/a", None)
    zookeeper.create(env, session, "/e", None, ephemeral=True)
    env.log = []
    before = msgspec.structs.replace(zookeeper, zxid=zookeeper.zxid + 1)
    encoded = msgspec.msgpack.encode(before)
    with pytest.raises(error):
        request_(zookeeper, env)
    assert msgspec.msgpack.encode(zookeeper) == encoded
    assert env.log == []


def test_a_malformed_path_is_refused_before_it_is_a_request(
    env: Notes, zookeeper: ZooKeeper
) -> None:
    before = zookeeper.zxid
    with pytest.raises(BadArgumentsError):
        zookeeper.create(env, 0, "/a/", None)
    with pytest.raises(BadArgumentsError):
        zookeeper.multi(env, 0, [Create("/a"), Check("b", 0)])
    assert zookeeper.zxid == before


def test_reading_what_is_not_there_is_an_error_but_asking_for_it_is_none(
    zookeeper: ZooKeeper,
) -> None:
    assert zookeeper.exists("/no") is None
    with pytest.raises(NoNodeError):
        zookeeper.get("/no")
    with pytest.raises(NoNodeError):
        zookeeper.children("/no")


def test_a_change_is_stated_then_reported_then_told_to_watchers(
    env: Notes, zookeeper: ZooKeeper
) -> None:
    zookeeper.watch_exists(1, "/a")
    zookeeper.watch_children(2, "/")
    zookeeper.create(env, 0, "/a", "x")
    zxid = zookeeper.zxid
    assert env.log == [
        ("ZnodeCreated", "/a", "x", 0, zxid, env.host),
        ("created", "/a", "x", 0),
        ("WatchFired", "/a", "NodeCreated", 1),
        ("notify", 1, "/a", "NodeCreated"),
        ("WatchFired", "/", "NodeChildrenChanged", 2),
        ("notify", 2, "/", "NodeChildrenChanged"),
    ]


def test_a_deletion_is_told_once_to_a_host_that_watches_data_and_children(
    env: Notes, zookeeper: ZooKeeper
) -> None:
    zookeeper.create(env, 0, "/a", None)
    zookeeper.watch_data(1, "/a")
    zookeeper.watch_children(1, "/a")
    zookeeper.watch_children(2, "/a")
    zookeeper.watch_children(1, "/")
    env.log = []
    zookeeper.delete(env, "/a")
    assert env.taken("notify") == [
        ("notify", 1, "/a", "NodeDeleted"),
        ("notify", 2, "/a", "NodeDeleted"),
        ("notify", 1, "/", "NodeChildrenChanged"),
    ]


def test_a_watch_fires_once(env: Notes, zookeeper: ZooKeeper) -> None:
    zookeeper.create(env, 0, "/a", None)
    zookeeper.watch_data(1, "/a")
    zookeeper.watch_exists(1, "/a")
    for _ in range(2):
        zookeeper.set_data(env, "/a", "x")
    assert env.taken("WatchFired") == [("WatchFired", "/a", "NodeDataChanged", 1)]


def test_a_session_takes_its_ephemerals_along_in_one_write(
    env: Notes, zookeeper: ZooKeeper
) -> None:
    session = zookeeper.open_session(env, 1, 6000)
    for path in ("/b", "/a", "/c"):
        zookeeper.create(env, session, path, None, ephemeral=True)
    zookeeper.delete(env, "/c")
    zookeeper.create(env, 0, "/p", None)
    env.log = []
    zookeeper.expire_session(env, session)
    zxid = zookeeper.zxid
    assert env.taken("SessionEnded", "ZnodeDeleted") == [
        ("SessionEnded", session, 1, "expired", zxid),
        ("ZnodeDeleted", "/a", zxid, env.host),
        ("ZnodeDeleted", "/b", zxid, env.host),
    ]
    assert zookeeper.children("/") == ["p", "zookeeper"]
    assert not zookeeper.heard_from(session, 0)


def expire_due(zookeeper: ZooKeeper, env: Notes) -> list[int]:
    """Expire the sessions whose tick has ended, as the server does."""
    due = zookeeper.sessions.due(env.now)
    for session in due:
        zookeeper.expire_session(env, session)
    return due


def test_a_session_ends_with_its_tick_not_before_its_timeout(
    env: Notes, zookeeper: ZooKeeper
) -> None:
    env.now = 300_000
    session = zookeeper.open_session(env, 1, 4000)
    assert zookeeper.next_expiry_us == 5_000_000
    assert zookeeper.heard_from(session, 1_000_000)
    assert zookeeper.next_expiry_us == 6_000_000
    env.now = 5_999_999
    assert expire_due(zookeeper, env) == []
    env.now = 6_000_000
    assert expire_due(zookeeper, env) == [session]
    assert zookeeper.next_expiry_us is None


def test_sessions_of_one_tick_expire_in_the_order_of_their_ids(
    env: Notes, zookeeper: ZooKeeper
) -> None:
    first, second, third = (zookeeper.open_session(env, host, 4000) for host in (3, 1, 2))
    zookeeper.heard_from(first, 1_500_000)
    env.now = 9_000_000
    assert expire_due(zookeeper, env) == [second, third, first]


def test_a_session_that_ends_takes_its_hosts_watches_along(
    env: Notes, zookeeper: ZooKeeper
) -> None:
    session = zookeeper.open_session(env, 1, 4000)
    zookeeper.watch_children(1, "/")
    zookeeper.close_session(env, session)
    zookeeper.create(env, 0, "/a", None)
    assert env.taken("notify") == []


def test_an_old_session_that_ends_leaves_the_watches_of_the_new_one(
    env: Notes, zookeeper: ZooKeeper
) -> None:
    old = zookeeper.open_session(env, 1, 4000)
    zookeeper.watch_data(1, "/")
    new = zookeeper.open_session(env, 1, 4000)
    zookeeper.watch_children(1, "/")
    assert zookeeper.watches.data == {}
    zookeeper.expire_session(env, old)
    assert zookeeper.session_of(1) == new
    zookeeper.create(env, 0, "/a", None)
    assert env.taken("notify") == [("notify", 1, "/", "NodeChildrenChanged")]


def test_a_transaction_is_one_write_and_sees_itself(env: Notes, zookeeper: ZooKeeper) -> None:
    session = zookeeper.open_session(env, 1, 4000)
    done = zookeeper.multi(
        env,
        session,
        [
            Create("/a", None, ephemeral=True),
            SetData("/a", "x", 0),
            Check("/a", 1),
            Create("/s-", sequential=True),
            Create("/s-", sequential=True),
            Delete("/s-0000000001"),
        ],
    )
    assert done == ["/a", 1, None, "/s-0000000001", "/s-0000000002", None]
    stat = zookeeper.get("/a").stat()
    assert (stat.version, stat.data_length) == (1, 1)
    assert stat.czxid == stat.mzxid == zookeeper.get("/").pzxid == zookeeper.zxid
    assert zookeeper.children("/") == ["a", "s-0000000002", "zookeeper"]


def test_a_refused_transaction_changes_nothing_and_says_what_became_of_each_operation(
    env: Notes, zookeeper: ZooKeeper
) -> None:
    zookeeper.create(env, 0, "/epoch", "1")
    env.log = []
    before = msgspec.structs.replace(zookeeper, zxid=zookeeper.zxid + 1)
    encoded = msgspec.msgpack.encode(before)
    with pytest.raises(BadVersionError) as raised:
        zookeeper.multi(env, 0, [Create("/a"), Delete("/a"), Check("/epoch", 1), Create("/b")])
    assert raised.value.index == 2
    assert [error.name for error in raised.value.results] == [
        "RolledBackError",
        "RolledBackError",
        "BadVersionError",
        "RuntimeInconsistency",
    ]
    assert [error.code for error in raised.value.results] == [0, 0, -103, -2]
    assert msgspec.msgpack.encode(zookeeper) == encoded
    assert env.log == []


def test_the_whole_server_is_plain_data(env: Notes, zookeeper: ZooKeeper) -> None:
    session = zookeeper.open_session(env, 1, 4000)
    zookeeper.create(env, session, "/e", "x", ephemeral=True)
    zookeeper.create(env, 0, "/p", None)
    zookeeper.create(env, 0, "/p/a", None)
    zookeeper.watch_children(1, "/p")
    encoded = msgspec.msgpack.encode(zookeeper)
    copy = msgspec.msgpack.decode(encoded, type=ZooKeeper)
    assert copy == zookeeper
    assert msgspec.msgpack.encode(copy) == encoded
    copy.expire_session(env, session)
    assert zookeeper.exists("/e") is not None
