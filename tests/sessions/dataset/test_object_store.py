"""A dataset on an object store: moto's S3 server on loopback, which speaks S3 over HTTP."""

from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from sessions.dataset.export import export_session
from sessions.dataset.layout import (
    COMMIT,
    MANIFEST,
    SCHEMA_FILE,
    STAGING,
    Commit,
    Dataset,
    DatasetError,
    SessionExists,
)
from sessions.dataset.location import Location
from sessions.dataset.maintenance import compact, info, remove
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import EVENTS
from tests.sessions.dataset.streams import committed_story

moto_server = pytest.importorskip("moto.server")
DATASET = "s3a://bucket/some/dataset"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A store; gives its URL."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication

    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    backend = cache(DomainDispatcherApplication.get_backend_for_host)
    with pytest.MonkeyPatch.context() as patch:
        # moto lists the folders of all its services twice a request.
        patch.setattr(DomainDispatcherApplication, "get_backend_for_host", backend)
        server.start()
        try:
            host, port = server.get_host_and_port()
            url = f"http://{host}:{port}"
            for name, value in (
                ("AWS_ENDPOINT_URL", url),
                ("AWS_ACCESS_KEY_ID", "test"),
                ("AWS_SECRET_ACCESS_KEY", "test"),
                ("AWS_REGION", "us-east-1"),
            ):
                patch.setenv(name, value)
            yield url
        finally:
            server.stop()


@pytest.fixture(scope="module")
def client(server: str) -> Iterator[Any]:
    """What looks after the store's buckets."""
    import boto3

    client = boto3.client("s3", region_name="us-east-1")
    yield client
    client.close()


@pytest.fixture
def store(client: Any) -> None:  # noqa: ANN401 - boto3 has no types
    """The store has one empty bucket."""
    for bucket in client.list_buckets()["Buckets"]:
        for item in client.list_objects_v2(Bucket=bucket["Name"]).get("Contents", ()):
            client.delete_object(Bucket=bucket["Name"], Key=item["Key"])
        client.delete_bucket(Bucket=bucket["Name"])
    client.create_bucket(Bucket="bucket")


def add(session: str) -> None:
    export_session(committed_story().events, SessionFacts(session), DATASET)


def events_of(session: str) -> int:
    import pyarrow.compute as pc

    rows = Dataset(DATASET).scan(EVENTS, ["seq"], pc.field(SESSION) == session)
    count: int = rows.num_rows
    return count


@pytest.mark.usefixtures("store")
def test_sessions_are_added_merged_and_removed() -> None:
    for name in ("s1", "s2", "s3"):
        add(name)
    dataset = Dataset(DATASET)
    assert dataset.sessions() == ["s1", "s2", "s3"]
    with pytest.raises(DatasetError, match=r"session s1 is already in s3a://bucket/some/dataset"):
        add("s1")
    assert compact(dataset) == 3
    assert info(dataset).commits == 1
    remove(dataset, ["s2"])
    assert dataset.sessions() == ["s1", "s3"]
    assert events_of("s3") == len(committed_story().events)
    assert dataset.left_out() == []


def meanwhile(monkeypatch: pytest.MonkeyPatch, other: Callable[[], object]) -> None:
    """Have another process do something when the next commit has looked at what is there."""
    enter, waiting = Dataset.enter, [other]

    def late(self: Dataset, commit: Commit, folder: Path, sessions: Collection[str]) -> None:
        if waiting:
            waiting.pop()()
        enter(self, commit, folder, sessions)

    monkeypatch.setattr(Dataset, "enter", late)


@pytest.mark.usefixtures("store")
def test_of_two_exports_of_a_session_at_the_same_time_one_withdraws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meanwhile(monkeypatch, lambda: add("s1"))
    with pytest.raises(SessionExists, match="session s1 is already in"):
        add("s1")
    dataset = Dataset(DATASET)
    assert dataset.sessions() == ["s1"]
    assert events_of("s1") == len(committed_story().events)
    assert info(dataset).commits == 1
    assert (dataset.location / EVENTS.name).listed() == [
        file.name for entry in dataset.entries() for file in entry.files[EVENTS.name]
    ]
    assert dataset.left_out() == []


