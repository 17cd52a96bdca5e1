"""The results are declared so that programs can build on them."""

import pytest

from sessions.analysis.jobs import JOBS
from sessions.analysis.results import availability, cluster, failover, latency, quorum, truth
from sessions.analysis.results.columns import percentile_columns
from sessions.dataset.schema import SESSION, Table

TABLES = [result.table for job in JOBS.values() for result in job.results]


def declared(module: object) -> list[Table]:
    return [value for value in vars(module).values() if isinstance(value, Table)]


def test_each_declared_table_is_a_result_of_one_job() -> None:
    modules = (availability, cluster, failover, latency, quorum, truth)
    found = [table for module in modules for table in declared(module)]
    assert sorted(table.name for table in found) == sorted(table.name for table in TABLES)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_result_leads_back_to_sessions_and_events(table: Table) -> None:
    names = table.names
    assert len(set(names)) == len(names)
    assert SESSION in names or any(name.endswith("_session") for name in names)
    whole = {"availability", "leader_balance", "replay", "hw_lag_timeline"}
    assert table.name in whole or any(column.unit == "event" for column in table.columns)


def test_percentiles_are_named_by_what_they_are_of() -> None:
    assert [column.name for column in percentile_columns("total", "taken", "none")] == [
        "total_n", "total_p50_us", "total_p95_us", "total_p99_us", "total_max_us",
    ]  # fmt: skip
