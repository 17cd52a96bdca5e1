"""The Lab's question to the explorer, and its findings. Nothing here is drawn."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.explorer.bounds import PROPERTIES, Bounds
from emulator.explorer.search import Observer, Progress
from emulator.releases.profiles import DEFAULT_VERSION

EVERY: Final = "all that Kafka promises"
AS_RELEASED: Final = "as the release has it"
CANCELLED: Final = "it was cancelled"
TIME_LIMIT: Final = "the time limit was reached"
LIMITS: Final = {"10 s": 10, "1 min": 60, "10 min": 600, "none": 0}
"""How long a search may take, in seconds."""


class Question(Struct, frozen=True):
    """A release within bounds, what must hold, and the time limit (seconds; 0: none).

    ``elr`` is the level of eligible leader replicas, None for the release's default.
    """

    bounds: Bounds = Bounds(DEFAULT_VERSION)
    elr: int | None = None
    property: str = ""
    limit_seconds: int = LIMITS["1 min"]


class Setting(Struct, frozen=True):
    """One line of a question: its label, meaning, value, and choices."""

    name: str
    meaning: str
    value: str
    choices: Sequence[str]
    choose: Callable[[int], Question]

    @property
    def place(self) -> int:
        """The index of its value among the choices."""
        return self.choices.index(self.value) if self.value in self.choices else 0


COUNTED: Final = (
    ("replicas", "replicas", "of the one partition", (2, 3, 4)),
    ("records", "records", "produced", (1, 2, 3)),
    ("elections", "elections", "times that leadership moves to a live member", range(4)),
    ("isr changes", "isr_changes", "times that a follower lags for too long", range(4)),
    ("crashes", "crashes", "faults: a broker is killed, and keeps its log", range(4)),
    ("power losses", "power_losses", "faults: what is not flushed is lost", range(3)),
    ("fencings", "fencings", "faults: heartbeats are late, without ZooKeeper", range(3)),
    ("shutdowns", "shutdowns", "orderly stops, without ZooKeeper", range(3)),
    ("min.insync.replicas", "min_insync_replicas", "that acks=all needs in sync", (1, 2, 3)),
)
"""The bounds that are numbers: name, field, meaning, choices."""


def settings_of(question: Question, versions: Sequence[str]) -> list[Setting]:
    """The lines of a question; ``versions`` are the releases to choose from."""
    bounds = question.bounds

    def bounded(field: str, values: Sequence[object]) -> Callable[[int], Question]:
        return lambda n: replace(question, bounds=replace(bounds, **{field: values[n]}))

    settings = [
        Setting(
            "release", "whose rules are explored", bounds.version, versions,
            bounded("version", versions),
        )
    ]  # fmt: skip
    for name, field, meaning, values in COUNTED:
        shown = [str(value) for value in values]
        value = str(getattr(bounds, field))
        settings.append(Setting(name, meaning, value, shown, bounded(field, values)))
    acks = {"all": -1, "1": 1}
    chosen = next(word for word, value in acks.items() if value == bounds.acks)
    settings.append(
        Setting("acks", "of producers", chosen, list(acks), bounded("acks", [*acks.values()]))
    )
    unclean = ("no", "yes")
    settings.append(
        Setting(
            "unclean elections", "replicas out of sync may lead if need be",
            unclean[bounds.unclean], unclean, bounded("unclean", (False, True)),
        )
    )  # fmt: skip
    levels = (AS_RELEASED, "off", "on")
    numbers = (None, 0, 1)
    settings.append(
        Setting(
            "eligible replicas", "KIP-966, from 4.0 on",
            levels[numbers.index(question.elr)], levels,
            lambda n: replace(question, elr=numbers[n]),
        )
    )  # fmt: skip
    properties = ("", *PROPERTIES)
    settings.append(
        Setting(
            "what must hold", PROPERTIES.get(question.property, ""), question.property or EVERY,
            (EVERY, *PROPERTIES), lambda n: replace(question, property=properties[n]),
        )
    )  # fmt: skip
    seconds = list(LIMITS.values())
    limit = next(word for word, value in LIMITS.items() if value == question.limit_seconds)
    settings.append(
        Setting(
            "time limit", "of each release", limit, list(LIMITS),
            lambda n: replace(question, limit_seconds=seconds[n]),
        )
    )  # fmt: skip
    return settings


class Counterexample(Struct, frozen=True):
    """A shortest path to a violation: its steps in words, and the script that takes it."""

    version: str
    property: str
    length: str
    steps: list[str]
    script: str


class Explored(Struct, frozen=True):
    """The result of a search: a sentence, a word for each property, and counterexamples."""

    version: str
    summary: str
    cells: dict[str, str]
    counterexamples: list[Counterexample]


class Watch:
    """Tracks one search after another, and ends them: at their limit, or on request."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.progress: Progress | None = None
        self.version = ""
        self.is_cancelled = False
        self.limit_seconds = 0
        self._began = clock()

    def begin(self, version: str, limit_seconds: int) -> Observer:
        self.version, self.progress, self._began = version, None, self.clock()
        self.limit_seconds = limit_seconds
        return self._look

    @property
    def seconds(self) -> float:
        return self.clock() - self._began

    def _look(self, progress: Progress) -> str:
        self.progress = progress
        if self.is_cancelled:
            return CANCELLED
        return TIME_LIMIT if 0 < self.limit_seconds <= self.seconds else ""
