from commands.language.parser import parse_line
from commands.runs.expectations import Failure, Tally
from emulator.scenario.outcome import Outcome

REFUSED = Outcome(error="TOPIC_ALREADY_EXISTS", message="it exists", refused=True)
RAN_OUT = Outcome(error="REQUEST_TIMED_OUT", passed=False, actual=0, refused=True)
OK = Outcome()


def tally_of(*ends: tuple[str, Outcome]) -> Tally:
    tally = Tally()
    for text, outcome in ends:
        (step,) = parse_line(text)
        tally.note(step, outcome)
    tally.close()
    return tally


def test_an_assertion_counts_by_its_condition_alone() -> None:
    tally = tally_of(
        ("expect t-0.hw == 1", Outcome(passed=True)),
        ("expect t-0.hw == 2", Outcome(passed=False, actual=1)),
    )
    assert tally.passed == 1
    assert tally.failed == [Failure(1, "t-0.hw == 2", 1)]


def test_an_error_that_is_a_result_fails_nothing() -> None:
    tally = tally_of(("produce t", Outcome(error="REQUEST_TIMED_OUT")), ("settle", OK))
    assert tally.failed == []


def test_a_refused_statement_fails_the_run() -> None:
    tally = tally_of(("topic delete t", REFUSED), ("settle", OK))
    assert tally.failed == [Failure(1, "topic delete t", "TOPIC_ALREADY_EXISTS")]


def test_the_last_statement_may_be_refused_too() -> None:
    assert len(tally_of(("topic delete t", REFUSED)).failed) == 1


def test_a_refusal_that_the_next_line_expects_is_none() -> None:
    tally = tally_of(
        ("topic delete t", REFUSED),
        ("expect error TOPIC_ALREADY_EXISTS", Outcome(passed=True)),
    )
    assert (tally.passed, tally.failed) == (1, [])


def test_a_refusal_is_not_excused_by_the_name_of_another_error() -> None:
    tally = tally_of(
        ("topic delete t", REFUSED),
        ("expect error NONE", Outcome(passed=False, actual="TOPIC_ALREADY_EXISTS")),
    )
    assert [failure.text for failure in tally.failed] == ["topic delete t", "error NONE"]


def test_a_refusal_is_not_excused_later_than_on_the_next_line() -> None:
    tally = tally_of(
        ("topic delete t", REFUSED),
        ("mark later", OK),
        ("expect error TOPIC_ALREADY_EXISTS", Outcome(passed=True)),
    )
    assert [failure.text for failure in tally.failed] == ["topic delete t"]


def test_a_wait_that_ran_out_fails_with_the_value_there_was() -> None:
    tally = tally_of(("wait until t-0.leader == 1", RAN_OUT), ("settle", OK))
    assert tally.failed == [Failure(1, "wait until t-0.leader == 1", 0)]


def test_a_wait_that_ran_out_may_be_expected() -> None:
    tally = tally_of(
        ("wait until t-0.leader == 1", RAN_OUT),
        ("expect error REQUEST_TIMED_OUT", Outcome(passed=True)),
    )
    assert (tally.passed, tally.failed) == (1, [])
