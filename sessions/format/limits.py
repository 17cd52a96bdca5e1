"""How much of a session file is read: whatever it contains, it takes little memory and time.

Each limit follows what :mod:`sessions.recording` can write, with room; beyond it a file is damaged
or hostile. Memory is estimated from the bytes before they are decoded
(:mod:`sessions.decoding`).
"""

from typing import Final

MIB: Final = 1 << 20

SEQ_MAX: Final = 1 << 62
"""Number of the last event: SQLite stores twice as much."""
CHUNK_EVENTS_MAX: Final = 1 << 16
"""Events of a chunk: a recorder completes a chunk at 4,096."""
CHUNK_MEMORY_MAX: Final = 768 * MIB
"""Memory of a chunk's events: 200,000 partitions, made in one chunk, are estimated at 640 MiB."""
CHUNK_MEMORY_LARGE: Final = 32 * MIB
"""Memory of a chunk whose records are large: after it free memory goes back to the system."""
CHUNK_TEXT_MAX: Final = 256 * MIB
"""Characters of a chunk's texts, if a text counts once for each event that has it.

A chunk is full at 512 KiB of compressed bytes; the longest texts are statements of 64 KiB.
"""
COLUMNS_MAX: Final = 64
"""Columns of one type of events in a chunk: no type has ever had as many as 20 fields."""
BLOB_BYTES_MAX: Final = 128 * MIB
"""Bytes of a chunk, a keyframe or a list of names when it is decompressed.

The state of 100,000 partitions takes 53 MiB.
"""
KEYFRAME_MEMORY_MAX: Final = 896 * MIB
"""Memory of a state, with the states that it is based on: enough for 70,000 partitions.

A larger one is computed from the events before it, which takes longer and not more memory.
"""
BEGINNING_MEMORY_MAX: Final = 4_096 * MIB
"""Memory of the state at which a file begins, which cannot be computed: 200,000 partitions."""
BEGINNING_EXPANSION_MAX: Final = 1_000
"""The same in multiples of its compressed bytes: recorded ones reach 480.

So a file of some kilobytes cannot ask for gigabytes.
"""

CHUNKS_MAX: Final = 100_000
"""Rows of ``chunks`` (and so of ``touches``): each has 1,024 events or 32 KiB, so 3 GiB or more."""
KEYFRAMES_MAX: Final = 10_000
"""Rows of ``keyframes``: one belongs to at least 24,576 events, or to an eighth of the file."""
CHAIN_MAX: Final = 100
"""Keyframes based on each other: a recorder writes a full one after 24."""
SUMMARY_ROWS_MAX: Final = 500_000
"""Rows of ``summary``: at most 256 belong to one chunk, and most chunks change no count."""
BOOKMARKS_MAX: Final = 100_000
"""Rows of ``bookmarks``: people and ``mark`` statements set them."""

TEXT_BYTES_MAX: Final = 16 * MIB
"""Bytes of a text that is not ASCII, which may take four times as many: a script has no more."""
VALUE_BYTES_MAX: Final = 160 * MIB
"""Bytes of any value in a table.

Up to schema 15 a client's request of 100 MiB was stored as 134 MiB of Base64.
"""
META_MEMORY_MAX: Final = 64 * MIB
"""Memory of a value of ``meta``: a cluster of 1,000 brokers with their racks takes 1 MiB."""
STATEMENT_MEMORY_MAX: Final = 512 * MIB
"""Memory of one statement, such as a client's largest request."""
TEXTS_MEMORY_MAX: Final = 1_024 * MIB
"""Memory of all statements' texts, or bookmarks, besides their bytes; half of it is in use."""
TEXTS_BYTES_MAX: Final = 2_048 * MIB
"""Bytes of these texts."""
FRAMES_BYTES_MAX: Final = 2_048 * MIB
"""Bytes of all clients' requests, however well they compress."""
FRAMES_EXPANSION_MAX: Final = 100
"""Bytes of clients' requests beyond that, in multiples of their compressed bytes."""
STATEMENTS_MAX: Final = 1_000_000
"""Rows of ``inputs``: a script has a tenth of that, and a client's request causes some events."""
BEYOND_MAX: Final = 10_000
"""Statements, and rows of ``summary``, without an event: after damage they may still be of use."""
SALVAGE_CELLS_MAX: Final = 100_000
"""Rows that are looked at in a damaged file whose pages do not tell where its chunks are."""
