"""Paths, and what a znode says of itself."""

import pytest

from emulator.zookeeper.errors import BadArgumentsError
from emulator.zookeeper.znode import Znode, check_path, parent_path


@pytest.mark.parametrize("path", ["/", "/a", "/a/b", "/.hidden", "/a..b", "/a b", "/中\xa0文"])
def test_a_well_formed_path_passes(path: str) -> None:
    check_path(path)


@pytest.mark.parametrize(
    "path",
    ["", "a", "a/b", "/a/", "//", "/a//b", "/.", "/a/..", "/./b", "/a\x00", "/a\x1f", "/a\ud800"],
)
def test_a_malformed_path_is_refused(path: str) -> None:
    with pytest.raises(BadArgumentsError):
        check_path(path)


def test_the_parent_of_a_top_znode_is_the_root() -> None:
    assert [parent_path(path) for path in ("/a", "/a/b", "/a/b/c")] == ["/", "/a", "/a/b"]


def test_data_is_measured_in_bytes_and_null_has_none() -> None:
    lengths = [Znode(data, 0, 0, 0, 0, 0).data_length for data in (None, "", "中")]
    assert lengths == [0, 0, 3]
