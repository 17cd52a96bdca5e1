"""Print docs/campaigns.md: ``python -m sessions.campaign > docs/campaigns.md``."""

import sys

from sessions.campaign.document import campaigns_page

sys.stdout.write(campaigns_page())
