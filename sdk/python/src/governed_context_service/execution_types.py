"""What calls about executions take and give. Times are epoch seconds."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, final

from .agentflow_types import ModelChoice

ExecutionStatus = Literal["ready", "running", "paused", "completed", "failed"]


class FileToRead(TypedDict, total=False):
    """A document that the agents read: a ``file_id`` of the project, or ``name`` and ``content``."""

    file_id: str
    name: str
    content: str
    mime_type: str


class ExecutedAction(TypedDict):
    action_id: str
    skill_id: str
    name: str
    output: Any


class Usage(TypedDict):
    input_tokens: int
    output_tokens: int


class _AgentOutputOptions(TypedDict, total=False):
    #: In a rerun, the execution that the output was taken from.
    kept_from: str


class AgentOutput(_AgentOutputOptions):
    agent_id: str
    title: str
    model: str
    output: str
    actions: list[ExecutedAction]
    usage: Usage
    started_at: float
    ended_at: float


class Preview(TypedDict):
    preview_id: str
    agent_id: str
    title: str
    status: Literal["waiting", "approved", "edited", "rejected", "expired"]
    kind: Literal["actions", "output"]
    #: The actions with their inputs, or ``{"output": …}``.
    proposed: Any
    edits: Any
    requested_at: float
    expires_at: float
    decided_by: str | None
    decided_at: float | None


class PlannedAgent(TypedDict):
    _id: str
    title: str
    role: str
    role_description: str
    agent_type: str
    llm: ModelChoice
    next_agent: str | None


class PlannedAgentflow(TypedDict):
    agentflow_id: str
    name: str
    role: str
    image: str
    initialAgent: str
    agents: list[PlannedAgent]
    conclusion: Any


class _ReadFileOptions(TypedDict, total=False):
    store: Literal["blob", "file"]


class ReadFile(_ReadFileOptions):
    name: str
    mime_type: str
    location: str


class Anomaly(TypedDict):
    agent_id: str
    finding: str
    at: float


class Conclusion(TypedDict):
    conclusion: str
    links: list[str]
    created_at: float


class ExecutedBy(TypedDict):
    _id: str
    metadata: Any
    name: str
    type: str


class Execution(TypedDict):
    _id: str
    execution_id: str
    projectID: str
    agentflow_id: str
    #: As it was when the execution was prepared.
    agentflow: PlannedAgentflow
    task_id: str
    parent_execution_id: str | None
    goal: str
    goal_template: Any
    schedule: Any
    start_from_agent_id: str | None
    files: list[ReadFile]
    input_variables: dict[str, Any]
    runtime_inputs: dict[str, Any]
    #: Of a run that failed, ``failure`` tells why; of one that waits, ``waiting_for`` tells what for.
    execution_context: dict[str, Any]
    #: By agent id.
    previews: dict[str, Preview]
    agents_output: list[AgentOutput]
    anomaly_detected: list[Anomaly] | None
    conclusion: Conclusion | None
    created_at: float
    end_time: float | None
    executed_by: ExecutedBy
    status: ExecutionStatus


class _PreviewDecisionOptions(TypedDict, total=False):
    #: Changes inputs by action id or call id, or is the text in place of an output.
    edits: str | dict[str, Any] | None
    reason: str


class PreviewDecision(_PreviewDecisionOptions):
    agent_id: str
    decision: Literal["approve", "reject"]


class Step(TypedDict):
    step_id: str
    kind: str
    agent_id: str
    skill_id: str | None
    action_id: str | None
    name: str
    status: Literal["running", "completed", "failed", "cancelled"]
    attempts: int
    started_at: float
    ended_at: float | None
    error: str | None


class Monitoring(TypedDict):
    execution_id: str
    status: ExecutionStatus
    workflow_id: str
    #: ``None`` until the execution was started.
    run_id: str | None
    temporal_ui_url: str | None
    steps: list[Step]


class MovedExecution(TypedDict):
    execution_id: str
    status: ExecutionStatus


@final
class ExecutionEvent(TypedDict):
    seq: int
    type: str
    at: float
    data: dict[str, Any]


class Words(TypedDict):
    after_seq: int
    agent_id: str
    step_id: str
    attempt: int
    n: int
    text: str


@final
class ModelDelta(TypedDict):
    """Words of a model turn that is under way; the whole text comes with the turn's event."""

    type: Literal["model_delta"]
    at: float
    data: Words
