from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ServiceError(Exception):
    """The service did not do what it was asked.

    It refused (4xx), failed (5xx), or holds the call until it is approved (202, ``error`` is ``pending_approval``). A
    service that cannot be reached, or an answer that breaks off, is an ``OSError`` or ``http.client.HTTPException``.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(status, body)
        self.status = status
        #: A stable code, or the id of the stage that refused; empty where the answer had none.
        self.error = _text(body, "error") or ""
        #: For people; not to be parsed.
        self.error_description = _text(body, "error_description") or ""
        self.lifecycle_id = _text(body, "lifecycle_id")
        #: Of a call that waits: have it approved, then send it again with the resume token.
        self.approval_id = _text(body, "approval_id")
        #: Epoch seconds until which the approval can be given.
        self.expires_at: float | None = body.get("expires_at")

    def __str__(self) -> str:
        said = ": ".join(part for part in (self.error, self.error_description) if part)
        return f"{self.status} {said}".strip()


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None
