"""Whatever a client sends that can be read, brokers go on: it is answered, or disconnected."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.inputs.statements import CreateTopic, ReceiveRequest
from emulator.wire.apis import APIS
from emulator.wire.codec import encode_request
from emulator.wire.header import RequestHeader
from tests.emulator.wire.random_messages import messages
from tests.support.releases import THOROUGH
from tests.support.wire_client import WireLab

KEYS = sorted(WireLab.made().external.versions)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: APIS[key].name)
@settings(max_examples=8 if THOROUGH else 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_it_disturbs_nobody(key: int, data: st.DataObject) -> None:
    lab = WireLab.made()
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    api, versions = APIS[key], lab.external.versions[key]
    here = lab.connect()
    for number in range(3):
        version = data.draw(st.sampled_from(versions))
        request = data.draw(messages(api.request, version))
        frame = encode_request(RequestHeader(key, version, number, "any"), request)
        lab.give(ReceiveRequest(connection=here, frame=frame))
        lab.pass_time(200_000)
    bystander = lab.connect(1)
    lab.ask(bystander, APIS[3].request(), 9)
