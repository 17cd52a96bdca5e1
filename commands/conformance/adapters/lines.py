"""The part of an adapter that is the same for every client: requests in, answers out."""

import json
import sys
from typing import Any

ERROR_MAX = 500
"""Characters of an error that are told."""


def answer(client: object) -> None:
    """Call the client's method for each line's ``do``, and write what it returns.

    A method that raises is answered with the error.
    """
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        method = getattr(client, request.pop("do").replace(" ", "_"))
        try:
            told = method(**request) or {}
        except Exception as error:
            told = {"error": error_text(error)}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


def error_text(error: BaseException) -> str:
    """Return an error's class and message."""
    return f"{type(error).__name__}: {error}"[:ERROR_MAX]
