"""A campaign's plan and results, stored beside its tables.

``DATASET/_campaign/`` contains them; readers of the tables ignore that folder. The runs themselves
are rows of the dataset's table ``runs``.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from sessions.campaign.outcome import CampaignReport
from sessions.campaign.plan import Plan
from sessions.dataset.layout import Dataset, DatasetError, DatasetUnreadable
from sessions.dataset.location import Location
from sessions.decoding import DecodingError, decode_json

FOLDER: Final = "_campaign"
PLAN: Final = "plan.json"
ATTEMPTS: Final = "attempts"
FAILING: Final = "failing.txt"
OUTCOME: Final = "outcome.json"
SHRUNK: Final = "shrunk"
SCRIPTS: Final = "scripts"
LOCK: Final = "lock"

Content = TypeVar("Content", bound=Struct)


class CampaignFolder:
    """The folder of a campaign in the dataset at ``dataset``."""

    def __init__(self, dataset: "Location | Path | str") -> None:
        self.dataset = Location(dataset)
        self.path = self.dataset / FOLDER
        self.failing = self.path / FAILING
        self.shrunk = self.path / SHRUNK
        self.scripts = self.path / SCRIPTS

    # ---- the plan

    def plan(self) -> Plan | None:
        """Return the plan of the campaign that wrote the dataset; None: no campaign did."""
        return self._read(PLAN, Plan)

    def begin(self, plan: Plan) -> Plan:
        """Create the dataset of this campaign unless it exists, and store the plan.

        Returns the whole campaign, earlier plans included.

        Raises:
            DatasetError: something else is there.
        """
        whole = self.check(plan)
        Dataset(self.dataset).make()
        with writing(self.dataset):
            (self.path / ATTEMPTS).create_folder()
            if self.plan() != whole:
                self._write(PLAN, whole)
        return whole

    def check(self, plan: Plan) -> Plan:
        """Return the whole campaign, this plan and earlier ones included.

        Raises:
            DatasetError: something other than this campaign is there.
        """
        dataset = Dataset(self.dataset)
        earlier = self.plan()
        if earlier is None:
            if dataset.exists and any(commit.sessions for commit in dataset.commits()):
                raise DatasetError(
                    f"{self.dataset} contains sessions that are not from a campaign; choose a new "
                    "dataset"
                )
            return plan
        if different := earlier.difference(plan):
            raise DatasetError(
                f"{self.dataset} contains another campaign: {different}; choose a new "
                "dataset, or use the command with which it was started"
            )
        return earlier.grown(plan)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude other campaigns; raise :class:`DatasetError` if one is running here.

        An object store has no locks.
        """
        if self.path.path is None:
            yield
            return
        with writing(self.dataset):
            lock = (self.path / LOCK).open_lock()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise DatasetError(f"a campaign is writing to {self.dataset} just now") from None
        finally:
            os.close(lock)

    # ---- all runs

    def sum_up(self, report: CampaignReport, failing: bytes) -> None:
        """Store the campaign's results, and the commands that open the runs worth looking at."""
        with writing(self.dataset):
            self.failing.write(failing)
            self._write(OUTCOME, report)

    def keep_script(self, folder: Location, session: str, text: str) -> str:
        """Store the script of one run, and return where."""
        with writing(self.dataset):
            folder.create_folder()
            file = folder / f"{session}.tide"
            file.write(text.encode())
        return str(file)

    def outcome(self) -> CampaignReport | None:
        """Return the results; None if the campaign has not ended or does not exist."""
        return self._read(OUTCOME, CampaignReport)

    # ---- attempts

    def attempt(self, session: str, campaign: str) -> int:
        """Count an attempt at a run; return the number of earlier ones in the same ``campaign``.

        An attempt that has not ended took its process down.
        """
        file = self.path / ATTEMPTS / session
        with writing(self.dataset):
            before = file.read().decode().splitlines() if file.exists() else []
            own = [line for line in before if line == campaign]
            content = "".join(f"{line}\n" for line in (*own, campaign)).encode()
            file.write(content, durable=False)
        return len(own)

    def attempted(self, session: str) -> None:
        """Record that the run has ended, successfully or not."""
        file = self.path / ATTEMPTS / session
        with writing(self.dataset):
            file.delete()

    # ---- files

    def _read(self, name: str, type_: type[Content]) -> Content | None:
        file = self.path / name
        try:
            if not file.exists():
                return None
            return decode_json(file.read(), type_)
        except OSError as error:
            reason = error.strerror or error
            raise DatasetError(f"{file} could not be read: {reason}") from error
        except DecodingError as error:
            raise DatasetUnreadable(f"{file} is damaged: {error}") from error

    def _write(self, name: str, value: Struct) -> None:
        (self.path / name).write(msgspec.json.encode(value))


@contextlib.contextmanager
def writing(location: Location) -> Iterator[None]:
    """Convert system errors to :class:`DatasetError`."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise DatasetError(f"{location} could not be written to: {reason}") from error
