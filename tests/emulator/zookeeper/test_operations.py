"""Transactions as a draft, without a server."""

import pytest

from emulator.zookeeper.errors import (
    NoChildrenForEphemeralsError,
    NodeExistsError,
    NotEmptyError,
    ZooKeeperError,
)
from emulator.zookeeper.operations import (
    Check,
    Create,
    Delete,
    Operation,
    SetData,
    admit_all,
    check_paths,
)
from emulator.zookeeper.znode import Znode


def a_tree() -> dict[str, Znode]:
    return {
        "/": Znode("", 0, 0, 0, 0, 0, child_creates=5, num_children=1),
        "/a": Znode(None, 1, 1, 1, 0, 0, version=2),
    }


@pytest.mark.parametrize(
    ("transaction", "error"),
    [
        ([Create("/b"), Create("/b")], NodeExistsError),
        ([Create("/a/b"), Delete("/a")], NotEmptyError),
        ([Create("/e", None, ephemeral=True), Create("/e/b")], NoChildrenForEphemeralsError),
    ],
    ids=["created-twice", "no-longer-empty", "under-an-ephemeral"],
)
def test_an_operation_is_refused_for_what_an_earlier_one_did(
    transaction: list[Operation], error: type[ZooKeeperError]
) -> None:
    with pytest.raises(error) as raised:
        admit_all(a_tree().get, transaction, session=9)
    assert raised.value.index == 1


@pytest.mark.parametrize(
    ("transaction", "paths"),
    [
        ([Delete("/a", 2), Create("/a"), Check("/a", 0)], ["/a", "/a", "/a"]),
        ([SetData("/a", "x", 2), SetData("/a", "y", 3)], ["/a", "/a"]),
        ([Create("/a/b"), Delete("/a/b"), Delete("/a")], ["/a/b", "/a/b", "/a"]),
        ([Create("/s", sequential=True)] * 2, ["/s0000000005", "/s0000000006"]),
    ],
    ids=["replaced", "set-twice", "emptied", "numbered"],
)
def test_an_operation_is_admitted_for_what_an_earlier_one_did(
    transaction: list[Operation], paths: list[str]
) -> None:
    tree = a_tree()
    assert admit_all(tree.get, transaction, session=9) == paths
    assert tree == a_tree()


def test_a_sequential_path_may_end_in_a_slash() -> None:
    check_paths([Create("/a/", sequential=True)])
    assert admit_all(a_tree().get, [Create("/a/", sequential=True)], 0) == ["/a/0000000000"]
