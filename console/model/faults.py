"""What can be broken, and mended, at the selected object: the fault palette's lines.

Each is a statement of the command language. What may cost availability or records asks for the
object's name before it is given.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from emulator.releases.config import resolve
from sessions.model.cluster_view import ClusterView
from sessions.model.states import BrokerState, PartitionState

UNCLEAN: Final = "unclean.leader.election.enable"
DELAY: Final = "500ms"
"""How late messages become on a link that is delayed from the palette."""
LINKS_MAX: Final = 6
"""To how many other brokers links are offered."""
BROKER: Final = re.compile(r"broker\.(\d+)|/brokers/(?:ids/)?(\d+)|/controllers/(\d+)")
PARTITION_PATH: Final = re.compile(
    r"/brokers/topics/([^/]+)/partitions/(\d+)|/topics/([^/]+)/(\d+)"
)


class Fault(Struct, frozen=True):
    """One thing to do: ``statement`` does it.

    ``confirm`` is the object's name, which has to be typed first; empty where nothing can be lost.
    """

    title: str
    statement: str
    confirm: str = ""


def faults_of(view: ClusterView, names: Sequence[str]) -> list[Fault]:
    """The faults of the objects of these names; of the controller if none is known."""
    found: dict[str, Fault] = {}
    partitions, brokers = _objects(view, names)
    for tp in partitions:
        found |= {each.statement: each for each in _of_partition(view, view.state.partitions[tp])}
    for host in brokers:
        if host in view.state.brokers:
            of_host = _of_broker(view, view.state.brokers[host])
        else:
            of_host = _of_controller(view, host)
        found |= {each.statement: each for each in of_host}
    return list(found.values())


def subject_of(view: ClusterView, names: Sequence[str]) -> str:
    """What the palette is about, in words."""
    partitions, brokers = _objects(view, names)
    if partitions:
        return partitions[0]
    if not brokers:
        return "nothing"
    return f"{'broker' if brokers[0] in view.state.brokers else 'controller'} {brokers[0]}"


def _objects(view: ClusterView, names: Sequence[str]) -> tuple[list[str], list[int]]:
    """The partitions that are meant, and the hosts: a partition means its leader's too.

    In KRaft the active controller is one of the hosts, and so is what else is down of the quorum.
    """
    state = view.state
    controllers = {} if state.quorum is None else state.quorum.controllers
    partitions: list[str] = []
    brokers: list[int] = []
    for selected in names:
        path = PARTITION_PATH.match(selected)
        name = f"{path[1] or path[3]}-{path[2] or path[4]}" if path else selected
        if match := BROKER.fullmatch(name):
            brokers.append(int(match[1] or match[2] or match[3]))
        elif name in state.partitions:
            partitions.append(name)
            leader = state.partitions[name].leader
            brokers.append(-1 if leader is None else leader)
    known = [
        each for each in dict.fromkeys(brokers) if each in state.brokers or each in controllers
    ]
    if not partitions and not known:
        controller = state.controller.broker
        is_known = controller in state.brokers or controller in controllers
        known = [controller] if controller is not None and is_known else list(state.brokers)[:1]
    leader = None if state.quorum is None else state.quorum.leader
    amiss = [each for each, status in controllers.items() if status != "running"]
    more = [*([] if leader is None else [leader]), *amiss]
    return partitions, list(dict.fromkeys([*known, *more]))


def together(faults: Sequence[Fault]) -> Fault:
    """One fault after the other, without time between them but what each takes itself."""
    names = dict.fromkeys(fault.confirm for fault in faults if fault.confirm)
    titles = ", then ".join(fault.title for fault in faults)
    return Fault(titles, "; ".join(fault.statement for fault in faults), " and ".join(names))


def statement(command: str, *words: object) -> str:
    """A statement of the command language: words that begin with a dash are no options of it."""
    given = [shlex.quote(str(word)) for word in words]
    dashes = ["--"] if any(word.startswith("-") for word in given) else []
    return " ".join([command, *dashes, *given])


# ---- brokers


def _of_broker(view: ClusterView, broker: BrokerState) -> Iterator[Fault]:
    number, name = broker.id, f"broker {broker.id}"
    if broker.state == "frozen":
        yield Fault(f"thaw {name}", statement("broker thaw", number))
    if broker.state in ("crashed", "stopped"):
        yield Fault(f"start {name}", statement("broker start", number))
        yield Fault(f"start {name} with empty disks", f"broker start {number} --clean", name)
        return
    yield Fault(f"crash {name}", f"broker crash {number}", name)
    yield Fault(f"power off {name}", f"broker crash {number} --lose-unflushed", name)
    if broker.state == "running":
        yield Fault(f"shut {name} down (controlled shutdown)", f"broker stop {number}", name)
        yield Fault(f"freeze {name}", f"broker freeze {number}", name)
    yield from _of_rack(view, broker)
    if broker.session:
        yield Fault(f"expire session of {name}", f"zk expire {number}", name)
    yield from _of_links(view, number, name)


def _of_controller(view: ClusterView, number: int) -> Iterator[Fault]:
    """What can be done to a controller of the quorum; only a majority elects and fences."""
    quorum = view.state.quorum
    assert quorum is not None
    state, name = quorum.controllers[number], f"controller {number}"
    shown = f"active {name}" if number == quorum.leader else name
    if state == "frozen":
        yield Fault(f"thaw {name}", statement("controller thaw", number))
    if state in ("crashed", "stopped"):
        yield Fault(f"start {name}", statement("controller start", number))
        return
    yield Fault(f"crash {shown}", f"controller crash {number}", name)
    if state == "running":
        yield Fault(f"shut {shown} down", f"controller stop {number}", name)
        yield Fault(f"freeze {shown}", f"controller freeze {number}", name)
    yield Fault(f"isolate {shown}", f"network isolate {number}", name)


def _of_rack(view: ClusterView, broker: BrokerState) -> Iterator[Fault]:
    """All brokers of its rack at once, if it is not alone there."""
    alive = [
        each.id
        for each in view.state.brokers.values()
        if each.rack == broker.rack and each.state not in ("crashed", "stopped")
    ]
    if broker.rack and len(alive) > 1:
        crashes = "; ".join(statement("broker crash", each) for each in sorted(alive))
        names = ", ".join(map(str, sorted(alive)))
        yield Fault(f"crash rack {broker.rack} (brokers {names})", crashes, f"rack {broker.rack}")


def _of_links(view: ClusterView, number: int, name: str) -> Iterator[Fault]:
    if view.state.quorum is None:
        yield Fault(f"cut {name} from ZooKeeper", f"network cut {number} zk", name)
    else:
        cuts = [statement("network cut", number, each) for each in view.state.quorum.controllers]
        yield Fault(f"cut {name} from the controllers", "; ".join(cuts), name)
    yield Fault(f"isolate {name}", f"network isolate {number}", name)
    others = [each for each in view.state.brokers if each != number][:LINKS_MAX]
    for other in others:
        link = f"{number} {other}"
        yield Fault(f"cut link {number} to {other}", f"network cut {link}", name)
        yield Fault(f"delay link {number} to {other} by {DELAY}", f"network delay {link} {DELAY}")
    if any(number in (each.source, each.destination) for each in view.state.links):
        yield Fault("heal all links", "network heal")


# ---- partitions


def _of_partition(view: ClusterView, partition: PartitionState) -> Iterator[Fault]:
    tp, leader = partition.name, partition.leader
    for broker, replica in sorted(partition.replica_states.items()):
        if replica.paused:
            yield Fault(
                f"let follower {broker} fetch again", statement("replica resume", f"{tp}@{broker}")
            )
        elif replica.role == "follower" and broker != leader:
            yield Fault(
                f"slow follower: {broker} stops fetching",
                statement("replica pause", f"{tp}@{broker}"),
            )
    yield _unclean(view, partition)
    if partition.state == "offline":
        yield Fault(f"elect a leader for {tp} uncleanly", statement("election unclean", tp), tp)
    elif partition.replicas and leader != partition.replicas[0]:
        yield Fault("elect the preferred leader", statement("election preferred", tp))


def _unclean(view: ClusterView, partition: PartitionState) -> Fault:
    """The switch, over to what it is not."""
    topic = partition.topic
    own = view.state.topic_configs.get(topic, {}).get(UNCLEAN)
    usual = resolve(view.state.version, view.state.config).unclean_leader_election_enable
    if own == "true" or (not own and usual):
        return Fault(
            f"unclean election off for {topic}",
            statement("topic config", topic, f"{UNCLEAN}=false"),
        )
    return Fault(
        f"unclean election on for {topic}",
        statement("topic config", topic, f"{UNCLEAN}=true"),
        topic,
    )
