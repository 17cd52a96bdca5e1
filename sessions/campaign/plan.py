"""A campaign's plan as plain data, which is stored with its results and sent to the workers.

The script has been parsed, once for each combination of the varied parameters, so that workers need
no parser: they pass statements to a cluster.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from emulator.inputs.statements import CreateCluster, Statement
from sessions.campaign.chaos import Chaos, with_faults

ID_CHARACTERS_MAX: Final = 90
"""Maximum length of a variant's part of a session's id; a seed fits behind it."""


class Around(Struct, frozen=True):
    """A text with a seed in the middle."""

    before: str
    after: str = ""

    def with_seed(self, seed: int) -> str:
        return f"{self.before}{seed}{self.after}"


class Variant(Struct, frozen=True):
    """One combination of the varied parameters, and the script as parsed with it.

    ``values`` is the combination, ``variables`` has the values of every ``${NAME}``. ``text`` is
    that of the ``cluster`` statement at ``line``; ``command`` opens a run in the console.
    """

    id: str
    values: dict[str, str]
    variables: dict[str, str]
    cluster: CreateCluster
    text: Around
    line: int
    steps: list[Statement]
    command: Around

    def spec(self, seed: int) -> CreateCluster:
        return structs.replace(self.cluster, seed=seed)


class Run(Struct, frozen=True):
    """One run of a campaign; ``session`` is its id in the dataset."""

    number: int
    variant: int
    seed: int
    session: str


class Plan(Struct, frozen=True, dict=True):
    """A whole campaign. Equal plans have the same runs, event by event.

    ``seeds`` are ranges, first and last included; ``source`` is the script's text; ``program`` is
    the program that runs it, with its version. With ``chaos``, each run has faults among its
    statements. ``path`` is the absolute path of the script, which does not affect the runs.
    """

    script: str
    source: str
    seeds: list[tuple[int, int]]
    variants: list[Variant]
    program: str
    path: str = ""
    chaos: Chaos | None = None

    @property
    def name(self) -> str:
        """The campaign's name, for display."""
        return Path(self.script).stem

    @cached_property
    def seeds_in_all(self) -> int:
        return sum(last - first + 1 for first, last in self.seeds)

    @property
    def runs(self) -> int:
        return self.seeds_in_all * len(self.variants)

    def run(self, number: int) -> Run:
        """Return the run with this number, from 0: all variants of a seed, then the next seed."""
        seed_index, at = divmod(number, len(self.variants))
        seed, variant = self._seed(seed_index), self.variants[at]
        return Run(number, at, seed, f"{variant.id}seed-{seed}")

    def of_run(self, run: Run) -> Variant:
        """Return the combination of a run, with the faults that its seed draws."""
        variant = self.variants[run.variant]
        if self.chaos is None:
            return variant
        steps = with_faults(variant.steps, self.chaos, variant.cluster, run.seed)
        return structs.replace(variant, steps=steps)

    def number_of(self, session: str) -> int:
        """Return the number of the run whose session has this id.

        Raises:
            KeyError: no run has it.
        """
        for at, variant in enumerate(self.variants):
            begin = f"{variant.id}seed-"
            if session.startswith(begin) and session.removeprefix(begin).lstrip("-").isdigit():
                seed, seed_index = int(session.removeprefix(begin)), 0
                for first, last in self.seeds:
                    if first <= seed <= last:
                        return (seed_index + seed - first) * len(self.variants) + at
                    seed_index += last - first + 1
        raise KeyError(session)

    def _seed(self, index: int) -> int:
        for (_, last), end in zip(self.seeds, self._ends, strict=True):
            if index < end:
                return last - (end - index - 1)
        raise IndexError(index)

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(last - first + 1 for first, last in self.seeds))

    def difference(self, other: "Plan") -> str:
        """Return why another plan cannot belong to the same campaign; empty: it can.

        It may have other seeds, and other values of the varied parameters.
        """
        own = {variant.id: variant for variant in self.variants}
        shared = [(own[variant.id], variant) for variant in other.variants if variant.id in own]
        checks = {
            "the script differs": self.source == other.source,
            "the varied values differ": _names(self) == _names(other),
            "the program differs": self.program == other.program,
            "the faults drawn differ": self.chaos == other.chaos,
            "what the script reads differs": all(first == second for first, second in shared),
        }
        return next((reason for reason, is_equal in checks.items() if not is_equal), "")

    def grown(self, other: "Plan") -> "Plan":
        """Return this plan extended by the seeds and combinations of another one."""
        own = {variant.id for variant in self.variants}
        new = [variant for variant in other.variants if variant.id not in own]
        return structs.replace(
            self, seeds=_merged([*self.seeds, *other.seeds]), variants=[*self.variants, *new]
        )


def _names(plan: Plan) -> set[frozenset[str]]:
    return {frozenset(variant.values) for variant in plan.variants}


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges of seeds, sorted and disjoint."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def variant_ids(combinations: Sequence[dict[str, str]]) -> list[str]:
    """Return the part of sessions' ids for each combination, made from its values.

    They are unique: if characters had to be removed, or ids could be ambiguous, a few digits of a
    hash are added.
    """
    return [_variant_id(combination) for combination in combinations]


def _variant_id(values: dict[str, str]) -> str:
    exact = "".join(f"{name}-{value}_" for name, value in values.items())
    clean = re.sub(r"[^A-Za-z0-9._-]", "-", exact).lstrip("._-")[:ID_CHARACTERS_MAX]
    if clean == exact and not any("_" in value for value in values.values()):
        return exact
    digest = sha256(msgspec.json.encode(list(values.items()))).hexdigest()[:12]
    return f"{clean.rstrip('_')}-{digest}_".lstrip("-")
