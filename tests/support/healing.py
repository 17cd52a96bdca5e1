"""Putting a cluster right after anything that may have happened to it, as its operators would."""

from emulator.common.names import split
from emulator.inputs.statements import (
    AnyInput,
    ConfigureBroker,
    ConfigureTopic,
    CrashBroker,
    ElectUnclean,
    HealLinks,
    ReleaseMessages,
    ResumeReplica,
    StartBroker,
    Statement,
    StopBroker,
    ThawBroker,
    ZkCommand,
)
from emulator.scenario.runner import Runner

MINUTE_US = 60_000_000


def heal(runner: Runner) -> None:
    """Make links whole, wake and start everything, and wait until that has had its effect.

    Up to 2.0 a controller that was replaced may have left something undone, and up to 2.1 one may
    not know that a broker was away: the next one puts that right. Up to 1.1 a follower out of range
    ends its process unless it may cut, and nobody can be elected from the empty ISR that an unclean
    election may leave; from 2.4 the same is true of an ISR that a move which was taken back leaves
    without assigned members.
    """
    cluster = runner.cluster
    for source, destination in list(cluster.state.network.links):
        _do(runner, ReleaseMessages(source=source, destination=destination))
    _do(runner, HealLinks())
    for broker in cluster.brokers:
        if cluster.broker_state(broker) == "frozen":
            _do(runner, ThawBroker(broker=broker))
    if cluster.profile.has("out_of_range_is_fatal"):
        config = {"unclean.leader.election.enable": "true"}
        for broker in cluster.brokers:
            _do(runner, ConfigureBroker(broker=broker, config=config))
        for topic in cluster.topics():
            _do(runner, ConfigureTopic(topic=topic, config=config))
    for _ in range(3):
        _start_what_is_down(runner)
        _pass(runner, MINUTE_US)
        _kill_what_hangs(runner)
    _resume(runner)
    if not cluster.profile.has("broker_epochs"):
        _do(runner, ZkCommand(command="delete", path="/controller"))
    _pass(runner, 2 * MINUTE_US)
    _elect_where_nobody_is_left(runner)
    if not cluster.profile.has("epoch_cache_truncated_at_log_end"):
        _restart_the_stuck(runner)


def _restart_the_stuck(runner: Runner) -> None:
    """What asks for the end of an epoch for ever (KAFKA-10706) stops when it loads its log anew."""
    cluster = runner.cluster
    stuck: dict[int, None] = {}
    for tp in cluster.partitions():
        info = cluster.state_of(tp)
        if info is not None:
            stuck |= dict.fromkeys(b for b in cluster.assigned(tp) or () if b not in info.isr)
    for broker in stuck:
        _do(runner, StopBroker(broker=broker))
        _do(runner, StartBroker(broker=broker))
        _pass(runner, MINUTE_US)


def _elect_where_nobody_is_left(runner: Runner) -> None:
    """An ISR without a replica that could lead needs an unclean election.

    Before there was a request for it (KIP-460, 2.4) the topic had to allow it, and a new controller
    to look.
    """
    cluster = runner.cluster
    for tp in cluster.partitions():
        info, assigned = cluster.state_of(tp), cluster.assigned(tp)
        if info is not None and assigned is not None and not set(info.isr) & set(assigned):
            allowed = {"unclean.leader.election.enable": "true"}
            _do(runner, ConfigureTopic(topic=split(tp)[0], config=allowed))
            _do(runner, ZkCommand(command="delete", path="/controller"))
            _pass(runner, MINUTE_US)
            _do(runner, ElectUnclean(tp=tp))
            _pass(runner, MINUTE_US)


def _kill_what_hangs(runner: Runner) -> None:
    """From 0.10.0.1 to 0.10.2 a broker whose follower may not truncate never ends by itself."""
    cluster = runner.cluster
    for broker in cluster.brokers:
        if cluster.broker_state(broker) == "controlled_shutdown":
            _do(runner, CrashBroker(broker=broker))


def _start_what_is_down(runner: Runner) -> None:
    cluster = runner.cluster
    for broker in cluster.brokers:
        if cluster.broker_state(broker) in ("crashed", "stopped"):
            runner.submit(Statement(StartBroker(broker=broker), "start"))


def _resume(runner: Runner) -> None:
    cluster = runner.cluster
    for tp in cluster.partitions():
        for broker in cluster.brokers:
            replica = cluster.replica(tp, broker)
            if replica is not None and replica.paused:
                _do(runner, ResumeReplica(tp=tp, broker=broker))


def _do(runner: Runner, wanted: AnyInput) -> None:
    runner.execute(Statement(wanted, type(wanted).__name__))


def _pass(runner: Runner, duration_us: int) -> None:
    runner.run_until(runner.now_us + duration_us)
