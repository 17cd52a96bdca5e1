"""Whether another configuration would have prevented what happened.

The incidents of a history are run on the emulator, each from the image just before it, twice: as
the cluster was configured, and with the change. Brokers die, hang, stop, are cut off and return,
and followers fall behind their leader, as the metadata log shows. Meanwhile a producer writes to
each partition that was affected, with acks=all, so that what is lost is counted, not guessed. What
else was done meanwhile (topics created, replicas moved) is left out. With ZooKeeper its transaction
log shows the same.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from emulator import events
from emulator.cluster import Cluster
from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import Broker, ClusterImage, Topic
from emulator.events.base import ZOOKEEPER
from emulator.inputs.statements import (
    AnyInput,
    CrashBroker,
    CreateCluster,
    CutLink,
    FreezeBroker,
    HealLinks,
    Produce,
    StartBroker,
    Statement,
    StopBroker,
    ThawBroker,
)
from emulator.releases.config import ConfigError, resolve, topic_config_names
from emulator.releases.config_names import BrokerConfig
from emulator.scenario.runner import Runner
from sessions.own_cluster.formats.metadata_log import Metadata
from sessions.own_cluster.places import time_text
from sessions.postmortem.impact import BrokerLoss, Impact, Lag
from sessions.postmortem.incident import Incident
from sessions.postmortem.merging import MergedLog
from sessions.postmortem.timeline import partitions_text
from sessions.postmortem.witnesses import FOREVER_US
from sessions.postmortem.words import KRAFT, KRAFT_MODE, words_of
from sessions.rehearsal.outcome import Requirements
from sessions.rehearsal.watch import Watch

SETTLES_US: Final = 5_000_000
"""How long the cluster runs before the first fault."""
PAUSE_MAX_US: Final = 60_000_000
"""Between two faults no more time passes than this, however long it was."""
ENDS_US: Final = 30_000_000
"""How long the cluster runs after the last fault."""
WRITES_EVERY_US: Final = 250_000
WRITE_TIMEOUT_US: Final = 5_000_000
PRODUCERS_MAX: Final = 50
"""How many partitions are written to."""
INCIDENTS_MAX: Final = 5
"""How many incidents are run: those that did most harm."""
UNCLEAN: Final = "Unclean"
ALL_REPLICAS: Final = -1

_Configured = TypeVar("_Configured", Broker, Topic, ClusterImage)
ImageBefore = Callable[[int], ClusterImage]
Timed = tuple[int, str, tuple[AnyInput, ...]]
"""When something happened, by the wall clock, what, and the inputs that do it."""


class Setting(NamedTuple):
    """A configuration and its value, as it is written: ``min.insync.replicas=2``."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


class Fault(Struct, frozen=True):
    """Something that happened to a broker, in words, and so long after the first fault."""

    after_us: int
    what: str
    inputs: tuple[AnyInput, ...]


class Harm(Struct):
    """What became of the partitions in one run.

    ``offline`` and ``unwritable`` have seconds by partition: without a leader, and with fewer
    members in the ISR than acks=all needs. ``unclean`` are elected uncleanly. Of ``acknowledged``
    records, all written with acks=all, ``lost`` are in no log any more.
    """

    offline: dict[str, float] = field(default_factory=dict)
    unwritable: dict[str, float] = field(default_factory=dict)
    unclean: list[str] = field(default_factory=list)
    acknowledged: int = 0
    lost: int = 0


class WhatIf(Struct, frozen=True):
    """An incident without and with a change of the configuration; times are wall-clock times.

    ``configured`` is what both runs have besides the image: what the text logs of the processes
    say that is not the release's default. ``is_timeout_known``: they say ``timeout``, from which
    follows when a broker fell silent.
    """

    setting: Setting
    begin_us: int
    end_us: int
    faults: tuple[Fault, ...]
    without: Harm
    changed: Harm
    configured: tuple[tuple[Setting, str], ...] = ()
    is_timeout_known: bool = False
    timeout: str = KRAFT.timeout

    @property
    def prevented(self) -> list[str]:
        """What the change would have prevented, as phrases."""
        return list(_differences(self.without, self.changed))

    @property
    def caused(self) -> list[str]:
        """What the change would have cost, as phrases."""
        return list(_differences(self.changed, self.without))


def sentences(comparison: WhatIf) -> Iterator[str]:
    """What a change would have done to an incident, for people."""
    faults = ", ".join(fault.what for fault in comparison.faults)
    yield (
        f"{time_text(comparison.begin_us)} to {time_text(comparison.end_us)} ({faults})"
        f" with {comparison.setting}: {_outcome(comparison)}."
    )


