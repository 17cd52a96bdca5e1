"""Topic ids in the wire protocol: 16 bytes."""

from base64 import urlsafe_b64decode

from emulator.protocol import TopicDescription
from emulator.wire.types import NO_UUID

UUID_BYTES = 16


def uuid_bytes(text: str) -> bytes:
    """The bytes of an id in the base64 notation of ``Uuid.toString``."""
    return urlsafe_b64decode(f"{text}==")[:UUID_BYTES]


def topic_id_of(topic: TopicDescription) -> bytes:
    """A topic's id; topics have none before 2.8."""
    return uuid_bytes(topic.topic_id) if topic.topic_id else NO_UUID
