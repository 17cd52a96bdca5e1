"""Names of topics and partitions."""

import re

TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def is_topic_name(topic: str) -> bool:
    """Whether a topic may have that name."""
    return topic not in (".", "..") and TOPIC_NAME.fullmatch(topic) is not None


def split(tp: str) -> tuple[str, int]:
    """Topic and partition number of a name such as ``orders-0``."""
    topic, _, partition = tp.rpartition("-")
    return topic, int(partition)
