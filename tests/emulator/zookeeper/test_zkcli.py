"""What zkCli prints."""

import pytest

from emulator.releases.profiles import PROFILES
from emulator.zookeeper import errors, zkcli
from emulator.zookeeper.tree import ZooKeeper
from emulator.zookeeper.znode import Stat
from tests.emulator.zookeeper.surroundings import notes

SEED_SAMPLE = """\
cZxid = 0x300000535
ctime = Sun Mar 15 10:16:06 UTC 2020
mZxid = 0x300000535
mtime = Sun Mar 15 10:16:06 UTC 2020
pZxid = 0x300000535
cversion = 0
dataVersion = 1
aclVersion = 0
ephemeralOwner = 0x20191d7053f0009
dataLength = 196
numChildren = 0"""


def a_tree() -> ZooKeeper:
    zookeeper = ZooKeeper.fresh()
    for path in ("/b", "/b/d", "/b/c", "/b/c/e", "/a"):
        zookeeper.create(notes(), 0, path, None)
    return zookeeper


def test_a_stat_is_printed_in_eleven_lines() -> None:
    stat = Stat(
        czxid=0x300000535,
        mzxid=0x300000535,
        ctime_us=6_250_000,
        mtime_us=6_900_000,
        pzxid=0x300000535,
        version=1,
        cversion=0,
        aversion=0,
        ephemeral_owner=0x20191D7053F0009,
        data_length=196,
        num_children=0,
    )
    assert zkcli.stat_text(stat) == SEED_SAMPLE


def test_a_one_digit_day_has_two_digits() -> None:
    assert zkcli.date_text(17 * 24 * 3_600_000_000) == "Wed Apr 01 10:16:00 UTC 2020"


def test_a_date_is_that_of_the_readers_time_zone() -> None:
    in_shanghai, in_new_york = zkcli.Zone("CST", 8 * 3600), zkcli.Zone("EDT", -4 * 3600)
    assert zkcli.date_text(6_000_000, in_shanghai) == "Sun Mar 15 18:16:06 CST 2020"
    assert zkcli.date_text(0, in_new_york) == "Sun Mar 15 06:16:00 EDT 2020"


def test_children_are_printed_sorted_in_one_line() -> None:
    assert zkcli.list_text(a_tree().children("/b")) == "[c, d]"
    assert zkcli.list_text(a_tree().children("/a")) == "[]"


def test_up_to_zookeeper_3_4_children_are_printed_in_the_servers_order() -> None:
    zookeeper = ZooKeeper.fresh()
    for name in ("brokers", "controller", "admin", "cluster"):
        zookeeper.create(notes(), 0, f"/{name}", None)
    old, new = PROFILES["2.3"], PROFILES["2.4"]
    order = ["admin", "cluster", "controller", "brokers", "zookeeper"]
    assert zkcli.listed(zookeeper, old, "/") == order
    assert zkcli.listed(zookeeper, new, "/") == sorted(order)


def test_a_tree_is_printed_siblings_first() -> None:
    assert zkcli.list_tree(a_tree(), "/b") == ["/b", "/b/c", "/b/d", "/b/c/e"]
    whole = zkcli.list_tree(a_tree(), "/")
    assert whole[:4] == ["/", "/a", "/b", "/zookeeper"]


def test_a_list_as_plain_data_is_sorted() -> None:
    assert zkcli.list_result(a_tree(), "/b", recursive=False) == ["c", "d"]
    assert zkcli.list_result(a_tree(), "/b", recursive=True) == ["/b", "/b/c", "/b/c/e", "/b/d"]


def test_null_is_printed_as_a_word_and_the_stat_below_the_data() -> None:
    node = a_tree().get("/b")
    assert zkcli.get_text(node, with_stat=False) == "null"
    lines = zkcli.get_text(node, with_stat=True).splitlines()
    assert (lines[0], lines[6], lines[11]) == ("null", "cversion = 2", "numChildren = 2")


def test_a_znode_as_plain_data() -> None:
    assert zkcli.node_result(a_tree().get("/b")) == {
        "data": None,
        "dataVersion": 0,
        "cversion": 2,
        "aclVersion": 0,
        "ephemeral": False,
        "ephemeralOwner": 0,
        "dataLength": 0,
        "numChildren": 2,
        "cZxid": 0x100000001,
        "mZxid": 0x100000001,
        "pZxid": 0x100000003,
        "ctime": 1_584_267_360_000,
        "mtime": 1_584_267_360_000,
    }


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (errors.NoNodeError("/a", ""), "Node does not exist: /a"),
        (errors.NodeExistsError("/a", ""), "Node already exists: /a"),
        (errors.NotEmptyError("/a", ""), "Node not empty: /a"),
        (errors.BadVersionError("/a", ""), "version No is not valid : /a"),
        (
            errors.NoChildrenForEphemeralsError("/a/b", ""),
            "Ephemerals cannot have children: /a/b",
        ),
        (errors.BadArgumentsError("/", ""), "Arguments are not valid : /"),
        (errors.SessionExpiredError("/a", "Gone."), "Gone."),
    ],
    ids=["missing", "exists", "not-empty", "version", "ephemeral", "arguments", "other"],
)
def test_an_error_is_said_in_zkclis_words(error: errors.ZooKeeperError, text: str) -> None:
    assert zkcli.error_text(error) == text
