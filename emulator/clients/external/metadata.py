"""Metadata requests of external clients: brokers, topics and coordinators."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from emulator import protocol
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.ids import topic_id_of, uuid_bytes
from emulator.clients.external_state import ExternalState
from emulator.common.errors import ERRORS, NONE
from emulator.common.names import INTERNAL_TOPICS
from emulator.protocol import AnyMessage, ClusterMetadataRequest, ClusterMetadataResponse
from emulator.releases.config import Settings
from emulator.releases.profiles import Profile
from emulator.wire.messages import cluster as wire
from emulator.wire.messages import coordinator as finding
from emulator.wire.types import API_VERSIONS, NO_UUID, Message

SEVERAL_SINCE: Final = 4
"""The first FindCoordinator version with several keys."""
GROUP: Final = 0
TRANSACTION: Final = 1
"""Types of coordinator keys: group id or transactional id."""
BROKER_ENDPOINT: Final = 1
CONTROLLER_ENDPOINT: Final = 2
"""Types of endpoints (``EndpointType``)."""


class Addresses(Struct, eq=False):
    """The advertised addresses of brokers."""

    settings: Settings

    def of(self, broker: int, call: AnyCall) -> tuple[str, int]:
        """Return host and port, at the listener that a request came to.

        An unresolvable name if the broker has no such listener.
        """
        addresses = self.settings.listeners.get(broker, {}).get(call.connection.listener)
        return (f"broker-{broker}", 9092 + broker) if addresses is None else addresses[1]


class Metadata(Struct, eq=False):
    """Metadata: brokers, controller and topics (KIP-4 and later)."""

    addresses: Addresses
    racks: dict[int, str]
    known_ids: "TopicIds"

    def ask(self, call: Call[wire.MetadataRequest]) -> list[AnyMessage]:
        """Request the named topics, or all topics."""
        request = call.message
        all_of_old = call.header.api_version == 0 and not request.topics
        if request.topics is None or all_of_old:
            return [ClusterMetadataRequest(None)]
        names = [
            self.known_ids.name(topic.topic_id) if topic.name is None else topic.name
            for topic in request.topics
        ]
        known = [name for name in names if name is not None]
        return [ClusterMetadataRequest(known, request.allow_auto_topic_creation)]

    def respond(
        self, call: Call[wire.MetadataRequest], response: ClusterMetadataResponse
    ) -> Message:
        self.known_ids.learn(response)
        topics = [self._topic(name, topic) for name, topic in response.topics.items()]
        topics += [
            wire.MetadataResponseTopic(
                error_code=ERRORS["UNKNOWN_TOPIC_ID"].code, name=None, topic_id=topic.topic_id
            )
            for topic in call.message.topics or ()
            if topic.name is None and self.known_ids.name(topic.topic_id) is None
        ]
        brokers = []
        for broker in response.brokers:
            host, port = self.addresses.of(broker, call)
            rack = self.racks.get(broker)
            brokers.append(wire.MetadataResponseBroker(broker, host, port, rack))
        return wire.MetadataResponse(
            brokers=brokers,
            cluster_id=response.cluster_id or None,
            controller_id=response.controller,
            topics=topics,
        )

    @staticmethod
    def _topic(name: str, topic: protocol.TopicDescription) -> wire.MetadataResponseTopic:
        partitions = [
            wire.MetadataResponsePartition(
                ERRORS[partition.error].code,
                number,
                partition.leader,
                partition.leader_epoch,
                partition.replicas,
                partition.isr,
            )
            for number, partition in topic.partitions.items()
        ]
        return wire.MetadataResponseTopic(
            ERRORS[topic.error].code,
            name,
            topic_id_of(topic),
            name in INTERNAL_TOPICS,
            partitions,
        )


class NamedTopic(Protocol):
    """A topic in a request; without its name in versions that have its id."""

    @property
    def name(self) -> str:
        """The name, or an empty string."""

    @property
    def topic_id(self) -> bytes:
        """The id, or the zero id."""


class TopicIds:
    """The topic names by topic id that external clients have been given."""

    def __init__(self, state: ExternalState) -> None:
        self.names = state.topic_names
        self._by_id: dict[bytes, str] = {}
        self._by_name: dict[str, bytes] = {}
        self._index()

    def _index(self) -> None:
        self._by_id = {uuid_bytes(text): name for text, name in self.names.items()}
        self._by_name = {name: topic_id for topic_id, name in self._by_id.items()}

    def add(self, names: Mapping[str, str]) -> None:
        """Store topic ids that clients were told in another way, with the topics' names."""
        new = {text: name for text, name in names.items() if uuid_bytes(text) not in self._by_id}
        if new:
            self.names.update(new)
            self._index()

    def learn(self, metadata: ClusterMetadataResponse) -> None:
        """Store a broker's topic ids."""
        for name, topic in metadata.topics.items():
            self.replace(name, topic.topic_id)

    def replace(self, name: str, topic_id: str) -> None:
        """Store a topic's id, if it has one, in place of that of an earlier topic."""
        if topic_id and self.names.get(topic_id) != name:
            if name in self._by_name:
                for old in [old for old, known in self.names.items() if known == name]:
                    del self.names[old], self._by_id[uuid_bytes(old)]
            self.names[topic_id] = name
            self._by_id[uuid_bytes(topic_id)] = name
            self._by_name[name] = uuid_bytes(topic_id)

    def name_of(self, topic: NamedTopic) -> str | None:
        """Return the name of a topic in a request, which has its name or its id."""
        return topic.name or self.name(topic.topic_id)

    def name(self, topic_id: bytes) -> str | None:
        """Return the name of a topic, or None if the id is unknown."""
        return self._by_id.get(topic_id)

    def id(self, name: str) -> bytes:
        """Return the id of a topic, or the zero id if it has none that is known."""
        return self._by_name.get(name, NO_UUID)


