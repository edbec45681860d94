from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from .._operations import OPERATIONS
from .._options import CallOptions, Outgoing
from .transport import AsyncTransport

Options = CallOptions | None
Params = Mapping[str, str]
Query = Mapping[str, Any]


class AsyncGroup:
    """Calls about one kind of resource."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def _call(
        self,
        method: str,
        path: str,
        body: Any = None,
        options: Options = None,
        *,
        params: Params | None = None,
        query: Query | None = None,
        raw: tuple[bytes, str] | None = None,
    ) -> Any:
        """Calls any operation by its method and path in the API reference. The default project is the client's."""
        facts = OPERATIONS.get(f"{method.lower()} {path}")
        if facts is None:
            raise ValueError(f"the API has no operation {method.lower()} {path}")
        own = self._transport.workspace.project_id
        given = {"projectID": own, "projectId": own, **(params or {})}
        missing = [name for name in re.findall(r"\{(\w+)\}", path) if name not in given]
        if missing:
            raise ValueError(f"{method.lower()} {path} needs params{missing}")
        parts = {name: quote(value, safe="") for name, value in given.items()}
        outgoing = Outgoing(
            method.upper(),
            path.format_map(parts),
            query={"projectID": own, **(query or {})} if "project" in facts else query,
            body=body,
            raw=raw,
            takes_key="key" in facts,
            unsafe_to_repeat="once" in facts,
        )
        return await self._transport.call("gateway" if "gateway" in facts else "platform", outgoing, options)


def without_none(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
