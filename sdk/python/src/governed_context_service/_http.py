from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from http.client import HTTPResponse
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ._retry import Retry


class _NoRedirects(HTTPRedirectHandler):
    """Does not follow redirects, because they could send the key to another host."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class Answer:
    """A response whose body is read later."""

    def __init__(self, response: HTTPResponse | HTTPError, status: int) -> None:
        self._response = response
        self.status = status

    def header(self, name: str) -> str | None:
        return self._response.headers.get(name)

    def read(self) -> bytes:
        return self._response.read()

    def lines(self) -> Iterator[bytes]:
        return iter(self._response)

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_error: object) -> None:
        self._response.close()


class Http:
    """Sends requests with the standard library."""

    def __init__(self) -> None:
        self._opener = build_opener(_NoRedirects)

    def send(self, method: str, url: str, headers: Mapping[str, str], content: bytes | None, timeout: float) -> Answer:
        """:raises OSError: if the server cannot be reached, or sends nothing for that many seconds"""
        request = Request(url, content, dict(headers), method=method)
        try:
            response: HTTPResponse = self._opener.open(request, timeout=timeout)
        except HTTPError as error:
            return Answer(error, error.code)
        return Answer(response, response.status)

    def sleep(self, seconds: float, retry: Retry) -> None:
        (retry.sleep or time.sleep)(seconds)

    def close(self) -> None:
        """Nothing stays open: each request has its own connection."""
