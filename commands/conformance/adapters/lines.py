"""The part of an adapter that is the same for every client: requests in, answers out."""

import json
import sys
from collections.abc import Container, Iterable
from typing import Any

ERROR_MAX = 500
"""Characters of an error that are told."""
WAIT_SECONDS = 3_600
"""Longer than clients' own timeouts, and than an answer may take, with any patience."""
Values = dict[str, Any]
"""A request's parameters, a client's settings, or an answer."""


def answer(client: object) -> None:
    """Call the client's method for each line's ``do``, and write what it returns.

    A method that raises is answered with the error.
    """
    for line in sys.stdin:
        request: Values = json.loads(line)
        method = getattr(client, request.pop("do").replace(" ", "_"))
        try:
            reply = method(**request) or {}
        except Exception as error:
            reply = {"error": error_text(error)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def error_text(error: BaseException) -> str:
    """Return an error's class and message."""
    return f"{type(error).__name__}: {error}"[:ERROR_MAX]


def settings_of(names: Container[str], settings: Values) -> Values:
    """Return the settings that a client knows, with ``_`` in their names instead of ``.``."""
    known = {name.replace(".", "_"): value for name, value in settings.items() if value != "none"}
    return {name: value for name, value in known.items() if name in names}


def to_send(record: Values) -> Values:
    """Return a record to send as the arguments of a client's method."""
    return {**record, "key": record["key"].encode(), "value": record["value"].encode()}


def polled(records: Iterable[Any], assigned: Iterable[Any]) -> Values:
    """Return the answer to a poll from a client's records and topic partitions."""
    return {
        "records": [
            {
                "topic": record.topic,
                "partition": record.partition,
                "offset": record.offset,
                "value": record.value.decode(),
            }
            for record in records
        ],
        "assigned": [[tp.topic, tp.partition] for tp in assigned],
    }
