"""Print docs/analysis.md: ``python -m sessions.analysis > docs/analysis.md``."""

import sys

from sessions.analysis.document import analysis_page

sys.stdout.write(analysis_page())
