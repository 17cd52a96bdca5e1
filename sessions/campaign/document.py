"""docs/campaigns.md: the results of a campaign, with the declaration of its table of runs."""

from typing import Final

from sessions.campaign.runner import RUNS_A_TASK, TASKS_MAX
from sessions.campaign.shipping import NEEDED
from sessions.campaign.worker import COMMIT_S
from sessions.dataset.document import page
from sessions.dataset.tables import RUNS

HEAD: Final = f"""\
# Campaigns

`tidegauge campaign SCRIPT --seeds A..B --vary NAME=V,V,.. --out DATASET` runs a script on Spark
with every seed and every combination of the varied values. Each run becomes a row of the table
`runs` and a session of [the dataset](dataset.md), named `NAME-VALUE_.._seed-SEED`. The session's
rows are the same as those of `tidegauge run --record` and `tidegauge sessions export`.

- NAME is a variable of the script (`${{NAME}}`), `version`, or `config.K`, a broker setting.
  Separate values with commas.
- `--image FILE` starts every run in the state of [your own cluster](own-cluster.md).
- `--chaos KIND,KIND,..` adds random faults to each run (see [below](#random-faults)), and
  `--shrink` reduces runs that fail.
- To continue a campaign that was stopped with ctrl-c, run the same command again. Runs that raised
  or hung are not repeated, unless they hung and `--limit` is now longer.
- To extend a campaign, run it again with more seeds or more values; only the missing runs are
  executed. If DATASET contains anything else, the command is refused: other sessions, or a campaign
  with another script, other varied names, or another version of the program.
- A run that raises, hangs (`--limit` is the wall time for each run), or kills its worker process
  twice also gets a row in `runs`, but no session.
- A campaign is divided into tasks of at least {RUNS_A_TASK} runs: {TASKS_MAX} tasks, or a few for
  each core. A task commits all its runs at once, with one file per table. A task that takes longer
  than {COMMIT_S:.0f} s commits its finished runs, and commits again whenever its running time has
  doubled. A campaign of 10,000 runs therefore has fewer than 1,000 files, and a killed worker loses
  at most half of its work.
- Workers need {NEEDED}. They do not
  need tidegauge, because its code is shipped with the job. DATASET must have the same path or URI
  for all workers. On a cluster, `PYSPARK_PYTHON` names their Python.

`DATASET/_campaign/` is stored beside the tables and contains:

- `failing.txt`: the runs to look at, each as the command that opens it in the console, the worst
  first; of equally bad ones, one of each combination comes before a second one
- `outcome.json`: the printed matrix
- `plan.json`: the script's text, the seeds, and every combination
- `scripts/`: for each listed run with random faults, a script with its faults as statements
- `shrunk/`: a script for each run that `--shrink` reduced

## Random faults

`--chaos crash,freeze:2,cut,delay` inserts faults among the statements of each run: here one crash,
two freezes, one cut link and one slow link, each ended by a later statement. The kinds are `crash`,
`stop` and `freeze` (a broker), and `cut` and `delay` (the link between two brokers). The run's
seed determines the targets and times, so the same seed gives the same faults. Faults occur between
statements and during waits. A broker or link never has two faults at a time, and brokers that the
script itself stops, starts or freezes are not chosen, so these statements are never refused. For
each run that is listed for a look, `_campaign/scripts/` contains a script with its faults as
statements.

`--shrink` reduces these runs: it removes statements as long as the run has the same worst finding
(a failed expectation: the same value found) and no new error. The result,
`_campaign/shrunk/SESSION.tide`, is minimal: without any one of its statements it no longer fails in
that way. Runs are reduced in parallel, one per task.

This page is rendered from the declarations (`python -m sessions.campaign > docs/campaigns.md`).
"""


def campaigns_page() -> str:
    """docs/campaigns.md as Markdown."""
    return page(HEAD, (RUNS,))
