from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterable, Iterator
from http.client import HTTPException
from itertools import takewhile
from math import inf
from typing import Any

from ._retry import seconds_to_wait
from ._transport import CallOptions, Outgoing, Transport

#: The service says within 15 seconds that it is still there.
_SILENCE_SECONDS = 60.0


def follow_events(
    transport: Transport, path: str, last_event_id: int | None = None, deadline: float = inf
) -> Generator[Any, None, None]:
    """The events of an execution until its last one, or of a project without an end.

    A stream that breaks goes on where it was, by ``Last-Event-ID``; that is given up after ``max_attempts`` failures in a row.

    :param deadline: by ``time.monotonic``
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
            with transport.open("platform", outgoing, options) as response:
                if response.status == 204:
                    return
                for data in _data_of(takewhile(lambda _line: time.monotonic() < deadline, response)):
                    event = json.loads(data)
                    # The words of a model turn have no number: they come again, where the turn goes on.
                    last = event.get("seq", last)
                    failures = 0
                    yield event
        except (OSError, HTTPException):
            failures += 1
            if failures >= retry.max_attempts and time.monotonic() < deadline:
                raise
        if last == before and time.monotonic() < deadline:
            retry.sleep(seconds_to_wait(max(1, failures), None, retry))


def _data_of(lines: Iterable[bytes]) -> Iterator[str]:
    """The ``data`` of each server-sent event (WHATWG HTML, 9.2.6). What follows the last empty line is no whole event."""
    data: list[str] = []
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line == "" and data:
            yield "\n".join(data)
            data = []
