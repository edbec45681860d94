from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from math import inf
from typing import Any, Literal
from urllib.parse import quote

from .. import types as t
from .events import follow_events
from .group import AsyncGroup, Options, without_none
from .._pages import Page, page_of

ExecutionStatus = Literal["ready", "running", "paused", "completed", "failed"]


class AsyncExecutions(AsyncGroup):
    """Calls about executions: ``create`` prepares one in the status ``ready``, and ``execute`` starts it."""

    async def create(
        self,
        agentflow_id: str,
        goal: str,
        *,
        input_variables: Mapping[str, Any] | None = None,
        runtime_inputs: Mapping[str, Any] | None = None,
        goal_template: Any = None,
        files: Sequence[t.ExecutionInputFiles] | None = None,
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
        return await self._call("post", "/execute_flow", without_none(body), options)

    async def execute(self, id: str, options: Options = None) -> t.StartedExecution:
        return await self._call("post", "/execute_flow/{execution_id}/execute", {}, options, params={"execution_id": id})

    async def pause(self, id: str, reason: str | None = None, options: Options = None) -> t.MovedExecution:
        return await self._call("post", "/execute_flow/{execution_id}/pause", without_none({"reason": reason}), options, params={"execution_id": id})

    async def resume(self, id: str, reason: str | None = None, options: Options = None) -> t.MovedExecution:
        return await self._call("post", "/execute_flow/{execution_id}/resume", without_none({"reason": reason}), options, params={"execution_id": id})

    async def cancel(self, id: str, reason: str | None = None, options: Options = None) -> t.MovedExecution:
        return await self._call("post", "/execute_flow/{execution_id}/cancel", without_none({"reason": reason}), options, params={"execution_id": id})

    async def decide_preview(self, id: str, decision: t.PreviewDecisionInput, options: Options = None) -> t.MovedExecution:
        """Decides on the proposed action of an agent while the execution waits for the decision."""
        return await self._call("post", "/execute_flow/{execution_id}/preview", decision, options, params={"execution_id": id})

    async def rerun(self, id: str, from_agent_id: str | None = None, options: Options = None) -> t.Execution:
        """Prepares a new execution from one that has ended. With ``from_agent_id``, it keeps the outputs of the agents before that one."""
        return await self._call("post", "/execute_flow/{execution_id}/rerun", without_none({"from_agent_id": from_agent_id}), options, params={"execution_id": id})

    async def get(self, id: str, options: Options = None) -> t.Execution:
        return await self._call("get", "/execute_flow/{execution_id}", None, options, params={"execution_id": id})

    async def list(
        self,
        *,
        status: ExecutionStatus | None = None,
        agentflow_id: str | None = None,
        waiting_for: str | None = None,
        failure_reason: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        options: Options = None,
    ) -> Page[t.Execution]:
        query = {
            "status": status,
            "agentflow_id": agentflow_id,
            "waiting_for": waiting_for,
            "failure_reason": failure_reason,
            "limit": limit,
            "cursor": cursor,
        }
        return page_of(await self._call("get", "/{projectID}/execution_flows", None, options, query=query))

    async def monitoring(self, id: str, options: Options = None) -> t.ExecutionMonitoring:
        """Returns the steps, their attempts and the URL of the run in the Temporal UI."""
        return await self._call("get", "/execute_flow/{execution_id}/monitoring", None, options, params={"execution_id": id})

    def events(self, id: str, last_event_id: int | None = None) -> AsyncGenerator[t.ExecutionStreamEvent, None]:
        """Yields events as they happen, from the first one or after ``last_event_id``, until the execution has ended."""
        return follow_events(self._transport, _events_of(id), last_event_id)

    async def wait_for_end(self, id: str, timeout: float | None = None) -> t.Execution:
        """Waits until the execution has completed or failed.

        :param timeout: seconds; the call may take 15 seconds longer while no event arrives
        :raises TimeoutError: if the execution has not ended by then
        """
        deadline = inf if timeout is None else time.monotonic() + timeout
        last: int | None = None
        while True:
            async for event in follow_events(self._transport, _events_of(id), last, deadline):
                if "seq" in event:
                    last = event["seq"]
            execution = await self.get(id)
            if execution["status"] in ("completed", "failed"):
                return execution


def _events_of(id: str) -> str:
    return f"/execute_flow/{quote(id, safe='')}/events"
