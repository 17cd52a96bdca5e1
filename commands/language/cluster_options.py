"""Options that override a script's ``cluster`` line."""

from collections.abc import Sequence

from commands.language import values


def cluster_options(
    version: str | None,
    seed: int | None,
    config: Sequence[values.Setting] | None,
    brokers: int | None = None,
    mode: str | None = None,
) -> list[str]:
    """Return these options as words of the ``cluster`` statement."""
    options = ["--version", version] if version is not None else []
    options += ["--seed", str(seed)] if seed is not None else []
    options += ["--mode", mode] if mode is not None else []
    options += ["--brokers", str(brokers)] if brokers is not None else []
    for setting in config or ():
        options += ["--config", f"{setting.name}={setting.value}"]
    return options
