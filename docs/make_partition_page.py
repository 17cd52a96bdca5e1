"""Draws docs/partition.md from the code: ``python -m docs.make_partition_page``."""

import inspect
from pathlib import Path
from typing import get_args

from emulator.broker.broker import REACTIONS
from emulator.releases.profiles import PROFILES, VERSIONS
from emulator.replication.fetching import NEXT
from emulator.replication.leader_epoch_cache import LeaderEpochCache
from emulator.replication.partition import (
    BEHIND,
    EXPAND,
    FOLLOWER,
    LEADER,
    OFFLINE,
    SHRINK,
    BecomeFollower,
    BecomeLeader,
    Command,
    CountFetch,
    Effect,
    End,
    ExpireIsr,
    FixedMoment,
    IsrRefused,
    IsrStored,
    Partition,
    PendingIsr,
    Restart,
    Rules,
    Stop,
    after,
)

PAGE = Path(__file__).parent / "partition.md"
RELEASE = "3.9"
RULES = Rules.of(PROFILES[RELEASE])
NOW = FixedMoment(live_brokers=(1, 2, 3))
LEADS = BecomeLeader(4, 1, [1, 2], [1, 2], 9)
FOLLOWS = BecomeFollower(2, 4, 1, [1, 2], 9, True)

INTRODUCTION = f"""# The partition machine

A broker's knowledge about a partition is one plain state, `Partition`, and every transition is made
by one function, `step(state, command, rules, moment)`, in `emulator/replication/partition.py`. It
changes the state and returns the effects in the order in which they must be executed.
`emulator/broker/replication/replica.py` executes them in one loop: it writes the log, emits the
events, and calls the components that must act. The state machine does not know brokers, network,
clock, ZooKeeper or events, so tests and an exhaustive search can call it just as brokers do.

This page is generated from the code by `python -m docs.make_partition_page`.

## Roles

The transitions of broker 1's replica in {RELEASE}, with the effects in their order.
(`BecomeFollower` names broker 2.)

| role | command | then | effects |
|--|--|--|--|
"""

COMMANDS = (
    ("BecomeLeader", BecomeLeader(5, 1, [1, 2], [1, 2], 10)),
    ("BecomeFollower", BecomeFollower(2, 5, 1, [1, 2], 10, True)),
    ("BecomeFollower, no live leader", BecomeFollower(-1, 5, 1, [1, 2], 10, False)),
    ("Stop", Stop()),
    ("End", End()),
    ("Restart", Restart(0)),
)


def _states() -> dict[str, Partition]:
    """A replica in each role."""
    fresh = Partition("t-0", 1, epochs=LeaderEpochCache())
    return {
        OFFLINE: fresh,
        LEADER: after(fresh, LEADS, RULES, NOW)[0],
        FOLLOWER: after(fresh, FOLLOWS, RULES, NOW)[0],
    }


def _roles() -> str:
    rows = []
    for role, state in _states().items():
        for name, command in COMMANDS:
            if isinstance(command, Restart) and role != OFFLINE:
                continue
            then, effects = after(state, command, RULES, NOW)
            names = ", ".join(dict.fromkeys(f"`{type(effect).__name__}`" for effect in effects))
            rows.append(f"| {role} | {name} | {then.role} | {names or 'none'} |\n")
    return "".join(rows)


def _summary(kind: type) -> str:
    """The first paragraph of a docstring in one line."""
    paragraphs = (inspect.getdoc(kind) or "").split("\n\n")
    return " ".join(paragraphs[0].replace("``", "`").split())


def _kinds(title: str, kinds: tuple[type, ...]) -> str:
    rows = "".join(f"| `{kind.__name__}` | {_summary(kind)} |\n" for kind in kinds)
    return f"\n## {title}\n\n| name | meaning |\n|--|--|\n{rows}"


PENDING = {
    "nothing": ([1, 2], None),
    "expansion": ([1], PendingIsr([1, 2], EXPAND)),
    "shrinking": ([1, 2], PendingIsr([1], SHRINK)),
}
"""What a leader's ISR is, and what change of it is pending."""

