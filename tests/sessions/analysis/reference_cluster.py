"""The jobs on partitions, brokers and controllers in plain Python, straight from events."""

import json
from collections import Counter
from itertools import pairwise

from emulator.events import (
    BrokerStateChanged,
    ControllerElected,
    ControllerResigned,
    ControllerStep,
    ElectionFailed,
    Event,
    IsrChangeStarted,
    LeaderElected,
    MessageLost,
    MessageSent,
    MetadataRecordCommitted,
    PartitionStateChanged,
    ReplicaRoleChanged,
    SessionCreated,
    SessionEnded,
)
from tests.sessions.analysis.followed import Followed, Release, Row, percentiles, place

KINDS = ("offline", "leaderless", "under_min_isr", "under_replicated")
DOWN = ("crashed", "stopped", "frozen")
REQUESTED = {
    "LeaderAndIsrRequest": "leader_and_isr",
    "UpdateMetadataRequest": "update_metadata",
    "StopReplicaRequest": "stop_replica",
}
Ended = tuple[int, int]
"""Number and time of an event."""


def turns(events: list[Event]) -> list[tuple[Ended, str, str, bool]]:
    """Whenever a kind of wrong, or existence, begins or ends for a partition."""
    followed = Followed(events)
    before: dict[tuple[str, str], bool] = {}
    found = []
    for event in followed:
        for tp, partition in followed.partitions.items():
            now = {**partition.wrong(), "partitions": partition.exists}
            for kind, holds in now.items():
                if before.get((tp, kind), False) != holds:
                    before[tp, kind] = holds
                    found.append(((event.seq, event.time_us), tp, kind, holds))
    return found


def expected_outages(session: str, events: list[Event], end_us: int) -> list[Row]:
    """The rows of ``outages``, and those of existence as the kind ``partitions``."""
    begun: dict[tuple[str, str], Ended] = {}
    rows = []
    for at, tp, kind, holds in turns(events):
        if holds:
            begun[tp, kind] = at
        else:
            rows.append(_outage(session, tp, kind, begun.pop((tp, kind)), at, end_us))
    rows += [_outage(session, *key, at, None, end_us) for key, at in begun.items()]
    return [row for row in rows if row["lasted_us"] or row["kind"] == "partitions"]


def _outage(
    session: str, tp: str, kind: str, begun: Ended, ended: Ended | None, end_us: int
) -> Row:
    return {
        **place(session, tp),
        "kind": kind,
        "from_seq": begun[0],
        "from_us": begun[1],
        "to_seq": ended[0] if ended else None,
        "to_us": ended[1] if ended else None,
        "lasted_us": (ended[1] if ended else end_us) - begun[1],
    }


def expected_availability(session: str, outages: list[Row]) -> list[Row]:
    """The rows of ``availability``, from those of :func:`expected_outages`."""
    rows = []
    for tp in sorted({row["tp"] for row in outages}):
        mine = [row for row in outages if row["tp"] == tp]
        existed = sum(row["lasted_us"] for row in mine if row["kind"] == "partitions")
        row = {**place(session, tp), "existed_us": existed}
        for kind in KINDS:
            spells = [each for each in mine if each["kind"] == kind]
            longest = max(spells, key=lambda e: (e["lasted_us"], -e["from_seq"]), default=None)
            row[f"{kind}_us"] = sum(each["lasted_us"] for each in spells)
            row[f"{kind}_spells"] = len(spells)
            row[f"{kind}_longest_us"] = longest and longest["lasted_us"]
            row[f"{kind}_longest_seq"] = longest and longest["from_seq"]
        served = existed - row["leaderless_us"]
        row["served_percent"] = served * 100 / existed if existed else None
        rows.append(row)
    return rows


