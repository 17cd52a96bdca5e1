"""Records take as many bytes as in the log of a real cluster."""

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import (
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
)
from emulator.metadata_log.sizes import batch_size, snapshot_size
from tests.golden_kraft.metadata_snapshots import SNAPSHOTS, batches

V4_1 = 27
V3_6 = 13


def test_every_recorded_batch_has_its_size() -> None:
    sizes = [(batch.base_offset, batch.size_bytes) for batch in batches()]
    assert [(b.base_offset, batch_size(b.records, V4_1)) for b in batches()] == sizes
    assert len(sizes) > 300


def test_a_snapshot_has_the_size_of_its_file() -> None:
    image = MetadataImage()
    real = {end: size for found in SNAPSHOTS.values() for end, _, size in found}
    ours = {}
    for batch in batches():
        image.replay_batch(batch.records, batch.base_offset, batch.epoch)
        if batch.end_offset in real:
            ours[batch.end_offset] = snapshot_size(image)
    assert ours == real


def test_directories_came_with_3_7() -> None:
    made = PartitionRecord(0, "id", (0, 1, 2), (0, 1, 2), leader=0)
    assert batch_size([made], V4_1) - batch_size([made], V3_6) == 1 + 3 * 16


def test_what_a_change_names_is_what_it_takes() -> None:
    def size(**fields: object) -> int:
        record = PartitionChangeRecord(0, "id", **fields)  # type: ignore[arg-type]
        return batch_size([record], V3_6) - batch_size([NoOpRecord()], V3_6)

    assert size() == 4 + 16
    assert size(isr=()) == size() + 3
    assert size(isr=(1, 2), leader=1) == size() + 11 + 6
    assert batch_size([RemoveTopicRecord("id")], V4_1) == 72 + 16
