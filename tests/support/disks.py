"""Brokers' disks with one partition, for tests of observers that read no more of them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from emulator.storage.log import Log


class Held(NamedTuple):
    """A replica of which only the log is read."""

    log: Log


class Disks(Mapping[int, Mapping[str, Held]]):
    """The disks of the brokers that have a log of the partition ``tp`` now."""

    def __init__(self, tp: str, logs: Mapping[int, Log]) -> None:
        self.tp = tp
        self.logs = logs

    def __getitem__(self, broker: int) -> Mapping[str, Held]:
        return {self.tp: Held(self.logs[broker])}

    def __iter__(self) -> Iterator[int]:
        return iter(self.logs)

    def __len__(self) -> int:
        return len(self.logs)
