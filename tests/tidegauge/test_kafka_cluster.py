"""The process in which a test run's clusters live, when it does not."""

import pytest

from tidegauge.kafka_cluster import ClusterError, ClusterServer, KafkaCluster


def test_a_server_that_ends_gives_its_reason() -> None:
    server = ClusterServer()
    cluster = KafkaCluster(server)
    server._process.terminate()
    server._process.wait()
    for _ in range(2):
        with pytest.raises(ClusterError, match="the server has ended: it wrote no error"):
            cluster.crash(0)
    server.stop()


def test_a_server_that_cannot_start_gives_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    reason = r"(?s)the server did not start: .*No module named 'encodings'"
    with pytest.raises(ClusterError, match=reason):
        ClusterServer()
