"""``tidegauge import`` of ZooKeeper's transaction logs: the cluster at their end."""

import gzip
from pathlib import Path

import pytest

from commands.cli.main import run_program
from sessions.own_cluster.formats.znodes import Znode, image_of
from sessions.own_cluster.formats.zookeeper_snapshot import KEPT
from sessions.own_cluster.importing import read_source
from sessions.own_cluster.places import Place
from sessions.own_cluster.reading import SourceError
from sessions.own_cluster.zookeeper_history.znode_tree import ZnodeTree
from tests.sessions.postmortem.zookeeper.recorded import (
    LOG,
    RECORDINGS,
    RELEASES,
    history,
    raw,
    znodes,
)


@pytest.mark.parametrize("release", RELEASES)
def test_the_image_is_that_of_the_znodes_of_a_real_server(release: str) -> None:
    """The server had read the same log."""
    served = image_of(
        Znode(path, None if found["data"] is None else found["data"].encode(), *_stat(found))
        for path, found in znodes(release).items()
        if any(part in path for part in KEPT)
    )
    reading = read_source(str(RECORDINGS / release / "version-2"))
    assert reading.image == served
    assert read_source(str(RECORDINGS / release / LOG)).image == served


@pytest.mark.parametrize("release", RELEASES)
def test_a_log_up_to_a_transaction_is_the_cluster_as_it_was_there(release: str) -> None:
    transactions = list(history(release).transactions(0))
    tree, seen = ZnodeTree(), 0
    for transaction in transactions:
        if not any("/state" in change.path for change in tree.apply(transaction)):
            continue
        seen += 1
        if seen % 10:
            continue
        expected = image_of(
            Znode(path, znode.data, znode.version, znode.czxid)
            for path, znode in tree.znodes.items()
            if any(part in path for part in KEPT)
        )
        folder = str(RECORDINGS / release / "version-2")
        reading = read_source(folder, until=Place(offset=transaction.zxid))
        assert reading.image == expected
        assert f"as of transaction 0x{transaction.zxid:x}, 20" in reading.notes[-1]
    assert seen > 30
    with pytest.raises(SourceError, match="no transaction up to that place: it begins at 20"):
        read_source(folder, until=Place(time_us=1))


def _stat(found: dict[str, int]) -> tuple[int, int]:
    return found["version"], found["czxid"]


def test_a_log_without_its_beginning_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "version-2"
    folder.mkdir()
    data = raw("2.8.2")
    size = int.from_bytes(data[24:28], "big")
    (folder / "log.2").write_bytes(data[:16] + data[16 + 8 + 4 + size + 1 :])
    with pytest.raises(SourceError, match="begins in the middle of a history; wanted is"):
        read_source(str(folder))


def test_import_writes_an_image(tmp_path: Path) -> None:
    (tmp_path / "log.1").write_bytes(gzip.decompress((RECORDINGS / "2.8.2" / LOG).read_bytes()))
    image = tmp_path / "prod.cluster.json"
    assert run_program(["import", str(tmp_path), "--out", str(image)]) == 0
    assert image.read_text().startswith("{")
    before = tmp_path / "before.cluster.json"
    assert run_program(["import", str(tmp_path), "--at", "120", "--out", str(before)]) == 0
    assert before.read_text() != image.read_text()
    assert run_program(["import", str(tmp_path), "--at", "yesterday"]) == 2
