"""``tidegauge import`` of ZooKeeper's transaction logs: the cluster at their end."""

import gzip
from pathlib import Path

import pytest

from commands.cli.main import run_program
from sessions.own_cluster.formats.znodes import Znode, image_of
from sessions.own_cluster.formats.zookeeper_snapshot import KEPT
from sessions.own_cluster.importing import read_source
from sessions.own_cluster.reading import SourceError
from tests.sessions.postmortem.zookeeper.recorded import LOG, RECORDINGS, RELEASES, raw, znodes


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
