"""What a search is asked, as plain data: it can be sent to another process, or kept in a file."""

from msgspec import Struct

from emulator.explorer.bounds import Bounds
from emulator.explorer.model import Model
from emulator.explorer.partition_model import partition_model
from emulator.explorer.specifications import GENERATIONS, Constants, specification


class Release(Struct, frozen=True, tag="release"):
    """A release's own rules within bounds."""

    bounds: Bounds

    def model(self) -> Model:
        """What is explored."""
        return partition_model(self.bounds)


class Specification(Struct, frozen=True, tag="specification"):
    """A published specification, by the name of its module."""

    name: str
    constants: Constants
    symmetric: bool = False

    def model(self) -> Model:
        """What is explored."""
        return specification(GENERATIONS[self.name], self.constants, symmetric=self.symmetric)


class Question(Struct, frozen=True):
    """What is explored, and which properties are looked at."""

    of: Release | Specification
    properties: tuple[str, ...] = ()