class DescribeCluster(Struct, eq=False):
    """DescribeCluster: like Metadata, without topics (KIP-700); with fenced brokers (KIP-1073)."""

    addresses: Addresses
    racks: dict[int, str]

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        return [ClusterMetadataRequest([])]

    def respond(
        self, call: Call[wire.DescribeClusterRequest], response: ClusterMetadataResponse
    ) -> Message:
        """Return the brokers and the controller; fenced brokers if the request asks for them.

        Who wants an endpoint of another type than a broker's is refused (KIP-919;
        ``AuthHelper.computeDescribeClusterResponse``).
        """
        kind = call.message.endpoint_type
        if kind == CONTROLLER_ENDPOINT:
            code = ERRORS["MISMATCHED_ENDPOINT_TYPE"].code
            return wire.DescribeClusterResponse(
                error_code=code,
                error_message="The request was sent to an endpoint of type BROKER, but we wanted"
                " an endpoint of type CONTROLLER",
            )
        if kind != BROKER_ENDPOINT:
            code = ERRORS["UNSUPPORTED_ENDPOINT_TYPE"].code
            reason = f"Unsupported endpoint type {kind}"
            return wire.DescribeClusterResponse(error_code=code, error_message=reason)
        listed = dict.fromkeys(response.brokers, False)
        if call.message.include_fenced_brokers:
            listed |= dict.fromkeys(response.fenced, True)
        brokers = []
        for broker, is_fenced in sorted(listed.items()):
            host, port = self.addresses.of(broker, call)
            rack = self.racks.get(broker)
            brokers.append(wire.DescribeClusterBroker(broker, host, port, rack, is_fenced))
        return wire.DescribeClusterResponse(
            cluster_id=response.cluster_id, controller_id=response.controller, brokers=brokers
        )


class FindCoordinator(Struct, eq=False):
    """FindCoordinator: of one group, or of several from version 4 on (KIP-699)."""

    addresses: Addresses
    profile: Profile

    def ask(self, call: Call[finding.FindCoordinatorRequest]) -> list[AnyMessage]:
        """Request the coordinator of each group or transactional id."""
        request = call.message
        is_told = self.profile.has("unknown_coordinator_type_invalid")
        unknown = "INVALID_REQUEST" if is_told else "UNKNOWN_SERVER_ERROR"
        return [
            protocol.FindCoordinatorRequest(key, request.key_type == TRANSACTION)
            if request.key_type in (GROUP, TRANSACTION)
            else protocol.FindCoordinatorResponse(0, key, unknown)
            for key in self._keys(call)
        ]

    @staticmethod
    def _keys(call: Call[finding.FindCoordinatorRequest]) -> list[str]:
        request = call.message
        return (
            request.coordinator_keys if call.header.api_version >= SEVERAL_SINCE else [request.key]
        )

    def respond(self, call: AnyCall, *responses: protocol.FindCoordinatorResponse) -> Message:
        coordinators = []
        for key, response in zip(self._keys(call), responses, strict=True):
            host, port = "", -1
            if response.error == NONE:
                host, port = self.addresses.of(response.coordinator, call)
            error = ERRORS[response.error].code
            coordinators.append(
                finding.Coordinator(key, response.coordinator, host, port, error, "")
            )
        if call.header.api_version >= SEVERAL_SINCE:
            return finding.FindCoordinatorResponse(coordinators=coordinators)
        (only,) = coordinators
        return finding.FindCoordinatorResponse(
            error_code=only.error_code,
            error_message=NONE if only.error_code == ERRORS[NONE].code else None,
            node_id=only.node_id,
            host=only.host,
            port=only.port,
        )


