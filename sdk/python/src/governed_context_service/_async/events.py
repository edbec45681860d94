from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from http.client import HTTPException
from math import inf
from typing import Any

from .._async_http import AsyncAnswer
from .._options import CallOptions, Outgoing
from .._retry import seconds_to_wait
from .transport import AsyncTransport

#: The service sends something at least every 15 seconds.
_SILENCE_SECONDS = 60.0


async def follow_events(
    transport: AsyncTransport, path: str, last_event_id: int | None = None, deadline: float = inf
) -> AsyncGenerator[Any, None]:
    """Yields the events of an execution until its last one, or of a project without end.

    Resumes an interrupted stream by ``Last-Event-ID``, until ``max_attempts`` connections in a row have failed.

    :param deadline: the time limit on the clock of ``time.monotonic``
    :raises TimeoutError: after the deadline
    """
    retry = transport.retry
    last = last_event_id
    failures = 0
    while True:
        before = last
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the execution has not ended in time")
        try:
            headers = {"Accept": "text/event-stream"}
            if last is not None:
                headers["Last-Event-ID"] = str(last)
            outgoing, options = Outgoing("GET", path, headers=headers), CallOptions(timeout=min(left, _SILENCE_SECONDS))
            async with await transport.open("platform", outgoing, options) as answer:
                if answer.status == 204:
                    return
                async for data in _data_of(answer, deadline):
                    event = json.loads(data)
                    # The words of a model turn have no ``seq``. After a reconnection, the service sends them again.
                    last = event.get("seq", last)
                    failures = 0
                    yield event
        except (OSError, HTTPException):
            failures += 1
            if failures >= retry.max_attempts and time.monotonic() < deadline:
                raise
        if last == before and time.monotonic() < deadline:
            await transport.sleep(seconds_to_wait(max(1, failures), None, retry))


async def _data_of(answer: AsyncAnswer, deadline: float) -> AsyncGenerator[str, None]:
    """Yields the ``data`` of each server-sent event (WHATWG HTML, 9.2.6). An event without a final empty line is incomplete."""
    data: list[str] = []
    async for raw in answer.lines():
        if time.monotonic() >= deadline:
            return
        line = raw.decode().rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line == "" and data:
            yield "\n".join(data)
            data = []
