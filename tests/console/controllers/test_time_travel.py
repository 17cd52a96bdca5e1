from console.controllers.time_travel import OUTPUT_TOAST_MAX, complaint
from sessions.sources.source import Reply


def test_a_complaint_names_the_error_and_says_why() -> None:
    assert complaint(Reply("NO_NODE", "there is no /x")) == "NO_NODE: there is no /x"
    assert complaint(Reply("REQUEST_TIMED_OUT")) == "REQUEST_TIMED_OUT"


def test_only_short_output_is_a_toast() -> None:
    assert OUTPUT_TOAST_MAX < 10
