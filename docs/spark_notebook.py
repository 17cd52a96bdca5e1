# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Sessions in Spark
#
# Spark reads recorded sessions as a data source, without an export:
# `spark.read.format("tidegauge").load("recordings/")`. This page is a notebook
# (`docs/spark_notebook.py` in jupytext's percent format) with its outputs; a test runs it.
#
# Ten sessions to look at: the links to both followers of a partition lose messages, and its leader
# crashes while a producer writes, with `acks=1` and with `acks=all`.

# %%
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """
cluster --brokers 3
topic create orders --replica-assignment 1:2:0 --config min.insync.replicas=2
wait until orders-0.leader == 1
settle
network drop 1 2 --percent 5
network drop 1 0 --percent 5
produce orders --value paid --count 20 --acks ${acks} --every 10ms --async
wait 120ms
broker crash 1
network heal
wait until orders-0.leader == 2
wait 5s
"""

work = Path(tempfile.mkdtemp())
(work / "durable.tide").write_text(SCRIPT)
recordings = work / "recordings"
recordings.mkdir()


def tidegauge(*words: str) -> None:
    command = [sys.executable, "-m", "tidegauge", *words]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def record(acks: str, seed: int) -> None:
    file = recordings / f"acks-{acks}-{seed}.tide.db"
    tidegauge(
        *("run", str(work / "durable.tide"), "--set", f"acks={acks}", "--seed", str(seed)),
        *("--record", str(file)),
    )


for acks in ("1", "all"):
    for seed in range(5):
        record(acks, seed)

# %% [markdown]
# `register` makes the format known to a Spark session (`spark.dataSource.register`). The option
# `table` names any table of [the dataset](dataset.md); without it `events` is read.

# %%
from pyspark.sql import SparkSession

from sessions.spark import register

spark = SparkSession.builder.master("local[2]").getOrCreate()
register(spark)


def table(name: str, **options: str) -> None:
    reader = spark.read.format("tidegauge").option("table", name).options(**options)
    reader.load(str(recordings)).createOrReplaceTempView(name)


table("sessions")
spark.sql("SELECT session, version, brokers, acked, lost FROM sessions ORDER BY session").show(
    truncate=False
)

# %% [markdown]
# With `acks=1` acknowledged records are lost. How long did a record take to be committed, and what
# became of the records?

# %%
table("produced")
spark.sql("""
    SELECT acks, outcome, count(*) AS records,
           count_if(committed_us IS NULL) AS never_committed,
           percentile_disc(0.5) WITHIN GROUP (ORDER BY committed_us - sent_us) AS commit_p50_us
    FROM produced GROUP BY acks, outcome ORDER BY acks, outcome
""").show()

# %% [markdown]
# The option `columns` leaves out columns that nobody asks for; `events` has a hundred.

# %%
table("events", columns="session, seq, time_us, type, tp")
spark.sql("""
    SELECT session, min(time_us) AS first_us, count(*) AS elections
    FROM events WHERE type = 'LeaderElected' AND session LIKE 'acks-all-%'
    GROUP BY session ORDER BY session
""").show()

# %% [markdown]
# An export writes the same rows to Parquet, for readers other than Spark, or to read them often.

# %%
files = sorted(str(file) for file in recordings.glob("*.tide.db"))
tidegauge("sessions", "export", *files, "--out", str(work / "dataset"))
exported = spark.read.parquet(str(work / "dataset" / "produced"))
read = spark.table("produced")
print(exported.count(), read.exceptAll(exported).count(), exported.exceptAll(read).count())

# %% [markdown]
# ## Options and limits
#
# - `table`: any table of the dataset. `columns`: names with commas between them; a schema given
#   with `.schema(..)` has the same effect.
# - `mode`: with `PERMISSIVE`, the default, a damaged session ends before the damage, as in an
#   export, and a file that cannot be read has no rows; the worker's log has one warning for each.
#   With `FAILFAST` the query fails, and the error names the file.
# - `pushFilters`: with `true`, filters on `session` open only the files of these sessions, and
#   those on `type`, `seq` and `time_us` decode only a part of `events`. It needs Spark's setting
#   `spark.sql.python.filterPushdown.enabled`. Load a new data frame for each query then: Spark 4
#   applies the filters of one query to a later one of the same frame that has none to push down.
# - Opening a session is as safe as in any other command, and each worker is bound by the
#   [same limits](security.md).
# - `load` takes files or folders. On a cluster, all workers need them at the same path, and
#   `tidegauge[spark]` installed.
# - `spark.readStream.format("tidegauge")` reads a growing folder: each session once, as soon as its
#   recording has ended. The checkpoint has the names of all sessions that have been read.
# - The columns' meanings are in the schema as comments. Spark's Python data sources are told of no
#   columns to leave out, hence the option.
