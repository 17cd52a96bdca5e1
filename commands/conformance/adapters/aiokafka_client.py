"""The adapter of aiokafka."""

import asyncio
from collections.abc import Coroutine
from inspect import signature
from typing import Any

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from commands.conformance.adapters.lines import (
    WAIT_SECONDS,
    Values,
    answer,
    error_text,
    polled,
    settings_of,
    to_send,
)

CLOSE_SECONDS = 2
PRODUCER_NAMES = signature(AIOKafkaProducer).parameters
CONSUMER_NAMES = signature(AIOKafkaConsumer).parameters


class Client:
    """One producer or one consumer at a time, on one event loop."""

    def __init__(self) -> None:
        self.client: Any = None
        self._loop = asyncio.Runner()

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - the coroutine's
        return self._loop.run(coroutine)

    def hello(self) -> Values:
        can = ["idempotence", "transactions", "groups", "static"]
        return {"client": f"aiokafka {aiokafka.__version__}", "can": can}

    # ---- producers

    def producer(self, settings: Values) -> None:
        async def start() -> None:
            self.client = AIOKafkaProducer(**settings_of(PRODUCER_NAMES, settings))
            await self.client.start()

        self._run(start())

    def send(self, records: list[Values]) -> Values:
        async def send_all() -> list[Any]:
            futures = [await self.client.send(**to_send(record)) for record in records]
            every = asyncio.gather(*futures, return_exceptions=True)
            return await asyncio.wait_for(every, WAIT_SECONDS)

        return {
            "results": [
                {"error": error_text(done)}
                if isinstance(done, BaseException)
                else {"offset": done.offset}
                for done in self._run(send_all())
            ]
        }

    def begin(self) -> None:
        self._run(self.client.begin_transaction())

    def commit_transaction(self) -> None:
        self._run(self.client.commit_transaction())

    def abort(self) -> None:
        self._run(self.client.abort_transaction())

    def send_offsets(self, group: str, offsets: list[Values]) -> None:
        self._run(self.client.send_offsets_to_transaction(positions(offsets), group))

    # ---- consumers

    def consumer(
        self, settings: Values, topics: list[str], partitions: list[tuple[str, int]]
    ) -> None:
        async def start() -> None:
            own = settings_of(CONSUMER_NAMES, settings)
            if "partition_assignment_strategy" in own:
                own["partition_assignment_strategy"] = (RangePartitionAssignor,)
            self.client = AIOKafkaConsumer(**own)
            if topics:
                self.client.subscribe(topics)
            else:
                self.client.assign([TopicPartition(*partition) for partition in partitions])
            # A member that waits for the others must be able to answer.
            self._starting = asyncio.ensure_future(self.client.start())

        self._run(start())

    def poll(self, ms: int) -> Values:
        async def get() -> Any:  # noqa: ANN401 - the client's
            await asyncio.wait([self._starting], timeout=ms / 1000)
            if not self._starting.done():
                return {}
            self._starting.result()
            return await self.client.getmany(timeout_ms=ms)

        records = [record for batch in self._run(get()).values() for record in batch]
        return polled(records, self.client.assignment())

    def commit(self, offsets: list[Values]) -> None:
        self._run(self.client.commit(positions(offsets)))

    def close(self) -> None:
        self._run(asyncio.wait_for(self.client.stop(), CLOSE_SECONDS))


def positions(offsets: list[Values]) -> Values:
    """Return offsets as the client takes them."""
    return {TopicPartition(at["topic"], at["partition"]): at["offset"] for at in offsets}


if __name__ == "__main__":
    answer(Client())
