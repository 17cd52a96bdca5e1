"""Dataset folders in which somebody has changed manifests, files and names.

Whatever the folder contains, each operation works or says in one sentence what is wrong, and
nothing beside the dataset's folder changes.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest.mock import patch
from uuid import UUID

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from emulator.cluster import Cluster
from emulator.inputs.statements import CreateCluster, CreateTopic, Produce
from emulator.scenario.runner import Runner
from sessions.dataset.export import export_session
from sessions.dataset.layout import COMMIT, MANIFEST, MARKER, STAGING, Dataset, DatasetError
from sessions.dataset.maintenance import compact, info, remove
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.tables import EVENTS, SESSIONS
from tests.sessions.examples import execute
from tests.support.fuzzing import Attack, FuzzError

SESSIONS_MADE: Final = ("s1", "s2")
VICTIM: Final = "victim.parquet"
CHANGES_MAX: Final = 3
NAMES: Final = (
    f"../../{VICTIM}", f"../{VICTIM}", "..", ".", "", "/", "a/b", "a\\b", "\x00", "\x1b]0;x\x07",
    "\ud800", "x" * 300, "sessions", "_manifest", "events/../../victim", "*", "%2e%2e", "~", "-",
)  # fmt: skip
"""What somebody may write where the name of a file, a table or a commit is expected."""
VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    0,
    1 << 63,
    1 << 70,
    1e308,
    "",
    "x",
    [],
    {},
    [[]],
    *NAMES,
)


@contextmanager
def target(folder: Path) -> Iterator[Attack]:
    """Make a dataset of two sessions; each attempt changes a copy of it."""
    model = folder / "model"
    for number, session in enumerate(SESSIONS_MADE):
        moment = number << 20  # names of files are made of it, and must be the same each time
        with (
            patch("time.time_ns", return_value=moment * 1_000_000),
            patch("time.time", return_value=moment),
            patch("sessions.dataset.layout.uuid4", return_value=UUID(int=number)),
        ):
            _export(model, session, seed=number)

    def attack(chance: Random) -> None:
        around = folder / "around"
        shutil.rmtree(around, ignore_errors=True)
        around.mkdir()
        (around / VICTIM).write_bytes(b"precious")
        (around / "other").mkdir()
        (around / "other" / VICTIM).write_bytes(b"precious, too")
        dataset = around / "dataset"
        shutil.copytree(model, dataset)
        for _ in range(chance.randint(1, CHANGES_MAX)):
            # An earlier change may have left nothing to change.
            with suppress(OSError, ValueError, LookupError, RecursionError):
                chance.choice(CHANGES)(chance, dataset)
        before = _content(around, dataset)
        for operation in chance.sample(OPERATIONS, k=2):
            with suppress(DatasetError):
                operation(dataset)
            if _content(around, dataset) != before:
                raise FuzzError(f"{operation.__name__} changed something beside the dataset")

    yield attack


def _export(dataset: Path, session: str, seed: int) -> None:
    spec = CreateCluster(brokers=1, seed=seed)
    events: list[Any] = []
    runner = Runner(Cluster(spec, (events.append,)))
    execute(runner, CreateTopic(topic="t", partitions=1, replication_factor=1), 1)
    execute(runner, Produce(topic="t", value="v"), 2)
    export_session(iter(events), SessionFacts(session, session, {}), dataset)


def _content(around: Path, dataset: Path) -> dict[str, bytes]:
    """Return all files beside the dataset."""
    return {
        str(path): path.read_bytes()
        for path in around.rglob("*")
        if path.is_file() and not path.is_relative_to(dataset)
    }


# ---- what is done with it


def _info(dataset: Path) -> None:
    info(Dataset(dataset))


def _sessions(dataset: Path) -> None:
    Dataset(dataset).sessions()


def _compact(dataset: Path) -> None:
    compact(Dataset(dataset))


def _remove(dataset: Path) -> None:
    remove(Dataset(dataset), SESSIONS_MADE[:1])


def _recover(dataset: Path) -> None:
    found = Dataset(dataset)
    found.recover()
    found.left_out()
    found.require_whole()


def _add(dataset: Path) -> None:
    _export(dataset, "s3", seed=3)


OPERATIONS: Final = (_info, _sessions, _compact, _remove, _recover, _add)


# ---- what somebody changes


def _manifest(chance: Random, dataset: Path) -> None:
    """Change a value anywhere in the manifest's JSON, or add one."""
    entry = chance.choice(sorted((dataset / MANIFEST).glob("*.json")))
    content = msgspec.json.decode(entry.read_bytes())
    _change_value(chance, content)
    entry.write_bytes(msgspec.json.encode(content))


