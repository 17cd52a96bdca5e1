"""Finding the coordinator of a group or a transactional id."""

from typing import Annotated, Final

from emulator.wire.types import Api, Int8, Int16, Int32, Message, String, since, until


class FindCoordinatorRequest(Message, frozen=True):
    """Requests the coordinator of a group or transactional id; several since 4 (KIP-699)."""

    key: Annotated[String, until(3)] = ""
    key_type: Annotated[Int8, since(1)] = 0
    coordinator_keys: Annotated[list[String], since(4)] = []


class Coordinator(Message, frozen=True):
    key: String = ""
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""


class FindCoordinatorResponse(Message, frozen=True):
    """The coordinator, or since version 4 one for each key."""

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    error_code: Annotated[Int16, until(3)] = 0
    error_message: Annotated[String | None, since(1, 3)] = ""
    node_id: Annotated[Int32, until(3)] = 0
    host: Annotated[String, until(3)] = ""
    port: Annotated[Int32, until(3)] = 0
    coordinators: Annotated[list[Coordinator], since(4)] = []


APIS: Final = (Api(10, FindCoordinatorRequest, FindCoordinatorResponse, 6, 3),)
