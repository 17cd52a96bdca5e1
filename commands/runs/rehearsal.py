"""A rehearsal from within the console: the report of ``tidegauge rehearse`` as text."""

import os
from collections.abc import Callable

from commands.exits import CommandError, ExitCode
from commands.output.grids import as_text
from commands.output.rehearsal import details, tables, verdict
from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import ClusterImage
from emulator.inputs.statements import CreateCluster
from emulator.releases.config import ConfigError
from sessions.rehearsal.cases import each_broker, each_controller, each_rack
from sessions.rehearsal.processes import in_processes
from sessions.rehearsal.report import report_of
from sessions.rehearsal.runs import Rehearsal, all_trials, run_cases

IMAGE_NAME = "prod.cluster.json"
"""How commands in the report name the image."""


def rehearsed(image: ClusterImage, tell: Callable[[str], None]) -> str:
    """Rehearse the loss of each broker, controller and rack; ``tell`` is told the progress.

    Raises:
        CommandError: no cluster can start from the image.
    """
    completed = complete(image)
    image = completed.image
    cases = [*each_broker(image), *each_controller(image), *each_rack(image)]
    spec = CreateCluster(version=image.release or "", mode=image.mode or "", image=image)
    trials = len(all_trials(cases, image))

    def note(done: int) -> None:
        tell(f"{done} of {trials} trials of {len(cases)} cases done")

    try:
        rehearsal = Rehearsal(spec, image)
    except ConfigError as error:
        raise CommandError(ExitCode.USAGE, str(error)) from None
    run = in_processes(rehearsal, spec, os.cpu_count() or 1)
    runs = run_cases(cases, image, run, note)
    assumed = [str(assumption) for assumption in completed.assumed]
    report = report_of(rehearsal, runs, assumed, IMAGE_NAME)
    lines = [f"assumed: {assumption}" for assumption in assumed]
    lines.append(
        f"'tidegauge import kafka://.. --out {IMAGE_NAME}' makes the image of the commands"
    )
    return "\n".join([verdict(report), "", as_text(tables(report)), *details(report), *lines])
