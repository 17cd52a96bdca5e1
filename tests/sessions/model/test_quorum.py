"""How far the members of a controller quorum have the metadata log, at each moment of a run."""

from emulator.inputs.statements import ChangeController, CreateTopic
from sessions.model.cluster_view import ClusterView
from sessions.model.metadata_image import MetadataReader
from sessions.model.quorum import members
from tests.support.lab import Lab


def test_nobody_has_more_of_the_log_than_its_leader() -> None:
    lab = Lab("4.1", 3, controllers=3)
    lab.do(CreateTopic(topic="t", partitions=2, replication_factor=3))
    lab.do(ChangeController(action="crash", which="active"))
    lab.wait(5_000)
    view, reader, compared = ClusterView(), MetadataReader(), 0
    for event in lab.seen.events:
        view.apply_all([event])
        quorum = view.state.quorum
        if quorum is None or quorum.leader is None:
            continue
        metadata = reader.at(view.state)
        assert metadata is not None
        ends = {member.id: member.end for member in members(view.state, metadata)}
        assert max(quorum.fetched.values(), default=0) <= ends[quorum.leader]
        compared += 1
    assert compared > 300
