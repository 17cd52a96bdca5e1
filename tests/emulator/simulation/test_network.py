"""Links between hosts: order, cuts, losses, what is held back, and connections that break."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator import events
from emulator.events import CLIENTS, ZOOKEEPER, Event
from emulator.protocol import AnyMessage, ConnectionLost, MetadataRequest, MetadataResponse, ZkPing
from emulator.simulation.kernel import Host, Kernel, KernelState
from emulator.simulation.network import (
    CLIENT_LATENCY_US,
    LATENCY_MIN_US,
    LATENCY_SPREAD_US,
    Network,
    NetworkState,
)
from tests.support.stepping import run_until

LATENCY_MAX_US = LATENCY_MIN_US + LATENCY_SPREAD_US
SECOND_US = 1_000_000


class Inbox:
    """A host that keeps what arrives."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.arrived: list[tuple[int, int, AnyMessage]] = []

    def handle(self, source: int, message: AnyMessage) -> None:
        self.arrived.append((self.kernel.now, source, message))

    @property
    def messages(self) -> list[AnyMessage]:
        return [message for _, _, message in self.arrived]


class Net:
    """Hosts 0, 1, 2, ZooKeeper and the clients on one network."""

    def __init__(self, seed: int = 1) -> None:
        numbers = (0, 1, 2, ZOOKEEPER, CLIENTS)
        state = KernelState(seed, hosts={number: Host(number) for number in numbers})
        self.events: list[Event] = []
        self.kernel = Kernel(state, [self.events.append])
        self.network = Network(self.kernel, NetworkState())
        self.hosts = {number: Inbox(self.kernel) for number in numbers}
        self.kernel.actors = dict(self.hosts)
        for number in numbers:
            self.kernel.start_host(number)

    def send(self, *numbers: int, source: int = 0, destination: int = 1) -> list[int]:
        """Send messages that are told apart by a number."""
        return [self.network.send(source, destination, ZkPing(number)) for number in numbers]

    def got(self, host: int = 1) -> list[int]:
        """The numbers that arrived there in order."""
        return [each.session for each in self.hosts[host].messages if isinstance(each, ZkPing)]

    def lost_connections(self, host: int) -> list[ConnectionLost]:
        """What a host was told of broken connections."""
        return [each for each in self.hosts[host].messages if isinstance(each, ConnectionLost)]

    def pass_time(self, duration_us: int = SECOND_US) -> None:
        run_until(self.kernel, self.kernel.now + duration_us)

    def reasons(self) -> list[str]:
        """Why messages were lost."""
        return [each.reason for each in self.events if isinstance(each, events.MessageLost)]


def test_a_message_takes_its_latency() -> None:
    net = Net()
    net.send(7)
    net.pass_time()
    at_us, source, _ = net.hosts[1].arrived[0]
    assert LATENCY_MIN_US <= at_us < LATENCY_MAX_US
    assert source == 0


def test_clients_are_further_away() -> None:
    net = Net()
    net.send(7, source=CLIENTS)
    net.pass_time()
    at_us = net.hosts[1].arrived[0][0]
    assert CLIENT_LATENCY_US + LATENCY_MIN_US <= at_us < CLIENT_LATENCY_US + LATENCY_MAX_US


@given(seed=st.integers(0, 1000), waits_us=st.lists(st.integers(0, 300), max_size=30))
def test_messages_of_one_link_arrive_in_the_order_of_sending(
    seed: int, waits_us: list[int]
) -> None:
    net = Net(seed)
    for number, wait_us in enumerate(waits_us):
        net.pass_time(wait_us)
        net.send(number)
    net.pass_time()
    assert net.got() == list(range(len(waits_us)))


def test_a_message_is_known_by_the_event_of_its_sending() -> None:
    net = Net()
    (seq,) = net.send(7)
    sent = net.events[-1]
    assert isinstance(sent, events.MessageSent)
    assert (sent.seq, sent.name, sent.source, sent.destination) == (seq, "ZkPing", 0, 1)


def test_a_response_names_the_request_that_it_answers() -> None:
    net = Net()
    net.network.send(1, 0, ZkPing(1), 42)
    sent = net.events[-1]
    assert isinstance(sent, events.MessageSent)
    assert sent.request == 42


def test_the_details_of_a_message_are_told_to_whoever_looks() -> None:
    net = Net()
    net.network.send(CLIENTS, 1, MetadataRequest("orders"))
    sent = net.events[-1]
    assert isinstance(sent, events.MessageSent)
    assert sent.detail == MetadataRequest("orders").detail()


# ---- hosts that are down


def test_a_host_that_is_down_refuses_the_connection() -> None:
    net = Net()
    net.kernel.end_host(1)
    (seq,) = net.send(7)
    net.pass_time()
    assert net.lost_connections(0) == [ConnectionLost(1, seq)]
    assert net.reasons() == ["host down"]


