"""``docker compose stop|start kafka-N`` for a served cluster: the broker N stops or starts.

It stands in for Docker where a suite stops and starts brokers; anything else is refused.
"""

import json
import os
import socket
import sys

HOST, _, PORT = os.environ["SUITE_CONTROL"].rpartition(":")


def main() -> None:
    """Give the statement over the control channel, and end with 1 if it fails."""
    match sys.argv[1:]:
        case ["compose", ("stop" | "start") as verb, service]:
            statement = f"broker {verb} {service.rpartition('-')[2]}"
        case words:
            sys.exit(f"there is no container here to '{' '.join(words[:2])}'")
    request = {"token": os.environ["SUITE_TOKEN"], "statement": statement}
    with socket.create_connection((HOST, int(PORT))) as control, control.makefile("rw") as lines:
        lines.write(json.dumps(request) + "\n")
        lines.flush()
        answer = json.loads(lines.readline())
    is_so_already = "already running" in answer.get("error", "")  # which is no error in Docker
    sys.exit(0 if answer["ok"] or is_so_already else answer["error"])


if __name__ == "__main__":
    main()
