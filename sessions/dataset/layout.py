"""The dataset as a folder, ``DATASET/TABLE/COMMIT-*.parquet``, with a manifest of its commits.

Sessions are added to a dataset by commits. A commit's files are written to a staging folder, which
neither Spark nor Arrow read; then they are moved in, and ``_manifest/COMMIT.json`` atomically makes
them part of the dataset. A commit may replace others, whose files are deleted afterwards. A process
that dies before its commit is complete leaves files that any process can delete, and one that dies
later leaves a commit that any process can finish; a lock distinguishes them from work in progress.

An object store supports neither rename nor locks. There, files are staged locally and uploaded, and
what a dead process leaves is deleted after a day. At most one of two conflicting concurrent commits
succeeds: each reads the manifest again after writing its entry, and withdraws if it finds the
other. Object stores list consistently after writes, so at least one of the two sees the other.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import uuid4

import msgspec
from msgspec import Meta, Struct

from sessions.dataset.location import Location, LocationError
from sessions.dataset.schema import SESSION, Table, arrow_schema, empty_file
from sessions.dataset.tables import RUNS, SESSIONS, TABLES
from sessions.decoding import DecodingError, decode_json
from sessions.file_system import delete_file, delete_tree, open_lock

LAYOUT: Final = 4
"""The version of folders, tables and columns that this program writes and reads."""
PROGRAM: Final = "tidegauge"
MARKER: Final = "_tidegauge.json"
MANIFEST: Final = "_manifest"
STAGING: Final = "_staging"
LOCK: Final = "lock"
COMMIT: Final = "commit.json"
"""The file in a staging folder that describes the commit, written once it is complete."""
SCHEMA: Final = "schema"
"""The manifest's entry for the files that declare the columns of each table, and have no rows."""
SCHEMA_FILE: Final = f"{SCHEMA}.parquet"
FILENAME: Final = "__filename"
"""Arrow's name for the column with a row's file."""
STALE_S: Final = 24 * 3600
"""Age at which a staging folder on an object store is attributed to a dead process."""
ENTRIES_KEPT: Final = 16_384
"""The entries of manifests that stay in memory."""
SESSION_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
# What a manifest names is inside the dataset: each name is plain, wherever it comes from.
CommitName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_]{0,63}\Z")]
TableName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}\.parquet\Z")]


class DatasetError(Exception):
    """A dataset cannot be used or written; the message is one sentence for the user."""


class DatasetUnreadable(DatasetError):
    """A dataset is damaged, or was written by an incompatible version of this program."""


class SessionExists(DatasetError):
    """A session to be added is already in the dataset."""


class Marker(Struct, frozen=True):
    """The content of the marker file, which identifies a dataset of tidegauge and its layout."""

    dataset: str
    layout: int


class File(Struct, frozen=True):
    """A file of a table; an empty ``sha256``: a program that stored none has written it."""

    name: FileName
    rows: Count
    size_bytes: Count
    sha256: str = ""


class Commit(Struct, frozen=True):
    """Rows added to the dataset atomically; ``replaces`` names the commits that it replaced.

    ``files`` has the files of each table by its name; ``begun`` is when it started, in seconds
    since 1970. ``ids`` names the sessions; None: an earlier program has written it.
    """

    id: CommitName
    sessions: Count
    events: Count
    files: dict[TableName, tuple[File, ...]]
    replaces: tuple[CommitName, ...] = ()
    begun: float = 0.0
    ids: tuple[str, ...] | None = None

    @property
    def size_bytes(self) -> int:
        """The size of all files, in bytes."""
        return sum(file.size_bytes for files in self.files.values() for file in files)


