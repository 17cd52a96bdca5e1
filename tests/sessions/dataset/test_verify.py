"""``dataset verify``: whatever is done to a file of a dataset is found."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sessions.dataset.layout import (
    MANIFEST,
    SCHEMA,
    SCHEMA_FILE,
    STAGING,
    Commit,
    Dataset,
    File,
)
from sessions.dataset.maintenance import compact, remove
from sessions.dataset.tables import PRODUCED
from sessions.dataset.verify import Verification, verify
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    for name in ("s1", "s2"):
        exported(committed_story().events, tmp_path / "dataset", name)
    return tmp_path / "dataset"


def found(dataset: Path) -> Verification:
    return verify(Dataset(dataset))


def a_file(dataset: Path) -> Path:
    return min((dataset / "produced").glob("*.parquet"))


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
    files = commit.files | {PRODUCED.name: (msgspec.structs.replace(file, **values),)}
    entry.write_bytes(msgspec.json.encode(msgspec.structs.replace(commit, files=files)))


def lose_a_schema(dataset: Path) -> None:
    (dataset / "consumed" / SCHEMA_FILE).unlink()


def add_rows_to_a_schema(dataset: Path) -> None:
    content, file = a_file(dataset).read_bytes(), dataset / PRODUCED.name / SCHEMA_FILE
    file.write_bytes(content)
    entry = dataset / MANIFEST / f"{SCHEMA}.json"
    commit = msgspec.json.decode(entry.read_bytes(), type=Commit)
    said = File(SCHEMA_FILE, pq.read_metadata(file).num_rows, len(content))
    files = commit.files | {PRODUCED.name: (said,)}
    entry.write_bytes(msgspec.json.encode(msgspec.structs.replace(commit, files=files)))


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
    again, files = "0" * 19, {}
    for table, of in commit.files.items():
        named = []
        for file in of:
            name = file.name.replace(commit.id, again)
            (dataset / table / name).write_bytes((dataset / table / file.name).read_bytes())
            named.append(msgspec.structs.replace(file, name=name))
        files[table] = tuple(named)
    copy = msgspec.structs.replace(commit, id=again, files=files)
    (dataset / MANIFEST / f"{again}.json").write_bytes(msgspec.json.encode(copy))


def test_what_was_written_is_whole(dataset: Path) -> None:
    done: list[int] = []
    whole = verify(Dataset(dataset), done.append)
    assert (whole.problems, whole.sessions, whole.without_digest) == ((), 2, 0)
    assert done[-1] == whole.files
    compact(Dataset(dataset))
    remove(Dataset(dataset), ["s1"])
    after = found(dataset)
    assert (after.problems, after.sessions) == ((), 1)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (damage, "its SHA-256 is not that of the manifest"),
        (lengthen, "bytes, the manifest says"),
        (lose, "this file is missing"),
        (lose_a_schema, "this file is missing"),
        (add_rows_to_a_schema, "it has 3 rows and should have none"),
        (miscount, "the manifest says 77"),
        (write_other_columns, "its columns are not those of produced"),
        (repeat_a_session, "session s1 is there 2 times"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_damage_is_found(dataset: Path, harm: Callable[[Path], None], told: str) -> None:
    harm(dataset)
    (problem,) = found(dataset).problems
    assert problem.kind == "damaged"
    assert told in problem.problem


def test_what_does_not_belong_there_is_untidy(dataset: Path) -> None:
    (dataset / "produced" / "mine.parquet").write_bytes(a_file(dataset).read_bytes())
    (dataset / STAGING / "00000000000dead").mkdir(parents=True)
    (dataset / "produced" / "00000000000dead-00000.parquet").write_bytes(b"")
    whole = found(dataset)
    assert not whole.damaged
    assert [problem.problem.partition(";")[0] for problem in whole.problems] == [
        "this commit is in progress or half moved",
        "this file is not in the manifest",
    ]


def test_a_manifest_without_digests_is_said(dataset: Path) -> None:
    change_manifest(dataset, sha256="")
    whole = found(dataset)
    assert (whole.problems, whole.without_digest) == ((), 1)
