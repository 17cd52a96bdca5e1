"""The tree of znodes with their Stat; three of them also update brokers and the controller."""

from typing import Final

import msgspec

from emulator import events
from sessions.decoding import DecodingError, decode_json
from sessions.model import copies
from sessions.model.folding import Handlers, Model

CONTROLLER: Final = "/controller"
CONTROLLER_EPOCH: Final = "/controller_epoch"
BROKER_IDS: Final = "/brokers/ids/"
DIGITS_MAX: Final = 10
"""The digits of the highest number that Java's int holds."""


class ControllerData(msgspec.Struct):
    """The fields of /controller that are needed here."""

    brokerid: int


def znode_created(model: Model, event: events.ZnodeCreated) -> None:
    """A znode, and its parent's child."""
    state = model.state
    path, zxid = event.path, event.zxid
    model.znode_changes.current.append(path)
    znode = copies.new_znode(path, event.data, zxid, event.time_us, event.session)
    znode.changed = event.seq
    state.znodes[path] = znode
    parent, _, name = path.rpartition("/")
    node = model.znode(parent or "/", event.seq)
    if node is not None:
        if node.children:
            node.children[name] = None
        else:
            node.children = {name: None}
        node.cversion += 1
        node.pzxid = zxid
    created_for_controller(model, event)


def created_for_controller(model: Model, event: events.ZnodeCreated) -> None:
    """Update the controller from a new znode."""
    if event.path in (CONTROLLER, CONTROLLER_EPOCH):
        _set_controller(model, event.path, event.data, 0, event.seq)


def znode_changed(model: Model, event: events.ZnodeChanged) -> None:
    """Other data."""
    node = model.znode(event.path, event.seq)
    if node is None:
        return
    node.data, node.version = event.data, event.version
    node.mzxid, node.mtime_us = event.zxid, event.time_us
    changed_for_controller(model, event)


def changed_for_controller(model: Model, event: events.ZnodeChanged) -> None:
    """Update the controller from new data of a znode."""
    if event.path in (CONTROLLER, CONTROLLER_EPOCH):
        _set_controller(model, event.path, event.data, event.version, event.seq)


def znode_deleted(model: Model, event: events.ZnodeDeleted) -> None:
    """A znode less, and its parent's child."""
    path = event.path
    model.znode_changes.current.append(path)
    model.state.znodes.pop(path, None)
    parent, _, name = path.rpartition("/")
    node = model.znode(parent or "/", event.seq)
    if node is not None:
        node.children.pop(name, None)
        node.cversion += 1
        node.pzxid = event.zxid
    deleted_for_office(model, event)


def deleted_for_office(model: Model, event: events.ZnodeDeleted) -> None:
    """Update brokers and the controller when a znode is deleted."""
    path = event.path
    if path.startswith(BROKER_IDS):
        _unregistered(model, path.removeprefix(BROKER_IDS), event.seq)
    elif path == CONTROLLER:
        model.state.controller.broker = None
        model.state.controller.changed = event.seq
        model.watch_authority()
    elif path == CONTROLLER_EPOCH:
        _set_controller(model, path, None, None, event.seq)


def _unregistered(model: Model, name: str, seq: int) -> None:
    number = _number(name)
    if number is not None and number in model.state.brokers:
        broker = model.broker(number, seq)
        broker.registered = False
        broker.broker_epoch = 0


def _number(text: str | None) -> int | None:
    """The number that a text is; None if it has more digits than Java's int, or is none."""
    if text is None or len(text) > DIGITS_MAX or not (text.isascii() and text.isdigit()):
        return None
    return int(text)


def _set_controller(
    model: Model, path: str, data: str | None, version: int | None, seq: int
) -> None:
    controller = model.state.controller
    controller.changed = seq
    if path == CONTROLLER_EPOCH:
        controller.epoch = _number(data)
        controller.epoch_zk_version = version
    else:
        try:
            controller.broker = decode_json(data or "", ControllerData).brokerid
        except DecodingError:
            controller.broker = None
    model.watch_authority()


HANDLERS: Final[Handlers] = {
    events.ZnodeCreated: znode_created,
    events.ZnodeChanged: znode_changed,
    events.ZnodeDeleted: znode_deleted,
}

SAYING: Final[Handlers] = {
    events.ZnodeCreated: created_for_controller,
    events.ZnodeChanged: changed_for_controller,
    events.ZnodeDeleted: deleted_for_office,
}
"""The same without the tree: only what it says of brokers and the controller."""
