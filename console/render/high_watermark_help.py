"""What help says of the high watermark: five wordings of one rule, and which of them is real.

The same, with its reasons, is ``docs/high-watermark.md``; ``A11-four-wordings.tide`` shows where
they differ.
"""

from typing import Final

from msgspec import Struct

from console.render.lines import Line, Span, line
from emulator.releases.profiles import PROFILES, Profile


class Wording(Struct, frozen=True):
    """One wording: ``is_real`` if a leader goes by it, and where it fails if not alone."""

    says: str
    is_real: bool
    why: str


WORDINGS: Final = (
    Wording(
        "the least of the leader's LEO and all remote LEOs",
        False,
        "a dead replica would hold every write back",
    ),
    Wording(
        "the least LEO of all replicas",
        False,
        "the leader knows only what each last asked for",
    ),
    Wording(
        "the least HW of all replicas",
        False,
        "followers take theirs from the leader, so it would never rise",
    ),
    Wording(
        "the least LEO of the in-sync replicas",
        True,
        "but a new leader knows none, and it must not fall",
    ),
    Wording(
        "the greater of the old HW and the least LEO",
        True,
        "over the in-sync replicas, not over all",
    ),
)
"""In the order in which the documents have them."""
RULE: Final = "HW := max(HW, least LEO of who counts)"


def high_watermark_lines(version: str) -> list[Line]:
    """The five wordings, what is real, and who counts in this release."""
    rows = [line(Span("HIGH WATERMARK", "title"), Span("  one rule, five wordings", "muted"))]
    for wording in WORDINGS:
        mark = Span("real" if wording.is_real else "not ", "ok" if wording.is_real else "muted")
        rows.append(line("  ", mark, f"  {wording.says}"))
        rows.append(line(Span(f"        {wording.why}", "muted")))
    rows.append(line("  The last two are real, together: ", Span(RULE, "key")))
    rows += [line(f"  {text}") for text in counted(PROFILES.get(version))]
    return rows


def counted(profile: Profile | None) -> list[str]:
    """Who counts in a release, in sentences; nothing of one that is not known."""
    if profile is None:
        return []
    texts = [f"In {profile.version} the leader and the ISR count"]
    if profile.has("alter_isr"):
        texts[0] += ", as large as it may be by now:"
        texts += ["whose admission is pending counts, whose removal is pending still does"]
    if profile.has("caught_up_replicas_hold_high_watermark"):
        texts[-1] += ";"
        texts += ["and assigned replicas that were caught up within replica.lag.time.max.ms"]
    texts[-1] += "."
    if profile.has("high_watermark_needs_min_isr"):
        texts += ["While the ISR is below min.insync.replicas the HW does not move at all."]
    return texts