def expected_timeline(session: str, outages: list[Row], end_us: int) -> list[Row]:
    """The rows of ``availability_timeline``, from those of :func:`expected_outages`."""
    edges = [
        (seq, time_us, row["kind"], change)
        for row in outages
        for seq, time_us, change in (
            (row["from_seq"], row["from_us"], 1), (row["to_seq"], row["to_us"], -1),
        )
        if seq is not None
    ]  # fmt: skip
    counts: Counter[str] = Counter()
    moments: dict[int, tuple[int, Counter[str]]] = {}
    for seq, time_us, kind, change in sorted(edges):
        counts[kind] += change
        moments[time_us] = (seq, Counter(counts))
    rows: list[Row] = []
    before: Counter[str] = Counter()
    for time_us, (seq, now) in moments.items():
        if now != before:
            values = {kind: now[kind] for kind in ("partitions", *KINDS)}
            rows.append({"session": session, "from_us": time_us, "from_seq": seq, **values})
        before = now
    for row, after in zip(rows, [*rows[1:], {"from_us": end_us}], strict=True):
        row["to_us"] = after["from_us"]
    return [row for row in rows if row["to_us"] > row["from_us"]]


def expected_failovers(session: str, events: list[Event]) -> list[Row]:
    """The rows of ``failovers``."""
    rows: list[Row] = []
    looking: dict[str, Row] = {}
    detection = Detection()
    followed = Followed(events)
    for event in events:
        fault = _fault(event, followed, detection)
        if fault is not None:
            broker, what = fault
            hit: list[Row] = []
            for tp, partition in followed.partitions.items():
                if partition.exists and partition.znode and partition.znode.leader == broker:
                    row = {
                        **place(session, tp), "broker": broker, "fault": what,
                        "was_controller": followed.controller == broker,
                        "fault_seq": event.seq, "fault_us": event.time_us,
                    }  # fmt: skip
                    rows.append(row)
                    looking[tp] = row
                    hit.append(row)
            detection.expect(event, broker, hit)
        detection.note(event, followed)
        _look(event, looking, followed)
        followed.apply(event)
    return [_complete(row) for row in rows]


class Detection:
    """Which faults ZooKeeper or KRaft's controller has not noticed yet."""

    def __init__(self) -> None:
        self.session: dict[int, int] = {}
        """The ZooKeeper session that each broker opened last."""
        self.died: set[int] = set()
        """Sessions whose process has crashed or stopped."""
        self.unregistered: set[int] = set()
        """Brokers of which no process has registered in KRaft mode since the last one died."""
        self.open: list[tuple[int, int | None, list[Row]]] = []
        """Broker, session (None: not known) and rows of each fault that may yet be noticed."""

    def expect(self, event: Event, broker: int, rows: list[Row]) -> None:
        """Begin to wait for a fault to be noticed; the end of a session is so at once."""
        if isinstance(event, SessionEnded | MetadataRecordCommitted):
            for row in rows:
                row.update(detected_seq=event.seq, detected_us=event.time_us)
        else:
            self.open.append((broker, self.session.get(broker), rows))

    def note(self, event: Event, followed: Followed) -> None:
        """Note when a fault was noticed, or was over."""
        match event:
            case SessionCreated():
                self.session[event.host] = event.session
            case SessionEnded():
                self._detected(event, event.host, event.session)
            case MetadataRecordCommitted() if (gone := _noticed(event)) is not None:
                self._detected(event, gone, None)
                if event.kind == "RegisterBroker":
                    self.unregistered.discard(gone)
            case BrokerStateChanged() if event.state in ("crashed", "stopped"):
                self.died.add(self.session.get(event.broker, -1))
                self.unregistered.add(event.broker)
            case BrokerStateChanged() if event.state not in DOWN:
                if followed.processes.get(event.broker) == "frozen":
                    self._thawed(event, event.broker)

    def _thawed(self, event: Event, broker: int) -> None:
        for each in list(self.open):
            if each[0] == broker and each[2] and each[2][0]["fault"] == "frozen":
                self.open.remove(each)
                for row in each[2]:
                    if "elected_seq" not in row:
                        row.setdefault("serving_seq", event.seq)
                        row.setdefault("serving_us", event.time_us)

    def _detected(self, event: Event, broker: int, session: int | None) -> None:
        for each in list(self.open):
            if each[0] == broker and each[1] in (session, None):
                self.open.remove(each)
                for row in each[2]:
                    row.update(detected_seq=event.seq, detected_us=event.time_us)


