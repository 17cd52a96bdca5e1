"""A run of a scenario: its cluster, its clients, and the history that they make.

The cluster is served by this process. Everything that clients answer becomes part of the history,
and each step a bookmark of the session.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from commands.conformance import settings, steps
from commands.conformance.adapter import Adapter, AdapterError, Answer, SendResult
from commands.conformance.broker_names import BrokerNames, ScenarioError
from commands.conformance.guarantees import settled, visible
from commands.conformance.history import History, Received, Sent, Settled, Surprise, Transaction
from commands.conformance.scenarios import Scenario
from commands.conformance.steps import COPIES, TOPIC, Step
from commands.runs.served_cluster import ServedCluster

ANSWER_SECONDS: Final = 20.0
"""How long a client may take for an answer: longer than all of its own timeouts."""
READ_SECONDS: Final = 12.0
"""How long consumers may take until they have read everything, or share the partitions."""
POLL_MS: Final = 400
"""Longer than a rebalance takes, which a client must not have to leave half done."""
LAST_POLL_MS: Final = 100
PAUSE_SECONDS: Final = 0.01
"""The pause between two batches of a stream."""
WITHIN_SECONDS: Final = 20
"""How long a statement that waits may take."""

DURATION: Final = re.compile(r"\b(\d+)ms\b")

Take = Callable[[], Awaitable[Adapter]]
"""Returns a process of the adapter that no one uses."""


class _EndedError(Exception):
    """A scenario cannot go on; the history says why."""


class _Actor:
    """A client of the scenario: its process, how it was opened, its transaction and positions."""

    def __init__(self, adapter: Adapter, opened: steps.OpenProducer | steps.OpenConsumer) -> None:
        self.adapter = adapter
        self.opened = opened
        self.positions: dict[tuple[str, int], int] = {}
        self.assigned: list[tuple[str, int]] = []
        self.transaction: Transaction | None = None

    @property
    def group(self) -> str:
        """The group that it is a member of; empty: none."""
        return self.opened.group if isinstance(self.opened, steps.OpenConsumer) else ""

    @property
    def offsets(self) -> list[dict[str, Any]]:
        """The positions of the partitions that it owns, as they are committed."""
        return [
            {"topic": topic, "partition": partition, "offset": offset}
            for (topic, partition), offset in sorted(self.positions.items())
            if not self.assigned or (topic, partition) in self.assigned
        ]


class Run:
    """Runs the steps of a scenario on a cluster, and notes what clients answer."""

    def __init__(
        self, scenario: Scenario, cluster: ServedCluster, take: Take, patience: int = 1
    ) -> None:
        """Prepare to run a scenario; ``patience`` multiplies all timeouts."""
        self.history = History()
        self._scenario = scenario
        self._cluster = cluster
        self._take = take
        self._patience = patience
        self._names = BrokerNames(cluster)
        self._actors: dict[str, _Actor] = {}
        self._numbers: dict[str, int] = {}
        self._marks = 0
        self._perform: dict[type[Any], Callable[[Any], Coroutine[Any, Any, None]]] = {
            steps.Do: self._do,
            steps.OpenProducer: self._open_producer,
            steps.OpenConsumer: self._open_consumer,
            steps.Send: self._send,
            steps.Stream: self._stream,
            steps.Read: self._read,
            steps.Share: self._share,
            steps.Work: self._work,
            steps.Commit: self._commit,
            steps.Begin: self._begin,
            steps.End: self._end,
            steps.Copy: self._copy,
            steps.Close: self._close,
            steps.Kill: self._kill,
        }

    @property
    def adapters(self) -> list[Adapter]:
        """The processes that are in use."""
        return [actor.adapter for actor in self._actors.values()]

    async def run(self) -> None:
        """Create the topics, run the steps, then note what the cluster has.

        Raises:
            ScenarioError: the cluster refuses a statement.
        """
        await self._statement("wait until under_replicated == 0")
        for topic in (TOPIC, COPIES):
            await self._create(topic)
        with suppress(_EndedError):
            for step in self._scenario.steps:
                await self._step(step)
        self._note_logs()
        self.history.ended_us = self._now_us

    async def _create(self, topic: str) -> None:
        scenario = self._scenario
        configs = "".join(f" --config {key}={value}" for key, value in scenario.topic.items())
        counts = f"--partitions {scenario.partitions} --replication-factor {settings.BROKERS}"
        await self._statement(f"topic create {topic} {counts}{configs}")
        for partition in range(scenario.partitions):
            await self._statement(f"wait until {topic}-{partition}.hw == 0")

    # ---- steps

    async def _step(self, step: Step) -> None:
        self._marks += 1
        note = str(step).replace('"', "").replace("$", "")
        await self._statement(f'mark step-{self._marks} "{note}"')
        meanwhile = getattr(step, "meanwhile", ())
        performing = asyncio.ensure_future(self._perform[type(step)](step))
        try:
            if not isinstance(step, steps.Stream):
                await asyncio.sleep(0)
                await self._all(meanwhile)
        finally:
            await performing

    async def _all(self, following: Sequence[Step]) -> None:
        for step in following:
            await self._step(step)

    async def _do(self, step: steps.Do) -> None:
        statement = DURATION.sub(self._longer, self._names.resolved(step.statement))
        await self._statement(statement)
        if statement.startswith(("broker crash", "broker freeze")) and self._has_zookeeper:
            await self._statement(f"zk expire {statement.split()[2]}")

    def _longer(self, duration: re.Match[str]) -> str:
        """Return a duration that is as much longer than a client's timeouts as it was."""
        return f"{int(duration[1]) * self._patience}ms"

    @property
    def _has_zookeeper(self) -> bool:
        return (
            self._cluster.script.spec.mode != "kraft" and not self._cluster.run.cluster.controllers
        )

    async def _statement(self, statement: str) -> None:
        if statement.startswith("wait until "):
            statement += f" within {WITHIN_SECONDS * self._patience}s"
        answer = await self._cluster.run_statement(statement)
        if not answer["ok"] or answer.get("outcome", "ok") != "ok":
            reason = answer.get("error") or answer.get("outcome")
            raise ScenarioError(f"'{statement}' of {self._scenario.name}: {reason}")

    # ---- clients

    async def _ask(
        self, client: str, expected: steps.Expected, do: str, **parameters: object
    ) -> Answer:
        """Make a request to a client; an answer that the scenario does not allow is noted.

        Raises:
            _EndedError: there is no answer.
        """
        actor = self._actors[client]
        try:
            answer = await actor.adapter.ask(
                {"do": do, **parameters}, ANSWER_SECONDS * self._patience
            )
        except AdapterError as error:
            self._note(f"{client}: {error}")
            del self._actors[client]
            await actor.adapter.end()
            raise _EndedError from None
        if answer.error and expected == "ok":
            self._note(f"{client} answered '{do}' with {answer.error}")
        elif not answer.error and expected == "error":
            self._note(f"{client} did '{do}', which had to fail")
        return answer

    def _note(self, text: str) -> None:
        self.history.surprises.append(Surprise(text=text, at_us=self._now_us))

    @property
    def _now_us(self) -> int:
        return self._cluster.run.cluster.now_us

    async def _opened(
        self, step: steps.OpenProducer | steps.OpenConsumer, defaults: dict[str, steps.Setting]
    ) -> dict[str, steps.Setting]:
        """Take a process for a client, and return the client's settings."""
        before = self._actors.pop(step.client, None)
        adapter = await self._take() if before is None else before.adapter
        self._actors[step.client] = _Actor(adapter, step)
        adapter.is_open = True
        own = {"bootstrap.servers": self._cluster.bootstrap_servers, "client.id": step.client}
        return {**settings.patient({**defaults, **step.settings}, self._patience), **own}

    async def _open_producer(self, step: steps.OpenProducer) -> None:
        self._numbers.setdefault(step.client, 0)
        client_settings = await self._opened(step, settings.PRODUCER)
        answer = await self._ask(step.client, "ok", "producer", settings=client_settings)
        if answer.error:
            raise _EndedError

    async def _open_consumer(self, step: steps.OpenConsumer) -> None:
        client_settings = await self._opened(step, settings.CONSUMER)
        topics = [step.topic] if step.group else []
        partitions = range(0 if step.group else self._scenario.partitions)
        self.history.readers[step.group or step.client] = step.topic
        assigned = [[step.topic, partition] for partition in partitions]
        do = "share consumer" if step.shares else "consumer"
        where = {"topics": topics} if step.shares else {"topics": topics, "partitions": assigned}
        answer = await self._ask(step.client, "ok", do, settings=client_settings, **where)
        if answer.error:
            raise _EndedError

    async def _close(self, step: steps.Close) -> None:
        await self._ask(step.client, "any", "close")
        self._actors[step.client].adapter.is_open = False

    async def _kill(self, step: steps.Kill) -> None:
        await self._actors.pop(step.client).adapter.end()

    # ---- producers

    async def _send(self, step: steps.Send) -> None:
        padding = "." * step.padding
        await self._write(step.client, [padding] * step.count, step.expected)

    async def _stream(self, step: steps.Stream) -> None:
        running = asyncio.ensure_future(self._all(step.meanwhile))
        try:
            while not running.done():
                await self._write(step.client, [""] * step.batch, "any")
                await asyncio.wait([running], timeout=PAUSE_SECONDS)
        finally:
            await running

    async def _write(self, client: str, endings: Sequence[str], expected: steps.Expected) -> None:
        """Let a producer send records to the partitions in turn; values end as given."""
        batch = []
        for ending in endings:
            number = self._numbers[client] = self._numbers[client] + 1
            partition = number % self._scenario.partitions
            value = f"{client}-{number:04}{ending}"
            batch.append(Sent(client=client, topic=TOPIC, partition=partition, value=value))
        await self._written(batch, expected)

    async def _written(self, batch: Sequence[Sent], expected: steps.Expected) -> None:
        """Let a producer send records, and note what it answers."""
        client = batch[0].client
        transaction = self._actors[client].transaction
        for sent in batch:
            sent.transaction = transaction.number if transaction else 0
            sent.error = "no answer"
            sent.at_us = self._now_us
        self.history.sent += batch
        records = [
            {
                "topic": sent.topic,
                "partition": sent.partition,
                "key": f"k{sent.partition}",
                "value": sent.value,
            }
            for sent in batch
        ]
        answer = await self._ask(client, "any", "send", records=records)
        whole = SendResult(error=answer.error or "the answer has no result for it")
        results = [*answer.results, *[whole] * len(batch)]
        for sent, result in zip(batch, results, strict=False):
            sent.error = result.error or ""
            sent.offset = result.offset
            sent.is_acknowledged = not sent.error
            sent.at_us = self._now_us
        failed = [sent for sent in batch if sent.error]
        if failed and expected == "ok":
            self._note(f"{client} could not send {failed[0].value}: {failed[0].error}")
        if len(failed) < len(batch) and expected == "error":
            self._note(f"{client} sent {len(batch) - len(failed)} records, which had to fail")

    # ---- consumers

    async def _poll(
        self, client: str, expected: steps.Expected, ms: int = POLL_MS
    ) -> list[Received]:
        actor = self._actors[client]
        answer = await self._ask(client, expected, "poll", ms=ms)
        received = [
            Received(
                client=client,
                group=actor.group,
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                value=record.value,
                at_us=self._now_us,
            )
            for record in answer.records
        ]
        for record in received:
            actor.positions[record.topic, record.partition] = record.offset + 1
        actor.assigned = sorted(answer.assigned)
        if answer.error:
            await asyncio.sleep(PAUSE_SECONDS)
        return received

    async def _read(self, step: steps.Read) -> None:
        until = monotonic() + READ_SECONDS * self._patience
        while monotonic() < until:
            await asyncio.gather(*(self._read_once(client, step) for client in step.clients))
            if self._has_all(step.clients[0]):
                break
        # What should not come would come now.
        await asyncio.gather(
            *(self._read_once(client, step, LAST_POLL_MS) for client in step.clients)
        )

    async def _read_once(self, client: str, step: steps.Read, ms: int = POLL_MS) -> None:
        received = await self._poll(client, step.expected, ms)
        if step.commit == "before" and received:
            await self._ask(client, step.expected, "commit", offsets=self._actors[client].offsets)
        self.history.received += received
        if step.commit == "after" and received:
            await self._ask(client, step.expected, "commit", offsets=self._actors[client].offsets)

    def _has_all(self, client: str) -> bool:
        """Whether a consumer, or its group, has all records that it must read."""
        self._note_logs()
        actor = self._actors[client]
        assert isinstance(actor.opened, steps.OpenConsumer)
        must, _may = visible(self.history, actor.opened.topic)
        read_values = {
            record.value
            for record in self.history.received
            if (record.group == actor.group if actor.group else record.client == client)
        }
        return must <= read_values

    async def _share(self, step: steps.Share) -> None:
        partitions = [(TOPIC, partition) for partition in range(self._scenario.partitions)]
        actors = [self._actors[client] for client in step.clients]
        reading = steps.Read(clients=step.clients, commit="after", expected="any")
        until = monotonic() + READ_SECONDS * self._patience
        while monotonic() < until:
            await asyncio.gather(*(self._read_once(client, reading) for client in step.clients))
            owned = sorted(tp for actor in actors for tp in actor.assigned)
            if owned == partitions and all(actor.assigned for actor in actors):
                return
        ownership = ", ".join(
            f"{client} has {[partition for _topic, partition in actor.assigned]}"
            for client, actor in zip(step.clients, actors, strict=True)
        )
        self._note(f"the members do not own each partition once: {ownership}")

    async def _work(self, step: steps.Work) -> None:
        until = monotonic() + READ_SECONDS * self._patience
        unread = list(step.clients)
        while unread and monotonic() < until:
            had = await asyncio.gather(*(self._work_once(client, step.how) for client in unread))
            if step.once:
                unread = [client for client, got in zip(unread, had, strict=True) if not got]
            elif self._is_all_settled(step.clients[0]) and not any(had):
                return  # what should not come again would have come now

    async def _work_once(self, client: str, how: str) -> list[Received]:
        received = await self._poll(client, "any")
        self.history.received += received
        if not received or not how:
            return received
        answer = await self._ask(client, "any", "acknowledge", how=how)
        if how != "release":
            count = None if answer.error else len(self.history.received)
            self.history.settled += [
                Settled(group=record.group, value=record.value, received=count)
                for record in received
            ]
        return received

    def _is_all_settled(self, client: str) -> bool:
        """Whether a member's share group has accepted or rejected every record."""
        self._note_logs()
        must, _may = visible(self.history, TOPIC)
        return must <= settled(self.history, self._actors[client].group)

    async def _commit(self, step: steps.Commit) -> None:
        offsets = self._actors[step.client].offsets
        if step.offset is not None:
            offsets = [{"topic": TOPIC, "partition": 0, "offset": step.offset}]
        await self._ask(step.client, step.expected, "commit", offsets=offsets)

    # ---- transactions

    async def _begin(self, step: steps.Begin) -> None:
        numbers = [own.number for own in self.history.transactions if own.client == step.client]
        transaction = Transaction(client=step.client, number=len(numbers) + 1, at_us=self._now_us)
        self._actors[step.client].transaction = transaction
        self.history.transactions.append(transaction)
        await self._ask(step.client, "ok", "begin")

    async def _end(self, step: steps.End) -> None:
        actor = self._actors[step.client]
        transaction, actor.transaction = actor.transaction, None
        assert transaction is not None
        transaction.outcome = "unknown" if step.commit else "aborted"
        do = "commit transaction" if step.commit else "abort"
        answer = await self._ask(step.client, step.expected, do)
        if not answer.error:
            transaction.outcome = "committed" if step.commit else "aborted"
        elif step.expected == "error":
            transaction.outcome = "aborted"
        transaction.at_us = self._now_us

    async def _copy(self, step: steps.Copy) -> None:
        """Copy what a consumer reads, each poll in one transaction with its positions."""
        consumer = self._actors[step.consumer]
        until = monotonic() + READ_SECONDS * self._patience
        copied = 0
        while monotonic() < until:
            received = await self._poll(step.consumer, "ok")
            self.history.received += received
            if received:
                copied += len(received)
                await self._begin(steps.Begin(client=step.client))
                batch = [
                    Sent(
                        client=step.client,
                        topic=COPIES,
                        partition=record.partition,
                        value=record.value,
                    )
                    for record in received
                ]
                await self._written(batch, "ok")
                if step.most is not None and copied >= step.most:
                    return
                positions = {"group": consumer.group, "offsets": consumer.offsets}
                await self._ask(step.client, "ok", "send offsets", **positions)
                await self._end(steps.End(client=step.client))
            elif step.most is None and self._is_all_copied():
                return

    def _is_all_copied(self) -> bool:
        """Whether every record has a copy in a committed transaction."""
        self._note_logs()
        return visible(self.history, TOPIC)[0] <= visible(self.history, COPIES)[0]

    # ---- the end

    def _note_logs(self) -> None:
        """Note the records of the leaders' logs."""
        view = self._cluster.run.view
        sent = {record.value for record in self.history.sent}
        for tp, state in view.state.partitions.items():
            leader = state.leader_replica
            if state.topic in (TOPIC, COPIES) and leader is not None:
                self.history.logs[tp] = [
                    (run.base_offset + at, value)
                    for run in leader.log
                    for at, value in enumerate(view.values_of([(run.first_record, run.count)]))
                    if value in sent
                ]
