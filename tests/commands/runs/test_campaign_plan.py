"""A campaign's plan: each run is the one that ``tidegauge run`` makes with the same options."""

from pathlib import Path

import pytest

from commands.exits import CommandError, ExitCode
from commands.language.cluster_options import ClusterOptions
from commands.language.parser import parse_script
from commands.language.ranges import Seeds, Variation
from commands.language.values import Setting
from commands.runs.campaign_plan import CampaignOptions, plan
from emulator.cluster_image.document import encode
from emulator.cluster_image.image import ClusterImage, Partition, Topic
from sessions.campaign.plan import Plan
from sessions.campaign.shrink import shrink

TEXT = """\
cluster --brokers 3
topic create t --replica-assignment 1:2:0 --config min.insync.replicas=${minisr:-1}
show partitions
produce t --value '${text:-a b}' --acks ${acks}
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("my script.tide").write_text(TEXT)
    return "my script.tide"


def given(
    file: str,
    *vary: tuple[str, list[str]],
    seeds: Seeds | None = None,
    version: str | None = None,
    config: tuple[Setting, ...] = (),
    **variables: str,
) -> CampaignOptions:
    return CampaignOptions(
        file, seeds, [Variation(*each) for each in vary], variables, version, config
    )


def planned(*arguments: object, **options: object) -> Plan:
    made, _ = plan(given(*arguments, **options))  # type: ignore[arg-type]
    return made


def test_every_combination_is_a_variant(script: str) -> None:
    made = planned(script, ("acks", ["1", "all"]), ("version", ["0.11", "3.9"]), minisr="2")
    assert [each.values for each in made.variants] == [
        {"acks": "1", "version": "0.11"},
        {"acks": "1", "version": "3.9"},
        {"acks": "all", "version": "0.11"},
        {"acks": "all", "version": "3.9"},
    ]
    assert [each.id for each in made.variants][:2] == [
        "acks-1_version-0.11_",
        "acks-1_version-3.9_",
    ]
    assert made.variants[0].cluster.version == "0.11"
    assert made.variants[0].variables == {"minisr": "2", "acks": "1", "version": "0.11"}
    assert made.seeds == [(0, 99)]
    assert made.runs == 400


def test_a_run_is_the_one_of_the_same_options(script: str) -> None:
    name = "config.unclean.leader.election.enable"
    made = planned(
        script, (name, ["true", "false"]), seeds=Seeds([(5, 9)]), version="2.0.1",
        config=(Setting("replica.lag.time.max.ms", "30000"),), acks="1",
    )  # fmt: skip
    run = made.run(4)
    variant = made.variants[run.variant]
    settings = [
        Setting("replica.lag.time.max.ms", "30000"),
        Setting("unclean.leader.election.enable", "true"),
    ]
    options = ClusterOptions(version="2.0.1", seed=run.seed, config=settings)
    same = parse_script(TEXT, script, {"acks": "1"}, options.words())
    assert variant.spec(run.seed) == same.spec
    assert variant.text.with_seed(run.seed) == same.cluster.text
    assert variant.line == same.cluster.line
    assert variant.steps == [step for step in same.steps if step.line != 3]


def test_both_modes_of_a_release_are_compared(script: str) -> None:
    made = planned(script, ("mode", ["zk", "kraft"]), ("acks", ["1"]), version="3.9")
    assert [each.cluster.mode for each in made.variants] == ["zk", "kraft"]
    assert made.variants[1].text.with_seed(7).endswith("--version 3.9 --seed 7 --mode kraft")
    assert "--seed 7 --mode kraft --set acks=1" in made.variants[1].command.with_seed(7)
    with pytest.raises(CommandError, match=r"--vary: .*'raft' .*kraft"):
        planned(script, ("mode", ["raft"]), ("acks", ["1"]))


def test_the_command_opens_that_run_in_the_console(script: str) -> None:
    made = planned(
        script, ("acks", ["1"]), ("version", ["0.11"]),
        ("config.replica.lag.time.max.ms", ["9000"]),
        text="it is", unused="no",
    )  # fmt: skip
    assert made.variants[0].command.with_seed(-7) == (
        "tidegauge console 'my script.tide' --from-start --paused --version 0.11 --seed -7 "
        "--config replica.lag.time.max.ms=9000 --set 'text=it is' --set acks=1"
    )


def test_seeds_can_be_varied_by_that_name(script: str) -> None:
    made = planned(script, ("seed", ["1", "4..6"]), acks="1")
    assert [made.run(number).seed for number in range(made.runs)] == [1, 4, 5, 6]
    assert made.variants[0].values == {}


def test_variables_that_nothing_asks_for_are_named(script: str) -> None:
    _, unused = plan(given(script, acks="1", colour="red"))
    assert unused == ("colour",)


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ([("color", ["1"]), ("acks", ["1"])], "--vary color: nothing in my script.tide asks for"),
        ([("acks", ["1"]), ("acks", ["all"])], "--vary: a name is varied twice"),
        ([("acks", ["1", "2"])], r"my script.tide:4:\d+: "),
        ([], r"my script.tide:4:\d+: \$\{acks\} has no value"),
        ([("acks", ["1"]), ("version", ["3.99"])], "--vary: '3.99' is not a version"),
        ([("acks", ["1"]), ("config.acks", ["1"])], r"my script.tide:1:\d+: "),
        ([("acks", ["1"]), ("seed", ["x"])], "--vary: 'x' is not a seed"),
        ([("text", [str(n) for n in range(1001)]), ("acks", ["1"])], "1,001 combinations are too"),
    ],
)
def test_what_cannot_be_varied_so_is_told_before_anything_runs(
    script: str, vary: list[tuple[str, list[str]]], said: str
) -> None:
    with pytest.raises(CommandError, match=said) as refused:
        plan(given(script, *vary))
    assert refused.value.code is ExitCode.USAGE


def test_seeds_are_given_once(script: str) -> None:
    with pytest.raises(CommandError, match=r"takes --seeds or --vary seed=\.\., not both"):
        plan(given(script, ("seed", ["1"]), seeds=Seeds([(1, 2)]), acks="1"))


def test_a_script_that_is_not_there_is_told(script: str) -> None:
    with pytest.raises(CommandError, match=r"cannot read 'my scrip\.tide'") as refused:
        plan(given("my scrip.tide"))
    assert refused.value.code is ExitCode.UNREACHABLE


REPAIRED = """\
cluster --brokers 3 --version 0.10.2
topic create orders --replica-assignment 1:2:0 --config min.insync.replicas=2
wait until orders-0.leader == 1
network drop 2 0 --percent 50
produce orders --value paid --count 40 --acks ${acks} --every 5ms --async
wait 120ms
broker stop 1
wait until orders-0.leader == 2
broker crash 2
wait until orders-0.leader == 0
network heal
broker start 1
broker start 2
wait until orders-0.isr == [0,1,2]
settle
"""
"""It loses records, and then all logs are made equal again."""


@pytest.mark.parametrize("acks", ["1", "all"])
def test_a_reduced_script_can_spare_no_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, acks: str
) -> None:
    monkeypatch.chdir(tmp_path)

    def shrunk(script: str) -> tuple[list[str], str]:
        Path("s.tide").write_text(script)
        made = planned(
            "s.tide", seeds=Seeds([(10, 10)]), **({"acks": acks} if "$" in script else {})
        )
        found = shrink(made, made.run(0), 60)
        return ([], "") if found is None else (found.script.splitlines()[1:], found.finding)

    lines, finding = shrunk(REPAIRED)
    assert finding == "lost"
    for place in range(1, len(lines)):
        less = lines[:place] + lines[place + 1 :]
        assert shrunk("\n".join(less))[1] != "lost", lines[place]


def test_an_expectation_is_reduced_to_what_makes_it_find_that_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the topic it fails as well, but finds nothing at all."""
    monkeypatch.chdir(tmp_path)
    lines = [
        "cluster --brokers 3",
        "topic create t --replica-assignment 1:2:0",
        "wait until t-0.isr == [0,1,2]",
        "produce t --count 3",
        "broker crash 2",
        "wait 60s",
        "expect t-0.isr == [0,1,2]",
    ]
    Path("s.tide").write_text("\n".join(lines))
    made = planned("s.tide", seeds=Seeds([(1, 1)]))
    found = shrink(made, made.run(0), 60)
    assert found is not None
    assert found.finding == "expectation t-0.isr == [0,1,2] (found [1,0])"
    assert found.script.splitlines()[2:] == [lines[1], *lines[4:]]


def test_a_campaign_starts_in_the_state_of_an_image(script: str) -> None:
    partition = Partition(0, (4, 1), 4, (4, 1))
    image = ClusterImage("3.9", "kraft", topics=(Topic("orders", partitions=(partition,)),))
    file = Path("prod.cluster.json")
    file.write_bytes(encode(image))
    made, _ = plan(CampaignOptions(script, None, [], {"acks": "1"}, None, (), image=file.name))
    [variant] = made.variants
    assert variant.cluster.image == image
    assert variant.text.with_seed(7).endswith(f"--seed 7 --image {file.absolute()}")
    assert f"--seed 7 --image {file.absolute()} " in variant.command.with_seed(7)
    with pytest.raises(CommandError, match=r"cannot read .*other\.cluster\.json"):
        plan(CampaignOptions(script, None, [], {"acks": "1"}, None, (), image="other.cluster.json"))
