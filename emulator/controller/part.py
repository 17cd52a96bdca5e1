"""What every part of the controller's work stands on."""

from typing import TYPE_CHECKING

from emulator.controller.state import ControllerState

if TYPE_CHECKING:
    from emulator.controller.controller import Controller


class Part:
    """One part of the work of the broker that is, or may become, the controller."""

    def __init__(self, controller: "Controller") -> None:
        """Act for ``controller``."""
        self.controller = controller
        self.broker = controller.broker
        self.world = controller.world
        self.kernel = controller.world.kernel
        self.profile = controller.world.profile

    @property
    def state(self) -> ControllerState:
        """The cache of the controller, which must be in office."""
        state = self.broker.state.controller
        assert state is not None
        return state

    def asks_anew(self, kind: str) -> bool:
        """Whether a change of a znode under /admin counts: from 1.1 only that it is there again."""
        return kind == "NodeCreated" or self.profile.has("requests_data_watched")
