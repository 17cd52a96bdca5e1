"""Results of a campaign: a matrix with a row per combination, and the runs to look at."""

from typing import Final

from msgspec import Struct

OUTCOMES: Final = ("passed", "failed", "raised", "hung")


class Loss(Struct, frozen=True):
    """One kind of loss: the number of runs with any, and the total (records; offsets)."""

    runs: int
    records: int


class VariantReport(Struct, frozen=True):
    """All runs of one combination. ``unavailable_us`` is the mean and the maximum per run.

    ``lost`` has the offsets of an image, too, whose records are not known.
    """

    values: dict[str, str]
    runs: int
    outcomes: dict[str, int]
    lost: Loss
    duplicated: Loss
    diverged: Loss
    consumed_lost: Loss
    unavailable_mean_us: float | None
    unavailable_max_us: int | None


class Failing(Struct, frozen=True):
    """A run worth looking at, and the command that opens it in the console."""

    session: str
    values: dict[str, str]
    seed: int
    findings: list[str]
    error: str | None
    command: str


class ShrunkRun(Struct, frozen=True):
    """A run that was reduced: its finding, the statement counts before and after, the script."""

    session: str
    finding: str
    statements: int
    left: int
    path: str


class CampaignReport(Struct, frozen=True):
    """A campaign that has ended; ``failing`` are the worst of ``failing_in_all`` runs.

    ``failing_file`` lists all of them, one line with a command each; ``runs_table`` is the folder
    of Parquet files with a row for every run. ``dataset`` and these two are paths or URIs.
    ``shrunk`` are the first of ``failing``, reduced if requested.
    """

    dataset: str
    script: str
    runs: int
    variants: tuple[VariantReport, ...]
    failing: tuple[Failing, ...]
    failing_in_all: int
    failing_file: str
    runs_table: str
    shrunk: tuple[ShrunkRun, ...] = ()

    @property
    def failed(self) -> int:
        """The number of runs that did not pass."""
        return sum(
            count
            for variant in self.variants
            for outcome, count in variant.outcomes.items()
            if outcome != "passed"
        )
