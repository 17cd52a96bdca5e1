"""Ends a broker's ZooKeeper session as an outsider: by taking it over, and closing it.

That needs the session's password, which a ZooKeeper server makes from the session's id alone
(``SessionTrackerImpl`` and ``ZooKeeperServer.generatePasswd``: 16 bytes of ``java.util.Random``).
"""

from kazoo.client import KazooClient

from tests.golden.real.processes import RealCluster, RealClusterError

SECRET = 0xB3415C00
PASSWORD_BYTES = 16
MULTIPLIER, INCREMENT, MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


def password(session: int) -> bytes:
    """The password of a session."""
    state = ((session ^ SECRET) ^ MULTIPLIER) & MASK
    found = b""
    while len(found) < PASSWORD_BYTES:
        state = (state * MULTIPLIER + INCREMENT) & MASK
        found += (state >> 16).to_bytes(4, "little")
    return found


def expire(cluster: RealCluster, broker: int) -> None:
    """End the session in which a broker is registered.

    Raises:
        RealClusterError: it is not registered.
    """
    found = cluster.get(f"/brokers/ids/{broker}")
    if found is None:
        raise RealClusterError(f"broker {broker} has no ZooKeeper session")
    session = found[1].ephemeralOwner
    client = KazooClient(cluster.zookeeper_at, client_id=(session, password(session)))
    client.start(timeout=10)
    client.stop()
    client.close()
