"""What clients ask brokers of a topic."""

from emulator.protocol.message import Message


class MetadataRequest(Message, frozen=True):
    """Asks a broker what it knows of a topic."""

    topic: str


class MetadataResponse(Message, frozen=True):
    """The broker's view: leader by partition number, -1 if none is known, or an error."""

    request: int
    topic: str
    error: str
    leaders: dict[int, int]
