"""Ids of topics as the wire protocol has them: 16 bytes."""

from base64 import urlsafe_b64decode

from emulator.protocol import TopicDescription
from emulator.wire.types import NO_UUID

UUID_BYTES = 16


def uuid_bytes(text: str) -> bytes:
    """The bytes of an id that is written as ``Uuid.toString`` does, in base64."""
    return urlsafe_b64decode(f"{text}==")[:UUID_BYTES]


def topic_id_of(topic: TopicDescription) -> bytes:
    """A topic's id; before 2.8 topics have none."""
    return uuid_bytes(topic.topic_id) if topic.topic_id else NO_UUID
