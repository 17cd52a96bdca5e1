"""What stands beside a campaign's tables: its plan, and the runs of which there is no session.

``DATASET/_campaign/`` holds them; readers of the tables do not look into it.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, TypeVar

import msgspec
from msgspec import Struct

from sessions.campaign.outcome import CampaignReport
from sessions.campaign.plan import Plan
from sessions.dataset.layout import DatasetError, DatasetFolder, DatasetUnreadable
from sessions.dataset.tables import SESSIONS

FOLDER: Final = "_campaign"
PLAN: Final = "plan.json"
FAILURES: Final = "failures"
ATTEMPTS: Final = "attempts"
RUNS: Final = "runs"
FAILING: Final = "failing.txt"
OUTCOME: Final = "outcome.json"
LOCK: Final = "lock"

Content = TypeVar("Content", bound=Struct)


class Failure(Struct, frozen=True):
    """How a run ended of which there is no session.

    ``limit_s`` is the limit of wall time that it had, in seconds.
    """

    outcome: Literal["raised", "hung"]
    error: str
    limit_s: float


class Ledger:
    """A campaign's own folder in the dataset at ``dataset``."""

    def __init__(self, dataset: Path) -> None:
        self.dataset = dataset
        self.path = dataset / FOLDER
        self.runs = self.path / RUNS
        self.failing = self.path / FAILING

    # ---- the plan

    def plan(self) -> Plan | None:
        """The campaign that wrote the dataset; None if none did."""
        return _read(self.path / PLAN, Plan)

    def begin(self, plan: Plan) -> None:
        """Have a dataset of this campaign there, which may have been begun before.

        Raises :class:`~sessions.dataset.layout.DatasetError` if something else stands there.
        """
        self.check(plan)
        DatasetFolder(self.dataset).make()
        with writing(self.dataset):
            for each in (self.path / FAILURES, self.path / ATTEMPTS):
                each.mkdir(parents=True, exist_ok=True)
            if self.plan() is None:
                _write(self.path / PLAN, plan)

    def check(self, plan: Plan) -> None:
        """Raise :class:`DatasetError` if something else than this campaign stands there."""
        folder = DatasetFolder(self.dataset)
        found = self.plan()
        if found is None and folder.exists and folder.sessions():
            raise DatasetError(
                f"{self.dataset} holds sessions that no campaign put there; choose a new dataset"
            )
        if found is not None and (different := found.difference(plan)):
            raise DatasetError(
                f"{self.dataset} holds another campaign: {different}; choose a new "
                "dataset, or give the command that it was begun with"
            )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other campaigns off; raises :class:`DatasetError` if one is at work here."""
        with writing(self.dataset):
            lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise DatasetError(f"a campaign is writing to {self.dataset} just now") from None
        finally:
            os.close(lock)

    # ---- all runs

    @property
    def complete(self) -> bool:
        """Whether all runs have ended, and the table of them is written."""
        return (self.runs / "_SUCCESS").exists()

    def sum_up(self, report: CampaignReport) -> None:
        """Keep what came of the campaign."""
        with writing(self.dataset):
            _write(self.path / OUTCOME, report)

    def outcome(self) -> CampaignReport | None:
        """What came of the campaign; None if it has not ended, or the dataset is of none."""
        return _read(self.path / OUTCOME, CampaignReport)

    # ---- runs without a session

    def keep(self, session: str, failure: Failure | None) -> None:
        """Keep how a run ended; None: there is a session of it now."""
        path = self.path / FAILURES / session
        with writing(self.dataset):
            if failure is None:
                path.unlink(missing_ok=True)
            else:
                _write(path, failure)

    def failure(self, session: str) -> Failure | None:
        """How a run ended of which there is no session; None if it has not ended."""
        return _read(self.path / FAILURES / session, Failure)

    def failures(self) -> int:
        """How many runs have ended without a session."""
        return _entries(self.path / FAILURES)

    def made(self) -> int:
        """How many runs are in the dataset, counted without a look at any of them."""
        return _entries(self.dataset / SESSIONS.name)

    # ---- attempts

    def attempt(self, session: str, campaign: str) -> int:
        """Count a beginning of a run; the number of those before in the same ``campaign``.

        One that is counted and never ended took its process with it.
        """
        path = self.path / ATTEMPTS / session
        with writing(self.dataset):
            before = path.read_text().splitlines() if path.exists() else []
            mine = [line for line in before if line == campaign]
            path.write_text("".join(f"{line}\n" for line in (*mine, campaign)))
        return len(mine)

    def attempted(self, session: str) -> None:
        """The run has ended, one way or another."""
        with writing(self.dataset):
            (self.path / ATTEMPTS / session).unlink(missing_ok=True)


def _entries(folder: Path) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(1 for _ in entries)
    except FileNotFoundError:
        return 0


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Errors of the system become :class:`DatasetError`."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise DatasetError(f"{path} could not be written to: {reason}") from error


def _read(path: Path, type_: type[Content]) -> Content | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=type_, dec_hook=_decoded)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DatasetError(f"{path} could not be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise DatasetUnreadable(f"{path} is damaged: {error}") from error


def _decoded(type_: type, value: object) -> object:
    """A path is written as a text."""
    return Path(str(value)) if type_ is Path else value


def _write(path: Path, value: Struct) -> None:
    """Write a file that is there as a whole or not at all."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_bytes(msgspec.json.encode(value, enc_hook=str))
    scratch.replace(path)