def _noticed(event: MetadataRecordCommitted) -> int | None:
    """The broker of which KRaft's controller learns with a record that it is gone."""
    data = json.loads(event.data)
    fences = event.kind == "BrokerRegistrationChange" and data["fenced"] == 1
    broker: int | None = data["brokerId"] if fences or event.kind == "RegisterBroker" else None
    return broker


def _fault(event: Event, followed: Followed, detection: Detection) -> tuple[int, str] | None:
    match event:
        case BrokerStateChanged() if event.state in DOWN:
            up = followed.processes.get(event.broker, "running") not in DOWN
            return (event.broker, event.state) if up else None
        case SessionEnded() if event.host >= 0 and event.reason == "expired":
            up = followed.processes.get(event.host, "running") not in DOWN
            return (event.host, "expired") if up and event.session not in detection.died else None
        case MetadataRecordCommitted(kind="BrokerRegistrationChange"):
            gone = _noticed(event)
            up = gone is not None and followed.processes.get(gone, "running") not in DOWN
            if gone is not None and up and gone not in detection.unregistered:
                return gone, "fenced"
    return None


def _look(event: Event, looking: dict[str, Row], followed: Followed) -> None:
    """Note the first election and the first service after a fault."""
    match event:
        case LeaderElected() if not {"elected_seq", "serving_seq"} & looking.get(
            event.tp, {"elected_seq": 0}
        ).keys() and (event.leader != looking[event.tp]["broker"] or event.strategy == "New"):
            looking[event.tp] |= {
                "elected_seq": event.seq, "elected_us": event.time_us, "leader": event.leader,
                "leader_epoch": event.leader_epoch, "strategy": event.strategy,
            }  # fmt: skip
        case ReplicaRoleChanged() if event.role == "leader":
            before = followed.of(event.tp).roles.get(event.broker)
            row = looking.get(event.tp)
            if row is not None and before != ("leader", event.leader_epoch):
                row.setdefault("serving_seq", event.seq)
                row.setdefault("serving_us", event.time_us)


def _outcome(row: Row) -> str:
    if row["elected_seq"] is not None and row["strategy"] not in ("Offline", "Unclean"):
        return "moved"
    if row["serving_seq"] is None:
        return "open"
    return "returned" if row["elected_seq"] is None else "failed over"


def _complete(row: Row) -> Row:
    names = ("detected_seq", "detected_us", "elected_seq", "elected_us", "leader", "leader_epoch")
    whole = {**dict.fromkeys((*names, "strategy", "serving_seq", "serving_us")), **row}
    whole["outcome"] = _outcome(whole)
    if whole["outcome"] == "moved":
        chosen = ("elected_seq", "elected_us", "leader", "leader_epoch", "strategy")
        whole |= dict.fromkeys(chosen)
    for part, begin, end in (
        ("detection_us", "fault_us", "detected_us"),
        ("election_us", "detected_us", "elected_us"),
        ("takeover_us", "elected_us", "serving_us"),
        ("total_us", "fault_us", "serving_us"),
    ):
        first, last = whole[begin], whole[end]
        whole[part] = None if first is None or last is None else last - first
    return whole


def expected_failover(failovers: list[Row], releases: dict[str, Release]) -> list[Row]:
    """The rows of ``failover``, of all sessions' failovers."""
    rows = []
    kinds = {(releases[r["session"]], r["fault"], r["was_controller"]) for r in failovers}
    for release, fault, was_controller in sorted(kinds):
        every = [
            row
            for row in failovers
            if (releases[row["session"]], row["fault"], row["was_controller"])
            == (release, fault, was_controller)
        ]
        mine = [row for row in every if row["outcome"] not in ("returned", "moved")]
        served = [row for row in mine if row["total_us"] is not None]
        slowest = max(
            served, key=lambda r: (r["total_us"], r["session"], -r["fault_seq"]), default=None
        )
        row = {
            "version": release[0], "mode": release[1],
            "fault": fault, "was_controller": was_controller,
            "failovers": len(mine),
            "served": len(served),
            "returned": sum(row["outcome"] == "returned" for row in every),
            "moved": sum(row["outcome"] == "moved" for row in every),
            "unclean": sum(each["strategy"] == "Unclean" for each in mine),
            "slowest_session": slowest and slowest["session"],
            "slowest_seq": slowest and slowest["fault_seq"],
        }  # fmt: skip
        for part in ("detection", "election", "takeover", "total"):
            values = [r[f"{part}_us"] for r in mine if r[f"{part}_us"] is not None]
            row |= percentiles(part, values)
        rows.append(row)
    return rows