def basis(comparisons: Sequence[WhatIf]) -> Iterator[str]:
    """How the clusters of the runs are configured besides their image, and who says so."""
    if not comparisons:
        return
    sources: dict[str, list[str]] = {}
    for setting, source in comparisons[0].configured:
        sources.setdefault(source, []).append(str(setting))
    for source, settings in sources.items():
        yield f"Configured, by {source}: {', '.join(settings)}."
    if not comparisons[0].is_timeout_known:
        yield (
            f"No text log says {comparisons[0].timeout}: brokers are taken to have fallen silent"
            " the release's default before they were missed."
        )


def _outcome(comparison: WhatIf) -> str:
    prevented, caused = comparison.prevented, comparison.caused
    if not prevented and not caused:
        return "the same"
    parts = [f"prevented: {'; '.join(prevented)}"] if prevented else ["nothing prevented"]
    return "; ".join([*parts, *([f"in exchange: {'; '.join(caused)}"] if caused else [])])


def setting_of(text: str) -> Setting:
    """Return the setting that ``NAME=VALUE`` says.

    Raises:
        ConfigError: it is no such text.
    """
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise ConfigError(f"'{text}' is not CONFIG=VALUE, such as min.insync.replicas=2")
    return Setting(name, value)


def what_if(history: ImageBefore, incident: Incident, setting: Setting) -> list[WhatIf]:
    """Run the worst incidents of a history without and with a change, the earliest first.

    ``history`` returns the image just before an offset, or a transaction of ZooKeeper's.

    Raises:
        ConfigError: the release has no such configuration, or the value is invalid.
    """
    resolve(incident.release, {setting.name: setting.value})
    processes, release = incident.processes, incident.release
    values = processes.configured(release, incident.controllers)
    base = {name: value.text for name, value in values.items()}
    config = resolve(release, base)
    configured = tuple((Setting(name, value.text), value.source) for name, value in values.items())
    words = words_of(incident)
    is_timeout_known = processes.value(words.timeout, incident.controllers) is not None
    timeout_us: int = getattr(config, words.timeout_attribute)
    comparisons = []
    for losses in _worst(_incidents(incident.impact.losses), incident.impact):
        lags = _lags(incident.impact, losses)
        first_offset = min([losses[0].offset, *(lag.offset for lag in lags)])
        former = history(first_offset)
        image = complete(replace(former, release=former.release or release)).image
        faults = _faults([*_loss_faults(losses, timeout_us, image), *_lag_faults(lags, config)])
        begin_us, end_us = _span(losses)
        begin_us = min([begin_us, *(lag.begin_us for lag in lags)])
        partitions = _affected(incident.impact, begin_us, end_us, image)
        comparisons.append(
            WhatIf(
                setting,
                begin_us,
                min(end_us, incident.end_us),
                tuple(faults),
                _run(image, base, faults, partitions),
                _run(_changed(image, setting), base | dict([setting]), faults, partitions),
                configured,
                is_timeout_known,
                words.timeout,
            )
        )
    return sorted(comparisons, key=lambda comparison: comparison.begin_us)


# ---- which incidents


def _incidents(losses: Sequence[BrokerLoss]) -> Iterator[list[BrokerLoss]]:
    """Losses that overlap: a broker is lost before the one before it is in sync again."""
    together: list[BrokerLoss] = []
    end_us: int | None = 0
    for loss in sorted(losses, key=lambda loss: loss.begin_us):
        if together and end_us is not None and loss.begin_us > end_us:
            yield together
            together, end_us = [], 0
        together.append(loss)
        ends_us = loss.in_sync_us or loss.unfenced_us
        end_us = None if end_us is None or ends_us is None else max(end_us, ends_us)
    if together:
        yield together


def _span(losses: Sequence[BrokerLoss]) -> tuple[int, int]:
    ends = [loss.in_sync_us or loss.unfenced_us for loss in losses]
    never = any(end is None for end in ends)
    return losses[0].begin_us, FOREVER_US if never else max(end for end in ends if end is not None)


def _worst(incidents: Iterator[list[BrokerLoss]], impact: Impact) -> list[list[BrokerLoss]]:
    def harm(losses: list[BrokerLoss]) -> tuple[int, int, int]:
        begin_us, end_us = _span(losses)
        return (
            sum(risk.is_unclean and begin_us <= risk.time_us <= end_us for risk in impact.risks),
            sum(begin_us <= window.begin_us <= end_us for window in impact.offline),
            sum(begin_us <= window.begin_us <= end_us for window in impact.unwritable),
        )

    harmful = [losses for losses in incidents if any(harm(losses))]
    return sorted(harmful, key=harm, reverse=True)[:INCIDENTS_MAX]


