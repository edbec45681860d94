from __future__ import annotations

import os

from .calls import AsyncCalls
from .._connection import parse_workspace
from .gateway import AsyncGateway
from .platform import AsyncPlatform
from .._retry import Retry
from .transport import AsyncTransport
from ..types import ConnectionInfo


class AsyncClient(AsyncCalls):
    """A client of one project. The first call gets the URLs of the deployment; nothing is sent before.

    :param workspace: the workspace URL, ``https://<host>/ws_<project id>``; the default is ``SERVICE_WORKSPACE``
    :param api_key: the default is ``SERVICE_API_KEY``
    :param retry: the retry policy
    :param timeout: seconds without any received byte after which an attempt fails with ``TimeoutError``
    :raises ValueError: if the workspace URL or the key is missing
    """

    def __init__(self, workspace: str | None = None, api_key: str | None = None, *, retry: Retry = Retry(), timeout: float = 60.0) -> None:
        workspace = workspace or os.environ.get("SERVICE_WORKSPACE")
        api_key = api_key or os.environ.get("SERVICE_API_KEY")
        if not workspace:
            raise ValueError("name the workspace URL: SERVICE_WORKSPACE, or AsyncClient(workspace)")
        if not api_key:
            raise ValueError("name the API key: SERVICE_API_KEY, or AsyncClient(api_key=…)")
        super().__init__(AsyncTransport(parse_workspace(workspace), api_key, retry, timeout))
        self.project_id = self._transport.workspace.project_id
        self.gateway = AsyncGateway(self._transport)
        self.platform = AsyncPlatform(self._transport)

    async def connection_info(self) -> ConnectionInfo:
        return await self._transport.connection_info()

    async def aclose(self) -> None:
        """Closes the connections. ``async with AsyncClient() as client`` does so at its end."""
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()
