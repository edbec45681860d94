"""The asynchronous client needs httpx; the service's own tests install it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Any

from governed_context_service import AsyncClient, AsyncGateway, AsyncPlatform, CallOptions, Client, Gateway, Platform, Retry, ServiceError, async_paginate

from .fake_service import Answer, WithFakeService
from .test_client import EVENT, WORDS


class Asynchronous(WithFakeService):
    def run_client(self, use: Any, **retry: Any) -> Any:
        async def main() -> Any:
            async with AsyncClient(f"{self.service.url}/ws_p1", "svc_sk_test", retry=Retry(rand=lambda: 0.0, sleep=self.waits.append, **retry)) as client:
                return await use(client)

        return asyncio.run(main())

    def test_calls_repeats_and_pages(self) -> None:
        self.answer(Answer(500), Answer(201, {"_id": "flow"}))
        self.assertEqual(self.run_client(lambda client: client.platform.agentflows.create({"name": "a"})), {"_id": "flow"})
        first, second = self.service.asked
        self.assertEqual((first.path, first.headers["idempotency-key"]), ("/agentflow?projectID=p1", second.headers["idempotency-key"]))
        self.answer(*(Answer(200, {"data": [{"_id": id}], "total_count": 2, "next_cursor": cursor}) for id, cursor in (("1", "c"), ("2", None))))

        async def pages(client: AsyncClient) -> list[str]:
            return [flow["_id"] async for flow in async_paginate(client.platform.agentflows.list, limit=1)]

        self.assertEqual(self.run_client(pages), ["1", "2"])

    def test_raises_what_the_service_refuses_and_holds(self) -> None:
        self.answer(Answer(202, {"status": "pending_approval", "approval_id": "a1"}))
        with self.assertRaises(ServiceError) as held:
            self.run_client(lambda client: client.gateway.save_context(source="x"))
        self.assertEqual(held.exception.approval_id, "a1")
        self.service.close()
        with self.assertRaises(OSError):
            self.run_client(lambda client: client.gateway.docs())

    def test_follows_events_over_a_broken_stream(self) -> None:
        self.answer(Answer(200, EVENT.format(1) + WORDS), Answer(200, EVENT.format(2).replace("\n", "\r\n")), Answer(204, ""))

        async def follow(client: AsyncClient) -> list[str]:
            return [event["type"] async for event in client.platform.executions.events("e1")]

        self.assertEqual(self.run_client(follow), ["step", "model_delta", "step"])
        self.assertEqual([asked.headers.get("last-event-id") for asked in self.service.asked], [None, "1", "2"])

    def test_ends_a_call_whose_task_is_cancelled(self) -> None:
        self.answer(Answer(429, {}, {"Retry-After": "600"}))

        async def cancel(client: AsyncClient) -> str:
            client._transport.retry = Retry()
            task = asyncio.create_task(client.gateway.docs())
            while not self.service.asked:
                await asyncio.sleep(0.01)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return "cancelled"
            return "answered"

        self.assertEqual(self.run_client(cancel), "cancelled")
        self.assertEqual(len(self.service.asked), 1)

    def test_has_the_methods_of_the_synchronous_client_with_the_same_parameters(self) -> None:
        def methods(of: type) -> dict[str, list[str]]:
            return {name: list(inspect.signature(method).parameters) for name, method in vars(of).items() if callable(method) and not name.startswith("_")}

        for asynchronous, synchronous in ((AsyncGateway, Gateway), (AsyncPlatform, Platform)):
            self.assertEqual(methods(asynchronous), methods(synchronous))
            self.assertGreater(len(methods(synchronous)), 1)


def typed(client: Client, asynchronous: AsyncClient) -> None:
    """mypy and pyright check this function: the type of an event tells the type of its data."""
    for event in client.platform.executions.events("e1"):
        if event["type"] == "step_failed":
            attempts: int = event["data"]["attempts"]
            print(attempts)
        elif event["type"] == "model_delta":
            text: str = event["data"]["text"]
            print(text)
    memory: str = client.call("post", "/v1/remember", body={"text": "x"}, options=CallOptions())["memory"]["memory_id"]
    later: Awaitable[Any] = asynchronous.gateway.query_context("x", explain=True)
    print(memory, later)
