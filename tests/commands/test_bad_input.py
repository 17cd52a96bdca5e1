"""What people get wrong: each ends in one sentence and its documented status, with nothing made."""

import os
import re
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode

CLUSTER = (
    "cluster; topic create t --partitions 1 --replication-factor 3; wait until t-0.leader == 0"
)
BYTES = os.fsdecode(b"\xff")
"""What a shell's argument is that is no text."""

STATEMENTS = [
    ("prodce t", "there is no statement 'prodce'; did you mean 'produce'?"),
    ("produce t --ackss all", "'produce' has no option '--ackss'; did you mean '--acks'?"),
    ("consume t --max 0", "'consume' --max: '0' is not a count (a whole number, 1 or more)"),
    (f"produce t --count {10**18}", f"'produce' --count: '{10**18}' is too large a number"),
    (f"wait {10**18}s", f"'wait': '{10**18}s' is not a time"),
    ("wait 999999999999h", "'wait': '999999999999h' is too long a time (at most 876000h"),
    (
        "topic create u --partitions 1000000000000 --replication-factor 1",
        "'topic create' --partitions: '1000000000000' is not a count (a whole number from 1 to 200",
    ),
    ("topic alter t --partitions 200001", "'topic alter' --partitions: '200001' is not a count"),
    ("produce t --value ${X", "'${X' is not closed with } (written ${NAME})"),
    ("produce t --value '", "a quote is not closed"),
    (f"produce t --value {BYTES}", r"'produce t --value \udcff' is not UTF-8 text"),
    ("produce t --value " + "x" * 70_000, "a statement of 70,018 characters is too long"),
    ("expect audit.loss == 0", "'expect': the audit has no 'loss'; did you mean 'lost'?"),
    ("expect controller == 0", "'expect': 'controller' does not name a value"),
    (
        "expect zk.path.exists == true",
        "'expect': 'zk.path.exists' does not name a value (written such as",
    ),
    ("expect error", "'expect': needs an error's name"),
    (
        f"expect {'not ' * 5_000}time > 0",
        "'expect': at most 50 'not' and parentheses can be within",
    ),
    (f"wait until {'(' * 5_000}time > 0", "'wait': at most 50 'not' and parentheses can be within"),
    (
        f"expect order {'not ' * 5_000}x then y",
        "'expect': at most 50 'not' and parentheses can be within",
    ),
    ("mark ''", "'mark': needs a name with visible characters"),
    ("run nowhere.tide", "cannot read 'nowhere.tide': No such file or directory"),
    ("cluster", "'cluster' must be the first statement, and occur only once"),
]

CLUSTERS = [
    (
        "cluster --brokers 0",
        "'cluster' --brokers: '0' is not a count (a whole number from 1 to 1,000)",
    ),
    ("cluster --brokers 100000000000", "'cluster' --brokers: '100000000000' is not a count"),
    ("cluster --first-id 999999999", "'cluster' --first-id: '999999999' is not a broker id"),
    ("cluster --seed x", "'cluster' --seed: 'x' is not a seed (a whole number of up to 18 digits)"),
    (
        "cluster --version 3.10",
        "'cluster' --version: '3.10' is not a version; did you mean",
    ),
    (
        "cluster --version 4.0 --mode zk",
        "4.0 has no ZooKeeper mode: 3.9 was the last version that had it",
    ),
    ("cluster --brokers ${N}", "${N} has no value (give it with --set N=VALUE)"),
    ("", "the first statement must be 'cluster'"),
    ("# only a comment", "the first statement must be 'cluster'"),
]

