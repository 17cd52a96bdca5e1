"""Since when a follower has not been level with its leader, against the emulator's own figure."""

from pathlib import Path

from commands.runs.live import live_source
from console.model.workspace import Stage
from console.render.inspector import caught_up_age
from emulator.inputs.conditions import Subject
from emulator.scenario.conditions import value_of

SCRIPT = """cluster --brokers 3 --seed 7
topic create t --replica-assignment 1:2:0
wait until t-0.leader == 1
produce t --count 4 --value a --acks all
settle
replica pause t-0@0
produce t --count 3 --value b --acks 1
wait 3s
"""
FETCH_WAIT_MS = 510
"""A leader counts from the fetch before, which may have waited for records as long as this."""


def test_a_follower_lags_since_the_leader_wrote_what_it_lacks(tmp_path: Path) -> None:
    script = tmp_path / "lag.tide"
    script.write_text(SCRIPT)
    source, recorder = live_source(script, None, {}, ())
    with recorder:
        stage = Stage(source)
        partition = source.view.partitions["t-0"]
        lag_us = caught_up_age(stage, partition, 0)
        counted = value_of(source.cluster, Subject("replica", "t-0@0", "caught_up_ms"))
        assert caught_up_age(stage, partition, 2) == 0
        assert caught_up_age(stage, partition, 9) is None
        source.close()
    assert lag_us is not None
    assert isinstance(counted, int)
    assert 3_000 <= lag_us // 1_000 <= counted <= lag_us // 1_000 + FETCH_WAIT_MS
