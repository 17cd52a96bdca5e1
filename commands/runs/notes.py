"""Notes on a script that runs, but not as somebody might expect."""

from commands.language.parser import Script
from commands.output import streams
from emulator.releases.config import MISSPELT, without_effect


def with_notes(script: Script) -> Script:
    """Say which settings of a script are taken for others, and which change nothing."""
    spec = script.spec
    configs = dict(spec.config)
    for step in script.steps:
        configs |= getattr(getattr(step, "input", None), "config", {})
    for name in sorted(configs.keys() & MISSPELT.keys()):
        streams.narrate(f"NOTE: '{name}' is taken for '{MISSPELT[name]}', as Kafka spells it")
    for name, reason in without_effect(spec.config, spec.version).items():
        because = reason and f": {reason}"
        streams.narrate(f"NOTE: '{name}' changes nothing here{because}")
    return script
