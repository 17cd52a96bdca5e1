"""What the words of consume and inject have to agree on."""

from msgspec.structs import replace

from emulator.inputs.statements import Consume, InjectError
from sessions.grammar.words import BadWord, nearest


def consume(wanted: Consume) -> Consume:
    """Reject words that exclude each other, and begin at offset 0 where that is said."""
    if wanted.from_beginning and wanted.offset is not None:
        raise BadWord("takes --from-beginning or --offset, not both")
    has_place = wanted.from_beginning or wanted.offset is not None
    if wanted.from_timestamp_us is not None and has_place:
        raise BadWord("takes --from-timestamp, --from-beginning or --offset, only one of them")
    waits = wanted.min_bytes is not None or wanted.max_wait_us is not None
    if wanted.timeout_us is None and waits:
        raise BadWord("takes --min-bytes and --max-wait only with --timeout")
    is_member = (wanted.assignor, wanted.protocol, wanted.then) != ("range", "classic", "stay")
    if wanted.group is None and is_member:
        raise BadWord("takes --assignor, --protocol and --then only with --group")
    if wanted.protocol == "consumer" and wanted.assignor != "range":
        raise BadWord("takes --assignor only with --protocol classic")
    if wanted.from_beginning and wanted.group is None:
        return replace(wanted, from_beginning=False, offset=0)
    return wanted


def inject(wanted: InjectError) -> InjectError:
    """Reject words that exclude each other, and an error that a request cannot have."""
    from emulator.clients.external.refusals import REFUSABLE

    kinds = [wanted.error, wanted.drop, wanted.close_after]
    if not any((*kinds, wanted.delay_us)):
        raise BadWord("needs an ERROR, --drop, --delay or --close-after")
    if sum(map(bool, kinds)) > 1:
        raise BadWord("takes an ERROR, --drop or --close-after, only one of them")
    if wanted.drop and wanted.delay_us:
        raise BadWord("takes --drop or --delay, not both: what is dropped has no response")
    if wanted.error and wanted.api not in REFUSABLE:
        hint = nearest(wanted.api, REFUSABLE) or f" ({', '.join(REFUSABLE)})"
        raise BadWord(f"{wanted.api} cannot fail with an ERROR, only be held up or lost{hint}")
    return wanted
