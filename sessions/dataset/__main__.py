"""Print docs/dataset.md: ``python -m sessions.dataset > docs/dataset.md``."""

import sys

from sessions.dataset.document import dataset_page

sys.stdout.write(dataset_page())
