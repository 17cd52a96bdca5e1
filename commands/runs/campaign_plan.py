"""A campaign's plan: its script, parsed once for each combination of the varied parameters."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from commands.exits import CommandError, ExitCode
from commands.language import values as words
from commands.language.cluster_options import ClusterOptions
from commands.language.parser import Script, parse_script, read_text
from commands.language.ranges import CONFIG, Seeds, Variation, seeds
from commands.language.values import Setting
from emulator.common.version import THIS_PROGRAM
from emulator.inputs.statements import Statement
from sessions.campaign.chaos import Chaos
from sessions.campaign.plan import Around, Plan, Variant, variant_ids
from sessions.grammar.words import BadWord

COMMAND: Final = "'tidegauge campaign'"
SEED: Final = "seed"
VERSION: Final = "version"
MODE: Final = "mode"
VARIANTS_MAX: Final = 1_000
ANY_SEED: Final = 0
"""Placeholder for the seed while the script is parsed."""


class CampaignOptions(NamedTuple):
    """The campaign's options from the command line."""

    file: str
    seeds: Seeds | None
    vary: Sequence[Variation]
    variables: dict[str, str]
    version: str | None
    config: Sequence[Setting]
    chaos: Chaos | None = None
    mode: str | None = None
    image: str | None = None


def plan(options: CampaignOptions) -> tuple[Plan, tuple[str, ...]]:
    """Return the campaign, and the given variables that the script does not use.

    Raises:
        CommandError: the script does not parse with some combination, or a varied parameter has no
            effect.
    """
    vary = {varied.name: varied.values for varied in options.vary}
    if len(vary) < len(options.vary):
        raise _bad("--vary: a name is varied twice")
    chosen = options.seeds
    if SEED in vary:
        if chosen is not None:
            raise _bad("takes --seeds or --vary seed=.., not both")
        chosen = _checked_seeds(vary.pop(SEED))
    combinations = [dict(zip(vary, values, strict=True)) for values in product(*vary.values())]
    if len(combinations) > VARIANTS_MAX:
        raise _bad(f"--vary: {len(combinations):,} combinations are too many ({VARIANTS_MAX:,})")
    source = read_text(Path(options.file))
    readings = [_Reading(options, source, combination) for combination in combinations]
    ids = variant_ids(combinations)
    campaign = Plan(
        script=options.file,
        source=source,
        seeds=list(chosen or Seeds([(0, 99)])),
        variants=[reading.variant(name) for reading, name in zip(readings, ids, strict=True)],
        program=THIS_PROGRAM,
        path=str(Path(options.file).absolute()),
        chaos=options.chaos,
    )
    return campaign, readings[0].script.unused


def _checked_seeds(values: list[str]) -> Seeds:
    try:
        return seeds(",".join(values))
    except BadWord as error:
        raise _bad(f"--vary: {error}") from None


class _Reading:
    """The script as it is parsed with one combination."""

    def __init__(self, options: CampaignOptions, source: str, values: dict[str, str]) -> None:
        self.options = options
        self.values = values
        self.variables = options.variables | {
            name: value for name, value in values.items() if words.VARIABLE_NAME.fullmatch(name)
        }
        self.cluster = ClusterOptions(
            version=self._value(VERSION, options.version, words.version),
            mode=self._value(MODE, options.mode, words.choice("kraft", "zk")),
            seed=ANY_SEED,
            config=[*options.config, *self._config()],
            image=options.image,
        )
        self.script: Script = parse_script(
            source, options.file, self.variables, self.cluster.words()
        )
        for name in self.script.unused:
            if name in values and name not in (VERSION, MODE):
                raise _bad(f"--vary {name}: nothing in {options.file} asks for ${{{name}}}")

    def variant(self, name: str) -> Variant:
        """Return the combination as a part of a plan; its session ids start with ``name``."""
        script = self.script
        return Variant(
            id=name,
            values=self.values,
            variables=self.variables,
            cluster=script.spec,
            text=_around(script.cluster.text, self._after_seed()),
            line=script.cluster.line,
            steps=[step for step in script.steps if isinstance(step, Statement)],
            command=self._command(),
        )

    def _value(self, name: str, default: str | None, parse: Callable[[str], str]) -> str | None:
        """Return the value of a cluster option in this combination; by default the given one."""
        try:
            chosen = self.values.get(name)
            return default if chosen is None else parse(chosen)
        except BadWord as error:
            raise _bad(f"--vary: {error}") from None

    def _after_seed(self) -> list[str]:
        """Return the words of the cluster's options that follow the seed."""
        return msgspec.structs.replace(self.cluster, version=None, seed=None).words()

    def _config(self) -> Iterator[Setting]:
        for name, value in self.values.items():
            if name.startswith(CONFIG):
                yield Setting(name.removeprefix(CONFIG), value)

    def _command(self) -> Around:
        """Return the command that opens a run in the console."""
        settings = self._after_seed()
        for name, value in self.variables.items():
            if name not in self.script.unused:
                settings += ["--set", f"{name}={value}"]
        begin = ["tidegauge", "console", self.options.file, "--from-start", "--paused"]
        options = ClusterOptions(version=self.cluster.version, seed=ANY_SEED).words()
        return _around(shlex.join([*begin, *options, *settings]), settings)


def _around(text: str, after: list[str]) -> Around:
    """Split a text that ends in a seed around the seed; ``after`` are the words that follow."""
    end = f" {shlex.join(after)}" if after else ""
    return Around(text.removesuffix(f"{ANY_SEED}{end}"), end)


def _bad(message: str) -> CommandError:
    return CommandError(ExitCode.USAGE, f"{COMMAND} {message}")