class Staging:
    """The staging folder of a commit: ``path/TABLE/ID-*.parquet``, until the commit is complete.

    Other processes that write there inherit the descriptor ``lock`` and with it the lock, so that
    nobody takes the files for leftovers while one of the processes is running.
    """

    def __init__(self, dataset: "Dataset", path: Path, name: str, lock: int) -> None:
        self.id = name
        self.path = path
        self.lock = lock
        self.begun = time.time()
        self._dataset = dataset

    def commit(
        self, sessions: Collection[str], events: int, replaces: Collection[Commit] = ()
    ) -> Commit | None:
        """Move the files into the dataset, replacing those of other commits.

        Returns None if there are no files.

        Raises:
            SessionExists: one of the sessions is in a commit that is not replaced.
        """
        files = {
            table.name: tuple(map(_described, sorted((self.path / table.name).glob("*.parquet"))))
            for table in _tables_in(self.path)
        }
        if not files and not replaces:
            return None
        names = tuple(sorted(replaced.id for replaced in replaces))
        ids = tuple(sorted(sessions))
        commit = Commit(self.id, len(sessions), events, files, names, self.begun, ids)
        with self._dataset.locked():
            if self._dataset.location.path is not None:
                # A process may have died while it moved in a commit with the same sessions.
                self._dataset.settle(self._dataset.location.path)
            self._dataset.require_new(sessions, besides=names)
            self._dataset.enter(commit, self.path, sessions)
        return commit


def _tables_in(folder: Path) -> list[Table]:
    return [table for table in (*TABLES, RUNS) if (folder / table.name).is_dir()]


def _described(path: Path) -> File:
    from pyarrow.parquet import read_metadata

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return File(path.name, read_metadata(path).num_rows, path.stat().st_size, digest)


