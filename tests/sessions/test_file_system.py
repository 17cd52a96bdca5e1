"""Files that people name."""

import os
import socket
from pathlib import Path

import pytest

from sessions.file_system import open_regular, read_regular, require_inside, sync_folder


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_regular(path, 4)


def test_the_null_device_is_an_empty_file() -> None:
    assert read_regular(Path(os.devnull), 10) == b""


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for path, said in (
            (tmp_path / "pipe", "a named pipe"),
            (tmp_path / "socket", "a socket"),
            (Path("/dev/zero"), "a device"),
            (tmp_path, "Is a directory"),
        ):
            with pytest.raises(OSError, match=said):
                open_regular(path)


def test_a_link_to_a_pipe_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.tide").symlink_to(tmp_path / "pipe")
    with pytest.raises(OSError, match="a named pipe"):
        read_regular(tmp_path / "a.tide", 10)


def test_a_folders_names_can_be_made_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def fsync(number: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{number}"))

    monkeypatch.setattr(os, "fsync", fsync)
    sync_folder(tmp_path)
    assert synced == [str(tmp_path)]


def test_links_that_refer_to_each_other_are_an_error_of_the_file_system(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links"):
        require_inside(tmp_path / "a" / "file", tmp_path)
