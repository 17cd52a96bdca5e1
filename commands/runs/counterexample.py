"""Convert a path of the explorer to a script that reproduces it on an emulated cluster.

Broker 0 is the controller and has no replica. The script controls the order of everything: the
cluster is stepwise, and LeaderAndIsr requests and fetch responses are held back until the step that
delivers them. At the end the script expects the state that the path ends in.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from emulator.explorer.bounds import ACKNOWLEDGED_KEPT, PROPERTIES, Bounds
from emulator.explorer.brokers import Parts, Process, asks_in_vain
from emulator.explorer.kraft_mode import Metadata
from emulator.explorer.model import Action, Value
from emulator.explorer.replica import Replica
from emulator.explorer.search import Violation
from emulator.explorer.zookeeper_mode import Quorum
from emulator.metadata_log.metadata_version import ELIGIBLE_LEADER_REPLICAS
from emulator.releases.profiles import PROFILES
from emulator.releases.versions import has_no_zookeeper

TOPIC: Final = "t"
TP: Final = "t-0"
SETTINGS: Final = (
    "controller.socket.timeout.ms=3600000",
    "replica.socket.timeout.ms=3600000",
    "replica.fetch.wait.max.ms=1",
    "replica.lag.time.max.ms=60000",
    "zookeeper.session.timeout.ms=2000",
)
"""Held messages must never time out, and an empty fetch must be answered immediately.

