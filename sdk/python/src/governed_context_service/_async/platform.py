from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .. import types as t
from .._options import Outgoing
from .events import follow_events
from .executions import AsyncExecutions
from .files import AsyncFiles
from .group import AsyncGroup, Options
from .._pages import Page, page_of
from .transport import AsyncTransport

#: A row: ``_id``, ``row_id``, ``coworker_user_id``, and its values by column_id.
Record = dict[str, Any]

_TABLE = "/storage/{projectID}/table/{table_id}"
_RECORD = f"{_TABLE}/records/{{record_id}}"


class AsyncPlatform:
    """Calls of the workflow platform in the client's project. Each call raises :class:`ServiceError` if the service refuses it."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self.agentflows = AsyncAgentflows(transport)
        self.executions = AsyncExecutions(transport)
        self.schedules = AsyncSchedules(transport)
        self.tables = AsyncTables(transport)
        self.files = AsyncFiles(transport)

    async def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, options: Options = None) -> Any:
        """Sends a request to a route that this version of the client does not know."""
        return await self._transport.call("platform", Outgoing(method, path, query=query, body=body, takes_key=method == "POST"), options)


    def events(self, last_event_id: int | None = None) -> AsyncGenerator[t.ProjectEvent, None]:
        """Yields changes in the project without end, from now or after ``last_event_id``."""
        return follow_events(self._transport, f"/{quote(self._transport.workspace.project_id, safe='')}/events", last_event_id)


class AsyncAgentflows(AsyncGroup):
    async def create(self, agentflow: t.AgentflowInput, options: Options = None) -> t.EditedAgentflow:
        return await self._call("post", "/agentflow", agentflow, options)

    async def list(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Agentflow]:
        return page_of(await self._call("get", "/agentflow", None, options, query={"limit": limit, "cursor": cursor}))

    async def get(self, id: str, options: Options = None) -> t.EditedAgentflow:
        return await self._call("get", "/agentflow/{id}", None, options, params={"id": id})

    async def update(self, id: str, changes: t.AgentflowPatch, options: Options = None) -> t.EditedAgentflow:
        return await self._call("patch", "/agentflow/{id}", changes, options, params={"id": id})

    async def delete(self, id: str, options: Options = None) -> t.Agentflow:
        """Returns the deleted record."""
        return await self._call("delete", "/agentflow/{id}", None, options, params={"id": id})

    async def promote(self, id: str, options: Options = None) -> t.Promotion:
        """Publishes the saved agentflow as a release, which every start runs from then on."""
        return await self._call("post", "/agentflow/{id}/promote", None, options, params={"id": id})

    async def publish(self, id: str, release: t.ReleaseInput | None = None, options: Options = None) -> t.Release:
        """Publishes the saved agentflow as its next release. No channel points to it yet."""
        return await self._call("post", "/agentflow/{id}/versions", release or {}, options, params={"id": id})

    async def releases(self, id: str, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Release]:
        return page_of(await self._call("get", "/agentflow/{id}/versions", None, options, params={"id": id}, query={"limit": limit, "cursor": cursor}))

    async def release(self, id: str, version: int, options: Options = None) -> t.ReleaseDetails:
        return await self._call("get", "/agentflow/{id}/versions/{version}", None, options, params={"id": id, "version": str(version)})

    async def history(self, id: str, channel: str, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Promotion]:
        """Who pointed the channel to which release, newest first. The first entry is what it points to now."""
        query = {"limit": limit, "cursor": cursor}
        return page_of(await self._call("get", "/agentflow/{id}/channels/{channel}/history", None, options, params={"id": id, "channel": channel}, query=query))

    async def channels(self, id: str, options: Options = None) -> t.Channels:
        return await self._call("get", "/agentflow/{id}/channels", None, options, params={"id": id})

    async def point(self, id: str, channel: str, promotion: t.PromotionInput, options: Options = None) -> t.Promotion:
        """Points a channel to a newer or an earlier release, if it points to the one that ``expected`` names."""
        return await self._call("put", "/agentflow/{id}/channels/{channel}", promotion, options, params={"id": id, "channel": channel})

    async def diff(self, id: str, *, from_: str | None = None, to: str | None = None, options: Options = None) -> t.ReleaseDifference:
        """Compares two of: ``draft``, the number of a release, a channel."""
        return await self._call("get", "/agentflow/{id}/diff", None, options, params={"id": id}, query={"from": from_, "to": to})


class AsyncSchedules(AsyncGroup):
    async def create(self, schedule: t.ScheduleInput, options: Options = None) -> t.Schedule:
        return await self._call("post", "/schedule/coworker", schedule, options)

    async def list(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Schedule]:
        return page_of(await self._call("get", "/schedule/coworker", None, options, query={"limit": limit, "cursor": cursor}))

    async def get(self, id: str, options: Options = None) -> t.Schedule:
        return await self._call("get", "/schedule/coworker/{id}", None, options, params={"id": id})

    async def update(self, id: str, changes: t.SchedulePatch, options: Options = None) -> t.Schedule:
        return await self._call("patch", "/schedule/coworker/{id}", changes, options, params={"id": id})

    async def delete(self, id: str, options: Options = None) -> t.Schedule:
        """Returns the deleted record."""
        return await self._call("delete", "/schedule/coworker/{id}", None, options, params={"id": id})

    async def trigger(self, id: str, options: Options = None) -> t.Schedule:
        return await self._call("post", "/schedule/coworker/{id}/trigger", None, options, params={"id": id})

    async def backfill(self, id: str, from_: float, to: float, options: Options = None) -> t.ScheduleBackfilled:
        return await self._call("post", "/schedule/coworker/{id}/backfill", {"from": from_, "to": to}, options, params={"id": id})

    async def runs(self, id: str, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> t.ScheduleRuns:
        """Returns the past runs, including skipped and missed ones, and the next ten times."""
        return await self._call("get", "/schedule/coworker/{id}/runs", None, options, params={"id": id}, query={"limit": limit, "cursor": cursor})


class AsyncTables(AsyncGroup):
    async def create(self, table_name: str, columns: Sequence[t.ColumnInput] = (), options: Options = None) -> t.Table:
        return await self._call("post", "/storage/{projectID}/table", {"table_name": table_name, "columns": columns}, options)

    async def list(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Table]:
        return page_of(await self._call("get", "/storage/{projectID}", None, options, query={"limit": limit, "cursor": cursor}), "tables")

    async def add_column(self, id: str, column: t.ColumnInput, options: Options = None) -> t.Column:
        return await self._call("post", f"{_TABLE}/column", column, options, params={"table_id": id})

    async def delete_column(self, id: str, column_id: str, options: Options = None) -> str:
        """Deletes a column and its values in every record. This cannot be undone."""
        return await self._call("delete", "/delete/column/{projectID}", {"table_id": id, "column_id": column_id}, options)

    async def insert_row(self, id: str, row: Mapping[str, Any], options: Options = None) -> Record:
        return await self._call("post", f"{_TABLE}/row", dict(row), options, params={"table_id": id})

    async def insert_rows(self, id: str, rows: Sequence[Mapping[str, Any]], options: Options = None) -> Sequence[Record]:
        """Inserts 1 to 1,000 rows, either all or none."""
        return await self._call("post", f"{_TABLE}/row", [dict(row) for row in rows], options, params={"table_id": id})

    async def records(
        self,
        id: str,
        *,
        filter: Mapping[str, Any] | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        options: Options = None,
    ) -> Page[Record]:
        """``filter`` is ``{column_id: value}`` or ``{column_id: {"gte": 10}}``. ``sort`` is a column_id; ``-`` before it sorts in descending order."""
        query = {"filter": None if filter is None else json.dumps(filter), "sort": sort, "limit": limit, "cursor": cursor}
        return page_of(await self._call("get", f"{_TABLE}/records", None, options, params={"table_id": id}, query=query))

    async def record(self, id: str, record_id: str, options: Options = None) -> Record:
        return await self._call("get", _RECORD, None, options, params={"table_id": id, "record_id": record_id})

    async def update_record(self, id: str, record_id: str, values: Mapping[str, Any], options: Options = None) -> Record:
        return await self._call("put", _RECORD, dict(values), options, params={"table_id": id, "record_id": record_id})

    async def delete_record(self, id: str, record_id: str, options: Options = None) -> Record:
        return await self._call("delete", _RECORD, None, options, params={"table_id": id, "record_id": record_id})
