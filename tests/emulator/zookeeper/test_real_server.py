"""The emulated ZooKeeper against a real server, which is started here: random requests of three
clients, their responses and errors, every znode's Stat, and the watch events in their order.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from emulator.zookeeper.operations import Check, Create, Delete, Operation, SetData
from emulator.zookeeper.sessions import Sessions
from tests.emulator.zookeeper.real_server import (
    TICK_TIME_MS,
    Address,
    missing,
    negotiated_ms,
    running,
)
from tests.emulator.zookeeper.twins import HOSTS, Twins

REASON = missing()
pytestmark = [
    # The client's own threads draw random numbers while examples are drawn.
    pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies"),
    pytest.mark.xdist_group("zookeeper"),
    pytest.mark.skipif(REASON is not None, reason=REASON or "there is a server"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with running(tmp_path_factory.mktemp("zookeeper")) as found:
        yield found


@pytest.fixture(scope="module")
def twins(address: Address) -> Iterator[Twins]:
    with connected(address, SESSION_TICKS_MAX * TICK_TIME_MS) as found:
        yield found


@contextmanager
def connected(address: Address, timeout_ms: int) -> Iterator[Twins]:
    """Three clients of each server."""
    found = Twins(address, timeout_ms)
    yield found
    for client in found.real.values():
        client.end()


SESSION_TICKS_MAX = 20
QUICK_SESSION_TICKS = 5
WHO = st.sampled_from(HOSTS)
PATHS = st.sampled_from(["/a", "/a/a", "/a/b", "/b", "/b/a", "/b/a/c"])
NEW_PATHS = st.one_of(PATHS, PATHS, st.sampled_from(["/a/n-", "/b/n-", "/s"]))
DATA = st.sampled_from([None, "", "x", "öß"])
VERSIONS = st.sampled_from([-1, -1, -1, 0, 0, 1, 2])
CREATES = st.builds(Create, NEW_PATHS, DATA, st.booleans(), st.booleans())
OPERATIONS: st.SearchStrategy[Operation] = st.one_of(
    st.builds(Create, PATHS, DATA),
    CREATES,
    st.builds(SetData, PATHS, DATA, VERSIONS),
    st.builds(Delete, PATHS, VERSIONS),
)
CHECKS = st.builds(Check, PATHS, VERSIONS)
LOOKS = st.sampled_from(["exists", "get", "children"])
Step = tuple[str, int, object]
STEPS = st.one_of(
    st.tuples(st.just("write"), WHO, OPERATIONS),
    st.tuples(st.just("write"), WHO, OPERATIONS),
    st.tuples(LOOKS, WHO, PATHS),
    st.tuples(LOOKS, WHO, PATHS),
    st.tuples(
        st.just("multi"), WHO, st.lists(st.one_of(OPERATIONS, CHECKS), min_size=1, max_size=4)
    ),
    st.tuples(st.just("renew"), WHO, st.none()),
)


def take(twins: Twins, step: Step) -> None:
    """Ask both servers the same."""
    kind, host, what = step
    match kind, what:
        case _, Create():
            twins.create(host, what)
        case _, SetData():
            twins.set_data(host, what)
        case _, Delete():
            twins.delete(host, what)
        case "multi", list():
            twins.multi(host, what)
        case (("exists" | "get" | "children"), str()):
            getattr(twins, kind)(host, what, watches=True)
        case "renew", _:
            twins.renew(host)


SHARED = settings(
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink takes minutes here
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@settings(SHARED, max_examples=100)
@given(steps=st.lists(STEPS, min_size=20, max_size=40))
def test_random_requests_come_to_the_same(twins: Twins, steps: list[Step]) -> None:
    twins.begin()
    for step in steps:
        take(twins, step)
    twins.compare()


@settings(SHARED, max_examples=2)
@given(steps=st.lists(STEPS, min_size=15, max_size=15), host=WHO)
def test_an_expired_session_takes_its_ephemerals_along(
    address: Address, steps: list[Step], host: int
) -> None:
    with connected(address, QUICK_SESSION_TICKS * TICK_TIME_MS) as twins:
        twins.begin()
        for step in steps:
            take(twins, step)
        twins.expire(host)
        for step in steps:
            take(twins, step)
        twins.compare()


def test_a_disconnected_client_keeps_session_and_ephemerals(twins: Twins) -> None:
    twins.begin()
    twins.create(1, Create("/mine", ephemeral=True))
    twins.children(2, "", watches=True)
    twins.disconnect(1)
    twins.exists(1, "/mine", watches=False)
    twins.create(1, Create("/next"))
    twins.compare()
    assert twins.real[1].states[-3:] == ["CONNECTED", "SUSPENDED", "CONNECTED"]


def test_the_ephemerals_of_a_session_go_in_the_same_order(twins: Twins) -> None:
    twins.begin()
    twins.create(1, Create("/brokers"))
    twins.create(1, Create("/brokers/ids"))
    paths = ["/controller", *(f"/brokers/ids/{n}" for n in (0, 7, 1001)), *"zyx"]
    for path in paths:
        twins.create(1, Create(f"/{path.strip('/')}", ephemeral=True))
        twins.get(2, f"/{path.strip('/')}", watches=True)
    twins.renew(1)
    twins.compare()


@pytest.mark.parametrize("path", ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"])
def test_zookeepers_own_znodes_stay(twins: Twins, path: str) -> None:
    twins.begin()
    twins.delete(1, Delete(path))
    twins.delete(1, Delete(path, 7))
    twins.create(1, Create(path))
    twins.create(1, Create("/after"))
    twins.compare()


def test_a_znode_with_nothing_but_a_number_can_be_made_at_the_root(twins: Twins) -> None:
    twins.begin()
    twins.create(1, Create("/", sequential=True))
    twins.multi(1, [Create("/", sequential=True), Create("/", "", True, True)])
    twins.create(1, Create("/after"))
    twins.compare()


@pytest.mark.parametrize("ticks", [0, 1, 2, 3.3, 19, 20, 21, 100])
def test_a_sessions_timeout_is_granted_within_the_same_bounds(
    twins: Twins, address: Address, ticks: float
) -> None:
    asked_ms = int(ticks * TICK_TIME_MS)
    sessions = Sessions(TICK_TIME_MS, 1)
    granted_ms = sessions.live[sessions.open(1, asked_ms, 0)].timeout_ms
    assert negotiated_ms(address, asked_ms) == granted_ms
