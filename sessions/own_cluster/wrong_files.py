"""Say what a file is that is no source, and which one is wanted in its place."""

import re
from pathlib import PurePath
from typing import Final

from sessions.own_cluster.content import Content
from sessions.text import clean

DESCRIBE: Final = "what 'kafka-topics --describe' prints"
FOLDER: Final = "the folder __cluster_metadata-0 of a controller"
ANYTHING: Final = f"{DESCRIBE}, or another source that 'tidegauge import --help' lists"
_SNAPSHOT_HEADER: Final = 10
_SNAPSHOT_ENTRY: Final = 46
_TAR_AT: Final = 257
_MAGIC_AT: Final = 16
_OLD_MAGICS: Final = (0, 1)

_NAMES: Final = (
    (".timeindex", "an index of a log by time", FOLDER),
    (".txnindex", "an index of aborted transactions", FOLDER),
    (".index", "an index of a log", FOLDER),
)
_BEGINNINGS: Final = (
    (b"ZKLG", "a transaction log of ZooKeeper", "the folder version-2 that it is in"),
    (b"SQLite format 3\0", "a session of tidegauge or another SQLite database", ANYTHING),
    (b"PK\3\4", "a zip archive", "the files in it"),
)
_TEXTS: Final = (
    (r"\d+\n\d+\n(?:\d+ \d+\n)+\Z", "a checkpoint of leader epochs", FOLDER),
    (r"\d+\n\d+\n(?:\S+ \d+ \d+\n)+", "a checkpoint of offsets", DESCRIBE),
    (r"version: \d+\ntopic_id: ", "a partition.metadata", FOLDER),
    (r'\{"clusterId":.*"leaderEpoch":', "a quorum-state", "the folder that it is in"),
    (r"(?s).*^(?:cluster\.id|node\.id|broker\.id)=.*^version=", "a meta.properties", FOLDER),
    (
        r"(?s).*^(?:log\.dirs?|zookeeper\.connect|process\.roles|listeners)\s*=",
        "a configuration of a broker",
        f"{DESCRIBE}, with --set for what the configuration says",
    ),
    (
        r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\] [A-Z]+ ",
        "a text log of a broker or a controller",
        ANYTHING,
    ),
    (r"Metadata for .*\(from broker", "what kcat -L prints without -J", "what kcat -L -J prints"),
    (r"Dumping \S+|Starting offset: \d+", "a dump of a log as text", "the log itself"),
    (r"Status of partition reassignment", "the progress of a reassignment", DESCRIBE),
    (r"\s*<", "XML or HTML", ANYTHING),
    (r"\s*[{\[]", "JSON of an unknown kind", ANYTHING),
)
_COMPILED: Final = {re.compile(text, re.M): (what, instead) for text, what, instead in _TEXTS}
_LOOKED_AT: Final = 4_000
"""How many characters of a text are searched."""


def refusal(content: Content) -> str:
    """Return one sentence about a source that is in no known format."""
    kind, instead = identify(content)
    return f"{clean(content.name)} is {kind}; wanted is {instead}"


def identify(content: Content) -> tuple[str, str]:
    """Return what a file is that is no source, and which source is wanted in its place."""
    if not content.head:
        return "empty", ANYTHING
    name = PurePath(content.name).name
    if name.endswith(".snapshot") or _is_producer_state(content.head):
        return "a snapshot of the state of producers", f"a *.checkpoint, or {FOLDER}"
    for suffix, kind, instead in _NAMES:
        if name.endswith(suffix):
            return kind, instead
    text = content.text_head[:_LOOKED_AT]
    if "\0" in text or text.count("\ufffd") > len(text) // 20:
        return _binary(content.head)
    for pattern, (kind, instead) in _COMPILED.items():
        if pattern.match(text):
            return kind, instead
    return "a text of an unknown kind", ANYTHING


def _binary(head: bytes) -> tuple[str, str]:
    for beginning, kind, instead in _BEGINNINGS:
        if head.startswith(beginning):
            return kind, instead
    if head[_TAR_AT : _TAR_AT + 5] == b"ustar":
        return "a tar archive", "the files in it"
    is_log = len(head) > _MAGIC_AT and head[:4] == bytes(4) and head[_MAGIC_AT] in _OLD_MAGICS
    if is_log and any(head[: _MAGIC_AT + 1]):
        return "a log in a format that metadata logs never had", FOLDER
    return "a binary file of an unknown kind", ANYTHING


def _is_producer_state(head: bytes) -> bool:
    """``ProducerStateManager``: a version, a checksum, a count, and entries of 46 bytes."""
    entries, rest = divmod(len(head) - _SNAPSHOT_HEADER, _SNAPSHOT_ENTRY)
    return not rest and head.startswith(b"\0\1") and entries == int.from_bytes(head[6:10], "big")
