"""The test suites of client libraries: ``python -m benchmarks.client_suites NAME ..``.

Each suite is fetched, built, and run against a cluster that this program serves. What it prints is
how many tests passed, failed and were skipped, and each accepted failure with its reason. The exit
status is 1 if a test failed that is not accepted.

``--folder`` keeps sources, builds and reports, so that a second run fetches nothing. Suites in
Python and C are cloned with git, those in Go come from Go's module proxy; ``--source`` names
another repository or folder. Suites in Go need Go, librdkafka's a C compiler and make.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.client_suites.results import Results
from benchmarks.client_suites.suites import SUITES, Git, Suite
from emulator.releases.versions import RELEASE_OF

ROOT: Final = Path(__file__).parents[2]
OVERLAYS: Final = Path(__file__).parent
SECONDS: Final = 3_600
"""The longest that a suite may take; then what it has reported counts."""
PROXY_API: Final = "http://127.0.0.1:8474/proxies"


def fetched(suite: Suite, folder: Path, source: str) -> Path:
    """Return a writable copy of a suite's sources, from ``source`` if it is given."""
    target, complete = folder / suite.name, folder / f"{suite.name}.complete"
    if complete.exists():
        return target
    shutil.rmtree(target, ignore_errors=True)
    if isinstance(suite.source, Git):
        url, tag = suite.source.url, ["--branch", suite.source.tag]
        clone = ["git", "-c", "advice.detachedHead=false", "clone", "-q", "--depth", "1"]
        run([*clone, *([] if source else tag), git_url(source) if source else url, str(target)])
    else:
        module = source or module_folder(f"{suite.source.path}@{suite.source.version}")
        shutil.copytree(module, target, copy_function=shutil.copy)
        run(["chmod", "-R", "u+w", str(target)])
    for own, theirs in suite.overlay.items():
        shutil.copy(OVERLAYS / own, target / theirs)
    if suite.packages:
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target"]
        run([*pip, str(folder / f"{suite.name}-packages"), *suite.packages])
    for command in suite.prepare:
        run(command, target)
    complete.touch()
    return target


def git_url(source: str) -> str:
    """Return a URL of a repository, also of a folder, of which git then fetches no history."""
    return Path(source).resolve().as_uri() if Path(source).exists() else source


def module_folder(module: str) -> str:
    """Download a Go module and return where it is."""
    command = ["go", "mod", "download", "-json", module]
    done = subprocess.run(command, capture_output=True, check=True, cwd=tempfile.gettempdir())
    return str(msgspec.json.decode(done.stdout)["Dir"])


def run(command: Sequence[str], folder: Path | None = None) -> None:
    """Run a command of a suite's preparation; it must succeed."""
    print(f"$ {' '.join(command)}", file=sys.stderr, flush=True)
    subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)


@contextmanager
def served(suite: Suite, version: str, folder: Path) -> Iterator[dict[str, str]]:
    """Serve the suite's cluster; yields the addresses and the token that it prints."""
    command = [sys.executable, "-P", "-m", "tidegauge", "serve", "--json", "--control", "0"]
    command += ["--port", str(suite.port), *suite.options]
    if suite.script:
        script = folder / f"{suite.name}.tide"
        script.write_text(f"{suite.script} --version {version}\n")
        command.append(str(script))
    else:
        command += ["--version", version]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    log = folder / f"{suite.name}.server.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, env=environment
        ) as process,
    ):
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                sys.exit(f"the cluster of {suite.name} does not start: {log.read_text().strip()}")
            ready = msgspec.json.decode(line, type=dict[str, Any])
            yield {name: value for name, value in ready.items() if isinstance(value, str)}
        finally:
            process.terminate()


@contextmanager
def proxied(suite: Suite, folder: Path, servers: Sequence[str]) -> Iterator[None]:
    """The program beside a suite: toxiproxy, with a proxy before each broker."""
    program = folder / "bin" / "server"
    if not program.exists():
        environment = {**os.environ, "GOBIN": str(program.parent)}
        subprocess.run(["go", "install", suite.beside], check=True, env=environment)
    with (
        (folder / f"{suite.name}.proxy.log").open("w") as log,
        subprocess.Popen([str(program)], stdout=log, stderr=log) as process,
    ):
        try:
            for number, server in enumerate(servers, 1):
                host, _, port = server.rpartition(":")
                behind = int(port) - int(servers[0].rpartition(":")[2]) + suite.port
                asked = {"name": f"kafka{number}", "listen": server, "upstream": f"{host}:{behind}"}
                posted(PROXY_API, asked)
            yield
        finally:
            process.terminate()


