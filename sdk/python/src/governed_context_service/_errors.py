from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ServiceError(Exception):
    """The service did not execute the request.

    It refused the request (4xx), failed (5xx), or holds the call until it is approved (202, ``error`` is
    ``pending_approval``). If the service cannot be reached or a response is incomplete, an ``OSError`` or
    ``http.client.HTTPException`` is raised instead.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(status, body)
        self.status = status
        #: A stable code, or the id of the stage that refused. Empty if the response had neither.
        self.error = _text(body, "error") or ""
        #: A text for people. Do not parse it.
        self.error_description = _text(body, "error_description") or ""
        self.lifecycle_id = _text(body, "lifecycle_id")
        #: The approval that the call waits for. Once it is approved, send the call again with the resume token.
        self.approval_id = _text(body, "approval_id")
        #: The end of the time for approval, in epoch seconds.
        self.expires_at: float | None = body.get("expires_at")

    def __str__(self) -> str:
        said = ": ".join(part for part in (self.error, self.error_description) if part)
        return f"{self.status} {said}".strip()


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None
