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

_PREVIEW: Final = {
    "consumer_group_preview": True,
    "consumer_group_protocol": True,
    "group_records_need_no_min_isr": True,
    "new_groups_written": True,
    "offsets_kept_for_transactions": True,
}
_PREVIEW_OF_3_8: Final = _PREVIEW | {"ranges_kept": True, "static_members_reassigned": True}
CONSUMER_GROUP_PREVIEWS: Final = {
    "3.7": _PREVIEW_OF_3_8
    | {"consumer_group_early_access": True, "offsets_kept_for_transactions": False},
    "3.8": _PREVIEW_OF_3_8,
    "3.9": _PREVIEW,
}
"""What differs in a release whose brokers are configured with its preview of the protocol
``consumer`` (KIP-848): classic groups, too, have the coordinator of 4.0. In 3.8 the assignor
``range`` leaves members what they have, and a member that takes a static one's place has a new
target assignment computed. In 3.7 members move in other steps, no group changes its protocol, and
offsets in transactions are neither verified nor held back."""

SHARE_GROUP_EARLY_ACCESS: Final = {
    "4.0": {
        "share_groups": True,
        "share_group_early_access": True,
        "share_deliveries_counted_at_session_end": True,
    },
}
"""What differs in a release whose brokers are configured with early access to share groups."""

COUNTERFACTUAL: Final = (
    "consumers_read_to_log_end",
    "consumer_group_preview",
    "ranges_kept",
    "static_members_reassigned",
    "consumer_group_early_access",
    "share_group_early_access",
)
"""Features that no release has by itself."""
