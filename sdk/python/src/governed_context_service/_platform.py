from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from . import agentflow_types as flows
from . import platform_types as t
from ._executions import Executions
from ._files import Files
from ._group import Group, Options, part
from ._pages import Page, page_of
from ._transport import Outgoing, Transport


class Platform:
    """The workflow platform, in the client's project. Every call raises :class:`ServiceError` where the service refuses."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.agentflows = Agentflows(transport)
        self.executions = Executions(transport)
        self.schedules = Schedules(transport)
        self.tables = Tables(transport)
        self.files = Files(transport)

    def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, options: Options = None) -> Any:
        """Any other route of the platform API, such as ``request("GET", "/marketplace")``."""
        return self._transport.call("platform", Outgoing(method, path, query=query, body=body), options)


class Agentflows(Group):
    def create(self, agentflow: flows.NewAgentflow, options: Options = None) -> flows.Agentflow:
        return self._send("POST", "/agentflow", agentflow, options, self._project)

    def list(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[flows.Agentflow]:
        return page_of(self._get("/agentflow", {**self._project, "limit": limit, "cursor": cursor}, options))

    def get(self, id: str, options: Options = None) -> flows.Agentflow:
        return self._get(f"/agentflow/{part(id)}", None, options)

    def update(self, id: str, changes: flows.AgentflowChanges, options: Options = None) -> flows.Agentflow:
        return self._send("PATCH", f"/agentflow/{part(id)}", changes, options)

    def delete(self, id: str, options: Options = None) -> flows.Agentflow:
        """Gives the last record."""
        return self._send("DELETE", f"/agentflow/{part(id)}", None, options)

    def promote(self, id: str, options: Options = None) -> flows.Promotion:
        """Freezes a version, which ``gateway.run_agent`` runs."""
        return self._send("POST", f"/agentflow/{part(id)}/promote", {}, options)


class Schedules(Group):
    def create(self, schedule: t.NewSchedule, options: Options = None) -> t.Schedule:
        return self._send("POST", "/schedule/coworker", schedule, options, self._project)

    def list(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Schedule]:
        return page_of(self._get("/schedule/coworker", {**self._project, "limit": limit, "cursor": cursor}, options))

    def get(self, id: str, options: Options = None) -> t.Schedule:
        return self._get(f"/schedule/coworker/{part(id)}", None, options)

    def update(self, id: str, changes: t.ScheduleChanges, options: Options = None) -> t.Schedule:
        return self._send("PATCH", f"/schedule/coworker/{part(id)}", changes, options)

    def delete(self, id: str, options: Options = None) -> t.Schedule:
        """Gives the last record."""
        return self._send("DELETE", f"/schedule/coworker/{part(id)}", None, options, self._project)

    def trigger(self, id: str, options: Options = None) -> t.Schedule:
        return self._send("POST", f"/schedule/coworker/{part(id)}/trigger", {}, options)

    def backfill(self, id: str, from_: float, to: float, options: Options = None) -> t.Backfilled:
        return self._send("POST", f"/schedule/coworker/{part(id)}/backfill", {"from": from_, "to": to}, options)

    def runs(self, id: str, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> t.ScheduleRuns:
        """What fired, was skipped or missed, and the next ten."""
        return self._get(f"/schedule/coworker/{part(id)}/runs", {"limit": limit, "cursor": cursor}, options)


class Tables(Group):
    def create(self, table_name: str, columns: Sequence[t.NewColumn] = (), options: Options = None) -> t.Table:
        return self._send("POST", f"/storage/{self._project_part}/table", {"table_name": table_name, "columns": columns}, options)

    def list(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.Table]:
        return page_of(self._get(f"/storage/{self._project_part}", {"limit": limit, "cursor": cursor}, options), "tables")

    def add_column(self, id: str, column: t.NewColumn, options: Options = None) -> t.Column:
        return self._send("POST", f"{self._at(id)}/column", column, options)

    def delete_column(self, id: str, column_id: str, options: Options = None) -> str:
        """With the column's data in every record; cannot be undone."""
        return self._send("DELETE", f"/delete/column/{self._project_part}", {"table_id": id, "column_id": column_id}, options)

    def insert_row(self, id: str, row: Mapping[str, Any], options: Options = None) -> t.TableRecord:
        return self._send("POST", f"{self._at(id)}/row", dict(row), options)

    def insert_rows(self, id: str, rows: Sequence[Mapping[str, Any]], options: Options = None) -> Sequence[t.TableRecord]:
        """1 to 1,000 rows: all of them or none."""
        return self._send("POST", f"{self._at(id)}/row", [dict(row) for row in rows], options)

    def records(
        self,
        id: str,
        *,
        filter: Mapping[str, Any] | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        options: Options = None,
    ) -> Page[t.TableRecord]:
        """``filter`` is ``{column_id: value}`` or ``{column_id: {"gte": 10}}``; ``sort`` a column_id, with ``-`` for descending."""
        query = {"filter": None if filter is None else json.dumps(filter), "sort": sort, "limit": limit, "cursor": cursor}
        return page_of(self._get(f"{self._at(id)}/records", query, options))

    def record(self, id: str, record_id: str, options: Options = None) -> t.TableRecord:
        return self._get(f"{self._at(id)}/records/{part(record_id)}", None, options)

    def update_record(self, id: str, record_id: str, values: Mapping[str, Any], options: Options = None) -> t.TableRecord:
        return self._send("PUT", f"{self._at(id)}/records/{part(record_id)}", dict(values), options)

    def delete_record(self, id: str, record_id: str, options: Options = None) -> t.TableRecord:
        return self._send("DELETE", f"{self._at(id)}/records/{part(record_id)}", None, options)

    def _at(self, id: str) -> str:
        return f"/storage/{self._project_part}/table/{part(id)}"
