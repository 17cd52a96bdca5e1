"""A worker that runs cases one after another, and reuses the adapters' processes."""

import re
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Final

from commands.conformance import settings
from commands.conformance.adapter import Adapter, AdapterError
from commands.conformance.broker_names import ScenarioError
from commands.conformance.case import Case, Result
from commands.conformance.guarantees import judge
from commands.conformance.run import Run
from commands.conformance.scenarios import Scenario
from commands.language.cluster_options import ClusterOptions
from commands.language.parser import Script
from commands.language.values import Setting
from commands.runs.served_cluster import ServedCluster
from commands.runs.served_script import begins_now, served_script
from emulator.releases.profiles import PROFILES
from emulator.releases.versions import is_since, is_until

START_SECONDS: Final = 60.0
"""How long an adapter may take to start: a JVM on a busy machine."""
CLOSE_SECONDS: Final = 3.0
"""How long a client may take to close after a scenario; then it is killed."""


class Bench:
    """Runs cases; processes that a case leaves are used by the next one of the same client."""

    def __init__(self) -> None:
        self._idle: list[Adapter] = []
        self._client = ""

    async def run(self, case: Case) -> Result:
        """Run one case.

        Raises:
            AdapterError: the adapter does not start.
        """
        began = monotonic()
        if case.client != self._client:
            await self.end()
            self._client = case.client

        async def take() -> Adapter:
            while self._idle:
                adapter = self._idle.pop()
                if adapter.is_running:
                    return adapter
                await adapter.end()
            return await Adapter.start(case.command, case.environment, START_SECONDS)

        adapter = await take()
        self._idle.append(adapter)
        reason = hindrance(case.scenario, case.version, adapter)
        if reason:
            return _result(case, "skipped", reason=reason)
        cluster = ServedCluster(_script(case), keeps_journal=True, folder=Path(case.sessions))
        run = Run(case.scenario, cluster, take, case.patience)
        try:
            await cluster.start()
            await run.run()
            violations = judge(run.history, case.scenario.asks)
            session = await _session(case, cluster) if violations else ""
        except ScenarioError as error:
            return _result(case, "error", reason=str(error), seconds=monotonic() - began)
        finally:
            await self._give_back(run.adapters)
            await cluster.stop()
        seconds = monotonic() - began
        if not violations:
            return _result(case, "passed", seconds=seconds)
        return _result(
            case,
            "failed",
            seconds=seconds,
            violations=[violation.text for violation in violations],
            session=session,
            at_us=violations[0].at_us,
        )

    async def _give_back(self, adapters: Iterable[Adapter]) -> None:
        """Close the clients; the process of one that does not close is killed."""
        for adapter in adapters:
            try:
                if adapter.is_open:
                    await adapter.ask({"do": "close"}, CLOSE_SECONDS)
                adapter.is_open = False
                self._idle.append(adapter)
            except AdapterError:
                await adapter.end()

    async def end(self) -> None:
        while self._idle:
            await self._idle.pop().end()


def hindrance(scenario: Scenario, version: str, adapter: Adapter) -> str:
    """Return the reason to leave a case out; empty if there is none."""
    numbers = PROFILES[version].numbers
    if scenario.since and not is_since(numbers, scenario.since):
        return f"the scenario is for releases since {scenario.since}"
    if scenario.until and not is_until(numbers, scenario.until):
        return f"the scenario is for releases until {scenario.until}"
    if adapter.oldest and not is_since(numbers, adapter.oldest):
        return f"{adapter.name} needs brokers of {adapter.oldest} or newer"
    missing = [need for need in scenario.needs if need not in adapter.can]
    return f"the client has no {missing[0]}" if missing else ""


def _script(case: Case) -> Script:
    """Return the script of the case's cluster."""
    options = ClusterOptions(
        version=case.version,
        seed=case.seed,
        brokers=settings.BROKERS,
        config=[Setting(name, str(value)) for name, value in case.scenario.config.items()],
    )
    return begins_now(served_script(options, settings.cluster(case.patience)))


def _result(case: Case, verdict: str, **more: object) -> Result:
    return Result(
        client=case.client,
        version=case.version,
        scenario=case.scenario.name,
        verdict=verdict,  # type: ignore[arg-type] # one of its three
        **more,  # type: ignore[arg-type]
    )


async def _session(case: Case, cluster: ServedCluster) -> str:
    """Write the session of a case that failed, and return its path."""
    words = re.sub(r"[^\w.-]+", "-", f"{case.client}-{case.version}-{case.scenario.name}")
    words = words.lstrip(".-")  # of ./my-adapter: a hidden file would not be found
    names = (words, *(f"{words}-{number}" for number in range(2, 10_000)))
    folder = Path(case.sessions)
    path = next(path for name in names if not (path := folder / f"{name}.tide.db").exists())
    answer = await cluster.write_recording(str(path))
    return str(answer["path"]) if answer["ok"] else ""