A follower lags only if the script says so, however many steps are in between.
"""
KRAFT_SETTINGS: Final = (
    *SETTINGS[:-1],
    "auto.leader.rebalance.enable=false",
    "broker.session.timeout.ms=2000",
    "broker.heartbeat.interval.ms=500",
    "controller.quorum.fetch.timeout.ms=3600000",
    "controller.quorum.request.timeout.ms=3600000",
)
LAG: Final = "61s"
HEARTBEAT: Final = "BrokerHeartbeat"
QUESTIONS: Final = ("Fetch", "OffsetsForLeaderEpoch", "ListOffsets")

State = tuple[Value, ...]
Writer = Callable[[dict[str, Any], State, State], Iterator[str]]
"""Writes the statements of an action, given its details and the states before and after it."""


def script_of(violation: Violation, bounds: Bounds) -> str:
    """Return the script that reproduces a violation."""
    staging = _KRaftStaging if bounds.kraft else _Staging
    return "\n".join(staging(violation, bounds).lines()) + "\n"


class _Staging:
    """Writes the statements of a path, and tracks what is in flight.

    ``_decisions`` are the path's LeaderAndIsr requests in flight to each broker: the number of
    messages that each is delivered as. ``_stale`` counts messages since the last one that are not
    in the path. ``_queued`` counts the records in flight to each leader. ``_asked`` is the leader
    that a follower's next request goes to if its round has continued on its own; that request is
    held back.
    """

    settings: tuple[str, ...] = SETTINGS
    controller = "0"
    channel = "LeaderAndIsr"

    def __init__(self, violation: Violation, bounds: Bounds) -> None:
        self.violation = violation
        self.bounds = bounds
        self.parts = Parts(bounds.replicas)
        first = self._quorum(violation.states[0])
        self.order = list(first.assigned)
        self.leader = first.leader
        self._profile = PROFILES[bounds.version]
        self._held_links: set[tuple[str, str, str]] = set()
        self._decisions: dict[int, list[int]] = {broker: [] for broker in self.order}
        self._stale = dict.fromkeys(self.order, 0)
        self._rounds: dict[int, int] = {}
        self._early: dict[int, list[int]] = {}
        self._sent_early: set[int] = set()
        self._queued = dict.fromkeys(self.order, 0)

    def lines(self) -> list[str]:
        lines = [*self._heading(), *self._beginning()]
        states, path = self.violation.states, self.violation.path
        self._early = _produced_late(path, states, self.parts)
        for number, action in enumerate(path):
            before, after = states[number], states[number + 1]
            lines.append(f"# {number + 1}. {action.name} {action.details_text}")
            lines += self._early_produces(number)
            lines += self._step(action, before, after)
        return [*lines, *self._ending(states[-1])]

    # ---- before and after

    def _heading(self) -> Iterator[str]:
        bounds, violation = self.bounds, self.violation
        yield f"# {violation.name} is violated in {bounds.version}: {violation.steps} steps"
        yield f"# what should hold: {PROPERTIES[violation.name]}"
        yield "# found by tidegauge explore; a shortest one with so few faults"
        unclean = f"unclean.leader.election.enable={str(bounds.unclean).lower()}"
        settings = " ".join(f"--config {setting}" for setting in (*self.settings, unclean))
        yield (
            f"cluster --brokers {self._brokers()} --version {bounds.version}{self._mode()} "
            f"--stepwise {settings}"
        )

    def _brokers(self) -> int:
        """Return the number of brokers, with those that have no replica."""
        return self.bounds.replicas + 1

    def _mode(self) -> str:
        """Return the other options of the cluster."""
        return ""

    def _beginning(self) -> Iterator[str]:
        """Start with a leader other than the preferred one, so that leadership can move."""
        created = self._quorum(self.violation.states[0]).isr
        minimum = self.bounds.min_insync_replicas
        config = f" --config min.insync.replicas={minimum}" if minimum > 1 else ""
        yield f"topic create {TOPIC} --replica-assignment {':'.join(map(str, created))}{config}"
        yield f"wait until {TP}.leader == {self.leader}"
        yield "wait 100ms"
        yield self._reassign()
        yield "wait 1s"
        for broker in self.parts.brokers:
            yield from self._hold(self.controller, broker, self.channel)
            yield from self._hold("clients", broker, "Produce")
            if self._profile.has("alter_isr"):
                yield from self._hold(str(broker), self.controller, "AlterPartition")
                yield from self._hold(self.controller, broker, "AlterPartitionResponse")
        yield "wait 1s"

    def _reassign(self) -> str:
        return f"reassign {TP} {','.join(map(str, self.order))}"

    def _ending(self, state: State) -> Iterator[str]:
        yield "# the resulting state"
        quorum = self._quorum(state)
        isr = ",".join(map(str, quorum.isr))
        eligible = self._eligible(state)
        yield f"expect {TP}.leader == {quorum.leader} and {TP}.isr == [{isr}]{eligible}"
        for broker in self.parts.brokers:
            replica = self._replica(state, broker)
            values = ",".join(f"r{record.id}" for record in replica.log)
            at = f"{TP}@{broker}"
            yield (
                f"expect {at}.role == {replica.role} and {at}.values == [{values}]"
                f" and {at}.hw == {replica.high_watermark}"
            )
        if self.violation.name == ACKNOWLEDGED_KEPT:
            yield "expect audit.lost > 0"

    def _eligible(self, _state: State) -> str:
        """Return the other expectations about the partition."""
        return ""

    # ---- steps

    def _step(self, action: Action, before: State, after: State) -> list[str]:
        details = dict(action.details)
        name = {"Crash": "crash", "PowerLoss": "crash", "Halt": "halt"}.get(action.name)
        if name == "crash":
            return [*self._crash(details["broker"], action.name, before, after)]
        if name == "halt":
            follower = details["broker"]
            leader = self._replica(before, follower).leader
            return [
                *self._release(leader, follower),
                *self._process_stopped(follower, before, after),
            ]
        write = {
            "Produce": self._produce,
            "Fetch": self._ask,
            "AskEpoch": self._ask,
            "AskEnds": self._ask,
            "FetchResponse": self._response,
            "EpochResponse": self._response,
            "EndsResponse": self._response,
            "ConnectionLost": self._connection_lost,
            "LeaderAndIsr": self._leader_and_isr,
            "MetadataUpdate": self._leader_and_isr,
            "MoveLeadership": self._move,
            "Start": self._start,
            "ShrinkIsr": self._shrink,
            "AlterPartition": self._alter,
            "AlterPartitionResponse": self._altered,
            **self._of_mode(),
        }[action.name]
        return [*write(details, before, after)]

    def _of_mode(self) -> dict[str, Writer]:
        """Return what writes the other actions of this mode."""
        return {}

    def _produce(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        leader, record = details["leader"], details["record"]
        if record not in self._sent_early:
            yield from self._send_record(record, leader)
        self._queued[leader] -= 1
        yield f"network release clients {leader} --count 1"
        yield "wait 100ms"

    def _early_produces(self, number: int) -> Iterator[str]:
        """Send records to a leader that clients no longer know when it writes them."""
        for record in self._early.get(number, []):
            yield from self._send_record(record, self._quorum(self.violation.states[number]).leader)
            self._sent_early.add(record)

    def _send_record(self, record: int, leader: int) -> Iterator[str]:
        """Let a producer send a record; the request stays in flight.

        Records that a producer resends after a leader change are lost: the path lacks them.
        """
        if record and not self._queued[leader]:
            yield "wait 200ms"  # retry.backoff.ms, and a request for metadata
            yield from self._lose_all("clients", leader)
        self._queued[leader] += 1
        acks = "all" if self.bounds.acks == -1 else str(self.bounds.acks)
        yield (
            f"produce {TOPIC} --value r{record} --producer p{record} --acks {acks} --retries 0"
            " --timeout 1h --async"
        )
        yield "wait 100ms"

    def _ask(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        follower, leader = details["broker"], details["leader"]
        yield from self._hold_questions(leader, follower, "Response")
        if self._rounds.get(follower) == leader:
            del self._rounds[follower]
            yield from self._release(follower, leader)
        else:
            yield f"fetch {TP}@{follower}"
            if (str(follower), str(leader), QUESTIONS[0]) in self._held_links:
                yield from self._release(follower, leader)
            else:
                yield "wait 100ms"
        if self._replica(after, follower).response is None:  # a response without any news
            yield from self._release(leader, follower)

    def _response(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        follower, leader = details["broker"], details["leader"]
        replica, old = self._replica(after, follower), self._replica(before, follower)
        # A round that sent a request continues on its own; its next request is a later step.
        goes_on = old.phase != replica.phase or old.phase == "truncating"
        if goes_on and replica.fetches and old.phase != "out of range":
            yield from self._hold_questions(follower, leader)
            self._rounds[follower] = leader
        yield from self._release(leader, follower)

    def _connection_lost(
        self, details: dict[str, Any], before: State, after: State
    ) -> Iterator[str]:
        yield from ()

    def _leader_and_isr(
        self, details: dict[str, Any], before: State, after: State
    ) -> Iterator[str]:
        broker = details["broker"]
        old, new = self._replica(before, broker), self._replica(after, broker)
        if old.response is not None and new.response is None:
            yield from self._lose(old.leader, broker)
        rounds = {(old.phase, old.fetch_epoch), (new.phase, new.fetch_epoch)}
        if broker in self._rounds and len(rounds) > 1:
            yield from self._lose(broker, self._rounds.pop(broker))
        yield from self._deliver_decision(broker)
        if old.pending is not None and new.pending is None and self._profile.has("alter_isr"):
            # A leader with a newer epoch rejects the request; the path does not have it.
            if old.alter_response is None:
                yield from self._release(broker, self.controller, "AlterPartition")
            yield from self._release(self.controller, broker, "AlterPartitionResponse")

    def _deliver_decision(self, broker: int) -> Iterator[str]:
        """Deliver the controller's next decision to a broker."""
        for _ in range(self._decisions[broker].pop(0)):
            yield from self._release(self.controller, broker, self.channel)
        yield from self._release_stale(broker)

    def _release_stale(self, broker: int) -> Iterator[str]:
        """Deliver messages that change nothing (live brokers), so that the next one can arrive."""
        if not self._decisions[broker]:
            for _ in range(self._stale[broker]):
                yield from self._release(self.controller, broker, self.channel)
            self._stale[broker] = 0

    def _move(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        to = details["to"]
        if self.order[0] != to:
            self.order = list(self._quorum(after).assigned)
            yield self._reassign()
            yield "wait 100ms"
        yield f"election preferred {TP}"
        yield f"wait until {TP}.leader == {to}"
        yield "wait 100ms"
        self._decided(before, after)

    def _crash(self, broker: int, name: str, before: State, after: State) -> Iterator[str]:
        yield f"tick checkpoint {broker}"
        yield f"broker crash {broker}{' --lose-unflushed' if name == 'PowerLoss' else ''}"
        yield from self._process_stopped(broker, before, after)

    def _process_stopped(self, broker: int, before: State, after: State) -> Iterator[str]:
        yield f"wait until {self._is_gone(broker)}"
        yield "wait 100ms"
        # What was in flight to the process, or from it, is lost with it.
        yield from self._lose_all(self.controller, broker)
        yield from self._lose_all(str(broker), self.controller)
        if self._queued[broker]:
            yield from self._lose_all("clients", broker)
        for follower in self.parts.brokers:
            replica = self._replica(before, follower)
            if replica.response is not None and broker in {follower, replica.leader}:
                yield from self._lose_all(str(replica.leader), follower)
            if follower in self._rounds and broker in {follower, self._rounds[follower]}:
                yield from self._lose_all(str(follower), self._rounds.pop(follower))
        self._queued[broker] = 0
        yield from self._noticed(broker, before, after)

    def _is_gone(self, broker: int) -> str:
        """Return the condition that the controller knows that a broker has failed."""
        return f"zk./brokers/ids/{broker}.exists == false"

    def _noticed(self, broker: int, before: State, after: State) -> Iterator[str]:
        """Yield the statements for the controller's decision about a failed broker's partition."""
        self._decisions[broker], self._stale[broker] = [], 0
        self._decided(before, after)
        if self._quorum(before).leader == broker and self._quorum(after).leader >= 0:
            # After the election the replica goes offline, which does not change the ISR any more.
            for other in self._live(after):
                self._stale[other] += 1
        for other in self._live(after):
            yield from self._release_stale(other)

    def _start(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        broker = details["broker"]
        yield f"broker start {broker}"
        yield "wait 100ms"
        self._decided(before, after, only=broker)

    def _shrink(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        leader, silent = details["leader"], details["follower"]
        yield f"wait {LAG}"
        led = self._replica(before, leader)
        for broker in led.isr:
            replica = self._replica(before, broker)
            if broker != silent and asks_in_vain(leader, led, broker, replica):
                yield from self._hold_questions(leader, broker, "Response")
                yield f"fetch {TP}@{broker}"
                yield "wait 100ms"
                yield from self._lose(leader, broker)
        yield f"tick isr {leader}"
        yield "wait 100ms"

    def _alter(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        """Deliver the request to the controller."""
        yield from self._release(details["leader"], self.controller, "AlterPartition")

    def _altered(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        yield from self._release(self.controller, details["leader"], "AlterPartitionResponse")

    # ---- links

    def _hold(self, source: str, to: int | str, api: str) -> Iterator[str]:
        key = (source, str(to), api)
        if key not in self._held_links:
            self._held_links.add(key)
            yield f"network hold {source} {to} --only {api}"

    def _lose(self, source: int, to: int) -> Iterator[str]:
        yield f"network release {source} {to} --count 1 --lose"
        yield "wait 100ms"

    def _lose_all(self, source: str, to: int | str) -> Iterator[str]:
        """Lose the messages held on a link, and keep holding."""
        yield f"network release {source} {to} --lose"
        for held_source, held_to, api in sorted(self._held_links):
            if (held_source, held_to) == (source, str(to)):
                yield f"network hold {source} {to} --only {api}"
        yield "wait 100ms"

    def _hold_questions(self, source: int, to: int, ending: str = "") -> Iterator[str]:
        """Hold a follower's requests to a leader, or with ``ending`` the responses."""
        for question in QUESTIONS:
            if question != "OffsetsForLeaderEpoch" or self._profile.has(
                "truncation_by_leader_epoch"
            ):
                yield from self._hold(str(source), to, question + ending)

    def _release(self, source: int | str, to: int | str, api: str = "") -> Iterator[str]:
        only = f" --only {api}" if api else ""
        yield f"network release {source} {to} --count 1{only}"
        yield "wait 100ms"

    def _decided(self, before: State, after: State, only: int | None = None) -> None:
        """Record that the controller has notified the live brokers, or one if there is no election.

        It also sends requests that change nothing, as a replica goes offline; the path lacks these.
        """
        is_decided = self._quorum(after) != self._quorum(before)
        for broker in self._live(after):
            if only not in {None, broker} and not is_decided:
                continue
            at = self.parts.channel(broker)
            sent_count = len(_sequence(after[at])) - len(_sequence(before[at]))
            if sent_count:
                self._decisions[broker] += [1 + self._stale[broker], *([1] * (sent_count - 1))]
                self._stale[broker] = 0
            else:
                self._stale[broker] += 1

    # ---- looking at states

    def _quorum(self, state: State) -> Quorum | Metadata:
        decided = state[self.parts.decided]
        assert isinstance(decided, Quorum | Metadata)
        return decided

    def _processes(self, state: State) -> tuple[Process, ...]:
        processes = state[self.parts.processes]
        assert isinstance(processes, tuple)
        return processes

    def _live(self, state: State) -> list[int]:
        pairs = zip(self.parts.brokers, self._processes(state), strict=True)
        return [broker for broker, process in pairs if process.is_up]

    def _replica(self, state: State, broker: int) -> Replica:
        replica = state[self.parts.replica(broker)]
        assert isinstance(replica, Replica)
        return replica


class _KRaftStaging(_Staging):
    """Writes the statements of a path of a KRaft cluster.

    Fetches of the metadata log are held back until a step lets a broker read all of it. The
    controller lets a leader end when all brokers have read that it leaves: one more broker without
    a replica reads that only when the step comes.
    """

    settings = KRAFT_SETTINGS
    controller = "100"
    channel = "MetadataFetchResponse"

    def _mode(self) -> str:
        level = int(self.bounds.elr)
        mode = "" if has_no_zookeeper(self._profile.numbers) else " --mode kraft"
        knows_elr = self._profile.has("features_chosen_at_format")
        feature = f" --feature {ELIGIBLE_LEADER_REPLICAS}={level}" if knows_elr else ""
        return f"{mode} --controllers 1{feature}"

    def _brokers(self) -> int:
        return super()._brokers() + (self.bounds.shutdowns > 0)

    def _eligible(self, state: State) -> str:
        metadata = self._quorum(state)
        assert isinstance(metadata, Metadata)
        elr = ",".join(map(str, metadata.elr))
        return f" and {TP}.elr == [{elr}]"

    def _deliver_decision(self, broker: int) -> Iterator[str]:
        yield f"network release {self.controller} {broker} --only {self.channel}"
        yield "wait 1s"
        yield from self._hold_metadata(broker)

    def _hold_metadata(self, broker: int) -> Iterator[str]:
        """Hold a response without new records, so that the next one has all records by then."""
        yield f"network hold {self.controller} {broker} --only {self.channel}"
        yield "wait 1s"

    def _is_gone(self, broker: int) -> str:
        return f"broker.{broker}.fenced == true"

    def _noticed(self, broker: int, before: State, after: State) -> Iterator[str]:
        yield from ()

    def _start(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        broker = details["broker"]
        yield f"network release {self.controller} {broker} --only {self.channel}"
        yield f"broker start {broker}"
        yield f"wait until broker.{broker}.fenced == false"
        yield "wait 1s"
        yield from self._hold_metadata(broker)

    def _of_mode(self) -> dict[str, Writer]:
        return {
            "Fence": self._fence,
            "Unfence": self._unfence,
            "ControlledShutdown": self._shut_down,
            "Stop": self._stop,
        }

    def _fence(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        broker = details["broker"]
        yield f"network hold {broker} {self.controller} --only {HEARTBEAT}"
        yield f"wait until {self._is_gone(broker)}"
        yield "wait 100ms"

    def _unfence(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        broker = details["broker"]
        yield f"network release {broker} {self.controller} --only {HEARTBEAT}"
        yield f"wait until broker.{broker}.fenced == false"
        yield "wait 100ms"

    def _shut_down(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        broker = details["broker"]
        yield f"network hold {self.controller} {self._last_reader()} --only {self.channel}"
        yield f"broker stop {broker} --no-wait"
        yield f"wait until broker.{broker}.in_controlled_shutdown == true"
        yield "wait 100ms"

    def _stop(self, details: dict[str, Any], before: State, after: State) -> Iterator[str]:
        broker = details["broker"]
        metadata = self._quorum(before)
        assert isinstance(metadata, Metadata)
        if metadata.brokers[broker - 1].in_controlled_shutdown:
            yield f"network release {self.controller} {self._last_reader()} --only {self.channel}"
            yield f"wait until broker.{broker}.state == stopped"
        else:
            yield f"broker stop {broker}"
        yield from self._process_stopped(broker, before, after)

    def _last_reader(self) -> int:
        """Return the broker that reads the metadata log last."""
        return self.bounds.replicas + 1

    def _decided(self, before: State, after: State, only: int | None = None) -> None:
        """Do nothing: brokers fetch the metadata log."""


def _produced_late(
    path: Sequence[Action], states: Sequence[State], parts: Parts
) -> dict[int, list[int]]:
    """Return the records that a leader writes once clients know another, by the step to send at.

    That is the last step before which clients were still told of that leader.
    """
    late: dict[int, list[int]] = {}
    for number, action in enumerate(path):
        if action.name != "Produce":
            continue
        details = dict(action.details)
        leaders = [_leader(state, parts) for state in states[: number + 1]]
        if leaders[-1] != details["leader"]:
            last = max(n for n, leader in enumerate(leaders) if leader == details["leader"])
            late.setdefault(last, []).append(details["record"])
    return late


def _sequence(value: Value) -> tuple[Any, ...]:
    assert isinstance(value, tuple)
    return value


def _leader(state: State, parts: Parts) -> int:
    quorum = state[parts.decided]
    assert isinstance(quorum, Quorum | Metadata)
    return quorum.leader
