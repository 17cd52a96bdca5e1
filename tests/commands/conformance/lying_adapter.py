"""An adapter without a client: it acknowledges what it never sends, and reads nothing."""

import json
import signal
import sys
from typing import Any

offset = 0
for line in sys.stdin:
    request = json.loads(line)
    answer: dict[str, Any] = {}
    match request["do"]:
        case "hello":
            answer = {"client": "liar 1.0", "can": ["idempotence"], "oldest": "2.1"}
        case "send" if "mumble" in sys.argv:
            answer = {"results": [5]}
        case "send":
            answer = {"results": [{"offset": offset + at} for at in range(len(request["records"]))]}
            offset += len(request["records"])
        case "close" if "die" in sys.argv:
            sys.exit("it has had enough")
    print(json.dumps(answer), flush=True)  # noqa: T201 - that is how adapters answer
    if request["do"] == "close" and "leave" in sys.argv:
        signal.raise_signal(signal.SIGKILL)