def _lags(impact: Impact, losses: Sequence[BrokerLoss]) -> list[Lag]:
    """The lags of followers that an incident begins with, or that it has on its way."""
    begin_us, end_us = _span(losses)
    return [
        lag
        for lag in impact.lags
        if lag.begin_us <= end_us and (FOREVER_US if lag.end_us is None else lag.end_us) >= begin_us
    ]


def _affected(impact: Impact, begin_us: int, end_us: int, image: ClusterImage) -> list[str]:
    """The partitions that an incident did something to, and that existed before it."""
    existing = {
        f"{topic.name}-{partition.partition}"
        for topic in image.topics
        for partition in topic.partitions
    }
    times = [
        *((risk.tp, risk.time_us) for risk in impact.risks),
        *((window.tp, window.begin_us) for window in (*impact.offline, *impact.unwritable)),
    ]
    affected = dict.fromkeys(tp for tp, time_us in times if begin_us <= time_us <= end_us)
    return [tp for tp in affected if tp in existing][:PRODUCERS_MAX]


def image_before(log: MergedLog, offset: int) -> ClusterImage:
    """Return the image just before an offset of a metadata log."""
    metadata = Metadata()
    for batch in log.snapshot_batches():
        metadata.apply(batch)
    for batch in log.batches():
        if batch.base_offset >= offset:
            break
        metadata.apply(batch)
    return metadata.reading(log.first.name).image


# ---- what happened to brokers


def _faults(timed: Sequence[Timed]) -> list[Fault]:
    """What happened, in order of time, with the long pauses shortened."""
    timed = sorted(timed, key=lambda fault: fault[0])
    faults: list[Fault] = []
    now_us, previous_us = 0, timed[0][0]
    for time_us, sentence, inputs in timed:
        now_us += min(PAUSE_MAX_US, time_us - previous_us)
        previous_us = time_us
        faults.append(Fault(now_us, sentence, inputs))
    return faults


def _loss_faults(
    losses: Sequence[BrokerLoss], timeout_us: int, image: ClusterImage
) -> Iterator[Timed]:
    """What happened to brokers; one that was fenced fell silent a session timeout before."""
    has_zookeeper = image.mode != KRAFT_MODE
    controllers = () if image.quorum is None else image.quorum.controllers
    hosts = [
        *(broker.id for broker in image.brokers),
        *(controller.id for controller in controllers),
    ]
    for loss in losses:
        broker = loss.broker
        silent_us = loss.begin_us - timeout_us
        back_us = loss.unfenced_us
        if loss.is_controlled:
            stop = StopBroker(broker=broker, wait=False)
            yield loss.begin_us, f"broker {broker} stops", (stop,)
        elif back_us is not None and has_zookeeper and loss.lived is not None:
            cut = CutLink(source=broker, destination=ZOOKEEPER)
            heal = HealLinks(source=broker, destination=ZOOKEEPER)
            yield silent_us, f"broker {broker} no longer reaches ZooKeeper", (cut,)
            yield back_us, f"broker {broker} reaches ZooKeeper again", (heal,)
            continue
        elif back_us is not None and loss.registered_us is None:
            if loss.lived is None:
                yield silent_us, f"broker {broker} hangs", (FreezeBroker(broker=broker),)
                yield back_us, f"broker {broker} goes on", (ThawBroker(broker=broker),)
            else:
                other_hosts = [host for host in hosts if host != broker]
                cuts = [CutLink(source=broker, destination=peer) for peer in other_hosts]
                heals = [HealLinks(source=broker, destination=peer) for peer in other_hosts]
                yield silent_us, f"broker {broker} is cut off", tuple(cuts)
                yield back_us, f"broker {broker} is reached again", tuple(heals)
            continue
        else:
            yield silent_us, f"broker {broker} dies", (CrashBroker(broker=broker),)
        if loss.registered_us is not None:
            start = StartBroker(broker=broker, wait=False)
            yield loss.registered_us, f"broker {broker} starts", (start,)


def _lag_faults(lags: Sequence[Lag], config: BrokerConfig) -> Iterator[Timed]:
    """A follower that did not catch up did not reach its leader for the lag time before."""
    for lag in lags:
        leader, follower = lag.leader, lag.follower
        begin_us = lag.begin_us - config.replica_lag_time_max_us
        cut = CutLink(source=follower, destination=leader)
        yield begin_us, f"broker {follower} no longer reaches {leader}", (cut,)
        if lag.end_us is not None:
            heal = HealLinks(source=follower, destination=leader)
            yield lag.end_us, f"broker {follower} reaches {leader} again", (heal,)


