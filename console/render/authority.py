"""Words for who controls the cluster, and for what is wrong with that."""

from typing import Final

from console.model.workspace import Stage
from sessions.model.authority import Authority, authority, has_begun
from sessions.model.waiting import next_controller_us, silenced_us
from sessions.text import clock, plural

TROUBLE_WORDS: Final = {
    "dead": "dead",
    "frozen": "frozen",
    "starting": "starting",
    "cut off": "cut off from ZooKeeper",
    "no majority": "without a majority",
}


def sentences(stage: Stage) -> list[str]:
    """The same in sentences; none if all is well."""
    if not has_begun(stage.view.state):
        return []
    here = authority(stage.view.state)
    sentences = []
    if here.is_zookeeper_unreachable:
        sentences.append(f"ZooKeeper is unreachable from {plural(here.serving, 'broker')}.")
    elif here.cut_off:
        sentences.append(f"{plural(len(here.cut_off), 'broker')} cannot reach ZooKeeper.")
    if here.controller is None and here.trouble:
        sentences.append("There is no active controller.")
    elif here.trouble:
        kind = "broker" if stage.view.state.quorum is None else "controller"
        trouble = TROUBLE_WORDS[here.trouble]
        sentences.append(f"The active controller, {kind} {here.controller}, is {trouble}.")
    return sentences


def named(stage: Stage, here: Authority) -> str:
    """``broker 0 (dead)``."""
    kind = "broker" if stage.view.state.quorum is None else "controller"
    trouble = TROUBLE_WORDS.get(here.trouble, "")
    return f"{kind} {here.controller}" + (f" ({trouble})" if trouble else "")


def controller_words(stage: Stage) -> tuple[str, str, str]:
    """Who is the controller, in which role to show that, and what there is to add."""
    state = stage.view.state
    here = authority(state)
    epoch = state.controller.epoch if state.quorum is None else state.quorum.epoch
    note = "" if epoch is None or epoch < 0 else f"epoch {epoch}"
    if here.controller is None:
        return "none", "error", note
    if not here.trouble:
        return named(stage, here), "", note
    return named(stage, here), "error", _nobody_controls(stage, here)


def _nobody_controls(stage: Stage, here: Authority) -> str:
    assert here.controller is not None
    state = stage.view.state
    since_us = silenced_us(state, here.controller)
    next_us = next_controller_us(state, here)
    since = "" if since_us is None else f" since {clock(since_us)}"
    until = "" if next_us is None else f"; next at {clock(next_us)} at the latest"
    return f"nobody controls{since}{until}"


def authority_parts(stage: Stage) -> list[str]:
    """``controller broker 0``, ``2 of 3 reach ZooKeeper``: the cluster's own health, in short."""
    state = stage.view.state
    if not has_begun(state):
        return []
    here = authority(state)
    controller = "none" if here.controller is None else named(stage, here)
    parts = [f"controller {controller.removeprefix('controller ')}"]
    if state.quorum is None and not state.is_observed:
        reach = here.serving - len(here.cut_off)
        parts.append(f"{reach} of {here.serving} reach ZooKeeper")
    return parts
