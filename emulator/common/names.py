"""Names of topics and partitions, unique ids, and what a misspelt name was meant to be."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from hashlib import sha256

ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
ID_LENGTH = 22
OFFSETS_TOPIC = "__consumer_offsets"
METADATA_TOPIC = "__cluster_metadata"
"""The name of the metadata log of a cluster in KRaft mode, which is no topic."""
INTERNAL_TOPICS = (OFFSETS_TOPIC, "__transaction_state")
"""The coordinators' topics, which are created by brokers."""
LOG_DIR = "/tmp/kafka-logs"
"""The log directory of every broker: Kafka's default (``log.dir``)."""
TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
UNRESOLVED = ":"
"""The beginning of what stands for a topic whose id is unknown; no topic's name has one."""

SIMILARITY_MIN = 0.5
"""Names that have less in common (``difflib``'s ratio) were not mistaken for each other."""


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """``; the nearest is 'min.insync.replicas'``, or nothing if no known name is similar."""
    near = get_close_matches(name, list(known), 1, SIMILARITY_MIN)
    return f"; the nearest is {near[0]!r}" if near else ""


def is_topic_name(topic: str) -> bool:
    """Whether a topic name is valid."""
    return topic not in (".", "..") and TOPIC_NAME.fullmatch(topic) is not None


def split(tp: str) -> tuple[str, int]:
    """The topic and partition number of a name such as ``orders-0``."""
    topic, _, partition = tp.rpartition("-")
    return topic, int(partition)


def as_sent(topic_id: str) -> str:
    """An id as it is after it was sent as 16 bytes: 22 characters could hold four bits more."""
    data = urlsafe_b64decode(f"{topic_id}==")[:16]
    return urlsafe_b64encode(data).decode().rstrip("=")


def uuid_of(text: str) -> str:
    """An id derived from a text, without randomness."""
    return urlsafe_b64encode(sha256(text.encode()).digest()[:16]).decode().rstrip("=")


def random_uuid(random_below: Callable[[int], int]) -> str:
    """A random id of 22 characters (``org.apache.kafka.common.Uuid``), from a seeded generator."""
    return "".join([ID_CHARACTERS[random_below(len(ID_CHARACTERS))] for _ in range(ID_LENGTH)])


def is_uuid(text: str) -> bool:
    """Whether a text is an id in base64, as ``Uuid.fromString`` takes it."""
    return len(text) == ID_LENGTH and set(text) <= set(ID_CHARACTERS)
