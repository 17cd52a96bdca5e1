import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.exits import CommandError, ExitCode
from commands.language.grammar import leaves, program
from commands.language.parser import (
    INCLUDE_DEPTH_MAX,
    SCRIPT_BYTES_MAX,
    Script,
    ScriptError,
    ShowStatement,
    parse_line,
    parse_script,
    read_text,
)
from emulator.inputs.statements import CreateCluster, Settle, Statement, Wait

GOLDEN = sorted((Path(__file__).parents[2] / "golden" / "scripts").glob("*.tide"))


def problems(text: str, source: str = "x.tide") -> list[str]:
    with pytest.raises(ScriptError) as refused:
        parse_script(text, source)
    return refused.value.problems


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_recorded_script_parses(path: Path) -> None:
    script = parse_script(path.read_text(encoding="utf-8"), str(path))
    assert script.spec.brokers in range(2, 7)
    assert len(script.steps) > 5


def test_there_are_recorded_scripts() -> None:
    assert len(GOLDEN) > 40


def test_a_script_is_its_cluster_and_its_statements() -> None:
    script = parse_script("# c\ncluster --seed 2\n\nsettle\nshow audit\n", "x.tide")
    assert script.spec == CreateCluster(seed=2)
    assert script.cluster.line == 2
    settle, show = script.steps
    assert settle == Statement(Settle(), "settle", 4)
    assert isinstance(show, ShowStatement)
    assert (show.text, show.line) == ("show audit", 5)


def test_a_continued_statement_has_its_text_in_one_line() -> None:
    script = parse_script("cluster \\\n   --brokers 2 # two\n", "x.tide")
    assert script.cluster.text == "cluster --brokers 2"