@pytest.mark.usefixtures("store")
def test_of_two_changes_of_a_commit_at_the_same_time_one_withdraws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("s1", "s2", "s3"):
        add(name)
    dataset = Dataset(DATASET)
    meanwhile(monkeypatch, lambda: remove(Dataset(DATASET), ["s2"]))
    with pytest.raises(DatasetError, match="another process has changed the same sessions"):
        compact(dataset)
    assert dataset.sessions() == ["s1", "s3"]
    assert dataset.left_out() == []
    assert compact(dataset) == 3  # of these one has no session any more
    assert events_of("s3") == len(committed_story().events)


@pytest.mark.usefixtures("store")
def test_what_is_uploaded_in_part_is_left_out_and_dropped_when_it_is_old() -> None:
    add("s1")
    add("s2")
    first, second = Dataset(DATASET).commits()
    place = Location(DATASET)
    (place / MANIFEST / f"{second.id}.json").delete()
    for begun in (second.begun, 0.0):
        dead = Commit(second.id, 1, second.events, second.files, (), begun)
        (place / STAGING / second.id / COMMIT).write(msgspec.json.encode(dead))
        assert Dataset(DATASET).sessions() == ["s1"]
        assert Dataset(DATASET).left_out() == [second.id]
        Dataset(DATASET).recover()
    assert Dataset(DATASET).left_out() == []
    assert (place / "events").listed() == [first.files["events"][0].name, SCHEMA_FILE]


@pytest.mark.usefixtures("store")
def test_a_dataset_is_verified_there_too(capsys: pytest.CaptureFixture[str]) -> None:
    def problems(status: int) -> list[tuple[str, str]]:
        capsys.readouterr()
        assert run_program(["dataset", "verify", DATASET, "--json"]) == status
        said = msgspec.json.decode(capsys.readouterr().out)
        assert said["sessions"] == (0 if status == ExitCode.BAD_SESSION else 2)
        return [(found["place"], found["problem"]) for found in said["problems"]]

    add("s1")
    add("s2")
    assert problems(ExitCode.OK) == []
    foreign = Location(DATASET) / EVENTS.name / "mine.parquet"
    foreign.write(b"x")
    assert problems(ExitCode.FAILED) == [(str(foreign), "this file is not in the manifest")]
    foreign.delete()
    first, second = (
        Location(DATASET) / EVENTS.name / commit.files[EVENTS.name][0].name
        for commit in Dataset(DATASET).commits()
    )
    content = bytearray(first.read())
    content[len(content) // 2] ^= 1
    first.write(bytes(content))
    second.delete()
    assert problems(ExitCode.BAD_SESSION) == [
        (str(first), "its SHA-256 is not that of the manifest"),
        (str(second), "this file is missing"),
    ]


def test_a_store_that_does_not_answer_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.chdir(tmp_path)
    path = "run.tide.db"
    assert run_program(["run", "-c", "cluster; settle", "--record", path]) == 0
    capsys.readouterr()
    assert run_program(["sessions", "export", path, "--out", DATASET]) == 3
    assert run_program(["dataset", "info", DATASET]) == 3
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 2
    assert all(line.startswith(f"{DATASET} could not be read: ") for line in said)
    assert [each.name for each in tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("place", ["hdfs://localhost:1/x", "s3a:x", "nosuch://host/x"])
@pytest.mark.parametrize("command", ["export", "analyze", "campaign"])
def test_a_uri_that_cannot_be_used_is_refused_by_every_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    place: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.tide").write_text("cluster\nsettle\n")
    assert run_program(["run", "s.tide", "--record", "run.tide.db"]) == 0
    assert run_program(["sessions", "export", "run.tide.db", "--out", "dataset"]) == 0
    before = sorted(each.name for each in tmp_path.iterdir())
    capsys.readouterr()
    words = {
        "export": ["sessions", "export", "run.tide.db", "--out", place],
        "analyze": ["analyze", "dataset", "--out", place],
        "campaign": ["campaign", "s.tide", "--out", place],
    }[command]
    assert run_program(words) == 3
    said = capsys.readouterr().err.strip()
    assert said.startswith(place)
    assert "\n" not in said
    assert sorted(each.name for each in tmp_path.iterdir()) == before