def test_behind_a_cut_link_nobody_refuses() -> None:
    net = Net()
    net.kernel.end_host(1)
    net.network.change(0, 1, cut=True)
    net.send(7)
    net.pass_time()
    assert net.lost_connections(0) == []


def test_the_end_of_a_process_is_seen_by_its_peers() -> None:
    net = Net()
    net.kernel.end_host(0)
    net.network.host_ended(0)
    net.pass_time()
    assert net.lost_connections(1) == [ConnectionLost(0, 0)]
    assert net.lost_connections(CLIENTS) == [ConnectionLost(0, 0)]
    assert net.lost_connections(0) == []


def test_the_end_of_a_process_is_not_seen_through_a_cut_link() -> None:
    net = Net()
    net.network.change(0, 1, cut=True)
    net.kernel.end_host(0)
    net.network.host_ended(0)
    net.pass_time()
    assert net.lost_connections(1) == []
    assert net.lost_connections(2) == [ConnectionLost(0, 0)]


# ---- cuts


def test_what_is_sent_while_cut_arrives_after_healing() -> None:
    net = Net()
    net.network.change(0, 1, cut=True)
    net.send(1, 2)
    net.pass_time()
    assert net.got() == []
    net.network.heal(0, 1)
    net.send(3)
    net.pass_time()
    assert net.got() == [1, 2, 3]


def test_a_cut_is_one_way_unless_both_directions_are_cut() -> None:
    net = Net()
    net.network.change(0, 1, cut=True)
    net.send(1, source=1, destination=0)
    net.pass_time()
    assert net.got(0) == [1]


def test_a_conversation_needs_both_directions() -> None:
    net = Net()
    assert net.network.reachable(0, 1)
    net.network.change(1, 0, cut=True)
    assert not net.network.reachable(0, 1)
    assert not net.network.reachable(1, 0)
    net.network.heal(1, 0)
    assert net.network.reachable(0, 1)


def test_a_connection_given_up_loses_what_waits_on_it() -> None:
    net = Net()
    net.network.change(0, 1, cut=True)
    net.send(1)
    net.network.give_up(0, 1)
    net.network.heal(0, 1)
    net.send(2)
    net.pass_time()
    assert net.got() == [2]
    assert net.reasons() == ["connection given up"]


def test_single_requests_can_be_withdrawn_from_a_cut_link_with_their_responses() -> None:
    net = Net()
    net.network.change(0, 1, cut=True)
    net.network.change(1, 0, cut=True)
    first, _, third = net.send(1, 2, 3)
    for request in (first, third):
        net.network.send(1, 0, MetadataResponse(request, "t", "NONE", {}))
    assert [seq for seq, _ in net.network.waiting(0, 1)] == [first, first + 2, third]
    net.network.withdraw(0, 1, {first})
    net.network.heal(0, 1)
    net.network.heal(1, 0)
    net.pass_time()
    assert net.got() == [2, 3]
    assert [each.request for each in net.hosts[0].messages if hasattr(each, "request")] == [third]
    assert net.reasons() == ["connection given up"] * 2


def test_nothing_can_be_withdrawn_from_a_link_that_is_not_cut() -> None:
    net = Net()
    net.network.hold(0, 1, None)
    [request] = net.send(1)
    net.network.withdraw(0, 1, {request})
    net.network.withdraw(1, 2, {request})
    net.network.release(0, 1, None, lose=False)
    net.pass_time()
    assert net.got() == [1]


def test_giving_up_a_whole_link_changes_nothing() -> None:
    net = Net()
    net.network.hold(0, 1, None)
    net.send(1)
    net.network.give_up(0, 1)
    net.network.release(0, 1, None, lose=False)
    net.pass_time()
    assert net.got() == [1]


def test_what_waits_for_a_process_that_ends_is_lost() -> None:
    net = Net()
    net.network.change(0, 1, cut=True)
    net.send(1)
    net.kernel.end_host(1)
    net.kernel.start_host(1)
    net.network.heal(0, 1)
    net.pass_time()
    assert net.got() == []


def test_healing_a_link_that_is_whole_states_nothing() -> None:
    net = Net()
    before = len(net.events)
    net.network.heal(0, 1)
    assert len(net.events) == before


def test_a_whole_link_takes_no_room_in_the_state() -> None:
    net = Net()
    net.network.change(0, 1, cut=True, delay_us=5, drop_percent=1.0)
    assert list(net.network.state.links) == [(0, 1)]
    net.network.heal(0, 1)
    assert net.network.state.links == {}


# ---- slow and lossy links


def test_a_delay_comes_on_top_of_the_latency() -> None:
    net = Net()
    net.network.change(0, 1, delay_us=50_000)
    net.send(1)
    net.pass_time()
    at_us = net.hosts[1].arrived[0][0]
    assert 50_000 + LATENCY_MIN_US <= at_us < 50_000 + LATENCY_MAX_US


