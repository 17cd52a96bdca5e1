"""Copies of several nodes: one history, and what was never committed beside it."""

from pathlib import Path

import pytest

from emulator.wire.metadata.batches import MetadataBatch
from sessions.own_cluster.reading import SourceError
from sessions.postmortem.incident import examine, read_paths
from sessions.postmortem.merging import MergedLog
from tests.sessions.postmortem.logs import Log, cluster, fence, snapshot, unfence


def offsets(log: MergedLog) -> list[int]:
    return [batch.base_offset for batch in log.batches()]


def test_a_shorter_copy_adds_nothing(tmp_path: Path) -> None:
    log = cluster()
    log.write(tmp_path / "node100")
    longer = cluster()
    longer.add(fence(2, 4), version=1).write(tmp_path / "node101")
    merged = read_paths([str(tmp_path)])
    assert len(offsets(merged)) == len(longer.batches)
    assert merged.tails == []
    assert not merged.notes


def test_an_uncommitted_tail_is_told_and_left_out(tmp_path: Path) -> None:
    cut_off = cluster().add(fence(2, 4), version=1).add(fence(3, 6), version=1)
    cut_off.write(tmp_path / "node100")
    elected = cluster().leader(101, [100, 101, 102], epoch=2)
    elected.write(tmp_path / "node101")
    merged = read_paths([str(tmp_path / "node100"), str(tmp_path / "node101")])
    incident = examine(merged)
    assert not incident.image.brokers[2].fenced
    (tail,) = merged.tails
    assert (tail.start, tail.end, tail.epoch) == (cluster().offset, cluster().offset + 2, 1)
    assert "2 records from offset 10 on (epoch 1) that were never committed" in incident.notes[0]


def test_a_log_that_begins_late_continues_an_older_copy(tmp_path: Path) -> None:
    old = cluster()
    old.write(tmp_path / "old")
    begin = old.offset
    image = b"".join(old.batches[1:])
    new = Log(begin, second=old.second).add(fence(2, 4), version=1)
    folder = new.write(tmp_path / "new", begin)
    (folder / f"{begin:020}-{1:010}.checkpoint").write_bytes(snapshot(image))
    incident = examine(read_paths([str(tmp_path)]))
    assert incident.image.brokers[2].fenced
    assert incident.records == begin + 1
    alone = examine(read_paths([str(folder)]))
    assert alone.image.brokers == incident.image.brokers
    assert alone.records == 1


def test_a_damaged_copy_is_continued_by_another(tmp_path: Path) -> None:
    log = cluster()
    log.write(tmp_path / "whole")
    damaged = bytearray(log.data)
    damaged[len(b"".join(log.batches[:4])) + 70] ^= 1
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(damaged)
    merged = read_paths([str(folder), str(tmp_path / "whole")])
    assert len(list(merged.batches())) == len(log.batches)
    assert "is damaged" in merged.notes[0]


def test_logs_of_two_clusters_are_refused(tmp_path: Path) -> None:
    cluster().write(tmp_path / "a")
    other = Log(second=7)
    cluster(other).write(tmp_path / "b")
    with pytest.raises(SourceError, match="logs of different clusters"):
        read_paths([str(tmp_path / "a"), str(tmp_path / "b")])


def test_a_gap_between_copies_is_named(tmp_path: Path) -> None:
    cluster().write(tmp_path / "old")
    new = Log(30).add(unfence(1, 2), version=1)
    folder = new.write(tmp_path / "new", 30)
    (folder / f"{30:020}-{1:010}.checkpoint").write_bytes(snapshot(cluster().batches[1]))
    with pytest.raises(SourceError, match="offsets 10 to 29 are missing"):
        read_paths([str(tmp_path / "old"), str(folder)])


def test_a_log_in_several_segments_is_one(tmp_path: Path) -> None:
    log = cluster()
    folder = tmp_path / "segments"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(b"".join(log.batches[:3]))
    (folder / f"{3:020}.log").write_bytes(b"".join(log.batches[3:]))
    batches = list(read_paths([str(folder)]).batches())
    assert [type(batch) for batch in batches] == [MetadataBatch] * len(log.batches)
