import pytest

from commands.language.parser import parse_line
from commands.output import streams
from commands.runs import narration
from commands.runs.narration import Narrator, outcome_text
from emulator.scenario.outcome import Outcome


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(), "ok"),
        (Outcome(message="it took the place of another"), "ok: it took the place of another"),
        (Outcome(error="REQUEST_TIMED_OUT"), "REQUEST_TIMED_OUT"),
        (Outcome(error="NoNodeError", message="There is none."), "NoNodeError: There is none."),
        (Outcome(passed=True), "holds"),
        (Outcome(passed=False, message="it is 1"), "FAILED: it is 1"),
        (
            Outcome("INVALID_CONFIG", "No such name.", refused=True),
            "REFUSED INVALID_CONFIG: No such name.",
        ),
    ],
)
def test_an_end_is_told_in_a_few_words(outcome: Outcome, words: str) -> None:
    assert outcome_text(outcome) == words


def test_a_statement_is_one_line_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    (step,) = parse_line("mark 'a\x1b[2J'")
    Narrator(lambda: (12_345_678, 9)).finished(step, Outcome())
    assert capsys.readouterr().err == "00:00:12.345  mark 'a\\x1b[2J'  ok\n"


def test_progress_is_shown_only_where_somebody_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narration, "PROGRESS_SECONDS", 0)
    Narrator(lambda: (0, 0)).look()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(streams, "watched", lambda: True)
    narrator = Narrator(lambda: (2_000_000, 1234))
    narrator.look()
    (step,) = parse_line("settle")
    narrator.finished(step, Outcome())
    assert capsys.readouterr().err.split("\r\x1b[K") == [
        "",
        "00:00:02.000  .. 1,234 events",
        "00:00:02.000  settle  ok\n",
    ]
