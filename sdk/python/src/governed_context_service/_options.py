from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Surface = Literal["gateway", "platform"]


@dataclass(frozen=True)
class CallOptions:
    """The options of any call."""

    #: Overrides the client's number for this call.
    max_attempts: int | None = None
    #: For an operation that takes an idempotency key. By default, each call gets a new key, which its retries share.
    idempotency_key: str | None = None
    #: The resume token of an approval. The call must be the same as the one that was held.
    resume_token: str | None = None
    #: Seconds without any received byte after which an attempt fails with ``TimeoutError``. The default is the client's.
    timeout: float | None = None


@dataclass(frozen=True)
class Outgoing:
    method: str
    #: Relative to the API root, with a leading slash.
    path: str
    query: Mapping[str, Any] | None = None
    #: Sent as JSON.
    body: Any = None
    #: A body that is not JSON, with its media type.
    raw: tuple[bytes, str] | None = None
    headers: Mapping[str, str] | None = None
    takes_key: bool = False
    #: Whether to retry only after status 429: after a fault the service may already have acted, and it cannot recognise the retry.
    unsafe_to_repeat: bool = False
