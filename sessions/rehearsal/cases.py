"""The cases of a rehearsal: which processes are lost together, and in which orders."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations
from random import Random
from typing import Final

from msgspec import Struct

from emulator.cluster_image.image import ClusterImage
from emulator.common.names import nearest_hint

ORDERS: Final = 6
"""How many orders are rehearsed in which the brokers of one case may be missed."""
FEW: Final = 3
"""Of so many brokers, all orders are rehearsed."""


class Case(Struct, frozen=True):
    """Processes that are lost together: nodes by id, as the image names them.

    ``brokers`` and ``controllers`` are those that were up. A combined node is in both.
    """

    name: str
    lose: tuple[int, ...]
    brokers: tuple[int, ...] = ()
    controllers: tuple[int, ...] = ()

    @property
    def is_race(self) -> bool:
        """Whether the outcome can depend on which of its brokers the cluster misses first."""
        return len(self.brokers) > 1

    def orders(self) -> list[tuple[int, ...]]:
        """Return the orders of its brokers to rehearse: all, or some that begin and end alike."""
        if len(self.brokers) <= FEW:
            return list(permutations(self.brokers)) or [()]
        draw = Random(0)
        orders = [self.brokers, self.brokers[::-1]]
        while len(orders) < ORDERS:
            orders.append(tuple(draw.sample(self.brokers, len(self.brokers))))
        return orders


class CaseError(ValueError):
    """A case names something that the cluster does not have."""


def each_broker(image: ClusterImage) -> Iterator[Case]:
    """Return the loss of each broker that is up."""
    for broker in image.brokers:
        if broker.up:
            yield _case(image, f"broker {broker.id}", (broker.id,))


def each_controller(image: ClusterImage) -> Iterator[Case]:
    """Return the loss of each controller that is up and no broker."""
    brokers = {broker.id for broker in image.brokers}
    for controller in image.quorum.controllers if image.quorum else ():
        if controller.up and controller.voter and controller.id not in brokers:
            yield _case(image, f"controller {controller.id}", (controller.id,))


def each_rack(image: ClusterImage) -> Iterator[Case]:
    """Return the loss of each rack with a broker that is up."""
    for name in sorted({broker.rack for broker in image.brokers if broker.rack and broker.up}):
        yield rack(image, name)


def rack(image: ClusterImage, name: str) -> Case:
    """Return the loss of all that runs in a rack.

    Raises:
        CaseError: there is no such rack.
    """
    racks = {broker.rack for broker in image.brokers if broker.rack}
    if name not in racks:
        hint = f"the racks are {', '.join(sorted(racks))}" if racks else "no broker has a rack"
        raise CaseError(f"There is no rack {name!r}: {hint}.")
    brokers = tuple(broker.id for broker in image.brokers if broker.rack == name)
    return _case(image, f"rack {name}", brokers)


def each_pair(image: ClusterImage) -> Iterator[Case]:
    """Return the loss of each two brokers that are up."""
    up = [broker.id for broker in image.brokers if broker.up]
    for pair in combinations(up, 2):
        yield _case(image, f"brokers {pair[0]} and {pair[1]}", pair)


def together(image: ClusterImage, losses: Iterable[tuple[str, str]]) -> Case:
    """Return the loss of brokers, controllers and racks together, each a kind and a name.

    Raises:
        CaseError: there is no such broker, controller or rack.
    """
    nodes: list[int] = []
    names: list[str] = []
    for kind, name in losses:
        nodes += rack(image, name).lose if kind == "rack" else named(image, [int(name)]).lose
        names.append(f"{kind} {name}")
    return _case(image, ", ".join(names), nodes)


def named(image: ClusterImage, nodes: Sequence[int]) -> Case:
    """Return the loss of nodes that somebody names.

    Raises:
        CaseError: there is no such node.
    """
    known = {broker.id for broker in image.brokers}
    known |= {controller.id for controller in image.quorum.controllers} if image.quorum else set()
    for node in nodes:
        if node not in known:
            hint = nearest_hint(str(node), [str(number) for number in sorted(known)])
            ids = ", ".join(map(str, sorted(known)))
            raise CaseError(f"There is no node {node}{hint}; the nodes are {ids}.")
    names = ", ".join(map(str, nodes))
    return _case(image, f"nodes {names}" if len(nodes) > 1 else f"node {names}", tuple(nodes))


def _case(image: ClusterImage, name: str, nodes: Iterable[int]) -> Case:
    lose = tuple(sorted(set(nodes)))
    controllers = image.quorum.controllers if image.quorum else ()
    return Case(
        name,
        lose,
        tuple(broker.id for broker in image.brokers if broker.up and broker.id in lose),
        tuple(
            controller.id
            for controller in controllers
            if controller.up and controller.voter and controller.id in lose
        ),
    )
