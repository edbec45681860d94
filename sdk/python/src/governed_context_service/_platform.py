from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from . import types as t
from ._events import follow_events
from ._executions import Executions
from ._files import Files
from ._group import Group, Options
from ._pages import Page, page_of
from ._transport import Outgoing, Transport

#: A row: ``_id``, ``row_id``, ``coworker_user_id``, and its values by column_id.
Record = dict[str, Any]

_TABLE = "/storage/{projectID}/table/{table_id}"
_RECORD = f"{_TABLE}/records/{{record_id}}"


class Platform:
    """Calls of the workflow platform in the client's project. Each call raises :class:`ServiceError` if the service refuses it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.agentflows = Agentflows(transport)
        self.executions = Executions(transport)
        self.schedules = Schedules(transport)
        self.tables = Tables(transport)
        self.files = Files(transport)

    def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, options: Options = None) -> Any:
        """Sends a request to a route that this version of the client does not know."""
        return self._transport.call("platform", Outgoing(method, path, query=query, body=body, takes_key=method == "POST"), options)


    def events(self, last_event_id: int | None = None) -> Generator[t.ProjectEvent, None, None]:
        """Yields changes in the project without end, from now or after ``last_event_id``."""
        return follow_events(self._transport, f"/{quote(self._transport.workspace.project_id, safe='')}/events", last_event_id)


class Agentflows(Group):
    def create(self, agentflow: t.NewAgentflow, options: Options = None) -> t.Agentflow:
        return self._call("post", "/agentflow", agentflow, options)

    def list(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Agentflow]:
        return page_of(self._call("get", "/agentflow", None, options, query={"limit": limit, "cursor": cursor}))

    def get(self, id: str, options: Options = None) -> t.Agentflow:
        return self._call("get", "/agentflow/{id}", None, options, params={"id": id})

    def update(self, id: str, changes: t.AgentflowPatch, options: Options = None) -> t.Agentflow:
        return self._call("patch", "/agentflow/{id}", changes, options, params={"id": id})

    def delete(self, id: str, options: Options = None) -> t.Agentflow:
        """Returns the deleted record."""
        return self._call("delete", "/agentflow/{id}", None, options, params={"id": id})

    def promote(self, id: str, options: Options = None) -> t.Promotion:
        """Freezes the current state as a version, which ``gateway.run_agent`` runs."""
        return self._call("post", "/agentflow/{id}/promote", None, options, params={"id": id})


class Schedules(Group):
    def create(self, schedule: t.NewSchedule, options: Options = None) -> t.Schedule:
        return self._call("post", "/schedule/coworker", schedule, options)

    def list(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Schedule]:
        return page_of(self._call("get", "/schedule/coworker", None, options, query={"limit": limit, "cursor": cursor}))

    def get(self, id: str, options: Options = None) -> t.Schedule:
        return self._call("get", "/schedule/coworker/{id}", None, options, params={"id": id})

    def update(self, id: str, changes: t.SchedulePatch, options: Options = None) -> t.Schedule:
        return self._call("patch", "/schedule/coworker/{id}", changes, options, params={"id": id})

    def delete(self, id: str, options: Options = None) -> t.Schedule:
        """Returns the deleted record."""
        return self._call("delete", "/schedule/coworker/{id}", None, options, params={"id": id})

    def trigger(self, id: str, options: Options = None) -> t.Schedule:
        return self._call("post", "/schedule/coworker/{id}/trigger", None, options, params={"id": id})

    def backfill(self, id: str, from_: float, to: float, options: Options = None) -> t.ScheduleBackfilled:
        return self._call("post", "/schedule/coworker/{id}/backfill", {"from": from_, "to": to}, options, params={"id": id})

    def runs(self, id: str, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> t.ScheduleRuns:
        """Returns the past runs, including skipped and missed ones, and the next ten times."""
        return self._call("get", "/schedule/coworker/{id}/runs", None, options, params={"id": id}, query={"limit": limit, "cursor": cursor})


class Tables(Group):
    def create(self, table_name: str, columns: Sequence[t.NewColumn] = (), options: Options = None) -> t.Table:
        return self._call("post", "/storage/{projectID}/table", {"table_name": table_name, "columns": columns}, options)

    def list(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Table]:
        return page_of(self._call("get", "/storage/{projectID}", None, options, query={"limit": limit, "cursor": cursor}), "tables")

    def add_column(self, id: str, column: t.NewColumn, options: Options = None) -> t.Column:
        return self._call("post", f"{_TABLE}/column", column, options, params={"table_id": id})

    def delete_column(self, id: str, column_id: str, options: Options = None) -> str:
        """Deletes a column and its values in every record. This cannot be undone."""
        return self._call("delete", "/delete/column/{projectID}", {"table_id": id, "column_id": column_id}, options)

    def insert_row(self, id: str, row: Mapping[str, Any], options: Options = None) -> Record:
        return self._call("post", f"{_TABLE}/row", dict(row), options, params={"table_id": id})

    def insert_rows(self, id: str, rows: Sequence[Mapping[str, Any]], options: Options = None) -> Sequence[Record]:
        """Inserts 1 to 1,000 rows, either all or none."""
        return self._call("post", f"{_TABLE}/row", [dict(row) for row in rows], options, params={"table_id": id})

    def records(
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
        return page_of(self._call("get", f"{_TABLE}/records", None, options, params={"table_id": id}, query=query))

    def record(self, id: str, record_id: str, options: Options = None) -> Record:
        return self._call("get", _RECORD, None, options, params={"table_id": id, "record_id": record_id})

    def update_record(self, id: str, record_id: str, values: Mapping[str, Any], options: Options = None) -> Record:
        return self._call("put", _RECORD, dict(values), options, params={"table_id": id, "record_id": record_id})

    def delete_record(self, id: str, record_id: str, options: Options = None) -> Record:
        return self._call("delete", _RECORD, None, options, params={"table_id": id, "record_id": record_id})
