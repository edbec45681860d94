from __future__ import annotations

import os

from ._calls import Calls
from ._connection import parse_workspace
from ._gateway import Gateway
from ._platform import Platform
from ._retry import Retry
from ._transport import Transport
from .types import ConnectionInfo


class Client(Calls):
    """A client of one project. The first call gets the URLs of the deployment; nothing is sent before.

    :param workspace: the workspace URL, ``https://<host>/ws_<project id>``; the default is ``SERVICE_WORKSPACE``
    :param api_key: the default is ``SERVICE_API_KEY``
    :param retry: the retry policy
    :param timeout: seconds without any received byte after which an attempt fails
    :raises ValueError: if the workspace URL or the key is missing
    """

    def __init__(self, workspace: str | None = None, api_key: str | None = None, *, retry: Retry = Retry(), timeout: float = 60.0) -> None:
        workspace = workspace or os.environ.get("SERVICE_WORKSPACE")
        api_key = api_key or os.environ.get("SERVICE_API_KEY")
        if not workspace:
            raise ValueError("name the workspace URL: SERVICE_WORKSPACE, or Client(workspace)")
        if not api_key:
            raise ValueError("name the API key: SERVICE_API_KEY, or Client(api_key=…)")
        super().__init__(Transport(parse_workspace(workspace), api_key, retry, timeout))
        self.project_id = self._transport.workspace.project_id
        self.gateway = Gateway(self._transport)
        self.platform = Platform(self._transport)

    def connection_info(self) -> ConnectionInfo:
        return self._transport.connection_info()