# ---- one run


def _changed(image: ClusterImage, setting: Setting) -> ClusterImage:
    """The image with a setting also where a topic, a broker or the cluster has its own value."""
    topics = image.topics
    if setting.name in topic_config_names():
        topics = tuple(_replaced(topic, setting) for topic in topics)
    brokers = tuple(_replaced(broker, setting) for broker in image.brokers)
    return _replaced(replace(image, brokers=brokers, topics=topics), setting)


def _replaced(holder: _Configured, setting: Setting) -> _Configured:
    """A holder of configurations, with a setting if it has its own value."""
    configs, (name, value) = holder.configs or {}, setting
    return replace(holder, configs={**configs, name: value}) if name in configs else holder


def _run(
    image: ClusterImage,
    config: dict[str, str],
    faults: Sequence[Fault],
    partitions: Sequence[str],
) -> Harm:
    spec = CreateCluster(
        version=image.release or "", mode=image.mode or "", image=image, config=config
    )
    runner = Runner(Cluster(spec))
    runner.run_until(runner.now_us + SETTLES_US)
    begin_us = runner.now_us
    end_us = begin_us + faults[-1].after_us + ENDS_US
    observer = _HarmObserver(runner)
    for number, tp in enumerate(partitions):
        topic, _, partition = tp.rpartition("-")
        produce = Produce(
            topic=topic,
            partition=int(partition),
            value="v",
            count=(end_us - begin_us) // WRITES_EVERY_US,
            acks=ALL_REPLICAS,
            timeout_us=WRITE_TIMEOUT_US,
            producer=f"p{number}",
            every_us=WRITES_EVERY_US,
            background=True,
        )
        runner.execute(Statement(produce, "produce"))
    for fault in faults:
        runner.run_until(begin_us + fault.after_us)
        for action in fault.inputs:
            runner.execute(Statement(action, fault.what))
    runner.run_until(end_us)
    return observer.finish()


class _HarmObserver:
    """Follows the partitions of a run."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.harm = Harm()
        self._watch = Watch(runner, Requirements(runner.cluster))
        self._offline_since: dict[str, int] = {}
        kernel = runner.cluster.kernel
        kernel.subscribe(self._changed, [events.PartitionStateChanged])
        kernel.subscribe(self._elected, [events.LeaderElected])

    def _changed(self, event: events.PartitionStateChanged) -> None:
        if event.leader < 0:
            self._offline_since.setdefault(event.tp, event.time_us)
        else:
            self._online(event.tp, event.time_us)

    def _online(self, tp: str, now_us: int) -> None:
        since_us = self._offline_since.pop(tp, None)
        if since_us is not None:
            offline = self.harm.offline
            offline[tp] = offline.get(tp, 0.0) + (now_us - since_us) / 1_000_000

    def _elected(self, event: events.LeaderElected) -> None:
        if event.strategy == UNCLEAN and event.tp not in self.harm.unclean:
            self.harm.unclean.append(event.tp)

    def finish(self) -> Harm:
        for tp in list(self._offline_since):
            self._online(tp, self.runner.now_us)
        self.harm.unwritable = self._watch.finish()
        audit = self.runner.cluster.audit
        audit.settle()
        self.harm.acknowledged, self.harm.lost = audit.count("acked"), audit.count("lost")
        return self.harm


# ---- what differs


def _differences(worse: Harm, better: Harm) -> Iterator[str]:
    """In what one run did more harm than another."""
    if worse.lost > better.lost:
        instead = f", and not {better.lost:,}" if better.lost else ""
        yield f"{worse.lost:,} of {worse.acknowledged:,} acknowledged records are lost{instead}"
    unclean = sorted(set(worse.unclean) - set(better.unclean))
    if unclean:
        yield f"unclean elections of {partitions_text(unclean)}"
    for word, worse_seconds, better_seconds in (
        ("without a leader", worse.offline, better.offline),
        ("refused writes with acks=all", worse.unwritable, better.unwritable),
    ):
        longer = {
            tp: s - better_seconds.get(tp, 0.0)
            for tp, s in worse_seconds.items()
            if s > better_seconds.get(tp, 0.0) + 1
        }
        if longer:
            tps = partitions_text(sorted(longer, key=lambda tp: -longer[tp]))
            yield f"{tps} {word} for up to {max(longer.values()):.1f} s"
