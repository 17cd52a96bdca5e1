"""The page docs/glossary.md: the one meaning of each word that names a number.

``python -m sessions.analysis glossary > docs/glossary.md`` writes it. The columns come from the
declared tables, and the states from the console's, so that the page cannot disagree with them.
"""

from collections.abc import Iterator
from typing import Final

from sessions.analysis.jobs import JOBS
from sessions.dataset.schema import Column, Table
from sessions.dataset.tables import RUNS, TABLES
from sessions.model.health import STATES

WORDS: Final = {
    "acked, acknowledged": "A record whose producer got a successful response from a broker. With "
    "acks=0 no broker responds: such a record is `sent`, never `acked`. One definition for all "
    "tables and jobs: `sessions.dataset.rows.acknowledged`.",
    "audit": "What scripts, JSON and the console say about a cluster's records: `acked`, `lost`, "
    "`duplicated`, `diverged`, `consumed_lost`, at any moment. It is the one place that also "
    "counts a record with acks=0 as acknowledged, from when it is handed to the network. So its "
    "`acked` is `acked` and `sent` of the tables together, and its `lost` is `lost` and "
    "`unacknowledged` together. Computed in `emulator.audit.ground_truth`.",
    "consumed_lost": "A record that a consumer was given and that is no longer in the log of its "
    "partition's leader.",
    "controller failover": "A controller's work from its election until it has read all metadata "
    "(`onControllerFailover`): `failover_us` of `controller_work`.",
    "diverged": "An offset below the LEO of two replicas at which they hold different records. "
    "The audit and `sessions` count offsets; `durability` counts each of the records at them.",
    "duplicated": "A further copy of a record in the log of its partition's leader.",
    "election": "The controller's choice of a leader that the partition did not have. A new leader "
    "epoch of the leader that stays (KRaft's controller raises it when it shrinks an ISR) is none. "
    "Computed in `emulator.kraft.facts` for KRaft mode.",
    "failover": "An election by which the leadership leaves a broker because that broker failed, "
    "its ZooKeeper session expired, or KRaft's controller fenced it. A planned one is none "
    "(`Preferred`, `Reassign`, `ControlledShutdown`): the leadership was `moved`. A leader that "
    "continues before another one is elected has `returned`. Computed in "
    "`sessions.analysis.failover`.",
    "HW lag": "LEO minus high watermark of the replica that leads, in records. Computed in "
    "`sessions.analysis.hw_lag` and `sessions.analysis.commit_latency`.",
    "ISR churn": "Changes of the set of a partition's in-sync replicas in its state, as opposed to "
    "those that a leader asked for. Computed in `sessions.analysis.isr_churn`.",
    "latency": "Commit latency: from ProduceSent until the high watermark of a leader first passed "
    "the record. Ack latency: from ProduceSent until ProduceAcknowledged, for `acked` records.",
    "leaderless": "A partition that exists and had a leader, while no broker whose process runs "
    "acts as its leader. Computed in `sessions.dataset.rows.leaderless` and, the same, in "
    "`sessions.analysis.availability`.",
    "lost": "An acknowledged record that is not in the log of its partition's leader. While a "
    "partition has no leader, its records are unavailable, not lost. Records that retention or "
    "DeleteRecords removed are not lost.",
    "outcome (of a session)": "`failed` if an assertion failed, or an invariant was violated that "
    "the release is not known to violate; otherwise `passed`, or `unknown` if the recording is not "
    "complete. Computed in `sessions.dataset.rows.sessions`.",
    "sent": "With acks=0: handed to the network. Nobody was promised the record.",
    "unacknowledged": "A record that was `sent`, and is not in the log of its partition's leader.",
    "unavailable": "Of a run: its leaderless time, summed over partitions (`leaderless_us`).",
    "unclean": "An election of a leader from outside the ISR (strategy `Unclean`).",
}
"""Words whose meaning is more than one column's."""

HEAD: Final = """\
# Glossary

One meaning for every word that names a number: in the console, in JSON, in the dataset's tables, in
the results of the jobs and in the report. Times are virtual, in microseconds (`us`), unless the
unit says otherwise; the unit `event` is the number of an event.

This page is rendered from the declarations (`python -m sessions.analysis glossary >
docs/glossary.md`).
"""


def sources() -> Iterator[tuple[Table, str]]:
    """Yield every declared table, with what computes it."""
    for table in (*TABLES, RUNS):
        yield table, "campaigns" if table is RUNS else "export"
    for job in JOBS.values():
        for result in job.results:
            yield result.table, f"job `{job.name}`"


def glossary_page() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    yield "## Words\n"
    for word, meaning in sorted(WORDS.items(), key=lambda pair: pair[0].lower()):
        yield f"**{word}**: {meaning}\n"
    yield "## States of a partition\n"
    yield "The console counts them, the most severe first. A partition may be in several "
    yield "(`sessions.model.health`).\n"
    yield "| state | shown as | meaning |"
    yield "|---|---|---|"
    for state in STATES:
        yield f"| `{state.name}` | {state.label} | {state.meaning} |"
    yield "\n## Columns\n"
    yield "| column | unit | meaning | table | computed by |"
    yield "|---|---|---|---|---|"
    for column, tables, by in sorted(_columns(), key=lambda each: (each[0].name, each[1])):
        meaning = column.meaning.replace("|", "\\|")
        cells = (f"`{column.name}`", column.unit, meaning, ", ".join(tables), ", ".join(by))
        yield f"| {' | '.join(cells)} |"


def _columns() -> Iterator[tuple[Column, list[str], list[str]]]:
    """Yield each column with a meaning of its own, where it is, and what computes it."""
    found: dict[tuple[str, str, str], tuple[Column, list[str], list[str]]] = {}
    for table, by in sources():
        for column in table.columns:
            key = (column.name, column.unit, column.meaning)
            _, tables, makers = found.setdefault(key, (column, [], []))
            tables.append(f"`{table.name}`")
            if by not in makers:
                makers.append(by)
    yield from found.values()