def _change_value(chance: Random, content: Any) -> None:  # noqa: ANN401 - any JSON
    keys = list(content) if isinstance(content, dict) else list(range(len(content)))
    key = chance.choice(keys)
    inner = content[key]
    if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
        _change_value(chance, inner)
    elif isinstance(content, dict) and chance.random() < 0.3:
        content[chance.choice(NAMES)] = content.pop(key)
    else:
        content[key] = chance.choice(VALUES)


def _replace(chance: Random, dataset: Path) -> None:
    """Let a commit replace another one, or whatever somebody names."""
    entry = chance.choice(sorted((dataset / MANIFEST).glob("*.json")))
    content = msgspec.json.decode(entry.read_bytes())
    content["replaces"] = [chance.choice((*NAMES, entry.stem))]
    entry.write_bytes(msgspec.json.encode(content))


def _stage(chance: Random, dataset: Path) -> None:
    """Leave a staging folder with a complete commit, as a dead process does."""
    entry = chance.choice(sorted((dataset / MANIFEST).glob("*.json")))
    content = msgspec.json.decode(entry.read_bytes())
    content["id"] = chance.choice((*NAMES, "0"))
    content["replaces"] = [chance.choice((*NAMES, entry.stem))]
    _change_value(chance, content)
    folder = dataset / STAGING / chance.choice(("0", entry.stem))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / COMMIT).write_bytes(msgspec.json.encode(content))


def _file(chance: Random, dataset: Path) -> Path:
    return chance.choice(sorted(path for path in dataset.rglob("*") if path.is_file()))


def _bytes(chance: Random, dataset: Path) -> None:
    """Flip bits, often in the last bytes, where Parquet's metadata are."""
    path = _file(chance, dataset)
    content = bytearray(path.read_bytes())
    first = max(0, len(content) - 4_000) if chance.random() < 0.5 else 0
    for _ in range(chance.choice((1, 1, 4, 32))):
        content[chance.randrange(first, len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def _truncate(chance: Random, dataset: Path) -> None:
    path = _file(chance, dataset)
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content) + 1)])


def _grow(chance: Random, dataset: Path) -> None:
    path = _file(chance, dataset)
    path.write_bytes(path.read_bytes() + chance.randbytes(chance.choice((1, 8, 1_000))))


def _delete(chance: Random, dataset: Path) -> None:
    _file(chance, dataset).unlink()


def _swap(chance: Random, dataset: Path) -> None:
    """Put one file's content in the place of another's."""
    shutil.copy(_file(chance, dataset), _file(chance, dataset))


def _extra(chance: Random, dataset: Path) -> None:
    """Add a file that the manifest does not know."""
    folder = chance.choice((MANIFEST, STAGING, SESSIONS.name, EVENTS.name, "."))
    (dataset / folder).mkdir(exist_ok=True)
    name = chance.choice(("0.json", "0-00000.parquet", "\x1b[2J.json", "0", ".hidden.json"))
    (dataset / folder / name).write_bytes(chance.choice((b"", b"{}", b"[" * 9_000, b"PAR1", b"x")))


def _link(chance: Random, dataset: Path) -> None:
    """Make a file or folder a link to something outside, or to itself."""
    path = chance.choice(sorted(dataset.rglob("*")))
    goal = chance.choice((dataset.parent / VICTIM, dataset.parent / "other", path, dataset))
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    path.symlink_to(goal)


def _folder(chance: Random, dataset: Path) -> None:
    """Make a file a folder."""
    path = _file(chance, dataset)
    path.unlink()
    path.mkdir()


def _schema(chance: Random, dataset: Path) -> None:
    """Write a Parquet file with columns of other names or types, or none."""
    path = chance.choice(sorted(dataset.rglob("*.parquet")))
    table = pq.read_table(path, partitioning=None)
    name = chance.choice(table.column_names)
    at = table.column_names.index(name)
    other = pa.array([chance.choice((None, 1, "x", [1]))] * len(table))
    changed: list[Callable[[], pa.Table]] = [
        lambda: table.drop_columns([name]),
        lambda: table.set_column(at, name, other),
        lambda: table.append_column(chance.choice(NAMES[:12]), other),
        lambda: table.slice(0, 0),
        lambda: table.select([]),
        lambda: pa.concat_tables([table, table]),
    ]
    pq.write_table(chance.choice(changed)(), path)


def _marker(chance: Random, dataset: Path) -> None:
    content = {"dataset": chance.choice((*VALUES, "tidegauge")), "layout": chance.choice(VALUES)}
    (dataset / MARKER).write_bytes(msgspec.json.encode(content))


CHANGES: Final[tuple[Callable[[Random, Path], None], ...]] = (
    _manifest, _manifest, _manifest, _replace, _stage, _bytes, _bytes, _truncate, _grow, _delete,
    _swap, _extra, _link, _folder, _schema, _marker,
)  # fmt: skip
