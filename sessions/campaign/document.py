"""docs/campaigns.md: what a campaign leaves, with the table of its runs from its declaration."""

from typing import Final

from sessions.campaign.runs import RUNS
from sessions.campaign.shipping import NEEDED
from sessions.dataset.document import page

HEAD: Final = f"""\
# Campaigns

`tidegauge campaign SCRIPT --seeds A..B --vary NAME=V,V,.. --out DATASET` runs one script with every
seed, in every combination of what is varied, on Spark. Each run is a session of
[the dataset](dataset.md), with the same tables, row by row, as `tidegauge run --record` and
`tidegauge sessions export` give, called `NAME-VALUE_.._seed-SEED`. It enters the dataset as a whole
or not at all, straight from the worker that made it.

- A NAME is a variable of the script (`${{NAME}}`), `version`, or `config.K`, a broker setting.
  Values are separated by commas.
- A run that raises, hangs (`--limit` is real time for each run), or takes its worker's process
  with it twice is a row like any other; there is no session of it.
- ctrl-c stops it. The same command goes on from there; what raised or hung is not tried again,
  unless it hung and `--limit` is now longer. Anything else that stands at DATASET is refused: a
  dataset of other sessions, or of a campaign with another script, other seeds or values, or
  another version of the program.
- Workers need {NEEDED}. They do not
  need tidegauge: its code travels with the job. They see DATASET under the same path. On a
  cluster, `PYSPARK_PYTHON` names their Python.

Beside the tables stands `DATASET/_campaign/`:

- `runs/`: Parquet, a row for every run, as below
- `failing.txt`: the runs to look at, each as the one command that opens it in the console
- `outcome.json`: the matrix that was printed
- `plan.json`: the script's text, the seeds, and every combination

This page is rendered from the declarations (`python -m sessions.campaign > docs/campaigns.md`).
"""


def campaigns_page() -> str:
    """docs/campaigns.md as Markdown."""
    return page(HEAD, (RUNS,))
