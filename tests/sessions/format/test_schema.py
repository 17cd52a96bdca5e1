"""The schema's number stands for what events and states are: it changes when they do."""

from hashlib import sha256

from emulator.events import Event
from sessions.format import schema
from sessions.model import states


def fingerprint() -> str:
    """Everything that a file's bytes depend on."""
    parts = [schema.TABLES]
    events = sorted(Event.__subclasses__(), key=lambda kind: kind.__name__)
    for kind in (*events, *(v for v in vars(states).values())):
        if isinstance(kind, type) and hasattr(kind, "__struct_fields__"):
            hints = [str(kind.__annotations__.get(name)) for name in kind.__struct_fields__]
            parts.append(f"{kind.__name__} {kind.__struct_fields__} {hints}")
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def test_files_of_this_schema_are_what_they_were() -> None:
    """If this fails, raise SCHEMA (and OLDEST, if older events or states cannot be read)."""
    assert (schema.SCHEMA, fingerprint()) == (7, "58c77a1dd265ec10")
