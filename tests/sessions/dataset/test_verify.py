"""``dataset verify``: whatever is done to a file of a dataset is found."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sessions.dataset.layout import STAGING, Dataset
from sessions.dataset.maintenance import compact, remove
from sessions.dataset.verify import Verification, verify
from tests.sessions.dataset.harm import (
    add_rows_to_a_schema,
    change_manifest,
    damage,
    intrude,
    lengthen,
    lose,
    lose_a_schema,
    miscount,
    name_another_session,
    repeat_a_session,
    write_other_columns,
)
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    for name in ("s1", "s2"):
        exported(committed_story().events, tmp_path / "dataset", name)
    return tmp_path / "dataset"


def found(dataset: Path) -> Verification:
    return verify(Dataset(dataset))


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
        (name_another_session, "session s9 is in the manifest only"),
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
    intrude(dataset)
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
