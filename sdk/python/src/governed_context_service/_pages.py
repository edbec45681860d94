from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list, newest first. ``next_cursor`` is ``None`` on the last page."""

    data: list[T]
    #: The number of records, counted up to 10,000.
    total_count: int
    next_cursor: str | None
    #: Whether there are more than 10,000 records.
    total_is_lower_bound: bool = False


def page_of(body: dict[str, Any], key: str = "data") -> Page[Any]:
    return Page(body[key], body["total_count"], body["next_cursor"], body.get("total_is_lower_bound", False))
