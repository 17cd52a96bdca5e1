"""What Spark's workers do in a search: expand states."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from emulator.explorer.portable import Portable, fingerprint
from emulator.explorer.question import Question

if TYPE_CHECKING:
    import pyarrow as pa

STATES_A_BATCH: Final = 5_000
"""How many states are expanded together: each of those after them is written once."""
STATE: Final = "fingerprint BINARY, state BINARY, parent BINARY, broken ARRAY<STRING>"
"""A state, the fingerprint of one that it comes after, and the properties that it violates."""
REACHED: Final = f"{STATE}, by_fault BOOLEAN, generated BIGINT"
"""What is reached from a level; the sum of ``generated`` is how often any state was."""


@lru_cache(maxsize=1)
def portable(question: bytes) -> Portable:
    """The model of a question; a worker's process keeps it with the cached outcomes of rules."""
    decoded = msgspec.json.decode(question, type=Question)
    return Portable(decoded.of.model(), decoded.properties)


def expand_batches(
    question: bytes, batches: "Iterable[pa.RecordBatch]"
) -> "Iterator[pa.RecordBatch]":
    """Return the successors of states; Spark calls this."""
    model = portable(question)
    for batch in batches:
        for start in range(0, batch.num_rows, STATES_A_BATCH):
            part = batch.slice(start, STATES_A_BATCH)
            yield _expanded(
                model,
                part.column("fingerprint").to_pylist(),
                part.column("state").to_pylist(),
            )


def _expanded(model: Portable, fingerprints: list[bytes], states: list[bytes]) -> "pa.RecordBatch":
    import pyarrow as pa

    reached, generated = model.after(states)
    counts = [0] * len(reached)
    if reached:
        counts[0] = generated
    return pa.RecordBatch.from_pydict(
        {
            "fingerprint": pa.array([fingerprint(e.state) for e in reached], pa.binary()),
            "state": pa.array([successor.state for successor in reached], pa.binary()),
            "parent": pa.array(
                [fingerprints[successor.parent] for successor in reached], pa.binary()
            ),
            "broken": pa.array([successor.broken for successor in reached], pa.list_(pa.string())),
            "by_fault": pa.array([successor.by_fault for successor in reached], pa.bool_()),
            "generated": pa.array(counts, pa.int64()),
        }
    )