BAD = [
    ("prodce t", "there is no statement 'prodce'; did you mean 'produce'?"),
    ("create t", "there is no statement 'create'; did you mean 'topic create'?"),
    ("xyzzy", "there is no statement 'xyzzy' (tidegauge statements lists them)"),
    ("topic crate t", "'topic' has no 'crate'; did you mean 'create'?"),
    ("broker", "'broker' needs a second word (stop, crash, start, freeze, thaw)"),
    ("broker x 1", "'broker' has no 'x' (stop, crash, start, freeze, thaw)"),
    ("produce", "'produce' needs T"),
    ("produce t u", "'produce' does not take 'u'"),
    ("produce t --cuont 3", "'produce' has no option '--cuont'; did you mean '--count'?"),
    ("produce t --count", "'produce': --count needs a value"),
    ("produce t --async=1", "'produce': --async takes no value"),
    ("produce t --count x", "'produce' --count: 'x' is not a number (a whole number, 0 or more)"),
    ("produce t --batch 0", "'produce' --batch: '0' is not a count (a whole number, 1 or more)"),
    ("produce t --acks 2", "'produce' --acks: '2' is not a value of acks (0, 1, all, -1)"),
    (
        "produce t --timeout 5",
        "'produce' --timeout: '5' is not a time (times are written 250ms, 2s, 3m, 1h)",
    ),
    (
        "produce t --partitioner roundrobbin",
        "'produce' --partitioner: 'roundrobbin' is not a choice here; did you mean 'roundrobin'?",
    ),
    (
        "consume t --offset -1",
        "'consume' --offset: '-1' is not a number (a whole number, 0 or more)",
    ),
    (
        "consume t --offset 1 --from-beginning",
        "'consume': takes --from-beginning or --offset, not both",
    ),
    (
        "consume t --offset 1 --from-timestamp 2s",
        "'consume': takes --from-timestamp, --from-beginning or --offset, only one of them",
    ),
    (
        "consume t --min-bytes 100",
        "'consume': takes --min-bytes and --max-wait only with --timeout",
    ),
    (
        "topic create t",
        "'topic create': needs --partitions and --replication-factor, or --replica-assignment",
    ),
    (
        "topic create t --partitions 1",
        "'topic create': needs --partitions and --replication-factor, or --replica-assignment",
    ),
    (
        "topic create t --partitions 1 --replica-assignment 0",
        "'topic create': takes --replica-assignment or the two numbers, not both",
    ),
    (
        "topic create t --replica-assignment 0;1",
        "'topic create' --replica-assignment: '0;1' is not an assignment "
        "(written 0:1:2,1:2:0: brokers of partition 0, then of 1)",
    ),
    ("topic alter t", "'topic alter' needs --partitions"),
    ("topic config t", "'topic config': needs a value to set (K=V) or to delete (--delete K)"),
    ("topic config t a", "'topic config': 'a' is not a setting (written min.insync.replicas=2)"),
    ("fetch t-0", "'fetch': 't-0' is not a replica (written orders-0@2: partition, then broker)"),
    ("tick ist", "'tick': 'ist' is not a choice here; did you mean 'isr'?"),
    ("broker crash", "'broker crash' needs B"),
    ("broker crash one", "'broker crash': 'one' is not a broker id (a number such as 0)"),
    (
        "network cut 1 zook",
        "'network cut': 'zook' is not a host (an id, zk or clients)",
    ),
    (
        "network cut 1 client",
        "'network cut': 'client' is not a host (an id, zk or clients); did you mean",
    ),
    ("network cut 1 1", "'network cut': takes two different hosts"),
    ("network heal 1", "'network heal': takes two hosts, or none"),
    ("network drop 0 1", "'network drop' needs --percent"),
    (
        "network drop 0 1 --percent 200",
        "'network drop' --percent: '200' is not a percentage (0 to 100)",
    ),
    (
        "network hold 0 1 --only LeaderAndIsrr",
        "'network hold' --only: 'LeaderAndIsrr' is not a request or response; "
        "did you mean 'LeaderAndIsr'?",
    ),
    ("zk get brokers", "'zk get': 'brokers' is not a znode path (written /brokers/ids)"),
    ("zk get -x /a", "'zk get' has no option '-x' (-s, --tz)"),
    ("zk set /a", "'zk set' needs DATA"),
    ("reassign t-0", "'reassign' needs 1,2,3"),
    ("reassign t-0 1;2", "'reassign': '1;2' is not a list of broker ids (written 1,2,3)"),
    ("reassign cancel t", "'reassign': 't' is not a topic-partition (written orders-0)"),
    ("wait", "'wait' needs D | until CONDITION [within D]"),
    ("wait 5", "'wait': '5' is not a time (times are written 250ms, 2s, 3m, 1h)"),
    ("wait 5s more", "'wait': takes one time, or 'until' and a condition, not '5s more'"),
    ("wait until", "'wait': a condition is missing (written such as orders-0.leader == 1)"),
    ("wait until t-0.isr == [1] within 5", "'wait': '5' is not a time"),
    ("expect t-0.ledaer == 1", "'expect': a partition has no 'ledaer'; did you mean 'leader'?"),
    ("expect error", "'expect': needs an error's name (written 'expect error ERROR [on last]')"),
    ("expect error NOT_ENOUGH on first", "'expect': is written 'expect error ERROR [on last]'"),
    (
        "expect error NOT_ENOUGH_REPLICA",
        "'expect': 'NOT_ENOUGH_REPLICA' is not an error; did you mean 'NOT_ENOUGH_REPLICAS'?",
    ),
    ("show log t-0", "'show log': 't-0' is not a replica"),
    ("mark 'a", "a quote is not closed"),
    ("mark ${NAME}", "${NAME} has no value (give it with --set NAME=VALUE)"),
    ("cluster", "'cluster' must be the first statement, and occur only once"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[text for text, _ in BAD])
def test_what_is_wrong_is_told_with_its_line_and_the_nearest_word(text: str, message: str) -> None:
    (problem,) = problems(f"cluster\n# here\n{text}\n")
    place, _, told = problem.partition(": ")
    assert place.startswith("x.tide:3:")
    assert told.startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.tide:1:1: the first statement must be 'cluster'"),
        ("# nothing", "x.tide:1:1: the first statement must be 'cluster'"),
        ("settle\ncluster", "x.tide:1:1: the first statement must be 'cluster'"),
        (
            "cluster --version 2.9",
            "x.tide:1:19: 'cluster' --version: '2.9' is not a version; did you",
        ),
        ("cluster --racks a", "x.tide:1:1: 'cluster': --racks names 1 racks for 3 brokers"),
        ("cluster --hosts a", "x.tide:1:1: 'cluster': --hosts names 1 hosts for 3 brokers"),
        ("cluster --brokers 0", "x.tide:1:19: 'cluster' --brokers: '0' is not a count"),
        (
            "cluster --config min.insync.replica=2",
            "x.tide:1:1: There is no configuration 'min.insync.replica'; the nearest is "
            "'min.insync.replicas'",
        ),
    ],
)
def test_a_script_needs_a_good_cluster_first(text: str, message: str) -> None:
    assert problems(text)[0].startswith(message)