def expected_isr_churn(session: str, events: list[Event], end_us: int) -> list[Row]:
    """The rows of ``isr_churn``."""
    followed = Followed(events)
    changes: dict[str, list[Row]] = {}
    sizes: dict[str, list[tuple[int, int]]] = {}
    asked: Counter[tuple[str, str]] = Counter()
    existed = set()
    before: dict[str, PartitionStateChanged | None] = {}
    for event, after in pairwise([*followed.events, None]):
        assert event is not None
        followed.apply(event)
        if isinstance(event, IsrChangeStarted):
            asked[event.tp, event.change] += 1
        lasts = (after.time_us if after else end_us) - event.time_us
        for tp, partition in followed.partitions.items():
            now, was = partition.znode if partition.exists else None, before.get(tp)
            before[tp] = now
            if partition.exists:
                existed.add(tp)
            if now is not None and lasts:
                sizes.setdefault(tp, []).append((len(now.isr), lasts))
            if now is not None and was is not None and set(now.isr) != set(was.isr):
                changes.setdefault(tp, []).append(
                    {
                        "out": set(was.isr) - set(now.isr),
                        "in": set(now.isr) - set(was.isr),
                        "epoch": now.leader_epoch != was.leader_epoch,
                        "seq": event.seq,
                    }
                )
    return [
        {**place(session, tp), **_churn(changes.get(tp, [])), **_sizes(sizes.get(tp, [])),
         "asked_shrinks": asked[tp, "shrink"], "asked_expands": asked[tp, "expand"]}
        for tp in sorted(existed)
    ]  # fmt: skip


def _churn(changes: list[Row]) -> Row:
    lefts = Counter(replica for change in changes for replica in change["out"])
    restless = max(lefts, key=lambda replica: (lefts[replica], -replica), default=None)
    return {
        "changes": len(changes),
        "shrinks": sum(bool(change["out"]) for change in changes),
        "expands": sum(bool(change["in"]) for change in changes),
        "by_controller": sum(change["epoch"] for change in changes),
        "restless": restless,
        "restless_shrinks": None if restless is None else lefts[restless],
        "last_shrink_seq": max((c["seq"] for c in changes if c["out"]), default=None),
    }


def _sizes(sizes: list[tuple[int, int]]) -> Row:
    total = sum(lasted for _, lasted in sizes)
    return {
        "size_min": min((size for size, _ in sizes), default=None),
        "size_mean": sum(size * lasted for size, lasted in sizes) / total if total else None,
    }


def expected_leader_balance(session: str, events: list[Event], end_us: int) -> list[Row]:
    """The rows of ``leader_balance``."""
    followed = Followed(events)
    brokers = _assigned(events)
    led: dict[str, int] = {}
    gained: Counter[int] = Counter()
    lost: Counter[int] = Counter()
    weighted: Counter[int] = Counter()
    most: dict[int, tuple[int, int]] = {}
    since: Counter[int] = Counter()
    last_us = 0
    levels: Counter[int] = Counter()

    def passed(to_us: int) -> None:
        for broker in brokers if to_us > last_us else ():
            weighted[broker] += levels[broker] * (to_us - last_us)
            if broker not in most or levels[broker] > most[broker][0]:
                most[broker] = (levels[broker], since[broker])

    for event in events:
        passed(event.time_us)
        last_us = event.time_us
        followed.apply(event)
        for tp, partition in followed.partitions.items():
            znode = partition.znode if partition.exists else None
            now = znode.leader if znode is not None and znode.leader >= 0 else None
            was = led.get(tp)
            if now != was:
                for broker, step, count in ((was, -1, lost), (now, 1, gained)):
                    if broker is not None:
                        levels[broker] += step
                        count[broker] += 1
                        since[broker] = event.seq
                if now is None:
                    led.pop(tp, None)
                else:
                    led[tp] = now
    passed(end_us)
    return [
        {"session": session, "broker": broker, "gained": gained[broker], "lost": lost[broker],
         "led_mean": weighted[broker] / end_us if end_us else None,
         "led_max": most[broker][0] if broker in most else None,
         "led_max_seq": most[broker][1] if broker in most else None,
         "led_at_end": levels[broker], **_preferred(broker, followed)}
        for broker in sorted(brokers)
    ]  # fmt: skip


