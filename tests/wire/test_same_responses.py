"""One client program gets the same responses from emulated brokers as from real ones.

``responses/`` holds what real clusters of three brokers (2.8.2 and 3.9.1 with ZooKeeper, 4.1.2
without) answered :mod:`tests.wire.same_responses`.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tidegauge.kafka_cluster import KafkaCluster

pytest.importorskip("confluent_kafka")

from tests.wire.same_responses import Asking

pytestmark = pytest.mark.clients

RESPONSES: Final = Path(__file__).parent / "responses"
RELEASES: Final = sorted(path.stem for path in RESPONSES.glob("*.json"))


def is_understood(response: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether it is a response of brokers: the client itself says what they do not advertise."""
    return "_UNSUPPORTED_FEATURE" not in json.dumps(response)


@pytest.mark.parametrize(
    "release", [pytest.param(each, marks=pytest.mark.kafka(version=each)) for each in RELEASES]
)
def test_emulated_brokers_answer_as_real_ones(release: str, kafka_cluster: KafkaCluster) -> None:
    real = json.loads((RESPONSES / f"{release}.json").read_text())
    ours = Asking(kafka_cluster.bootstrap_servers).run()
    assert len(real) >= 40
    understood = {name: response for name, response in ours.items() if is_understood(response)}
    assert len(understood) >= len(real) - 1
    assert understood == {name: real[name] for name in understood}
