from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, TypeVar

from .._pages import Page

T = TypeVar("T")


async def async_paginate(list_page: Callable[..., Awaitable[Page[T]]], **query: Any) -> AsyncGenerator[T, None]:
    """Yields every record of a list and loads its pages on demand: ``async for flow in async_paginate(client.platform.agentflows.list)``."""
    while True:
        page = await list_page(**query)
        for record in page.data:
            yield record
        if page.next_cursor is None:
            return
        query["cursor"] = page.next_cursor