def test_every_problem_is_told_at_once() -> None:
    found = problems("cluster\nprodce t\nwait 5\nsettle\n")
    assert [problem.split(": ")[0] for problem in found] == ["x.tide:2:1", "x.tide:3:6"]


def test_on_the_command_line_statements_are_counted() -> None:
    (problem,) = problems("cluster; settle; prodce t", "-c")
    assert problem.startswith("-c:3:1: there is no statement 'prodce'")


def test_options_of_the_command_line_go_before_the_cluster_lines_own() -> None:
    text = "cluster --version 2.0.1 --seed 3 --config min.insync.replicas=2"
    options = ["--version", "1.1", "--config", "min.insync.replicas=1"]
    options += ["--config", "delete.topic.enable=true"]
    script = parse_script(text, "x.tide", cluster_options=options)
    config = {"min.insync.replicas": "1", "delete.topic.enable": "true"}
    assert script.spec == CreateCluster(version="1.1", seed=3, config=config)
    again = parse_script(script.cluster.text, "x.tide")
    assert again.spec == script.spec


def test_variables_stand_in_the_recorded_text() -> None:
    script = parse_script("cluster\nwait ${T}", "x.tide", {"T": "2s"})
    assert script.steps == (Statement(Wait(duration_us=2_000_000), "wait 2s", 2),)


def test_a_variable_that_nothing_asks_for_is_known() -> None:
    script = parse_script("cluster\nwait ${T:-1s}", "x.tide", {"T": "2s", "ACSK": "1"})
    assert script.unused == ("ACSK",)


def script_with(folder: Path, **files: str) -> Script:
    for name, text in files.items():
        (folder / f"{name}.tide").write_text(text, encoding="utf-8")
    path = folder / "main.tide"
    return parse_script(path.read_text(encoding="utf-8"), str(path))


def test_an_included_script_stands_in_place_without_its_cluster(tmp_path: Path) -> None:
    script = script_with(
        tmp_path, main="cluster\nrun other.tide\nwait 2s", other="cluster --seed 9\n\nwait 1s"
    )
    assert script.spec.seed == 1
    assert [(step.text, step.line) for step in script.steps] == [("wait 1s", 3), ("wait 2s", 3)]


def test_an_error_in_an_included_script_names_that_script(tmp_path: Path) -> None:
    with pytest.raises(ScriptError) as refused:
        script_with(tmp_path, main="cluster\nrun other.tide", other="wait 1")
    assert refused.value.problems[0].startswith(f"{tmp_path / 'other.tide'}:1:6: 'wait'")


def test_a_script_that_would_run_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScriptError) as refused:
        script_with(tmp_path, main="cluster\nrun other.tide", other="run main.tide")
    assert "'main.tide' would run itself" in refused.value.message
    assert refused.value.code is ExitCode.USAGE


def test_scripts_that_run_one_another_too_deep_are_told_so(tmp_path: Path) -> None:
    depth = INCLUDE_DEPTH_MAX + 2
    others = {f"s{number}": f"run s{number + 1}.tide" for number in range(1, depth)}
    with pytest.raises(ScriptError) as refused:
        script_with(tmp_path, main="cluster\nrun s1.tide", **others)
    assert f"at most {INCLUDE_DEPTH_MAX} deep" in refused.value.message
    assert "itself" not in refused.value.message


