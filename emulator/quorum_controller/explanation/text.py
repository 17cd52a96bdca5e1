"""Words of explanations."""

from collections.abc import Iterable, Sequence


def listed(brokers: Iterable[int]) -> str:
    """Brokers as Kafka writes them: ``[1,2]``."""
    return f"[{','.join(map(str, brokers))}]"


def broker_list(brokers: Sequence[int]) -> str:
    """``broker 1``, or ``brokers 1 and 2``."""
    if len(brokers) == 1:
        return f"broker {brokers[0]}"
    return f"brokers {', '.join(map(str, brokers[:-1]))} and {brokers[-1]}"
