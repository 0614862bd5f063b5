"""aiokafka and aiohttp: all records of a poll at once behind a semaphore, committed when all have ended."""

import asyncio
import os
import time

import aiohttp
from aiokafka import AIOKafkaConsumer

URL = os.environ["URL"]
CONCURRENCY = int(os.environ["CONCURRENCY"])
COMMIT_SECONDS = int(os.environ["COMMIT_MS"]) / 1000


async def main() -> None:
    consumer = AIOKafkaConsumer(
        os.environ["TOPIC"],
        bootstrap_servers=os.environ["BROKER"],
        group_id=os.environ["GROUP"],
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=30_000,
    )
    await consumer.start()
    connector = aiohttp.TCPConnector(limit=CONCURRENCY)
    async with aiohttp.ClientSession(
        connector=connector, headers={"content-type": "application/json"}
    ) as session:
        room = asyncio.Semaphore(CONCURRENCY)

        async def post(value: bytes) -> None:
            async with room, session.post(URL, data=value) as answer:
                await answer.read()
                answer.raise_for_status()

        committed = time.monotonic()
        while True:
            polled = await consumer.getmany(timeout_ms=200, max_records=5_000)
            await asyncio.gather(
                *(post(record.value) for records in polled.values() for record in records)
            )
            if polled and time.monotonic() - committed >= COMMIT_SECONDS:
                await consumer.commit()
                committed = time.monotonic()


asyncio.run(main())