def _assigned(events: list[Event]) -> set[int]:
    followed = Followed(events)
    return {
        broker
        for _ in followed
        for partition in followed.partitions.values()
        if partition.exists
        for broker in partition.replicas
    }


def _preferred(broker: int, followed: Followed) -> Row:
    mine = [p for p in followed.partitions.values() if p.exists and p.replicas[:1] == [broker]]
    strayed = sum(p.znode is None or p.znode.leader != broker for p in mine)
    return {
        "preferred_at_end": len(mine),
        "strayed_at_end": strayed,
        "imbalance_percent": strayed * 100 / len(mine) if mine else None,
    }


def expected_controllers(session: str, events: list[Event]) -> tuple[list[Row], list[Row]]:
    """The rows of ``controller_work`` and ``controller_steps``."""
    terms: list[Row] = []
    of_broker: dict[int, Row] = {}
    steps: dict[tuple[object, ...], Row] = {}
    requests: dict[int, Row] = {}
    for event in events:
        if isinstance(event, ControllerStep) and event.broker in of_broker:
            _step(session, steps, of_broker[event.broker], event)
        match event:
            case ControllerElected():
                _end(terms[-1:], event)
                of_broker[event.broker] = _term(session, event)
                terms.append(of_broker[event.broker])
            case ControllerResigned():
                mine = (event.broker, event.epoch)
                _end([t for t in terms if (t["broker"], t["epoch"]) == mine], event)
            case LeaderElected() if event.controller in of_broker:
                of_broker[event.controller]["elections"] += 1
                of_broker[event.controller]["unclean"] += event.strategy == "Unclean"
            case ElectionFailed() if event.controller in of_broker:
                of_broker[event.controller]["elections_failed"] += 1
            case MessageSent() if event.name in REQUESTED and event.source in of_broker:
                term = requests[event.seq] = of_broker[event.source]
                term[REQUESTED[event.name]] += 1
                term[f"{REQUESTED[event.name]}_partitions"] += len(event.detail)
                term["unanswered"] += 1
            case MessageSent() if event.request in requests:
                requests.pop(event.request)["unanswered"] -= 1
            case MessageLost():
                requests.pop(event.message, None)
    return terms, list(steps.values())


def _term(session: str, event: ControllerElected) -> Row:
    counted = ("steps", "elections", "elections_failed", "unclean", "unanswered")
    asked = [name for stem in REQUESTED.values() for name in (stem, f"{stem}_partitions")]
    return {
        "session": session, "broker": event.broker, "epoch": event.epoch,
        "from_seq": event.seq, "from_us": event.time_us, "to_seq": None, "to_us": None,
        "failover_us": None, **dict.fromkeys((*counted, *asked), 0),
    }  # fmt: skip


def _end(terms: list[Row], event: Event) -> None:
    for term in terms:
        if term["to_seq"] is None:
            term |= {"to_seq": event.seq, "to_us": event.time_us}


def _step(
    session: str, steps: dict[tuple[object, ...], Row], term: Row, event: ControllerStep
) -> None:
    term["steps"] += 1
    if event.procedure == "onControllerFailover":
        term["failover_us"] = event.time_us - term["from_us"]
    names = ("session", "broker", "epoch", "procedure", "step", "name")
    key = (session, term["broker"], term["epoch"], event.procedure, event.step, event.name)
    new = {"times": 0, "first_seq": event.seq, "first_us": event.time_us}
    row = steps.setdefault(key, {**dict(zip(names, key, strict=True)), **new})
    row["times"] += 1
    row["last_us"] = event.time_us
