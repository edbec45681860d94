from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from math import inf
from typing import Any

from . import execution_types as t
from ._events import follow_events
from ._group import Group, Options, part, without_none
from ._pages import Page, page_of


class Executions(Group):
    """``create`` prepares one in ``ready``, ``execute`` starts it."""

    def create(
        self,
        agentflow_id: str,
        goal: str,
        *,
        input_variables: Mapping[str, Any] | None = None,
        runtime_inputs: Mapping[str, Any] | None = None,
        goal_template: Any = None,
        files: Sequence[t.FileToRead] | None = None,
        start_from_agent_id: str | None = None,
        parent_execution_id: str | None = None,
        options: Options = None,
    ) -> t.Execution:
        body = {
            "agentflow_id": agentflow_id,
            "goal": goal,
            "input_variables": input_variables,
            "runtime_inputs": runtime_inputs,
            "goal_template": goal_template,
            "files": files,
            "start_from_agent_id": start_from_agent_id,
            "parent_execution_id": parent_execution_id,
        }
        return self._send("POST", "/execute_flow", without_none(body), options, self._project)

    def execute(self, id: str, options: Options = None) -> t.MovedExecution:
        return self._send("POST", f"{_at(id)}/execute", {}, options)

    def pause(self, id: str, reason: str | None = None, options: Options = None) -> t.MovedExecution:
        return self._send("POST", f"{_at(id)}/pause", without_none({"reason": reason}), options)

    def resume(self, id: str, reason: str | None = None, options: Options = None) -> t.MovedExecution:
        return self._send("POST", f"{_at(id)}/resume", without_none({"reason": reason}), options)

    def cancel(self, id: str, reason: str | None = None, options: Options = None) -> t.MovedExecution:
        return self._send("POST", f"{_at(id)}/cancel", without_none({"reason": reason}), options)

    def decide_preview(self, id: str, decision: t.PreviewDecision, options: Options = None) -> t.MovedExecution:
        """Decides on what an agent is about to do, while it waits for that."""
        return self._send("POST", f"{_at(id)}/preview", decision, options)

    def rerun(self, id: str, from_agent_id: str | None = None, options: Options = None) -> t.Execution:
        """Prepares one that is over anew, from an agent where one is named."""
        return self._send("POST", f"{_at(id)}/rerun", without_none({"from_agent_id": from_agent_id}), options)

    def get(self, id: str, options: Options = None) -> t.Execution:
        return self._get(_at(id), None, options)

    def list(
        self,
        *,
        status: t.ExecutionStatus | None = None,
        agentflow_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        options: Options = None,
    ) -> Page[t.Execution]:
        query = {"status": status, "agentflow_id": agentflow_id, "limit": limit, "cursor": cursor}
        return page_of(self._get(f"/{self._project_part}/execution_flows", query, options))

    def monitoring(self, id: str, options: Options = None) -> t.Monitoring:
        """Steps, attempts and the run in Temporal."""
        return self._get(f"{_at(id)}/monitoring", None, options)

    def events(self, id: str, last_event_id: int | None = None) -> Generator[t.ExecutionEvent | t.ModelDelta, None, None]:
        """Events as they happen, from the first or after ``last_event_id``, until the execution is over."""
        return follow_events(self._transport, f"{_at(id)}/events", last_event_id)

    def wait_for_end(self, id: str, timeout: float | None = None) -> t.Execution:
        """Follows the execution to its end, whichever it is.

        :param timeout: seconds, which may become 15 more while the service has nothing to tell
        :raises TimeoutError: where it has not ended by then
        """
        deadline = inf if timeout is None else time.monotonic() + timeout
        last: int | None = None
        while True:
            for event in follow_events(self._transport, f"{_at(id)}/events", last, deadline):
                if "seq" in event:
                    last = event["seq"]
            execution = self.get(id)
            if execution["status"] in ("completed", "failed"):
                return execution


def _at(id: str) -> str:
    return f"/execute_flow/{part(id)}"
