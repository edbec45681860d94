from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any, Literal
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ._connection import Workspace, api_root
from ._errors import ServiceError
from ._retry import Retry, may_retry, seconds_to_wait
from .types import ConnectionInfo

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
    #: Seconds without any received byte after which an attempt fails. The default is the client's.
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


class _NoRedirects(HTTPRedirectHandler):
    """Does not follow redirects, because they could send the key to another host."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class Transport:
    def __init__(self, workspace: Workspace, api_key: str, retry: Retry, timeout: float) -> None:
        self.workspace = workspace
        self.retry = retry
        self._api_key = api_key
        self._timeout = timeout
        self._opener = build_opener(_NoRedirects)
        self._info: ConnectionInfo | None = None

    def connection_info(self, options: CallOptions = CallOptions()) -> ConnectionInfo:
        if self._info is None:
            request = Request(f"{self.workspace.base_url}/v1/connection-info")
            with self._send_with_retries(request, False, CallOptions(timeout=options.timeout)) as response:
                self._info = json.load(response)
        return self._info

    def call(self, surface: Surface, outgoing: Outgoing, options: CallOptions | None = None) -> Any:
        """Returns the JSON of the response, or its text for another media type; ``None`` without a body."""
        with self.open(surface, outgoing, options) as response:
            text = response.read().decode()
            is_json = response.headers.get("Content-Type", "application/json").startswith("application/json")
            body = json.loads(text) if text and is_json else text or None
        if response.status == 202 and isinstance(body, dict) and body.get("status") == "pending_approval":
            # A policy holds the call. It has not been executed, so it must not look like a success.
            raise ServiceError(202, {**body, "error": "pending_approval", "error_description": "the call waits for an approval"})
        return body

    def open(self, surface: Surface, outgoing: Outgoing, options: CallOptions | None = None) -> HTTPResponse:
        """Returns the response itself, for streams."""
        options = options or CallOptions()
        info = self.connection_info(options)
        url = api_root(self.workspace, info) + outgoing.path + _query_string(outgoing.query or {})
        data, headers = _encoded(outgoing)
        if surface == "gateway":
            headers |= {"Authorization": f"Bearer {self._api_key}", info["workspaceHeader"]: self.workspace.name}
        else:
            headers["x-api-key"] = self._api_key
        if outgoing.takes_key:
            headers["Idempotency-Key"] = options.idempotency_key or str(uuid.uuid4())
        if options.resume_token is not None:
            headers["X-Resume-Token"] = options.resume_token
        return self._send_with_retries(Request(url, data, headers, method=outgoing.method), outgoing.unsafe_to_repeat, options)

    def download(self, url: str, options: CallOptions | None = None) -> bytes:
        """Downloads the bytes of a signed URL without sending a credential."""
        with self._send_with_retries(Request(url), False, options or CallOptions()) as response:
            return response.read()

    def _send_with_retries(self, request: Request, unsafe_to_repeat: bool, options: CallOptions) -> HTTPResponse:
        """:raises ServiceError: for an error response that may not be retried, or after the last attempt"""
        max_attempts = self.retry.max_attempts if options.max_attempts is None else options.max_attempts
        timeout = self._timeout if options.timeout is None else options.timeout
        attempt = 1
        while True:
            try:
                response: HTTPResponse = self._opener.open(request, timeout=timeout)
                return response
            except HTTPError as answer:
                with answer:
                    error = ServiceError(answer.code, _error_body(answer))
                    retry_after = answer.headers.get("Retry-After")
            is_safe = error.status == 429 or not unsafe_to_repeat
            if attempt >= max_attempts or not is_safe or not may_retry(error.status, error.error):
                raise error
            self.retry.sleep(seconds_to_wait(attempt, retry_after, self.retry))
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


def _error_body(answer: HTTPError) -> dict[str, Any]:
    """Tolerates any content, because a proxy may respond with, for example, an HTML page."""
    try:
        body = json.loads(answer.read())
    except (ValueError, OSError):
        return {}
    return body if isinstance(body, dict) else {}
