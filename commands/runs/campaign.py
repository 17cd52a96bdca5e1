"""Run a campaign for the terminal: its progress, its matrix, and the runs to look at."""

from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import msgspec

from commands.exits import CommandError, ExitCode
from commands.output import streams
from commands.output.grids import Cell, Grid
from commands.output.progress import Progress
from emulator.common.extras import missing_extra
from sessions.text import plural

if TYPE_CHECKING:
    from sessions.campaign.outcome import CampaignReport, VariantReport
    from sessions.campaign.plan import Plan
    from sessions.campaign.runner import Progress as Reached

SCHEMA: Final = 1
"""Version of the schema of ``--json``."""
LINE_SECONDS: Final = 60
"""Interval between progress lines if standard error is not a terminal."""
US_PER_SECOND: Final = 1_000_000
HEADERS: Final = (
    *("RUNS", "FAILED", "RAISED", "HUNG", "LOST", "DUPLICATED", "DIVERGED"),
    *("RECORDS LOST", "UNAVAILABLE", "AT MOST"),
)


def campaign(
    plan: "Plan",
    out: str,
    limit_us: int,
    master: str | None,
    remote: str | None,
    conf: Mapping[str, str] | None = None,
    *,
    shrink: bool = False,
) -> "CampaignReport | None":
    """Run a campaign and report its progress; return None if it was interrupted.

    Raises:
        CommandError: no Java, no Spark, or a dataset that cannot be used.
    """
    from sessions.analysis.errors import AnalysisError
    from sessions.dataset.layout import DatasetError, DatasetUnreadable

    progress = _Progress()
    limit_s = limit_us / US_PER_SECOND
    try:
        from sessions.campaign.runner import CampaignError, run_campaign

        return run_campaign(plan, out, limit_s, master, remote, progress, conf, shrink=shrink)
    except ImportError as error:
        message = missing_extra("'tidegauge campaign'", f"PySpark ({error})", "spark")
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    except DatasetUnreadable as error:
        raise CommandError(ExitCode.BAD_SESSION, str(error)) from None
    except (AnalysisError, CampaignError, DatasetError) as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    except KeyboardInterrupt:
        streams.progress("")
        streams.narrate(f"stopped: {progress.summary}; run the same command again to continue")
        return None
    finally:
        streams.progress("")


class _Progress:
    """A bar on a terminal, otherwise a line per minute; counts the runs missing at the start."""

    def __init__(self) -> None:
        self.summary = "no run has ended"
        self._bar: Progress | None = None
        self._there = 0
        self._began = self._line = monotonic()

    def __call__(self, reached: "Reached") -> None:
        now = monotonic()
        bar = self._bar
        if bar is None:
            bar = self._bar = Progress("campaign", "runs", reached.runs - reached.done, monotonic)
            self._there, self._began = reached.done, now
            if reached.done:
                streams.narrate(f"{reached.done:,} of {reached.runs:,} runs are already done")
        self.summary = f"about {reached.done:,} of {reached.runs:,} runs"
        bar(reached.done - self._there)
        if not streams.watched() and now - self._line >= LINE_SECONDS:
            self._line = now
            streams.narrate(bar.line(reached.done - self._there, now - self._began))


# ---- output


def matrix(report: "CampaignReport") -> Grid:
    """Return one row per combination; lost, duplicated and diverged count the runs with any."""
    names = tuple(report.variants[0].values)
    rows = [_row(names, variant) for variant in report.variants]
    title = f"campaign {report.script}: {plural(report.runs, 'run')}, in {report.dataset}"
    return Grid(title, (*(name.upper() for name in names), *HEADERS), rows)


def _row(names: tuple[str, ...], variant: "VariantReport") -> tuple[Cell, ...]:
    return (
        *(variant.values[name] for name in names),
        variant.runs,
        *(variant.outcomes[outcome] for outcome in ("failed", "raised", "hung")),
        *(loss.runs for loss in (variant.lost, variant.duplicated, variant.diverged)),
        variant.lost.records,
        _seconds(variant.unavailable_mean_us),
        _seconds(variant.unavailable_max_us),
    )


def _seconds(time_us: float | None) -> str:
    return "-" if time_us is None else f"{time_us / US_PER_SECOND:.3f}s"


def to_look_at(report: "CampaignReport") -> str:
    """Return the runs to look at, each as the command that opens it, and the reason."""
    if not report.failing_in_all:
        return "no run failed, lost, duplicated or diverged\n"
    count, listed = report.failing_in_all, len(report.failing)
    which = "" if listed == count else f" (the worst {listed}; all in {report.failing_file})"
    lines = [f"{plural(count, 'run')} to look at{which}:"]
    for run in report.failing:
        reason = ", ".join(run.findings) + (f": {run.error}" if run.error else "")
        lines.append(f"{run.command}  # {' '.join(reason.split())}")
    lines += _shrunk(report)
    return "\n".join(lines) + "\n"


def _shrunk(report: "CampaignReport") -> list[str]:
    """Return the runs that were reduced, each with its minimal script."""
    if not report.shrunk:
        return []
    return ["", "reduced to what matters:"] + [
        f"{run.path}  # {run.finding}: {run.left} of {run.statements} statements"
        for run in report.shrunk
    ]


def plain(report: "CampaignReport") -> dict[str, Any]:
    """Return the report as one object of plain data; keys may be added, none renamed."""
    fields: dict[str, Any] = msgspec.to_builtins(report, enc_hook=str)
    return {"schema": SCHEMA, **fields}