REFUSED = [
    (
        "topic create u --partitions 1 --replication-factor 9",
        "REFUSED INVALID_REPLICATION_FACTOR: Replication factor 9 is larger than the number of",
    ),
    (
        "topic delete x",
        "REFUSED UNKNOWN_TOPIC_OR_PARTITION: There is no topic x; the nearest is t.",
    ),
    ("broker crash 9", "REFUSED BROKER_NOT_AVAILABLE: There is no broker 9; there are 0, 1, 2."),
    ("broker start 1", "REFUSED: Broker 1 is already running."),
    ("fetch t-7@1", "REFUSED UNKNOWN_TOPIC_OR_PARTITION: There is no partition t-7; the nearest"),
    (
        "topic config t min.insync.replica=2",
        "REFUSED INVALID_CONFIG: There is no configuration 'min.insync.replica'; the nearest is"
        " 'min.insync.replicas'.",
    ),
    (
        "topic config t min.insync.replicas=0",
        "REFUSED INVALID_CONFIG: min.insync.replicas must be 1 or more, not 0.",
    ),
    (
        "topic config t replica.lag.time.max.ms=1",
        "REFUSED INVALID_CONFIG: replica.lag.time.max.ms belongs to brokers, not to topics,",
    ),
    (
        "config broker 0 unclean.leader.election.enable=yes",
        "REFUSED INVALID_CONFIG: unclean.leader.election.enable must be true or false, not 'yes'.",
    ),
    (
        "config group g share.auto.offset.reset=earliest",
        "REFUSED UNSUPPORTED_VERSION: Groups have configurations from 4.0 on.",
    ),
    (
        "config broker 0 replica.lag.max.messages=9",
        "REFUSED INVALID_CONFIG: replica.lag.max.messages does not exist in 3.9: 0.8.2 was the",
    ),
    ("topic create 'a b' --partitions 1 --replication-factor 1", "REFUSED INVALID_TOPIC_EXCEPTION"),
    ("topic create t --partitions 1 --replication-factor 1", "REFUSED TOPIC_ALREADY_EXISTS: Topic"),
    ("topic create u --replica-assignment 0:0", "REFUSED INVALID_REPLICA_ASSIGNMENT: Partition 0"),
    ("topic create u --replica-assignment 0:7", "REFUSED INVALID_REPLICA_ASSIGNMENT: There is no"),
    (
        "topic alter t --partitions 1",
        "REFUSED INVALID_PARTITIONS: Topic t has 1 partitions; the number can only grow",
    ),
    ("reassign cancel t-0", "REFUSED NO_REASSIGNMENT_IN_PROGRESS: t-0 is not being reassigned."),
    ("election unclean t-0", "REFUSED ELECTION_NOT_NEEDED: t-0 has a leader."),
]

LATER = [
    ("0.8.2", "consume t --group g", "Consumer groups exist since 0.9, not in 0.8.2."),
    ("0.10.2", "produce t --idempotent", "Idempotent producers exist since 0.11, not in 0.10.2."),
    ("1.1", "network hold 0 1 --only AlterIsr", "AlterIsr exists since 2.7, not in 1.1."),
    (
        "0.10.2",
        "network hold 0 1 --only OffsetsForLeaderEpoch",
        "OffsetsForLeaderEpoch exists since 0.11, not in 0.10.2.",
    ),
    ("2.2", "election unclean t-0", "Unclean elections on demand exist since 2.4, not in 2.2;"),
    ("2.2", "reassign cancel t-0", "Reassignments can be cancelled since 2.4, not in 2.2."),
]
"""A release, a statement that it cannot do, and what is said of it."""

