from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

#: Error codes that a retry does not change (specification, Retry rules 4).
_NEVER_RETRIED = frozenset({"unconfigured", "unavailable"})
_CAP_SECONDS = 60.0
_OFFSET_SECONDS = 1.0


@dataclass(frozen=True)
class Retry:
    """The retry policy of a client.

    :param max_attempts: the maximum number of attempts
    :param rand: returns a number in [0, 1)
    :param clock: returns epoch seconds
    :param sleep: waits for a number of seconds; of ``AsyncClient`` it may be a coroutine function
    """

    max_attempts: int = 5
    rand: Callable[[], float] = random.random
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], object] | None = None

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError("max_attempts must be a whole number from 1")


def may_retry(status: int, error: str) -> bool:
    """Returns whether the same request may be retried unchanged (specification, Retry rules 1 and 4)."""
    return status == 429 or (status >= 500 and error not in _NEVER_RETRIED)


def seconds_to_wait(attempt: int, retry_after: str | None, retry: Retry) -> float:
    """Returns how long to wait after an attempt, counted from 1 (specification, Retry rules 2 and 3).

    Waits at least ``Retry-After`` if present, otherwise full jitter.
    """
    at_least = _parse_retry_after(retry_after, retry.clock())
    if at_least is not None:
        return at_least + retry.rand() * _OFFSET_SECONDS
    return retry.rand() * min(_CAP_SECONDS, 2.0**attempt)


def _parse_retry_after(text: str | None, now: float) -> float | None:
    """Parses seconds or an HTTP date (RFC 9110, 10.2.3)."""
    given = (text or "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", given, re.ASCII):
        return float(given)
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - now)
    except (TypeError, ValueError):
        return None
