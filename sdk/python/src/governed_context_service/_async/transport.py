from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from .._async_http import AsyncAnswer, AsyncHttp
from .._connection import Workspace, api_root
from .._errors import ServiceError
from .._options import CallOptions, Outgoing, Surface
from .._retry import Retry, may_retry, seconds_to_wait
from ..types import ConnectionInfo


class AsyncTransport:
    def __init__(self, workspace: Workspace, api_key: str, retry: Retry, timeout: float) -> None:
        self.workspace = workspace
        self.retry = retry
        self._api_key = api_key
        self._timeout = timeout
        self._http = AsyncHttp()
        self._info: ConnectionInfo | None = None

    async def aclose(self) -> None:
        await self._http.aclose()

    async def connection_info(self, options: CallOptions = CallOptions()) -> ConnectionInfo:
        if self._info is not None:
            return self._info
        url = f"{self.workspace.base_url}/v1/connection-info"
        async with await self._send_with_retries("GET", url, {}, None, False, CallOptions(timeout=options.timeout)) as answer:
            info: ConnectionInfo = json.loads(await answer.read())
        self._info = info
        return info

    async def call(self, surface: Surface, outgoing: Outgoing, options: CallOptions | None = None) -> Any:
        """Returns the JSON of the response, or its text for another media type; ``None`` without a body."""
        async with await self.open(surface, outgoing, options) as answer:
            text = (await answer.read()).decode()
            is_json = (answer.header("Content-Type") or "application/json").startswith("application/json")
            body = json.loads(text) if text and is_json else text or None
        if answer.status == 202 and isinstance(body, dict) and body.get("status") == "pending_approval":
            # A policy holds the call. It has not been executed, so it must not look like a success.
            raise ServiceError(202, {**body, "error": "pending_approval", "error_description": "the call waits for an approval"})
        return body

    async def open(self, surface: Surface, outgoing: Outgoing, options: CallOptions | None = None) -> AsyncAnswer:
        """Returns the response itself, for streams."""
        options = options or CallOptions()
        info = await self.connection_info(options)
        url = api_root(self.workspace, info) + outgoing.path + _query_string(outgoing.query or {})
        content, headers = _encoded(outgoing)
        if surface == "gateway":
            headers |= {"Authorization": f"Bearer {self._api_key}", info["workspaceHeader"]: self.workspace.name}
        else:
            headers["x-api-key"] = self._api_key
        if outgoing.takes_key:
            headers["Idempotency-Key"] = options.idempotency_key or str(uuid.uuid4())
        if options.resume_token is not None:
            headers["X-Resume-Token"] = options.resume_token
        return await self._send_with_retries(outgoing.method, url, headers, content, outgoing.unsafe_to_repeat, options)

    async def download(self, url: str, options: CallOptions | None = None) -> bytes:
        """Downloads the bytes of a signed URL without sending a credential."""
        async with await self._send_with_retries("GET", url, {}, None, False, options or CallOptions()) as answer:
            return await answer.read()

    async def sleep(self, seconds: float) -> None:
        await self._http.sleep(seconds, self.retry)

    async def _send_with_retries(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None, unsafe_to_repeat: bool, options: CallOptions
    ) -> AsyncAnswer:
        """:raises ServiceError: for an error response that may not be retried, or after the last attempt"""
        max_attempts = self.retry.max_attempts if options.max_attempts is None else options.max_attempts
        timeout = self._timeout if options.timeout is None else options.timeout
        attempt = 1
        while True:
            answer = await self._http.send(method, url, headers, content, timeout)
            if 200 <= answer.status < 300:
                return answer
            async with answer:
                error = ServiceError(answer.status, await _error_body(answer))
            is_safe = error.status == 429 or not unsafe_to_repeat
            if attempt >= max_attempts or not is_safe or not may_retry(error.status, error.error):
                raise error
            await self.sleep(seconds_to_wait(attempt, answer.header("Retry-After"), self.retry))
            attempt += 1


def _encoded(outgoing: Outgoing) -> tuple[bytes | None, dict[str, str]]:
    headers = {"Accept": "application/json", **(outgoing.headers or {})}
    if outgoing.raw is not None:
        data, media_type = outgoing.raw
        return data, {**headers, "Content-Type": media_type}
    if outgoing.body is None:
        return None, headers
    return json.dumps(outgoing.body).encode(), {**headers, "Content-Type": "application/json"}


def _query_string(query: Mapping[str, Any]) -> str:
    given = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


async def _error_body(answer: AsyncAnswer) -> dict[str, Any]:
    """Tolerates any content, because a proxy may respond with, for example, an HTML page."""
    try:
        body = json.loads(await answer.read())
    except (ValueError, OSError):
        return {}
    return body if isinstance(body, dict) else {}