def test_messages_do_not_overtake_those_of_a_slower_time() -> None:
    net = Net()
    net.network.change(0, 1, delay_us=50_000)
    net.send(1)
    net.network.heal(0, 1)
    net.send(2)
    net.pass_time()
    assert net.got() == [1, 2]


def test_a_lost_message_breaks_the_connection_at_both_ends() -> None:
    net = Net()
    net.network.change(0, 1, drop_percent=100.0)
    net.send(1)
    net.pass_time()
    assert net.got() == []
    assert net.lost_connections(0) == [ConnectionLost(1, 0)]
    assert net.lost_connections(1) == [ConnectionLost(0, 0)]
    assert net.reasons() == ["dropped"]


@pytest.mark.parametrize("response", [False, True])
def test_of_all_clients_only_the_one_whose_message_was_lost_is_told(*, response: bool) -> None:
    net = Net()
    request = net.network.send(CLIENTS, 1, MetadataRequest("t"))
    way = (1, CLIENTS) if response else (CLIENTS, 1)
    net.network.change(*way, drop_percent=100.0)
    if response:
        net.network.send(*way, MetadataResponse(request, "t", "NONE", {}))
    else:
        request = net.network.send(*way, MetadataRequest("t"))
    net.pass_time()
    assert net.lost_connections(CLIENTS) == [ConnectionLost(1, request, lost=True)]


def test_the_share_of_lost_messages_is_as_asked() -> None:
    net = Net(seed=5)
    net.network.change(0, 1, drop_percent=30.0)
    net.send(*range(1000))
    net.pass_time()
    assert 260 < len(net.reasons()) < 340
    assert len(net.got()) == 1000 - len(net.reasons())


# ---- holding back


def test_held_messages_wait_in_order_and_go_one_by_one() -> None:
    net = Net()
    net.network.hold(0, 1, None)
    net.send(1, 2, 3)
    net.pass_time()
    assert net.got() == []
    net.network.release(0, 1, 1, lose=False)
    net.pass_time()
    assert net.got() == [1]
    net.network.release(0, 1, None, lose=False)
    net.pass_time()
    assert net.got() == [1, 2, 3]


def test_after_releasing_some_later_ones_are_still_held() -> None:
    net = Net()
    net.network.hold(0, 1, None)
    net.send(1)
    net.network.release(0, 1, 1, lose=False)
    net.send(2)
    net.pass_time()
    assert net.got() == [1]


def test_after_releasing_all_nothing_is_held_any_longer() -> None:
    net = Net()
    net.network.hold(0, 1, None)
    net.network.release(0, 1, None, lose=False)
    net.send(1)
    net.pass_time()
    assert net.got() == [1]


@pytest.mark.parametrize("api", ["ZkPing", "*"])
def test_a_message_is_held_by_its_name(api: str) -> None:
    net = Net()
    net.network.hold(0, 1, api)
    net.send(1)
    net.pass_time()
    assert net.got() == []


def test_the_name_of_an_exchange_holds_its_requests() -> None:
    net = Net()
    net.network.hold(0, 1, "Metadata")
    net.network.send(0, 1, MetadataRequest("orders"))
    net.pass_time()
    assert net.hosts[1].arrived == []


def test_messages_of_another_name_pass() -> None:
    net = Net()
    net.network.hold(0, 1, "FetchResponse")
    net.send(1)
    net.pass_time()
    assert net.got() == [1]


def test_a_held_message_may_be_lost_instead() -> None:
    net = Net()
    net.network.hold(0, 1, None)
    net.send(1, 2)
    net.network.release(0, 1, 1, lose=True)
    net.network.release(0, 1, None, lose=False)
    net.pass_time()
    assert net.got() == [2]
    assert net.lost_connections(0) == [ConnectionLost(1, 0)]


def test_healing_lets_only_those_go_that_waited_for_the_cut() -> None:
    net = Net()
    net.network.change(0, 1, cut=True)
    net.network.hold(0, 1, "Metadata")
    net.network.send(0, 1, MetadataRequest("orders"))
    net.send(1)
    net.network.heal(0, 1)
    net.pass_time()
    assert net.hosts[1].messages == [ZkPing(1)]


def test_releasing_where_nothing_is_held_is_no_error() -> None:
    net = Net()
    net.network.release(0, 1, None, lose=False)
    assert net.events == []


def test_every_change_of_a_link_is_stated() -> None:
    net = Net()
    net.network.change(0, 1, cut=True)
    net.network.heal(0, 1)
    changes = [each for each in net.events if isinstance(each, events.LinkChanged)]
    assert [(each.source, each.destination, each.cut) for each in changes] == [
        (0, 1, True),
        (0, 1, False),
    ]
