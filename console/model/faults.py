"""The fault palette's entries: what can be broken or repaired at the selected object.

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
from sessions.model.quorum import GONE
from sessions.model.states import BrokerState, PartitionState, QuorumState

UNCLEAN: Final = "unclean.leader.election.enable"
DELAY: Final = "500ms"
"""The delay of a link that is slowed from the palette."""
LINKS_MAX: Final = 6
"""The most other brokers to which links are offered."""
HOST: Final = re.compile(r"(?:broker\.|/brokers/(?:ids/)?|/controllers/)(\d+)")
"""A broker or a controller: as events touch it, and in the trees of ZooKeeper and of KRaft."""
PARTITION_PATH: Final = re.compile(r"(?:/brokers)?/topics/([^/]+)/(?:partitions/)?(\d+)")


class Fault(Struct, frozen=True):
    """A fault, or a repair: ``statement`` performs it.

    ``confirm`` is the object's name, which has to be typed first; empty where nothing can be lost.
    """

    title: str
    statement: str
    confirm: str = ""


def faults_of(view: ClusterView, names: Sequence[str]) -> list[Fault]:
    """The faults of the objects of these names; of the controller's broker if none is known."""
    faults: dict[str, Fault] = {}
    partitions, hosts = _objects(view, names)
    for tp in partitions:
        faults |= {
            fault.statement: fault for fault in _of_partition(view, view.state.partitions[tp])
        }
    quorum = view.state.quorum
    for host in hosts:
        if host in view.state.brokers:
            faults |= {
                fault.statement: fault for fault in _of_broker(view, view.state.brokers[host])
            }
        elif quorum is not None:
            faults |= {fault.statement: fault for fault in _of_controller(quorum, host)}
    if quorum is not None:
        faults |= {fault.statement: fault for fault in _of_controllers(quorum)}
    return list(faults.values())


def subject_of(view: ClusterView, names: Sequence[str]) -> str:
    """The palette's subject in words."""
    partitions, hosts = _objects(view, names)
    if partitions:
        return partitions[0]
    if not hosts:
        return "nothing"
    return f"{'broker' if hosts[0] in view.state.brokers else 'controller'} {hosts[0]}"


def _objects(view: ClusterView, names: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the partitions concerned, and the hosts: a partition also means its leader's host."""
    state = view.state
    partitions: list[str] = []
    hosts: list[int] = []
    for selected in names:
        path = PARTITION_PATH.match(selected)
        name = f"{path[1]}-{path[2]}" if path else selected
        if match := HOST.fullmatch(name):
            hosts.append(int(match[1]))
        elif name in state.partitions:
            partitions.append(name)
            leader = state.partitions[name].leader
            hosts.append(-1 if leader is None else leader)
    there = {*state.brokers, *(() if state.quorum is None else state.quorum.controllers)}
    known = [host for host in dict.fromkeys(hosts) if host in there]
    if not partitions and not known:
        controller = state.controller.broker
        active = controller if controller in there else None
        known = list(state.brokers)[:1] if active is None else [active]
    return partitions, known


def together(faults: Sequence[Fault]) -> Fault:
    """Combine faults: one after another, with no time between them but what each takes."""
    names = dict.fromkeys(fault.confirm for fault in faults if fault.confirm)
    titles = ", then ".join(fault.title for fault in faults)
    return Fault(titles, "; ".join(fault.statement for fault in faults), " and ".join(names))


def statement(command: str, *words: object) -> str:
    """Build a statement of the command language in which no word is taken for an option."""
    given = [shlex.quote(str(word)) for word in words]
    dashes = ["--"] if any(word.startswith("-") for word in given) else []
    return " ".join([command, *dashes, *given])


# ---- brokers


def _of_broker(view: ClusterView, broker: BrokerState) -> Iterator[Fault]:
    number, name = broker.id, f"broker {broker.id}"
    if broker.state == "frozen":
        yield Fault(f"thaw {name}", statement("broker thaw", number))
    if broker.state in GONE:
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


def _of_rack(view: ClusterView, broker: BrokerState) -> Iterator[Fault]:
    """A fault of all brokers of the rack, if there are several."""
    alive = [
        member.id
        for member in view.state.brokers.values()
        if member.rack == broker.rack and member.state not in GONE
    ]
    if broker.rack and len(alive) > 1:
        crashes = "; ".join(statement("broker crash", broker_id) for broker_id in sorted(alive))
        names = ", ".join(map(str, sorted(alive)))
        yield Fault(f"crash rack {broker.rack} (brokers {names})", crashes, f"rack {broker.rack}")


def _of_links(view: ClusterView, number: int, name: str) -> Iterator[Fault]:
    yield _cut_from_metadata(view, number, name)
    yield Fault(f"isolate {name}", f"network isolate {number}", name)
    others = [peer for peer in view.state.brokers if peer != number][:LINKS_MAX]
    for other in others:
        link = f"{number} {other}"
        yield Fault(f"cut link {number} to {other}", f"network cut {link}", name)
        yield Fault(f"delay link {number} to {other} by {DELAY}", f"network delay {link} {DELAY}")
    if any(number in (link.source, link.destination) for link in view.state.links):
        yield Fault("heal all links", "network heal")


def _cut_from_metadata(view: ClusterView, number: int, name: str) -> Fault:
    """From ZooKeeper, or in KRaft from all controllers."""
    quorum = view.state.quorum
    if quorum is None:
        return Fault(f"cut {name} from ZooKeeper", f"network cut {number} zk", name)
    cuts = "; ".join(
        f"network cut {number} {controller}" for controller in sorted(quorum.controllers)
    )
    return Fault(f"cut {name} from the controllers", cuts, name)


def _of_controllers(quorum: QuorumState) -> Iterator[Fault]:
    """KRaft's controllers, the active one first."""
    for number in sorted(
        quorum.controllers, key=lambda controller: (controller != quorum.leader, controller)
    ):
        yield from _of_controller(quorum, number)


def _of_controller(quorum: QuorumState, number: int) -> Iterator[Fault]:
    state, active = quorum.controllers[number], number == quorum.leader
    name = f"controller {number}"
    shown = f"{name} (active)" if active else name
    if state == "frozen":
        yield Fault(f"thaw {shown}", f"controller thaw {number}")
    if state in GONE:
        yield Fault(f"start {shown}", f"controller start {number}")
    else:
        yield Fault(f"crash {shown}", f"controller crash {number}", name)
    if state == "running":
        yield Fault(f"freeze {shown}", f"controller freeze {number}", name)


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
    """Switch unclean election to the opposite setting."""
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
