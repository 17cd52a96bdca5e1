from collections.abc import Callable

import pytest

from commands.exits import CommandError, ExitCode
from commands.language.parser import Script, Step, parse_line, parse_script
from commands.runs.driver import Pace
from commands.runs.script_runner import ScriptRunner
from emulator.inputs.statements import CreateCluster, Statement
from emulator.scenario.outcome import Outcome

TOPIC = "topic create t --partitions 1 --replication-factor 3\nsettle\n"


def ignore(_step: Step, _outcome: Outcome) -> None:
    """Nobody is told."""


def ran(text: str, finished: Callable[[Step, Outcome], None] = ignore) -> ScriptRunner:
    runner = ScriptRunner(parse_script(f"cluster\n{text}", "x.tide"), Pace())
    runner.run(finished)
    return runner


def test_every_statement_is_told_when_it_has_ended() -> None:
    told: list[tuple[str, str]] = []
    ran(f"{TOPIC}settle\n", lambda step, outcome: told.append((step.text, outcome.error)))
    assert [text for text, _ in told] == [*TOPIC.splitlines(), "settle"]
    assert {error for _, error in told} == {"NONE"}


def test_what_zk_and_show_print_is_kept_with_its_line() -> None:
    outputs = ran("zk ls /brokers/ids\nshow brokers\n").outputs
    assert [(each.line, each.statement) for each in outputs] == [
        (2, "zk ls /brokers/ids"),
        (3, "show brokers"),
    ]
    assert outputs[0].result == ["0", "1", "2"]
    assert [row["broker"] for row in outputs[1].result] == [0, 1, 2]
    assert outputs[1].text.startswith("brokers\nBROKER")


def test_several_tables_are_several_results() -> None:
    (output,) = ran("show producers").outputs
    assert output.result == [[], []]


def test_showing_what_is_not_there_fails_the_run() -> None:
    runner = ran("show epochs t-0\nsettle")
    assert [failure.text for failure in runner.tally.failed] == ["show epochs t-0"]


def test_an_assertion_is_counted() -> None:
    runner = ran(f"{TOPIC}expect t-0.isr == [2,1,0] and t-0.state == online\nexpect t-0.hw == 1\n")
    assert runner.tally.passed == 1
    assert [(f.line, f.text, f.actual) for f in runner.tally.failed] == [(5, "t-0.hw == 1", 0)]


def test_a_mark_keeps_the_state_as_it_was() -> None:
    runner = ran(f"{TOPIC}mark before\nproduce t --value v --acks all\nsettle\n")
    then = runner.marks["before"].partitions["t-0"].leader_replica
    now = runner.view.partitions["t-0"].leader_replica
    assert then is not None
    assert now is not None
    assert (then.log_end_offset, now.log_end_offset) == (0, 1)


def test_of_two_marks_of_one_name_the_later_one_is_kept_and_that_is_told() -> None:
    told: list[str] = []
    text = f"{TOPIC}mark here\nproduce t --value v --acks all\nmark here\n"
    runner = ran(text, lambda step, outcome: told.append(outcome.message))
    leader = runner.marks["here"].partitions["t-0"].leader_replica
    assert leader is not None
    assert leader.log_end_offset == 1
    assert told[-3:-1] == ["", ""]
    assert told[-1].startswith("in place of the mark of this name at 00:00:0")


def until(text: str) -> Statement:
    (statement,) = parse_line(f"wait until {text}")
    assert isinstance(statement, Statement)
    return statement


def test_a_run_may_go_on_until_a_condition_holds() -> None:
    runner = ScriptRunner(parse_script(f"cluster\n{TOPIC}", "x.tide"), Pace())
    runner.run(ignore, until("time >= 30s"))
    assert runner.reached_until
    assert runner.cluster.now_us >= 30_000_000


def test_a_condition_that_never_holds_is_no_failed_expectation() -> None:
    runner = ScriptRunner(parse_script("cluster\n", "x.tide"), Pace())
    runner.run(ignore, until("offline == 5 within 2s"))
    assert not runner.reached_until
    assert runner.tally.failed == []


def test_a_cluster_that_cannot_be_made_is_told() -> None:
    spec = CreateCluster(config={"no.such.name": "1"})
    script = Script("x.tide", Statement(spec, "cluster", 3), ())
    with pytest.raises(CommandError) as refused:
        ScriptRunner(script, Pace())
    assert refused.value.code is ExitCode.USAGE
    assert refused.value.message.startswith("x.tide:3: ")
