from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from .types import ConnectionInfo


@dataclass(frozen=True)
class Workspace:
    #: The URL of the deployment, without a trailing slash.
    base_url: str
    project_id: str

    @property
    def name(self) -> str:
        """The value of the workspace header."""
        return f"ws_{self.project_id}"


def parse_workspace(text: str) -> Workspace:
    """Parses a workspace URL: the deployment's base URL, with an optional path, followed by ``/ws_<project id>``."""
    url = urlsplit(text)
    match = re.fullmatch(r"(.*)/ws_([^/]+)/?", url.path)
    if match is None or url.scheme not in ("http", "https") or not url.hostname or "@" in url.netloc or url.query or url.fragment:
        raise ValueError("SERVICE_WORKSPACE must be a workspace URL: https://<host>/ws_<project id>")
    return Workspace(f"{url.scheme}://{url.netloc}{match[1]}", unquote(match[2]))


def api_root(workspace: Workspace, info: ConnectionInfo) -> str:
    """Returns the root of all routes, which is the API base URL without its version.

    :raises ValueError: if the key of an HTTPS workspace would be sent over plain HTTP
    """
    base = info["apiBaseUrl"]
    if not base.startswith("https://") and not (base.startswith("http://") and workspace.base_url.startswith("http://")):
        raise ValueError(f"{workspace.base_url} names the API base {base}, to which no key is sent from an HTTPS workspace")
    return base.rstrip("/").removesuffix("/v1")
