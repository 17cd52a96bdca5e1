"""The GitHub Action, the workflows and the Dockerfile: their shell runs and names what is there."""

import os
import re
import signal
import socket
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from emulator.common.version import VERSION

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
SESSIONS = ROOT / ".github" / "actions" / "sessions" / "action.yml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DOCKERFILE = ROOT / "docker" / "Dockerfile"


def steps_of(file: Path) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = yaml.safe_load(file.read_text())["runs"]["steps"]
    return steps


class Job:
    """A job on a runner: its folder, its files for outputs, and the environment of its steps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output, self.variables = folder / "output", folder / "environment"
        programs = folder / "tidegauge-venv" / "bin"
        programs.mkdir(parents=True)
        program = programs / "tidegauge"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m tidegauge "$@"\n')
        program.chmod(0o755)
        self.environment = os.environ | {
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_ENV": str(self.variables),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        }

    def run(self, step: dict[str, Any], **inputs: str) -> "subprocess.CompletedProcess[str]":
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        return subprocess.run(
            command, env=self.environment | inputs, capture_output=True, text=True, timeout=100,
            check=False,
        )  # fmt: skip


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def test_a_cluster_serves_a_job_and_leaves_its_session(job: Job) -> None:
    _, start = steps_of(ACTION)
    stop, upload = steps_of(SESSIONS)
    pages = job.folder / "tidegauge"
    inputs = {"KAFKA_VERSION": "3.9", "BROKERS": "2", "ARGUMENTS": "--port 0 --seed 3"}
    started = job.run(start, **inputs)
    assert started.returncode == 0, started.stderr
    try:
        output = dict(line.split("=", 1) for line in job.output.read_text().splitlines())
        addresses = output["bootstrap-servers"].split(",")
        assert len(addresses) == 2
        host, _, port = addresses[0].partition(":")
        socket.create_connection((host, int(port)), timeout=10).close()
        assert f"KAFKA_BOOTSTRAP_SERVERS={','.join(addresses)}" in job.variables.read_text()
        assert output["sessions"] == str(pages)
        stopped = job.run(stop)
    finally:
        with suppress(ProcessLookupError):
            os.kill(int((pages / "serve.pid").read_text()), signal.SIGKILL)
    assert stopped.returncode == 0, stopped.stderr
    assert (pages / "cluster.tide.db").stat().st_size > 0
    assert "<h1>cluster.tide.db</h1>" in (pages / "cluster.html").read_text()
    assert "${{ runner.temp }}/tidegauge/**/*.html" in upload["with"]["path"]


def test_a_cluster_that_does_not_start_fails_the_job(job: Job) -> None:
    _, start = steps_of(ACTION)
    inputs = {"KAFKA_VERSION": "9.9", "BROKERS": "2", "ARGUMENTS": ""}
    started = job.run(start, **inputs)
    assert started.returncode == 1
    assert "9.9" in started.stderr


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_runs_what_is_there(file: Path) -> None:
    jobs = yaml.safe_load(file.read_text())["jobs"]
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert runs
    for named in re.findall(r"(?<!\S)\.ci/[a-z-]+", "\n".join(runs)):
        assert os.access(ROOT / named, os.X_OK)


@pytest.mark.parametrize(("tag", "status"), [("v{}", 0), ("v{}.1", 1), ("v", 1)])
def test_only_the_projects_version_is_published(tag: str, status: int, job: Job) -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    (check,) = (step for step in workflow["jobs"]["build"]["steps"] if "env" in step)
    done = subprocess.run(
        ["bash", "-e", "-c", check["run"]], cwd=ROOT, check=False, capture_output=True,
        env=job.environment | {"TAG": tag.format(VERSION)},
    )  # fmt: skip
    assert done.returncode == status
    publish = workflow["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert "password" not in str(publish)


def test_the_image_is_made_of_what_the_wheel_needs() -> None:
    text = DOCKERFILE.read_text()
    kept = (DOCKERFILE.parent / "Dockerfile.dockerignore").read_text().split("\n!")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {*wheel["packages"], "pyproject.toml", "requirements.lock"} <= {*map(str.strip, kept)}
    assert project["build-system"]["requires"][0] in text
    extras = re.search(r"\[([a-z,]+)\]", text)
    assert extras is not None
    assert {*extras[1].split(",")} <= project["project"]["optional-dependencies"].keys()
