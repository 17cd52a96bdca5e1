"""Sessions of zkCli: what its user types, and what is printed."""

from io import StringIO

import pytest

from commands.cli.main import run_program
from commands.exits import CommandError, ExitCode
from commands.language.parser import parse_script
from commands.runs.zk_shell import ZkShell


def shell(text: str = "cluster --brokers 1", version: str = "documents", zone: str = "") -> ZkShell:
    session = ZkShell(parse_script(text, "-", {}, ("--version", version)), zone)
    session.begin()
    return session


def test_the_prompt_counts_commands() -> None:
    session = shell()
    assert session.prompt == "[zk: localhost:2181(CONNECTED) 0] "
    session.run("ls /")
    session.run("")
    assert session.prompt == "[zk: localhost:2181(CONNECTED) 1] "


def test_children_are_printed_as_the_zkcli_of_the_release_prints_them() -> None:
    assert shell().run("ls /brokers") == "[ids, topics, seqid]\n"
    assert shell(version="3.9").run("ls /brokers") == "[ids, seqid, topics]\n"


def test_get_and_set_print_the_stat_up_to_zookeeper_3_4() -> None:
    session = shell(zone="Asia/Shanghai")
    data, *stat = session.run("get /controller_epoch").splitlines()
    assert data == "1"
    assert stat[0].startswith("cZxid = 0x1000000")
    assert stat[1] == "ctime = Sun Mar 15 18:16:00 CST 2020"
    assert "dataVersion = 1" in session.run("set /controller_epoch 5")
    newer = shell(version="3.9")
    assert newer.run("get /controller_epoch") == "1\n"
    assert newer.run("set /controller_epoch 5") == ""
    assert len(newer.run("get -s /controller_epoch").splitlines()) == 12


def test_errors_are_printed_in_the_words_of_zkcli() -> None:
    session = shell()
    assert session.run("get /nowhere") == "Node does not exist: /nowhere\n"
    assert "Node already exists: /brokers" in session.run("create /brokers")
    assert session.run("sl /").startswith("there is no statement 'sl'")


def test_commands_can_be_looked_up_and_repeated() -> None:
    session = shell()
    session.run("ls /brokers/ids")
    assert session.run("history") == "0 - ls /brokers/ids\n1 - history\n"
    assert session.run("redo 0") == "[0]\n"
    assert session.history[-1] == "ls /brokers/ids"
    assert session.run("redo 9") == "Command index out of range\n"
    for _ in range(20):
        session.run("stat /brokers")
    assert len(session.run("history").splitlines()) == 11
    with pytest.raises(EOFError):
        session.run("quit")


def test_the_cluster_goes_on_between_lines_and_by_statements() -> None:
    session = shell("cluster --brokers 2")
    owner = session.run("get /controller")
    session.run("delete /controller")
    assert session.run("get /controller") != owner
    session.run("broker crash 0")
    assert session.run("wait 30s") == "ok\n"
    assert session.run("ls /brokers/ids") == "[1]\n"
    assert "session 0x170ddb177000000 of 0 expired" in session.run("show events SessionEnded")


def test_commands_paths_and_statements_are_completed() -> None:
    session = shell()
    assert session.complete("he") == ["help "]
    assert session.complete("ls /brokers/t") == ["ls /brokers/topics"]
    assert "broker crash" in session.complete("broker cr")


def test_without_zookeeper_there_is_no_session() -> None:
    with pytest.raises(CommandError, match="no ZooKeeper"):
        shell(version="4.0")


def test_lines_from_a_pipe_are_echoed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("ls /brokers/ids\n\nquit\nls /\n"))
    assert run_program(["zk", "shell", "--version", "documents"]) == ExitCode.OK
    assert capsys.readouterr().out == (
        "[zk: localhost:2181(CONNECTED) 0] ls /brokers/ids\n"
        "[0]\n"
        "[zk: localhost:2181(CONNECTED) 1] quit\n"
    )


def test_a_wrong_time_zone_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["zk", "shell", "--tz", "Asia/Shangai"]) == ExitCode.USAGE
    assert "did you mean 'Asia/Shanghai'?" in capsys.readouterr().err
