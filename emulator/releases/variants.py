"""Profiles that differ from those of releases.

Variants of ``documents`` are selected like a release: what the documents tell of what could be
otherwise. They are no releases: no broker ever behaved like the second. A preview is selected by
the configuration of a release.
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

PREVIEWED_IN: Final = "3.9"
"""The release whose preview of the protocol ``consumer`` is emulated (KIP-848)."""

PREVIEW: Final = {
    "consumer_group_preview": True,
    "consumer_group_protocol": True,
    "group_records_need_no_min_isr": True,
    "new_groups_written": True,
    "offsets_kept_for_transactions": True,
}
"""What differs in that release where its brokers are configured with the preview: classic groups,
too, have the coordinator of 4.0."""

COUNTERFACTUAL: Final = ("consumers_read_to_log_end", "consumer_group_preview")
"""Features that no release has by itself."""
