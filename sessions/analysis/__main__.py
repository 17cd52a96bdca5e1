"""Print docs/analysis.md, or with the argument ``glossary`` docs/glossary.md.

``python -m sessions.analysis > docs/analysis.md``
"""

import sys

from sessions.analysis.document import analysis_page
from sessions.analysis.glossary import glossary_page

sys.stdout.write(glossary_page() if sys.argv[1:] == ["glossary"] else analysis_page())