_NAMES_ITSELF: Final = 3
"""The first ApiVersions version whose error response names the supported versions."""
_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")
"""What a client may call itself and its version (``SOFTWARE_NAME_VERSION_PATTERN``)."""


_FEATURES_WITHOUT_ZERO: Final = 3
"""The last ApiVersions version without the supported features whose lowest level is 0."""


class ApiVersions(Struct, eq=False):
    """ApiVersions: the versions that the broker supports (KIP-35), and features (KIP-584).

    ``versions`` are by API key; ``supported`` are the lowest and highest levels of features.
    """

    versions: Mapping[int, range]
    supported: Mapping[str, tuple[int, int]]

    def ask(self, call: Call[wire.ApiVersionsRequest]) -> list[AnyMessage]:
        """Request the finalized features, and the cluster's id if the client names one."""
        asked: list[AnyMessage] = [protocol.ApiVersionsRequest()]
        return [*asked, ClusterMetadataRequest([])] if _means_a_broker(call.message) else asked

    def respond(self, call: AnyCall, *responses: protocol.ApiVersionsResponse) -> Message:
        """Return the supported versions, or UNSUPPORTED_VERSION for an unknown request version.

        Since 2.4, which introduced ApiVersions 3, the error response contains the supported
        versions of ApiVersions (KIP-511); before that it is empty.
        """
        response = responses[0]
        refused = self._refusal(call, responses)
        if refused != NONE:
            return wire.ApiVersionsResponse(ERRORS[refused].code)
        version, understood = call.header.api_version, self.versions[API_VERSIONS]
        if version not in understood:
            known = [(API_VERSIONS, understood)] if _NAMES_ITSELF in understood else []
            return wire.ApiVersionsResponse(ERRORS["UNSUPPORTED_VERSION"].code, _keys(known))
        if version >= _NAMES_ITSELF and not _names_software(call.message):
            return wire.ApiVersionsResponse(ERRORS["INVALID_REQUEST"].code)
        supported = [
            wire.SupportedFeatureKey(name, lowest, highest)
            for name, (lowest, highest) in sorted(self.supported.items())
            if lowest or version > _FEATURES_WITHOUT_ZERO
        ]
        finalized = [
            wire.FinalizedFeatureKey(name, level, level)
            for name, level in sorted(response.features.items())
        ]
        return wire.ApiVersionsResponse(
            ERRORS[NONE].code,
            _keys(sorted(self.versions.items())),
            supported_features=supported,
            finalized_features_epoch=response.epoch,
            finalized_features=finalized,
        )

    @staticmethod
    def _refusal(call: Call[wire.ApiVersionsRequest], responses: Sequence[AnyMessage]) -> str:
        """The error for a client that means another cluster or broker (4.4)."""
        request = call.message
        if not _means_a_broker(request):
            return NONE
        if request.cluster_id is None or request.node_id < 0:
            return "INVALID_REQUEST"
        known = responses[1]
        assert isinstance(known, ClusterMetadataResponse)
        meant = (request.cluster_id, request.node_id)
        is_here = meant == (known.cluster_id, call.connection.broker)
        return NONE if is_here else "REBOOTSTRAP_REQUIRED"


def _names_software(request: wire.ApiVersionsRequest) -> bool:
    """Whether a client names itself and its version (``ApiVersionsRequest.isValid``)."""
    named = (request.client_software_name, request.client_software_version)
    return all(_SOFTWARE.fullmatch(name) for name in named)


def _means_a_broker(request: wire.ApiVersionsRequest) -> bool:
    return request.cluster_id is not None or request.node_id >= 0


def _keys(versions: Iterable[tuple[int, range]]) -> list[wire.ApiVersion]:
    return [wire.ApiVersion(key, known[0], known[-1]) for key, known in versions]
