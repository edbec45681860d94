from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ._transport import CallOptions, Outgoing, Transport

Options = CallOptions | None


class Group:
    """The calls of the platform about one kind of thing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._project = {"projectID": transport.workspace.project_id}
        self._project_part = part(transport.workspace.project_id)

    def _get(self, path: str, query: Mapping[str, Any] | None = None, options: Options = None) -> Any:
        return self._transport.call("platform", Outgoing("GET", path, query=query), options)

    def _send(self, method: str, path: str, body: Any, options: Options, query: Mapping[str, Any] | None = None) -> Any:
        return self._transport.call("platform", Outgoing(method, path, query=query, body=body), options)


def part(text: str) -> str:
    """A text as one part of a path."""
    return quote(text, safe="")


def without_none(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
