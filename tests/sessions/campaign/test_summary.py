"""The line of a run to look at: the command that opens it, with why."""

from sessions.campaign.summary import _line


def test_a_run_to_look_at_has_one_line() -> None:
    lost = {"command": "open 1", "findings": ["lost", "diverged"], "error": None}
    raised = {"command": "open 2", "findings": ["raised"], "error": "ValueError: two\n lines"}
    assert _line(lost) == "open 1  # lost, diverged\n"
    assert _line(raised) == "open 2  # raised: ValueError: two lines\n"
