"""What the documents tell of what could be otherwise: profiles that differ from ``documents``.

Each is selected like a release. They are no releases: no broker ever behaved like the second.
"""

from typing import Final

VARIANTS: Final = {
    "documents-leader-epochs": {
        "truncation_by_leader_epoch": True,
        "truncate_to_high_watermark_on_restart": False,
        "surplus_truncated_to_leaders_end": False,
    },
    "documents-without-hw": {"consumers_read_to_log_end": True},
}
"""The features in which each differs from ``documents``.

``documents-leader-epochs`` is the remedy of the document on consistency: a follower asks where its
last epoch ends, and truncates there, not to its HW. ``documents-without-hw`` shows what the HW is
for, by its absence: consumers read up to the leader's LEO.
"""

COUNTERFACTUAL: Final = ("consumers_read_to_log_end",)
"""Features that no release has."""
