"""Spark's data source ``tidegauge``: reading session files, beside exporting them.

``python -m benchmarks.spark_source [--sessions N] [--events N] [--table NAME ..]``: 10,000 sessions
of 500 events each. The time of an export is that of adding the files to a new dataset, one after
the other, as ``tidegauge sessions export`` does. The time of Spark is that of reading all rows and
columns of a table on ``local[2]``, and of all tables one after the other; the start of the session
is not counted. The numbers of rows are compared. The sessions are those of
:mod:`benchmarks.synthetic`.
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.analysis import LOCAL
from benchmarks.export import recorded
from benchmarks.synthetic import synthetic_events
from sessions.analysis.session import spark_session
from sessions.dataset.export_files import add_session
from sessions.dataset.tables import BY_NAME
from sessions.format.file import SessionFile
from sessions.garbage_collection import collect_seldom
from sessions.spark import register

PARTITIONS = 3


def export(files: list[Path], dataset: Path) -> tuple[float, Counter[str]]:
    """Export files; return the seconds that it takes, and the rows of each table."""
    rows: Counter[str] = Counter()
    begin = time.perf_counter()
    for file in files:
        with SessionFile(file) as session:
            report = add_session(session, dataset).report
        assert report is not None
        rows.update(report.rows)
    return time.perf_counter() - begin, rows


def main() -> None:
    """Print a row of Markdown for each table, and one for all of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=500)
    parser.add_argument("--table", nargs="+", choices=BY_NAME, default=list(BY_NAME))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        recordings = Path(folder) / "recordings"
        recordings.mkdir()
        files = [recordings / f"s{number:05d}.tide.db" for number in range(given.sessions)]
        for file in files:
            recorded(synthetic_events(given.events, PARTITIONS), file)
        collect_seldom()
        exporting, expected = export(files, Path(folder) / "dataset")
        print(
            f"export of {given.sessions:,} sessions: {exporting:.1f} s, {expected.total():,} rows"
        )
        print("| table | rows | seconds | in the time of the export |\n|--|--|--|--|")
        total = 0.0
        with spark_session(LOCAL) as spark:
            register(spark)
            spark.range(1).count()  # the session is ready
            for table in given.table:
                reader = spark.read.format("tidegauge").option("table", table)
                begin = time.perf_counter()
                frame = reader.load(str(recordings))
                frame.write.format("noop").mode("overwrite").save()
                seconds = time.perf_counter() - begin
                total += seconds
                if frame.select("session").count() != expected[table]:
                    raise SystemExit(f"{table} has other rows than the export")
                print(_row(table, expected[table], seconds, exporting), flush=True)
        print(
            _row(
                f"{len(given.table)} tables",
                sum(expected[name] for name in given.table),
                total,
                exporting,
            )
        )


def _row(table: str, rows: int, seconds: float, exporting: float) -> str:
    return f"| {table} | {rows:,} | {seconds:.1f} | {seconds / exporting:.2f} x |"


if __name__ == "__main__":
    main()