HAPPENS_TO_ISR = (
    ("a follower outside has what it takes", ("nothing", "expansion"), CountFetch(2, 0)),
    ("a member is out of sync", ("nothing", "expansion", "shrinking"), ExpireIsr({})),
    ("the ISR is stored", ("expansion", "shrinking"), IsrStored([1, 2], 10, 4)),
    ("an older ISR is stored", ("expansion",), IsrStored([1, 2], 8, 4)),
    ("INELIGIBLE_REPLICA", ("expansion",), IsrRefused("INELIGIBLE_REPLICA")),
    (" or ".join(BEHIND), ("expansion", "shrinking"), IsrRefused(BEHIND[1])),
    ("any other error", ("expansion", "shrinking"), IsrRefused("UNKNOWN_SERVER_ERROR")),
    ("BecomeLeader in a new epoch", ("expansion", "shrinking"), COMMANDS[0][1]),
    ("BecomeFollower", ("expansion", "shrinking"), COMMANDS[1][1]),
)


def _pending() -> str:
    """What becomes of a pending ISR change, as the machine does it."""
    late = FixedMoment(now_us=60_000_000, live_brokers=(1, 2, 3))
    names = {EXPAND: "expansion", SHRINK: "shrinking"}
    rows = []
    for happened, pendings, command in HAPPENS_TO_ISR:
        for name in pendings:
            state = after(Partition("t-0", 1, epochs=LeaderEpochCache()), LEADS, RULES, NOW)[0]
            isr, state.pending = PENDING[name]
            state.isr = [1] if isinstance(command, CountFetch) else list(isr)
            state.log_end = 0 if isinstance(command, CountFetch) else 1
            then, effects = after(state, command, RULES, late)
            becomes = "nothing" if then.pending is None else names[then.pending.change]
            done = ", ".join(dict.fromkeys(f"`{type(effect).__name__}`" for effect in effects))
            rows.append(f"| {name} | {happened} | {becomes} | {done or 'none'} |\n")
    return (
        "\n## The pending ISR change\n\n"
        "From 2.7 on the controller stores the ISR (KIP-497), and one change at a time is pending."
        " Before, the leader stores it itself, and nothing is pending.\n\n"
        "| pending | what happens | then | effects |\n|--|--|--|--|\n" + "".join(rows)
    )


def _fetching() -> str:
    rows = "".join(
        f"| {phase} | {happened} | {then} |\n" for (phase, happened), then in NEXT.items()
    )
    return (
        "\n## The phases of a fetcher\n\n"
        "See `emulator/replication/fetching.py`. No other transitions are possible.\n\n"
        f"| phase | what happened | then |\n|--|--|--|\n{rows}"
    )


def _since(name: str) -> str:
    """In which of the recommended releases a rule holds."""
    holds = [bool(getattr(Rules.of(PROFILES[version]), name)) for version in VERSIONS]
    spans: list[tuple[str, str]] = []
    for version, held, before in zip(VERSIONS, holds, [False, *holds], strict=False):
        if held and not before:
            spans.append((version, version))
        elif held:
            spans[-1] = (spans[-1][0], version)
    return ", ".join(first if first == last else f"{first} to {last}" for first, last in spans)


def _rules() -> str:
    names = [name for name in Rules.__struct_fields__ if name != "profile"]
    rows = "".join(f"| `{name}` | {_since(name) or 'none'} |\n" for name in names)
    return (
        "\n## Rules by release\n\n"
        "Among the recommended releases; `tidegauge versions` has the dates, KIPs and JIRAs.\n\n"
        f"| rule | releases |\n|--|--|\n{rows}"
    )


def _reactions() -> str:
    rows = "\n".join(
        f"| `{effect.__name__}` | {', '.join(f'`{method.__qualname__}`' for method in methods)} |"
        for effect, methods in REACTIONS.items()
    )
    return (
        "\n## Who reacts on a broker\n\n"
        "After the replica's own log and index have been changed, the parts of the broker react\n"
        "in this order. The last rows are effects of parts (`emulator/broker_effects.py`). A\n"
        "broker has one membership, and skips the parts of the other. The table is `REACTIONS` in\n"
        "`emulator/broker/broker.py`.\n\n"
        f"| effect | reactions |\n|--|--|\n{rows}\n"
    )


def page() -> str:
    """The whole page."""
    return (
        INTRODUCTION
        + _roles()
        + _kinds("Commands", get_args(Command))
        + _kinds("Effects", get_args(Effect))
        + _pending()
        + _fetching()
        + _reactions()
        + _rules()
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