@pytest.mark.parametrize("name", ["secret.txt", "secret", "link.tide", ".tide"])
def test_a_script_runs_scripts_only_and_prints_no_other_file(tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret.txt"
    for path in (secret, tmp_path / "secret", tmp_path / ".tide"):
        path.write_text("root:x:0:0\n")
    (tmp_path / "link.tide").symlink_to(secret)
    with pytest.raises(ScriptError) as refused:
        script_with(tmp_path, main=f"cluster\nrun {name}")
    assert "x:0:0" not in refused.value.message
    assert "a script runs only files named *.tide" in refused.value.message


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "large"])
def test_only_regular_files_of_bounded_size_are_scripts(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "other.tide"
    if kind == "pipe":
        os.mkfifo(path)
        said = "it is a named pipe"
    elif kind == "device":
        path, said = Path("/dev/zero"), "it is a device"
    elif kind == "folder":
        path.mkdir()
        said = "Is a directory"
    else:
        with path.open("wb") as file:
            file.truncate(SCRIPT_BYTES_MAX + 1)
        said = "it is larger than"
    with pytest.raises(CommandError, match=said) as refused:
        read_text(path)
    assert refused.value.code is ExitCode.UNREACHABLE


def test_a_missing_included_script_cannot_be_reached(tmp_path: Path) -> None:
    with pytest.raises(ScriptError) as refused:
        script_with(tmp_path, main="cluster\nrun other.tide")
    assert refused.value.message.startswith(f"{tmp_path / 'main.tide'}:2:1: cannot read")
    assert refused.value.code is ExitCode.UNREACHABLE


def test_a_single_line_needs_no_cluster() -> None:
    assert parse_line("settle") == [Statement(Settle(), "settle", 1)]


def test_a_line_of_the_console_may_have_several_statements() -> None:
    assert [each.text for each in parse_line("broker crash 1; settle;")] == [
        "broker crash 1",
        "settle",
    ]
    (mark,) = parse_line("mark 'a; b'")
    assert mark.text == "mark 'a; b'"


def test_an_empty_line_asks_nothing() -> None:
    assert parse_line("  # nothing") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("setle", "there is no statement 'setle'; did you mean 'settle'?"),
        ("cluster", "a cluster already exists; 'cluster' must be the first statement of a script"),
    ],
)
def test_a_wrong_line_is_told_without_a_place(text: str, message: str) -> None:
    with pytest.raises(ScriptError) as refused:
        parse_line(text)
    assert refused.value.problems == [message]


FIRST_WORDS = [name.split()[0] for name, _ in leaves(program())]
SECOND_WORDS = [name.split()[-1] for name, _ in leaves(program())]
PIECES = [
    *("t", "t-0", "t-0@1", "1", "-1", "0:1,1:0", "a=b", "5s", "zk", "all", "/a", "--", "-"),
    *(
        "--count",
        "--partition",
        "--config",
        "--acks",
        "-s",
        "until",
        "error",
        "within",
        "==",
        "and",
    ),
    *("t-0.isr", "[1,", "2]", "${X}", "${X:-1}", "'", '"', "\\", ";", "#", "\n", "\x00"),
]


@given(
    st.sampled_from(FIRST_WORDS),
    st.lists(st.sampled_from(SECOND_WORDS + PIECES) | st.text(max_size=5), max_size=8),
)
def test_any_line_is_a_statement_or_refused(first: str, rest: list[str]) -> None:
    with suppress(ScriptError):
        parse_line(" ".join([first, *rest]))


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("produce t --count x", 19),
        ("produce t --count=x", 19),
        ("produce t u", 11),
        ("produce t --cuont 3", 11),
        ("  topic crate t", 9),
        ("produce", 1),
        ("reassign t-0 1;2", 14),
        ("reassign cancel t", 17),
        ("wait 5s more", 9),
        ("wait until t-0.hw == 1 within 5", 31),
        ("expect t-0.leader == 1 and t-0.ledaer == 2", 28),
        ("expect t-0.leader == 1 nad t-0.hw == 2", 24),
        ("expect t-0.isr == [1, 2", 19),
        ("expect (t-0.hw == 1", 8),
        ("expect time >= soon", 16),
        ("expect error NOT_ENOUGH", 14),
        ("expect event LogTruncted", 14),
        ("expect event LogTruncated brker=2", 27),
        ("expect event LogTruncated broker=2 and (tp=t-0 or bla=3)", 51),
        ("expect order LogTruncated then LeaderElcted", 32),
        ("mark 'a b", 6),
        ("mark ${NAME}", 6),
        ("produce ${T:-t} --count x", 25),
    ],
)
def test_what_is_wrong_is_told_with_its_column(text: str, column: int) -> None:
    (problem,) = problems(f"cluster\n{text}\n")
    assert problem.startswith(f"x.tide:2:{column}: ")


def test_a_wrong_line_of_the_console_knows_its_column() -> None:
    with pytest.raises(ScriptError) as refused:
        parse_line("expect t-0.ledaer == 1")
    assert refused.value.problems == [
        "'expect': a partition has no 'ledaer'; did you mean 'leader'?"
    ]
    assert refused.value.column == 8
