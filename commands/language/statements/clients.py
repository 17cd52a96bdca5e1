"""What the words of consume and inject have to agree on."""

from msgspec.structs import replace

from emulator.inputs.statements import Consume, InjectError
from sessions.grammar.words import BadWord, nearest


def consume(statement: Consume) -> Consume:
    """Reject words that exclude each other, and begin at offset 0 where that is said."""
    if statement.from_beginning and statement.offset is not None:
        raise BadWord("takes --from-beginning or --offset, not both")
    has_place = statement.from_beginning or statement.offset is not None
    if statement.from_timestamp_us is not None and has_place:
        raise BadWord("takes --from-timestamp, --from-beginning or --offset, only one of them")
    waits = statement.min_bytes is not None or statement.max_wait_us is not None
    if statement.timeout_us is None and waits:
        raise BadWord("takes --min-bytes and --max-wait only with --timeout")
    is_member = (statement.assignor, statement.protocol, statement.then) != (
        "range",
        "classic",
        "stay",
    )
    if statement.group is None and is_member:
        raise BadWord("takes --assignor, --protocol and --then only with --group")
    if statement.protocol != "share" and statement.acknowledge != "accept":
        raise BadWord("takes --acknowledge only with --protocol share")
    if statement.protocol == "share" and (has_place or statement.partition is not None):
        raise BadWord("takes no place and no --partition with --protocol share")
    if statement.protocol != "classic" and statement.assignor != "range":
        raise BadWord("takes --assignor only with --protocol classic")
    if statement.from_beginning and statement.group is None:
        return replace(statement, from_beginning=False, offset=0)
    return statement


def inject(fault: InjectError) -> InjectError:
    """Reject words that exclude each other, and an error that a request cannot have."""
    from emulator.clients.external.refusals import REFUSABLE, THROTTLED

    kinds = [fault.error, fault.drop, fault.close_after]
    if not any((*kinds, fault.delay_us, fault.throttle_us)):
        raise BadWord("needs an ERROR, --drop, --delay, --throttle or --close-after")
    if sum(map(bool, kinds)) > 1:
        raise BadWord("takes an ERROR, --drop or --close-after, only one of them")
    if fault.drop and fault.delay_us:
        raise BadWord("takes --drop or --delay, not both: what is dropped has no response")
    if fault.throttle_us and (fault.drop or fault.close_after):
        raise BadWord("takes --throttle only where there is a response that tells of it")
    if fault.throttle_us and fault.api not in THROTTLED:
        hint = nearest(fault.api, THROTTLED) or f" ({', '.join(THROTTLED)})"
        raise BadWord(f"{fault.api} has no throttle time in its response{hint}")
    if fault.error and fault.api not in REFUSABLE:
        hint = nearest(fault.api, REFUSABLE) or f" ({', '.join(REFUSABLE)})"
        raise BadWord(f"{fault.api} cannot fail with an ERROR, only be held up or lost{hint}")
    return fault
