"""One fault under other conditions, each worked out on a copy of the cluster, one after another."""

from typing import Any

from console.model.faults import statement
from emulator.inputs.statements import Statement
from sessions.sources.forecast import Effect, StartingPoint
from sessions.sources.source import Source
from sessions.sources.variants import Trial, Variant, variants_of


class FaultVariants:
    """The effects of a fault under each variant, as far as they are known."""

    def __init__(self, source: Source, fault: str) -> None:
        """Compare the fault of this statement, from the current state of the source's cluster."""
        self._source: Any = source
        state = source.view.state
        self.variants = variants_of(state.version, kraft=state.quorum is not None)
        self.effects: dict[str, Effect] = {}
        self.failures: dict[str, str] = {}
        self._topics = sorted({partition.topic for partition in state.partitions.values()})
        self._fault = fault
        self._starting_point: StartingPoint | None = None
        self._trial: Trial | None = None

    @property
    def next(self) -> Variant | None:
        """The variant that is worked on; None if all are done."""
        return next(
            (variant for variant in self.variants if not self._is_settled(variant.title)), None
        )

    def _is_settled(self, title: str) -> bool:
        return title in self.effects or title in self.failures

    def go_on(self, seconds: float) -> None:
        """Work for a moment. What cannot be done under a variant is its failure."""
        variant = self.next
        if variant is None:
            return
        try:
            trial = self._trial or self._begin(variant)
            self._trial = trial
            if trial.go_on(seconds):
                assert trial.forecast is not None
                assert trial.forecast.effect is not None
                self.effects[variant.title] = trial.forecast.effect
                self._trial = None
        except Exception as error:  # reported in the variant's column
            self.failures[variant.title] = str(error) or type(error).__name__
            self._trial = None

    def _begin(self, variant: Variant) -> Trial:
        if self._starting_point is None:
            self._starting_point = self._source.starting_point()
        past = self._source.past() if variant.has_another_past else ()
        return Trial(
            variant,
            self._starting_point,
            past,
            self._settings(variant),
            self._source.statements_of(self._fault),
        )

    def _settings(self, variant: Variant) -> list[Statement]:
        """The statements that change every topic."""
        changes = [f"{name}={value}" for name, value in variant.settings.items()]
        lines = [
            statement("topic config", topic, change) for topic in self._topics for change in changes
        ]
        return [given for line in lines for given in self._source.statements_of(line)]
