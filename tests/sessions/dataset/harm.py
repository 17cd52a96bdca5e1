"""What may happen to the files of a dataset, done on purpose."""

from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from sessions.dataset.layout import MANIFEST, SCHEMA, SCHEMA_FILE, Commit, File
from sessions.dataset.tables import PRODUCED
from tests.sessions.dataset.reading import files


def a_file(dataset: Path) -> Path:
    """A file of ``produced`` with rows."""
    return files(dataset, PRODUCED.name)[0]


def damage(dataset: Path) -> None:
    file = a_file(dataset)
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)


def lengthen(dataset: Path) -> None:
    with a_file(dataset).open("ab") as file:
        file.write(b"x")


def lose(dataset: Path) -> None:
    a_file(dataset).unlink()


def change_manifest(dataset: Path, **values: object) -> None:
    entry = dataset / MANIFEST / f"{a_file(dataset).name.partition('-')[0]}.json"
    commit = msgspec.json.decode(entry.read_bytes(), type=Commit)
    (file,) = commit.files[PRODUCED.name]
    changed = commit.files | {PRODUCED.name: (msgspec.structs.replace(file, **values),)}
    entry.write_bytes(msgspec.json.encode(msgspec.structs.replace(commit, files=changed)))


def name_another_session(dataset: Path) -> None:
    entry = dataset / MANIFEST / f"{a_file(dataset).name.partition('-')[0]}.json"
    commit = msgspec.json.decode(entry.read_bytes(), type=Commit)
    entry.write_bytes(msgspec.json.encode(msgspec.structs.replace(commit, ids=("s9",))))


def lose_a_schema(dataset: Path) -> None:
    (dataset / "consumed" / SCHEMA_FILE).unlink()


def add_rows_to_a_schema(dataset: Path) -> None:
    content, file = a_file(dataset).read_bytes(), dataset / PRODUCED.name / SCHEMA_FILE
    file.write_bytes(content)
    entry = dataset / MANIFEST / f"{SCHEMA}.json"
    commit = msgspec.json.decode(entry.read_bytes(), type=Commit)
    said = File(SCHEMA_FILE, pq.read_metadata(file).num_rows, len(content))
    changed = commit.files | {PRODUCED.name: (said,)}
    entry.write_bytes(msgspec.json.encode(msgspec.structs.replace(commit, files=changed)))


def miscount(dataset: Path) -> None:
    change_manifest(dataset, rows=77)


def write_other_columns(dataset: Path) -> None:
    file = a_file(dataset)
    rows = pq.read_table(file).num_rows
    pq.write_table(pa.table({"session": ["s1"] * rows}), file)
    change_manifest(dataset, size_bytes=file.stat().st_size, sha256="")


def repeat_a_session(dataset: Path) -> None:
    entry = min((dataset / MANIFEST).glob("*.json"))
    commit = msgspec.json.decode(entry.read_bytes(), type=Commit)
    again, copied = "0" * 19, {}
    for table, of in commit.files.items():
        named = []
        for file in of:
            name = file.name.replace(commit.id, again)
            (dataset / table / name).write_bytes((dataset / table / file.name).read_bytes())
            named.append(msgspec.structs.replace(file, name=name))
        copied[table] = tuple(named)
    copy = msgspec.structs.replace(commit, id=again, files=copied)
    (dataset / MANIFEST / f"{again}.json").write_bytes(msgspec.json.encode(copy))


def intrude(dataset: Path) -> None:
    (dataset / PRODUCED.name / "mine.parquet").write_bytes(a_file(dataset).read_bytes())
