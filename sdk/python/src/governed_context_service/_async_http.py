from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ._retry import Retry

if TYPE_CHECKING:
    import httpx


class AsyncAnswer:
    """A response whose body is read later."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code

    def header(self, name: str) -> str | None:
        value: str | None = self._response.headers.get(name)
        return value

    async def read(self) -> bytes:
        with _os_errors():
            return await self._response.aread()

    async def lines(self) -> AsyncGenerator[bytes, None]:
        rest = b""
        with _os_errors():
            async for chunk in self._response.aiter_bytes():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    yield line

    async def __aenter__(self) -> AsyncAnswer:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._response.aclose()


class AsyncHttp:
    """Sends requests with httpx. A cancelled task closes its connection."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def send(self, method: str, url: str, headers: Mapping[str, str], content: bytes | None, timeout: float) -> AsyncAnswer:
        """:raises OSError: if the server cannot be reached, or sends nothing for that many seconds"""
        client = self._open_client()
        with _os_errors():
            request = client.build_request(method, url, headers=dict(headers), content=content, timeout=timeout)
            return AsyncAnswer(await client.send(request, stream=True))

    async def sleep(self, seconds: float, retry: Retry) -> None:
        if retry.sleep is None:
            await asyncio.sleep(seconds)
            return
        waited = retry.sleep(seconds)
        if inspect.isawaitable(waited):
            await waited

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def _open_client(self) -> httpx.AsyncClient:
        if self._client is None:
            try:
                import httpx
            except ImportError as error:
                raise ImportError("AsyncClient needs httpx: pip install 'httpx>=0.27'") from error
            # Redirects are not followed, because they could send the key to another host. Streams do not end, so the number
            # of connections has no limit.
            self._client = httpx.AsyncClient(follow_redirects=False, limits=httpx.Limits(max_connections=None))
        return self._client


@contextmanager
def _os_errors() -> Iterator[None]:
    """Raises the errors that the synchronous client raises."""
    import httpx

    try:
        yield
    except httpx.TimeoutException as error:
        raise TimeoutError(str(error) or "the server sent nothing in time") from error
    except httpx.TransportError as error:
        raise ConnectionError(str(error) or type(error).__name__) from error
