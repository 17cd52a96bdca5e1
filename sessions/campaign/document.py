"""docs/campaigns.md: the results of a campaign, with the declaration of its table of runs."""

from typing import Final

from sessions.campaign.runner import RUNS_A_TASK, TASKS_MAX
from sessions.campaign.shipping import NEEDED
from sessions.campaign.worker import COMMIT_S
from sessions.dataset.document import page
from sessions.dataset.examples import EXAMPLES
from sessions.dataset.tables import RUNS

HEAD: Final = f"""\
# Campaigns

`tidegauge campaign SCRIPT --seeds A..B --vary NAME=V,V,.. --out DATASET` runs one script with every
seed, in every combination of what is varied, on Spark. Each run is a session of
[the dataset](dataset.md), with the same tables, row by row, as `tidegauge run --record` and
`tidegauge sessions export` give, called `NAME-VALUE_.._seed-SEED`, and a row of the table `runs`.

- A NAME is a variable of the script (`${{NAME}}`), `version`, or `config.K`, a broker setting.
  Values are separated by commas.
- A campaign is divided into tasks of at least {RUNS_A_TASK} runs, {TASKS_MAX} of them or a few for
  each core. A task commits all its runs at once, with one file for each table; one that takes
  longer than {COMMIT_S:.0f} s commits what it has, and later again, after as long as it has worked
  so far. So a campaign of 10,000 runs is fewer than 1,000 files, and a killed worker loses at most
  half of its work.
- A run that raises, hangs (`--limit` is real time for each run), or takes its worker's process
  with it twice is a row like any other; there is no session of it.
- ctrl-c stops it. The same command goes on from there; what raised or hung is not tried again,
  unless it hung and `--limit` is now longer.
- Given again with more seeds or more values of what is varied, a campaign grows by what is missing.
  Anything else at DATASET is refused: a dataset of other sessions, or of a campaign
  with another script, other names to vary, or another version of the program.
- `--chaos KIND,KIND,..` puts faults among the statements of each run, drawn from its seed: see
  below. `--shrink` reduces runs that fail.
- Workers need {NEEDED}. They do not
  need tidegauge: its code travels with the job. They see DATASET under the same path or URI. On a
  cluster, `PYSPARK_PYTHON` names their Python.

Beside the tables is `DATASET/_campaign/`:

- `failing.txt`: the runs to look at, each as the one command that opens it in the console
- `outcome.json`: the matrix that was printed
- `plan.json`: the script's text, the seeds, and every combination
- `shrunk/`: what `--shrink` made, a script for each run that it reduced

## Random faults

`--chaos crash,freeze:2,cut,delay` puts faults among the statements of each run: here one crash, two
freezes, one cut link and one slow link, each ended by a later statement. Kinds are `crash`, `stop`
and `freeze` (a broker), `cut` and `delay` (the link of two brokers). Whom they hit, and when, is
drawn from the run's seed, so the same seed has the same faults. They fall between statements and
into waits. No broker and no link has two faults at a time, and brokers that the script itself
stops, starts or freezes are left alone; so none of these statements is refused. For each of the
runs to look at that are printed, `_campaign/scripts/` has a script in which its faults are
statements.

`--shrink` reduces these runs: statements are left out as long as the same thing goes wrong and
nothing else does. What is left, `_campaign/shrunk/SESSION.tide`, goes wrong only as a whole: no
single statement of it can be spared. Runs are reduced side by side, one in a task.

This page is rendered from the declarations (`python -m sessions.campaign > docs/campaigns.md`).
"""


def campaigns_page() -> str:
    """docs/campaigns.md as Markdown."""
    return page(HEAD, (RUNS,), EXAMPLES)
