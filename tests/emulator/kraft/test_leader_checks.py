"""When the active controller gives leaders back by itself."""

import pytest

from commands.language.parser import Step, parse_script
from commands.runs.driver import Pace
from commands.runs.run import started
from emulator.scenario.outcome import Outcome

SCRIPT = """cluster --brokers 3 --config auto.leader.rebalance.enable=true \
  --config leader.imbalance.check.interval.seconds=20
topic create t --replica-assignment 0:1
wait 12s
broker stop 0
broker start 0
wait until t-0.isr == [0,1]
wait until t-0.leader == 0
"""


INTERVAL_US = 20_000_000


@pytest.mark.parametrize(("release", "counts_from_imbalance"), [("3.9.2", True), ("4.1.2", False)])
def test_up_to_3_9_an_interval_counts_from_the_first_imbalance(
    release: str, *, counts_from_imbalance: bool
) -> None:
    options = ["--version", release, "--mode", "kraft"]
    runner = started(parse_script(SCRIPT, release, {}, options), Pace(), None)
    ends: dict[str, int] = {}

    def note(step: Step, _outcome: Outcome) -> None:
        ends.setdefault(step.text, runner.cluster.now_us)

    runner.run(note)
    given_back_us = ends["wait until t-0.leader == 0"]
    begun_us = ends["wait 12s"] if counts_from_imbalance else 0
    assert (given_back_us - begun_us) % INTERVAL_US < 1_000_000
