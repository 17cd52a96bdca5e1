"""The parameters of a search as plain data, to be sent to a process or saved to a file."""

from msgspec import Struct

from emulator.explorer.bounds import Bounds
from emulator.explorer.model import Model
from emulator.explorer.partition_model import partition_model
from emulator.explorer.specifications import GENERATIONS, Constants, specification


class Release(Struct, frozen=True, tag="release"):
    """A release's rules within bounds."""

    bounds: Bounds

    def model(self) -> Model:
        return partition_model(self.bounds)


class Specification(Struct, frozen=True, tag="specification"):
    """A published specification, by module name."""

    name: str
    constants: Constants
    symmetric: bool = False

    def model(self) -> Model:
        return specification(GENERATIONS[self.name], self.constants, symmetric=self.symmetric)


class Question(Struct, frozen=True):
    """The model to explore, and the properties to check."""

    of: Release | Specification
    properties: tuple[str, ...] = ()