COMMAND_LINES = [
    (["rnu"], "'tidegauge' has no command 'rnu'; did you mean 'run'?"),
    (["run"], "'tidegauge run' needs a FILE, - or -c, and only one"),
    (["run", "-c", "cluster", "--set", "=3"], "'tidegauge run' --set: '=3' is not a variable"),
    (["run", "-c", "cluster", "--set", f"A={BYTES}"], r"'tidegauge run' --set: 'A=\udcff' is no"),
    (
        ["run", "-c", "cluster", "--within", "5s"],
        "'tidegauge run' --within: it is the time for --un",
    ),
    (
        ["run", "-c", "cluster", "--limit", "0s"],
        "'tidegauge run' --limit: '0s' is too short a time",
    ),
    (
        ["run", "-c", "cluster", "--record", ""],
        "'tidegauge run' --record: '' is not a name for a file",
    ),
    (
        ["run", "-c", "cluster", "--config", "foo=1"],
        "-c:1: with --config foo=1: There is no configuration 'foo'",
    ),
    (["console"], "the console needs a terminal; 'tidegauge run' does without one"),
]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session."""
    path = tmp_path_factory.mktemp("recorded") / "run.tide.db"
    script = f"{CLUSTER}; produce t --count 50 --acks all; broker crash 1; wait 10s"
    assert run_program(["run", "-c", script, "--record", str(path)]) == ExitCode.OK
    return path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What it said, without the columns of statements."""
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert "fault of this program" not in captured.err
    return re.sub(r"^(\S+?:\d+):\d+: ", r"\1: ", captured.err, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("statement", "message"), STATEMENTS, ids=[text[:40] for text, _ in STATEMENTS]
)
def test_a_wrong_statement_is_told_before_anything_runs(
    statement: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = ExitCode.UNREACHABLE if "nowhere" in statement else ExitCode.USAGE
    arguments = ["run", "-c", f"{CLUSTER}; {statement}", "--record", "recordings"]
    assert run_program(arguments) == expected
    assert said(capsys).startswith(f"-c:4: {message}")
    assert os.listdir() == []


@pytest.mark.parametrize(("statement", "message"), CLUSTERS, ids=[text for text, _ in CLUSTERS])
def test_a_wrong_cluster_is_told_before_anything_runs(
    statement: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["run", "-c", statement]) == ExitCode.USAGE
    assert said(capsys).startswith(f"-c:1: {message}")


@pytest.mark.parametrize(("statement", "message"), REFUSED, ids=[text for text, _ in REFUSED])
def test_what_the_cluster_refuses_fails_the_run(
    statement: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["run", "-c", f"{CLUSTER}; {statement}"]) == ExitCode.FAILED
    assert message in said(capsys).splitlines()[-1]


@pytest.mark.parametrize(("version", "statement", "message"), LATER)
def test_what_a_release_cannot_do_yet_fails_the_run_and_names_the_release_that_can(
    version: str, statement: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "-c", f"{CLUSTER}; {statement}", "--version", version]
    assert run_program(arguments) == ExitCode.FAILED
    assert f"REFUSED UNSUPPORTED_VERSION: {message}" in said(capsys).splitlines()[-1]


def test_racks_are_refused_by_a_release_without_them(capsys: pytest.CaptureFixture[str]) -> None:
    script = "cluster --brokers 2 --racks a,b --version 0.9"
    assert run_program(["run", "-c", script]) == ExitCode.USAGE
    assert said(capsys).startswith("-c:1: Brokers have racks since 0.10.0, not in 0.9")


@pytest.mark.parametrize(
    ("arguments", "message"), COMMAND_LINES, ids=[" ".join(given) for given, _ in COMMAND_LINES]
)
def test_a_wrong_command_line_is_one_sentence(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(arguments) == ExitCode.USAGE
    err = said(capsys)
    assert err.startswith(message)
    assert err.count("\n") == 1
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"", ExitCode.USAGE, "x.tide:1: the first statement must be 'cluster'"),
        (b"# nothing\n", ExitCode.USAGE, "x.tide:1: the first statement must be 'cluster'"),
        (
            bytes(range(256)),
            ExitCode.USAGE,
            "'x.tide' is not UTF-8 text (byte 129 is wrong)",
        ),
        ("cluster".encode("utf-16"), ExitCode.USAGE, "'x.tide' is not UTF-8 text (byte 1 is"),
        (b"cluster\nrun x.tide\n", ExitCode.USAGE, "x.tide:2: 'x.tide' would run itself"),
        (b"cluster\nrun y.tide\n", ExitCode.UNREACHABLE, "x.tide:2: cannot read 'y.tide'"),
        (
            b"cluster\nrun d.tide\n",
            ExitCode.UNREACHABLE,
            "x.tide:2: cannot read 'd.tide': Is a directory",
        ),
        (
            b"cluster\nrun /etc/passwd\n",
            ExitCode.USAGE,
            "x.tide:2: '/etc/passwd' is not run: a script runs only files named *.tide",
        ),
        (
            b"cluster\n\x1b[31mfoo\n",
            ExitCode.USAGE,
            r"x.tide:2: there is no statement '\x1b[31mfoo'",
        ),
    ],
    ids=[
        "empty",
        "comment",
        "binary",
        "utf-16",
        "cycle",
        "missing",
        "folder",
        "other file",
        "escape",
    ],
)
def test_a_malformed_script_is_told_with_its_place(
    content: bytes, status: ExitCode, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("x.tide").write_bytes(content)
    Path("d.tide").mkdir()
    assert run_program(["run", "x.tide"]) == status
    assert said(capsys).startswith(message)


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfcluster\nsettle\n", b"cluster\r\nsettle\r\n"])
def test_what_windows_editors_write_is_a_script(
    content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("x.tide").write_bytes(content)
    assert run_program(["run", "x.tide"]) == ExitCode.OK
    monkeypatch.setattr(sys, "stdin", StringIO(content.decode()))
    assert run_program(["run", "-"]) == ExitCode.OK


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["run", "failovr.tide"], "failover.tide"),
        (["sessions", "show", "fail.tide.db"], "fail1.tide.db"),
        (["sessions", "verify", "fail.tide.db"], "fail1.tide.db"),
        (["replay", "fail.tide.db"], "fail1.tide.db"),
    ],
)
def test_a_file_that_is_not_there_is_told_with_the_nearest(
    arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(meant).touch()
    assert run_program(arguments) == ExitCode.UNREACHABLE
    assert f"No such file or directory; did you mean '{meant}'?" in said(capsys)


def test_what_is_no_session_is_refused_by_every_command(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.tide.db").touch()
    Path("text.tide.db").write_text("hello")
    Path("folder.tide.db").mkdir()
    shutil.copy(recorded, "newer.tide.db")
    with closing(sqlite3.connect("newer.tide.db")) as database:
        database.execute("PRAGMA user_version = 99")
    expected = {
        "empty.tide.db": (ExitCode.BAD_SESSION, "is not a session: it is empty."),
        "text.tide.db": (ExitCode.BAD_SESSION, "is not a session: it is not a database."),
        "folder.tide.db": (ExitCode.UNREACHABLE, "cannot be read: Is a directory."),
        "newer.tide.db": (ExitCode.BAD_SESSION, "has schema 99 and this program knows schemas up"),
    }
    commands = (["sessions", "show"], ["sessions", "verify"], ["replay"])
    for name, (status, message) in expected.items():
        for command in (*commands, ["sessions", "export", "--out", "dataset"]):
            assert run_program([*command, name]) == status
            assert said(capsys).startswith(f"{name} {message}")
    assert not Path("dataset").exists()


def test_a_session_that_is_cut_short_opens_or_says_why_at_every_length(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = recorded.read_bytes()
    for length in (1, 50, 100, *range(512, len(content), 1_500), len(content) - 1):
        Path("cut.tide.db").write_bytes(content[:length])
        shown = run_program(["sessions", "show", "cut.tide.db"])
        assert shown in (ExitCode.OK, ExitCode.BAD_SESSION)
        assert said(capsys).startswith("cut.tide.db is ")
        assert run_program(["sessions", "verify", "cut.tide.db"]) == ExitCode.BAD_SESSION
        said(capsys)


def test_a_session_without_a_readable_event_is_not_exported(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(recorded, "cut.tide.db")
    with closing(sqlite3.connect("cut.tide.db")) as database:
        database.execute("UPDATE chunks SET events = zeroblob(9)")
        database.commit()
    arguments = ["sessions", "export", "cut.tide.db", "--out", "dataset"]
    assert run_program(arguments) == ExitCode.BAD_SESSION
    assert said(capsys).splitlines()[-1] == "cut.tide.db: there is no event to export."
    assert not Path("dataset").exists()


@pytest.mark.parametrize(
    ("target", "status", "message"),
    [
        (
            "there.tide.db",
            ExitCode.UNREACHABLE,
            "'there.tide.db' already exists; a recording never",
        ),
        (
            "there.txt",
            ExitCode.USAGE,
            "'there.txt' is not a folder, and a session file is named",
        ),
        ("a/b/c.tide.db", ExitCode.UNREACHABLE, "cannot record: there is no folder 'a/b'"),
        ("there.txt/x", ExitCode.UNREACHABLE, "cannot create the folder 'there.txt/x': not a dir"),
        ("/proc/x.tide.db", ExitCode.UNREACHABLE, "/proc/x.tide.db cannot be written"),
    ],
)
def test_where_nothing_can_be_recorded_nothing_is_run(
    target: str, status: ExitCode, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("there.tide.db", "there.txt"):
        Path(name).write_text("mine")
    assert run_program(["run", "-c", "cluster", "--record", target]) == status
    err = said(capsys)
    assert err.startswith(message)
    assert "cluster  ok" not in err
    assert {path.read_text() for path in Path().iterdir()} == {"mine"}


def test_a_dataset_never_takes_the_place_of_something_else(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").write_text("mine")
    Path("folder").mkdir()
    Path("folder/file").write_text("mine")
    for target in ("file", "folder"):
        arguments = ["sessions", "export", str(recorded), "--out", target]
        assert run_program(arguments) == ExitCode.UNREACHABLE
        assert said(capsys).startswith(f"{target} is not a dataset of tidegauge")
    assert os.listdir("folder") == ["file"]


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ("nowhere", "nowhere does not exist or is empty; export a session"),
        ("file", "file is not a da"),
    ],
)
def test_what_is_no_dataset_is_not_analyzed(
    dataset: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").write_text("mine")
    assert run_program(["analyze", dataset, "--out", "report"]) == ExitCode.UNREACHABLE
    assert said(capsys).startswith(message)
    assert os.listdir() == ["file"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_a_full_disk_is_told_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run_program(["run", "-c", "cluster", "--json"]) == ExitCode.UNREACHABLE
        assert "cannot write standard output: no space left on device" in said(capsys)
        monkeypatch.setattr(sys, "stderr", full)
        monkeypatch.setattr(sys, "stdout", StringIO())
        assert run_program(["run", "-c", "cluster"]) == ExitCode.OK


def test_a_script_whose_name_is_no_text_can_be_recorded() -> None:
    name = f"{BYTES}.tide"
    Path(name).write_text("cluster\n")
    assert run_program(["run", name, "--record", "run.tide.db"]) == ExitCode.OK
    assert run_program(["sessions", "show", "run.tide.db"]) == ExitCode.OK


def test_signals_are_as_they_were_after_a_run() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert run_program(["run", "-c", "cluster"]) == ExitCode.OK
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
