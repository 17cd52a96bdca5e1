"""Text logs of real clusters of seventeen releases, which all went through the same faults.

Three brokers, topics ``t`` (1:2:0, unclean election allowed) and ``u``; a follower froze for longer
than its lag time; broker 1, leader of t-0, was cut off from ZooKeeper (or from the controllers) and
kept writing; broker 2 shut down; brokers 0, 2 and 1 were killed, so that broker 0 led t-0 uncleanly
when it started; topic ``u`` was deleted; all were shut down. Stack traces and most of what repeats
were left out; paths were replaced.
"""

from pathlib import Path
from typing import Final

from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.text_logs.merging import find_text_logs

RECORDINGS: Final = Path(__file__).parents[1] / "recordings" / "text_logs"
WITH_ZOOKEEPER: Final = (
    "0.8.2.2", "0.9.0.1", "0.10.2.2", "0.11.0.3", "1.1.1", "2.1.1", "2.4.1", "2.6.3", "2.8.2",
    "3.5.2",
)  # fmt: skip
CONTROLLERS_RAN_ON: Final = ("4.2.0", "4.3.1", "4.4.0")
"""Here no controller was killed; broker 0 was fenced before it had been behind for the lag time."""
OLDEST_KRAFT: Final = "3.3.2"
"""Its controller elected nobody uncleanly, and does not print a HW."""
KRAFT: Final = (OLDEST_KRAFT, "3.9.2", "4.0.2", "4.1.2", *CONTROLLERS_RAN_ON)
NAMED: Final = ("0.9.0.1", "0.11.0.3", "2.1.1", "2.6.3", "3.3.2", "4.0.2", *CONTROLLERS_RAN_ON)
"""Those whose recordings have the release and the configuration that processes print."""


def entries(release: str) -> list[LogLine]:
    """Everything that the logs of a release say."""
    return list(find_text_logs([RECORDINGS / release]).entries())