def stand_in(folder: Path) -> str:
    """Return a folder with a program that stands in for Docker."""
    program = folder / "stand-in" / "docker"
    program.parent.mkdir(exist_ok=True)
    source = (OVERLAYS / "docker_stand_in.py").read_text()
    program.write_text(f"#!{sys.executable}\n{source}")
    program.chmod(0o755)
    return str(program.parent)


def posted(url: str, value: dict[str, str]) -> None:
    """Post a JSON object, again while nobody listens yet."""
    command = ["curl", "-sS", "--fail", "--retry-connrefused", "--retry", "20", url, "-d"]
    subprocess.run(
        [*command, msgspec.json.encode(value).decode()], check=True, stdout=subprocess.DEVNULL
    )


def results_of(suite: Suite, version: str, folder: Path, source: Path, tests: str) -> Results:
    """Run a suite against a cluster of its own, and return what it reports."""
    report = folder / f"{suite.name}.report"
    output = folder / f"{suite.name}.out"
    report.unlink(missing_ok=True)
    with ExitStack() as stack:
        cluster = stack.enter_context(served(suite, version, folder))
        servers = cluster["bootstrap_servers"].split(",")
        if suite.beside:
            stack.enter_context(proxied(suite, folder, servers))
        host, _, port = servers[0].rpartition(":")
        values = {
            "servers": ",".join(servers),
            "host": host,
            "port": port,
            "version": version,
            "patch": RELEASE_OF[version],
            "report": str(report.resolve()),
            "python": sys.executable,
            "tests": tests,
            "conf": str((folder / f"{suite.name}.conf").resolve()),
        }
        Path(values["conf"]).write_text(suite.conf.format(**values))
        words = (*suite.command, *(suite.only if tests else ()))
        path = os.pathsep.join((str(source), str(folder / f"{suite.name}-packages")))
        own = {name: word.format(**values) for name, word in suite.environment.items()}
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "PATH": os.pathsep.join((stand_in(folder), os.environ["PATH"])),
            "SUITE_CONTROL": cluster["control"],
            "SUITE_TOKEN": cluster["token"],
            **{name: value for name, value in own.items() if value},
        }
        with output.open("w") as lines, suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [word.format(**values) for word in words],
                cwd=source / suite.folder,
                stdout=lines,
                stderr=subprocess.STDOUT,
                env=environment,
                timeout=SECONDS,
                check=False,
            )
    read_from = report if report.exists() else output
    try:
        return suite.read(read_from)
    except ValueError as error:
        sys.exit(f"{suite.name} has no results ({error}): see {output}")


def print_results(suite: Suite, version: str, results: Results, seconds: float) -> bool:
    """Print the figures of a suite and its failures; return whether all of them are accepted."""
    failed = sorted(name for name, outcome in results.items() if outcome == "failed")
    reasons = {name: reason_of(suite, name, version) for name in failed}
    accepted = {name: reason for name, reason in reasons.items() if reason}
    counts = [
        sum(outcome == kind for outcome in results.values()) for kind in ("passed", "skipped")
    ]
    figures = f"{counts[0]} passed, {len(failed) - len(accepted)} failed, {counts[1]} skipped"
    print(f"{suite.name} on {version}: {figures}, {len(accepted)} accepted, in {seconds:.0f} s")
    for name in failed:
        print(f"  accepted {name}: {reasons[name]}" if reasons[name] else f"  FAILED {name}")
    return bool(results) and len(accepted) == len(failed)


def reason_of(suite: Suite, name: str, version: str) -> str:
    """Return why a failure on a release is accepted; empty: it is not."""
    reasons = (
        accepted.reason
        for accepted in suite.accepted
        if accepted.holds_in(version) and fnmatchcase(name, accepted.tests)
    )
    return next(reasons, "")


def main() -> None:
    """Run the suites that are asked for, one after another."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+", choices=SUITES, metavar="NAME", help=", ".join(SUITES))
    parser.add_argument("--version", help="the release that is served [default: by suite]")
    parser.add_argument("--tests", default="", help="only these, as the suite's runner has it")
    default = Path(tempfile.gettempdir()) / "tidegauge-client-suites"
    parser.add_argument("--folder", type=Path, default=default, help=f"[default: {default}]")
    parser.add_argument("--source", default="", help="a repository or folder with the sources")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    passes = True
    for suite in (SUITES[name] for name in asked.names):
        version = asked.version or suite.version
        source = fetched(suite, asked.folder, asked.source)
        begun = time.monotonic()
        results = results_of(suite, version, asked.folder, source, asked.tests)
        passes &= print_results(suite, version, results, time.monotonic() - begun)
    sys.exit(0 if passes else 1)


if __name__ == "__main__":
    main()