class Dataset:
    """A dataset at ``location``, which may not exist yet.

    Raises:
        DatasetError: something else is there.
        DatasetUnreadable: it does not have that layout.
    """

    def __init__(self, location: "str | Path | Location", layout: int = LAYOUT) -> None:
        """Open a dataset; one of an earlier ``layout`` may only be read."""
        try:
            self.location = Location(location)
            self.exists = _is_dataset(self.location, layout)
        except LocationError as error:
            raise DatasetError(str(error)) from error

    def __str__(self) -> str:
        return str(self.location)

    def make(self) -> None:
        """Create an empty dataset unless it exists; each table has its columns, and no row.

        Raises:
            DatasetError: it cannot be written.
        """
        with self._writing(), self._created():
            self._declare_tables()
        self.exists = True

    # ---- what is in it

    def commits(self) -> list[Commit]:
        """Return the dataset's commits, in the order of their ids.

        Raises:
            DatasetUnreadable: the manifest is damaged.
        """
        entries = self._entries()
        void = {replaced for commit in entries for replaced in commit.replaces}
        return [commit for commit in entries if commit.id not in void]

    def entries(self) -> list[Commit]:
        """Return the commits and, after them, the entry of the files that declare the columns.

        A dataset of an earlier program has no such files until something is added to it.

        Raises:
            DatasetUnreadable: the manifest is damaged.
        """
        entry = self.location / MANIFEST / f"{SCHEMA}.json"
        with self._reading():
            schemas = [_read_commit(entry, SCHEMA)] if entry.exists() else []
        return [*self.commits(), *schemas]

    def _entries(self) -> list[Commit]:
        """Return the manifest's entries of commits, including replaced ones."""
        manifest = self.location / MANIFEST
        commits = []
        with self._reading():
            for name in manifest.listed():
                if name.endswith(".json") and not name.startswith((".", f"{SCHEMA}.")):
                    with contextlib.suppress(FileNotFoundError):  # replaced after it was listed
                        commits.append(_commit_at(manifest / name, name.removesuffix(".json")))
        return sorted(commits, key=lambda commit: commit.id)

    def left_out(self) -> list[str]:
        """Return the commits whose files may be in the dataset's folders without being part of it.

        They belong to work in progress or to dead processes; usually there are none.
        """
        staging, manifest = self.location / STAGING, self.location / MANIFEST
        names: set[str] = set()
        with self._reading():
            for name in staging.listed():
                entered = (manifest / f"{name}.json").exists()
                if not entered:
                    names.add(name)
                elif (staging / name / COMMIT).exists():
                    names.update(_read_commit(staging / name / COMMIT, name).replaces)
        return sorted(names)

    def has(self, table: Table) -> bool:
        """Return whether the dataset may have rows of a table."""
        with self._reading():
            return (self.location / table.name).is_folder()

    def files(self, table: Table) -> list[str]:
        """Return a table's files, as paths in the dataset's file system.

        Raises:
            DatasetError: one of them is a named pipe or a device, which may block who opens it.
        """
        files = [
            self.location / table.name / file.name
            for commit in self.commits()
            for file in commit.files.get(table.name, ())
        ]
        with self._reading():
            for file in files:
                file.require_regular()
            return [file.arrow_path for file in files]

    def require_whole(self) -> None:
        """Raise :class:`DatasetUnreadable` if a file named in the manifest is missing."""
        commits = self.commits()
        for table in {name: None for commit in commits for name in commit.files}:
            with self._reading():
                there = set((self.location / table).listed())
            listed = {file.name for commit in commits for file in commit.files.get(table, ())}
            if missing := sorted(listed - there):
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                path = self.location / table / missing[0]
                raise DatasetUnreadable(f"{path}{more} is missing; {self} is damaged")

    def scan(self, table: Table, columns: Iterable[str], where: Any = None) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the rows of a table as an Arrow table; ``where`` is an Arrow expression."""
        import pyarrow as pa
        import pyarrow.dataset as pad

        with self._reading():
            try:
                files = self.files(table)
                if not files:
                    return (
                        arrow_schema(table)
                        .empty_table()
                        .select([name for name in columns if name in table.names])
                    )
                rows = pad.dataset(
                    files,
                    schema=arrow_schema(table),
                    format="parquet",
                    filesystem=self.location.filesystem,
                )
                return rows.to_table(columns=list(columns), filter=where)
            except (pa.ArrowException, ValueError) as error:
                reason = " ".join(str(error).split())
                raise DatasetUnreadable(f"{self} is damaged: {reason}") from error

    def sessions(self) -> list[str]:
        """Return the ids of the sessions in the dataset, sorted."""
        if not self.exists:
            return []
        return self._ids(self.scan(SESSIONS, [SESSION]))

    def __contains__(self, session: str) -> bool:
        return bool(self.present((session,)))

    def present(self, sessions: Collection[str]) -> list[str]:
        """Return which of the sessions are in the dataset, sorted."""
        return sorted({session for session, _ in self._holding(sessions)})

    def _holding(self, sessions: Collection[str]) -> list[tuple[str, str]]:
        """Return those of the sessions that are in the dataset, each with its commit.

        The manifest names them, so that adding many sessions one by one opens no file of others.
        """
        if not self.exists:
            return []
        names, commits = set(sessions), self.commits()
        if all(commit.ids is not None for commit in commits):
            return [
                (session, commit.id)
                for commit in commits
                for session in names.intersection(commit.ids or ())
            ]
        rows = self.scan(SESSIONS, [SESSION, FILENAME], one_of(sessions)).to_pydict()
        return [
            (session, commit_of(file))
            for session, file in zip(rows[SESSION], rows.get(FILENAME, ()), strict=True)
        ]

    def _ids(self, rows: Any) -> list[str]:  # noqa: ANN401 - pyarrow has no types
        ids: list[str] = rows[SESSION].to_pylist()
        if None in ids:
            raise DatasetUnreadable(f"{self} is damaged: a session has no id")
        return sorted(ids)

    # ---- adding

    @contextlib.contextmanager
    def staging(self) -> Iterator[Staging]:
        """Create a staging folder for the files of a commit; what is not committed is deleted.

        After an error the dataset is unchanged.

        Raises:
            DatasetError: something cannot be written.
        """
        new = not self.exists
        try:
            with self._writing(), self._created():
                self.exists = True
                with self._staged() as staging:
                    yield staging
        finally:
            self.exists = not new or _is_dataset(self.location)

    def recover(self) -> None:
        """Finish or delete what dead processes have left.

        Without write permission, leftovers remain; readers do not see them.
        """
        if self.location.path is None:
            self._recover_remote()
        elif any((self.location.path / STAGING).glob("*")):
            with contextlib.suppress(OSError), self.locked():
                self.settle(self.location.path)

    def settle(self, root: Path) -> None:
        """Finish or delete what dead processes have left in a local dataset, which is locked."""
        for folder in (root / STAGING).glob("*"):
            with contextlib.suppress(OSError), _locked(folder, root) as lock:
                if lock is not None:
                    self._settle(folder)

    def require_new(self, sessions: Collection[str], besides: Collection[str] = ()) -> None:
        """Raise :class:`SessionExists` if one of the sessions is in a commit not named."""
        holding = self._holding(sessions)
        there = sorted(session for session, commit in holding if commit not in besides)
        if there:
            more = f" (and {len(there) - 1} more)" if len(there) > 1 else ""
            raise SessionExists(f"session {there[0]}{more} is already in {self}")

    def enter(self, commit: Commit, folder: Path, sessions: Collection[str]) -> None:
        """Make the files in a staging folder part of the dataset; delete those that they replace.

        Raises:
            SessionExists: another process has added one of the sessions. The commit is withdrawn.
            DatasetError: the dataset cannot be written, or another process has replaced what this
                commit replaces. The commit is withdrawn.
        """
        staging = self.location / STAGING / commit.id
        with self._writing():
            self._declare_tables()
            (staging / COMMIT).write(msgspec.json.encode(commit))
            self._move_in(commit, folder)
            if self.location.path is None:
                self._require_alone(commit, sessions)
            self._drop_replaced(commit)
            staging.delete()

    def _require_alone(self, commit: Commit, sessions: Collection[str]) -> None:
        """Withdraw a commit that conflicts with another one, where there are no locks."""
        try:
            for entry in self._entries():
                if entry.id != commit.id and not set(commit.replaces).isdisjoint(entry.replaces):
                    raise DatasetError(
                        f"another process has changed the same sessions of {self} meanwhile; this "
                        "change was withdrawn"
                    )
            self.require_new(sessions, besides=(*commit.replaces, commit.id))
        except DatasetError:
            (self.location / MANIFEST / f"{commit.id}.json").delete()
            self._drop_files(commit)
            (self.location / STAGING / commit.id).delete()
            raise

    def _drop_files(self, commit: Commit) -> None:
        for table, files in commit.files.items():
            for file in files:
                (self.location / table / file.name).delete()

    def _move_in(self, commit: Commit, folder: Path) -> None:
        for table, files in commit.files.items():
            target = self.location / table
            target.create_folder()
            for file in files:
                staged = folder / table / file.name
                if not staged.exists():
                    continue  # moved by the process that died
                if target.path is None:
                    (target / file.name).upload(staged)
                else:
                    (target / file.name).take(staged)
            if target.path is not None:
                _sync_folder(target.path)
        manifest = self.location / MANIFEST
        manifest.create_folder()
        (manifest / f"{commit.id}.json").write(msgspec.json.encode(commit) + b"\n")
        if manifest.path is not None:
            _sync_folder(manifest.path)

    def _declare_tables(self) -> None:
        """Give each table a file without rows, so that it can be read before it has any.

        Concurrent writers write the same.
        """
        entry = self.location / MANIFEST / f"{SCHEMA}.json"
        if entry.exists():
            return
        files: dict[str, tuple[File, ...]] = {}
        for table in (*TABLES, RUNS):
            content, folder = empty_file(table), self.location / table.name
            folder.create_folder()
            (folder / SCHEMA_FILE).write(content)
            digest = hashlib.sha256(content).hexdigest()
            files[table.name] = (File(SCHEMA_FILE, 0, len(content), digest),)
        (self.location / MANIFEST).create_folder()
        entry.write(msgspec.json.encode(Commit(SCHEMA, 0, 0, files)) + b"\n")

    def _drop_replaced(self, commit: Commit) -> None:
        manifest = self.location / MANIFEST
        for name in commit.replaces:
            entry = manifest / f"{name}.json"
            if entry.exists():
                self._drop_files(_read_commit(entry, name))
                entry.delete()

    def _settle(self, folder: Path) -> None:
        """Finish a complete commit, and delete an incomplete one."""
        staging = self.location / STAGING / folder.name
        if (staging / COMMIT).exists():
            commit = _read_commit(staging / COMMIT, folder.name)
            self._move_in(commit, folder)
            self._drop_replaced(commit)
        staging.delete()

    def _recover_remote(self) -> None:
        staging, manifest = self.location / STAGING, self.location / MANIFEST
        with contextlib.suppress(OSError, DatasetError):
            for name in staging.listed():
                entry = staging / name / COMMIT
                commit = _read_commit(entry, name)
                if time.time() - commit.begun < STALE_S:
                    continue  # its process may still withdraw it
                if (manifest / f"{name}.json").exists():
                    self._drop_replaced(commit)
                else:
                    self._drop_files(commit)
                (staging / name).delete()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Allow only one commit at a time, if the file system has locks."""
        if self.location.path is None:
            yield
            return
        manifest = self.location / MANIFEST
        manifest.create_folder()
        lock = (manifest / f".{LOCK}").open_lock()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Convert system errors to :class:`DatasetError`."""
        try:
            yield
        except LocationError as error:
            raise DatasetError(str(error)) from error
        except OSError as error:
            reason = error.strerror or error
            raise DatasetError(f"{self} could not be written to: {reason}") from error

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except LocationError as error:
            raise DatasetError(str(error)) from error
        except OSError as error:
            raise DatasetError(f"{self} could not be read: {error.strerror or error}") from error

    @contextlib.contextmanager
    def _created(self) -> Iterator[None]:
        """Create the dataset if needed; undo that if the block fails."""
        marker = self.location / MARKER
        content = msgspec.json.encode(Marker(PROGRAM, LAYOUT)) + b"\n"
        if self.location.path is None:
            if not marker.exists():
                marker.write(content)
            yield
            return
        root = self.location.path
        created = [path for path in (root, *root.parents) if not path.exists()]
        root.mkdir(parents=True, exist_ok=True)
        new = not (root / MARKER).exists()
        try:
            if new:
                marker.write(content)
            yield
        except BaseException:
            if new and not self.commits():
                with contextlib.suppress(OSError):
                    _unmake(root, created)
            raise

    @contextlib.contextmanager
    def _staged(self) -> Iterator[Staging]:
        """Create a new staging folder."""
        name = f"{time.time_ns() // 1_000_000:011x}{uuid4().hex[:8]}"
        if self.location.path is None:
            with tempfile.TemporaryDirectory(prefix="tidegauge-staging-") as scratch:
                yield Staging(self, Path(scratch), name, -1)
            return
        folder = self.location.path / STAGING / name
        with contextlib.ExitStack() as stack:
            lock = None
            while lock is None:  # unlocked folders are leftovers, which other processes delete
                (self.location / STAGING / name).create_folder()
                lock = stack.enter_context(_locked(folder, self.location.path))
            try:
                yield Staging(self, folder, name, lock)
            finally:
                with contextlib.suppress(OSError):
                    delete_tree(folder, self.location.path)
                with contextlib.suppress(OSError):
                    folder.parent.rmdir()


def one_of(sessions: Collection[str]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow expression for the rows of some sessions."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.field(SESSION).isin(pa.array(list(sessions), pa.string()))


def commit_of(file: str) -> str:
    """Return the commit that a file belongs to, by the name of the file."""
    return file.rpartition("/")[2].partition("-")[0]


def require_session_id(session: str) -> None:
    """Raise :class:`DatasetError` unless ``session`` is a valid session id."""
    if not SESSION_ID.fullmatch(session):
        raise DatasetError(
            f"a session's id is made of letters, digits, '.', '_' and '-' (at most 128), "
            f"which {session!r} is not"
        )


def _read_commit(file: Location, name: str) -> Commit:
    """Return the commit of this name that a file of the dataset describes.

    Raises:
        DatasetUnreadable: it describes none, or names something outside of the dataset.
    """
    try:
        commit = decode_json(file.read(), Commit)
    except DecodingError as error:
        raise DatasetUnreadable(f"{file} is damaged: {error}") from error
    if commit.id != name:
        raise DatasetUnreadable(f"{file} is damaged: it describes the commit {commit.id}")
    return commit


def _commit_at(file: Location, name: str) -> Commit:
    """Return the commit of a file of the manifest, which is read again only if it has changed."""
    if file.path is None:
        return _read_commit(file, name)
    status = file.path.stat()
    return _commit_as_it_was(
        str(file.path), name, status.st_mtime_ns, status.st_size, status.st_ino
    )


@lru_cache(maxsize=ENTRIES_KEPT)
def _commit_as_it_was(path: str, name: str, *_signature: int) -> Commit:
    return _read_commit(Location(Path(path)), name)


def _unmake(root: Path, created: list[Path]) -> None:
    """Remove an empty dataset, and the folders that were created for it."""
    for name in (MANIFEST, STAGING):
        with contextlib.suppress(OSError):
            delete_file(root / name / f".{LOCK}", root)
            delete_file(root / name / f"{SCHEMA}.json", root)
            (root / name).rmdir()
    for table in (*TABLES, RUNS):
        with contextlib.suppress(OSError):
            delete_file(root / table.name / SCHEMA_FILE, root)
            (root / table.name).rmdir()
    if [path.name for path in root.iterdir()] in ([], [MARKER]):
        delete_file(root / MARKER, root)
        for path in created:
            path.rmdir()


def _sync_folder(folder: Path) -> None:
    """Make renames into a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def layout_of(location: Location) -> int | None:
    """Return the layout of the dataset at a location; None if there is no dataset.

    Raises:
        DatasetError: something else is there.
    """
    try:
        if not location.exists() or (location.is_folder() and not location.listed()):
            return None
        marker = location / MARKER
        if not location.is_folder() or not marker.exists():
            raise DatasetError(f"{location} is not a dataset of {PROGRAM} ({MARKER} is missing)")
        content = decode_json(marker.read(), Marker)
    except LocationError as error:
        raise DatasetError(str(error)) from error
    except OSError as error:
        raise DatasetError(f"{location} could not be read: {error.strerror or error}") from error
    except DecodingError as error:
        raise DatasetUnreadable(f"{location / MARKER} is damaged: {error}") from error
    if content.dataset != PROGRAM:
        raise DatasetError(f"{location} is not a dataset of {PROGRAM} but of {content.dataset}")
    return content.layout


def _is_dataset(location: Location, expected: int = LAYOUT) -> bool:
    """Return whether there is a dataset; False if there is nothing or an empty folder."""
    layout = layout_of(location)
    if layout is None:
        return False
    if layout == expected:
        return True
    if layout > LAYOUT:
        raise DatasetUnreadable(
            f"{location} has layout {layout}, of newer {PROGRAM} than this one (layout {LAYOUT})"
        )
    if layout < LAYOUT:
        raise DatasetUnreadable(
            f"{location} has layout {layout}, of older {PROGRAM} than this one (layout {LAYOUT}); "
            f"'tidegauge dataset convert {location} --out NEW' converts it to a new dataset"
        )
    return True


@contextlib.contextmanager
def _locked(folder: Path, root: Path) -> Iterator[int | None]:
    """Lock a dataset's staging folder: a descriptor, or None if another process holds it.

    The lock file is compared after locking, because it may have been removed with its folder after
    it was opened.
    """
    try:
        lock = open_lock(folder / LOCK, root)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    try:
        is_locked = _try_lock(lock) and _same_file(lock, folder / LOCK)
        yield lock if is_locked else None
    finally:
        os.close(lock)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
