"""Options that override a script's ``cluster`` line."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from commands.language.values import Setting


class ClusterOptions(Struct, frozen=True, kw_only=True):
    """The command line's options for the cluster; None or empty leaves the script's value."""

    version: str | None = None
    mode: str | None = None
    seed: int | None = None
    brokers: int | None = None
    controllers: int | None = None
    config: Sequence[Setting] | None = None
    image: str | None = None

    def words(self) -> list[str]:
        """Return the options as words of the ``cluster`` statement."""
        words = ["--version", self.version] if self.version is not None else []
        words += ["--seed", str(self.seed)] if self.seed is not None else []
        words += ["--mode", self.mode] if self.mode is not None else []
        words += ["--brokers", str(self.brokers)] if self.brokers is not None else []
        words += ["--controllers", str(self.controllers)] if self.controllers is not None else []
        words += ["--image", str(Path(self.image).absolute())] if self.image is not None else []
        for setting in self.config or ():
            words += ["--config", f"{setting.name}={setting.value}"]
        return words
